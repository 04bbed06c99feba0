// Triangles and lines for drawing, made once: the body's surface and edges, arrows, ellipsoids, globes; and the
// ray that finds a point of the body under the mouse.

import { addScaled, copyVector, cross, dot, norm, normalise, scaleVector, setVector } from "./vectors.js";

/** @typedef {import("./vectors.js").Numbers} Numbers */

const CREASE = Math.cos(0.6); // faces that meet at less than 34° are shaded as one smooth surface
const MOST_EDGES = 4000; // a rough surface has an edge everywhere: they would hide it

export const ON_CURVE = 73; // points of a circle

/** Vertices at the same place get the same number, so that soups of triangles are shaded smoothly too. @param {Float32Array} vertices @param {Uint32Array} faces */
function weld(vertices, faces) {
  if (vertices.length <= faces.length) return faces; // a closed surface with shared vertices has half as many as faces
  const seen = new Map(), first = new Uint32Array(vertices.length / 3);
  for (let i = 0; i < first.length; i++) {
    const key = `${vertices[3 * i]},${vertices[3 * i + 1]},${vertices[3 * i + 2]}`;
    if (!seen.has(key)) seen.set(key, i);
    first[i] = seen.get(key);
  }
  return faces.map((i) => first[i]);
}

/** Normals of faces, as long as twice their area. @param {Float32Array} vertices @param {Uint32Array} faces */
function faceNormals(vertices, faces) {
  const normals = new Float64Array(faces.length), a = [0, 0, 0], b = [0, 0, 0], c = [0, 0, 0];
  for (let f = 0; f < faces.length; f += 3) {
    copyVector(a, vertices, 3 * faces[f]);
    addScaled(b, copyVector(b, vertices, 3 * faces[f + 1]), a, -1);
    addScaled(c, copyVector(c, vertices, 3 * faces[f + 2]), a, -1);
    normals.set(cross(a, b, c), f);
  }
  return normals;
}

/** The faces at every vertex: those of vertex i are list[starts[i]] to list[starts[i + 1] - 1]. @param {number} count @param {Uint32Array} faces */
function facesAt(count, faces) {
  const starts = new Uint32Array(count + 1), list = new Uint32Array(faces.length);
  for (const i of faces) starts[i + 1]++;
  for (let i = 0; i < count; i++) starts[i + 1] += starts[i];
  const next = starts.slice();
  faces.forEach((i, corner) => {
    list[next[i]++] = corner - (corner % 3);
  });
  return { starts, list };
}

/** The triangles of a surface, place and normal of each corner. @param {Float32Array} vertices @param {Uint32Array} faces */
export function surface(vertices, faces) {
  const shared = weld(vertices, faces), normals = faceNormals(vertices, faces), out = new Float32Array(6 * faces.length);
  const { starts, list } = facesAt(vertices.length / 3, shared), own = [0, 0, 0], other = [0, 0, 0], sum = [0, 0, 0];
  shared.forEach((i, corner) => {
    copyVector(own, normals, corner - (corner % 3));
    setVector(sum, 0, 0, 0);
    for (let k = starts[i]; k < starts[i + 1]; k++) {
      copyVector(other, normals, list[k]);
      if (dot(own, other) >= CREASE * norm(own) * norm(other)) addScaled(sum, sum, other, 1);
    }
    out.set(vertices.subarray(3 * i, 3 * i + 3), 6 * corner);
    out.set(normalise(sum, sum), 6 * corner + 3);
  });
  return out;
}

/** The sharp edges of a surface, two ends each. @param {Float32Array} vertices @param {Uint32Array} faces */
export function sharpEdges(vertices, faces) {
  const shared = weld(vertices, faces), normals = faceNormals(vertices, faces), open = new Map(), count = vertices.length / 3;
  const a = [0, 0, 0], b = [0, 0, 0], /** @type {number[]} */ ends = [];
  shared.forEach((i, corner) => {
    const face = corner - (corner % 3), j = shared[face + ((corner + 1) % 3)], key = Math.min(i, j) * count + Math.max(i, j);
    const before = open.get(key);
    if (before === undefined) return void open.set(key, face);
    open.delete(key);
    copyVector(a, normals, before);
    copyVector(b, normals, face);
    if (dot(a, b) < CREASE * norm(a) * norm(b)) ends.push(i, j);
  });
  for (const key of open.keys()) ends.push(Math.floor(key / count), key % count);
  if (ends.length > 2 * MOST_EDGES) return new Float32Array(0);
  const out = new Float32Array(3 * ends.length);
  ends.forEach((i, k) => out.set(vertices.subarray(3 * i, 3 * i + 3), 3 * k));
  return out;
}

/**
 * The triangles of a surface of revolution about z, from pairs of rings (radius, height, normal's radius and height).
 * @param {number[][][]} bands @param {number} sides
 */
function revolved(bands, sides) {
  /** @type {number[]} */
  const out = [];
  /** @param {number[]} ring @param {number} i */
  const corner = ([r, z, a, b], i) => {
    const c = Math.cos(2 * Math.PI * i / sides), s = Math.sin(2 * Math.PI * i / sides);
    out.push(r * c, r * s, z, a * c, a * s, b);
  };
  for (const [low, high] of bands)
    for (let i = 0; i < sides; i++) {
      corner(low, i);
      corner(low, i + 1);
      corner(high, i + 1);
      corner(low, i);
      corner(high, i + 1);
      corner(high, i);
    }
  return new Float32Array(out);
}

export const HEAD = 0.15; // the length of an arrow's head, in units of the pane
const NECK = 1e-3; // what lies above is moved by the shaft's length when drawn

/** An arrow along z without a shaft: the program stretches it, so that heads keep their shape. @param {number} radius of the shaft */
export function arrow(radius) {
  const wide = 2.7 * radius, slope = [HEAD, wide].map((x) => x / Math.hypot(HEAD, wide));
  return revolved([
    [[0, 0, 0, -1], [radius, 0, 0, -1]], [[radius, 0, 1, 0], [radius, NECK, 1, 0]],
    [[radius, NECK, 0, -1], [wide, NECK, 0, -1]], [[wide, NECK, ...slope], [0, HEAD, ...slope]],
  ], 24);
}

/** The unit sphere; places are normals. @param {number} rings */
export function sphere(rings) {
  /** @param {number} k */
  const ring = (k) => {
    const a = Math.PI * (k / rings - 0.5);
    return [Math.cos(a), Math.sin(a), Math.cos(a), Math.sin(a)];
  };
  return revolved(Array.from({ length: rings }, (_, k) => [ring(k), ring(k + 1)]), 2 * rings);
}

/** An ellipsoid with the unit `axes` (rows) and semi-axes `radii`. @param {number[][]} axes @param {number[]} radii */
export function ellipsoid(axes, radii) {
  const out = sphere(24), place = [0, 0, 0], normal = [0, 0, 0];
  for (let i = 0; i < out.length; i += 6) {
    setVector(place, 0, 0, 0);
    setVector(normal, 0, 0, 0);
    axes.forEach((direction, k) => {
      addScaled(place, place, direction, radii[k] * out[i + k]);
      addScaled(normal, normal, direction, out[i + k] / radii[k]);
    });
    out.set(place, i);
    out.set(normalise(normal, normal), i + 3);
  }
  return out;
}

/** The points of curves. @param {((s: number) => number[])[]} curves for s from 0 to 1 */
function pointsOf(curves) {
  const out = new Float32Array(3 * ON_CURVE * curves.length);
  curves.forEach((curve, k) => {
    for (let i = 0; i < ON_CURVE; i++) out.set(curve(i / (ON_CURVE - 1)), 3 * (ON_CURVE * k + i));
  });
  return out;
}

/** The three principal sections of an ellipsoid. @param {number[][]} axes @param {number[]} radii */
export function principalSections(axes, radii) {
  const sections = [[0, 1], [1, 2], [2, 0]].map(([i, j]) => (/** @type {number} */ s) => {
    const a = scaleVector([0, 0, 0], axes[i], 1.002 * radii[i] * Math.cos(2 * Math.PI * s));
    return addScaled(a, a, axes[j], 1.002 * radii[j] * Math.sin(2 * Math.PI * s));
  });
  return pointsOf(sections);
}

/** Meridians and parallels of the unit sphere, `step` degrees apart; with the equator and the prime meridian alone if 0. @param {number} step */
export function graticule(step) {
  /** @type {((s: number) => number[])[]} */
  const curves = [], up = 1.002;
  /** @param {number} latitude @param {number} longitude */
  const at = (latitude, longitude) =>
    [up * Math.cos(latitude) * Math.cos(longitude), up * Math.cos(latitude) * Math.sin(longitude), up * Math.sin(latitude)];
  for (let d = step; step && d < 360; d += step) curves.push((s) => at(Math.PI * (s - 0.5), d * Math.PI / 180));
  for (let d = step - 90; step && d < 90; d += step) if (d) curves.push((s) => at(d * Math.PI / 180, 2 * Math.PI * s));
  if (!step) curves.push((s) => at(Math.PI * (s - 0.5), 0), (s) => at(0, 2 * Math.PI * s));
  return pointsOf(curves);
}

/**
 * The distance along the ray to the nearest triangle, in units of `direction`, or Infinity (Möller and Trumbore).
 * @param {Numbers} origin @param {Numbers} direction @param {Float32Array} vertices @param {Uint32Array} faces
 */
export function castRay(origin, direction, vertices, faces) {
  const { a, b, c, p, s } = RAY;
  let nearest = Infinity;
  for (let f = 0; f < faces.length; f += 3) {
    copyVector(a, vertices, 3 * faces[f]);
    addScaled(b, copyVector(b, vertices, 3 * faces[f + 1]), a, -1);
    addScaled(c, copyVector(c, vertices, 3 * faces[f + 2]), a, -1);
    const volume = dot(b, cross(p, direction, c));
    if (volume === 0) continue;
    addScaled(s, origin, a, -1);
    const u = dot(s, p) / volume, v = dot(direction, cross(s, s, b)) / volume, distance = dot(c, s) / volume;
    if (u >= 0 && v >= 0 && u + v <= 1 && distance > 0 && distance < nearest) nearest = distance;
  }
  return nearest;
}

const [a0, b0, c0, p0, s0] = Array.from({ length: 5 }, () => new Float64Array(3)), RAY = { a: a0, b: b0, c: c0, p: p0, s: s0 };

/** The distance along the ray to a sphere about 0, or Infinity. @param {Numbers} origin @param {Numbers} direction @param {number} radius */
export function castRayAtSphere(origin, direction, radius) {
  const a = dot(direction, direction), b = dot(origin, direction), c = dot(origin, origin) - radius * radius, root = b * b - a * c;
  return root > 0 && -b - Math.sqrt(root) > 0 ? (-b - Math.sqrt(root)) / a : Infinity;
}

/** Principal moments and unit axes of a symmetric matrix (rows), by Jacobi's rotations. @param {Numbers} matrix */
export function principalAxes(matrix) {
  const m = [0, 3, 6].map((i) => [matrix[i], matrix[i + 1], matrix[i + 2]]), axes = [[1, 0, 0], [0, 1, 0], [0, 0, 1]];
  for (let sweep = 0; sweep < 12; sweep++)
    for (const [i, j] of [[0, 1], [0, 2], [1, 2]]) {
      if (m[i][j] === 0) continue;
      const angle = Math.atan2(2 * m[i][j], m[i][i] - m[j][j]) / 2, c = Math.cos(angle), s = Math.sin(angle);
      for (const row of m) [row[i], row[j]] = [c * row[i] + s * row[j], c * row[j] - s * row[i]];
      for (let k = 0; k < 3; k++) {
        [m[i][k], m[j][k]] = [c * m[i][k] + s * m[j][k], c * m[j][k] - s * m[i][k]];
        [axes[i][k], axes[j][k]] = [c * axes[i][k] + s * axes[j][k], c * axes[j][k] - s * axes[i][k]];
      }
    }
  return { moments: m.map((row, i) => row[i]), axes };
}
