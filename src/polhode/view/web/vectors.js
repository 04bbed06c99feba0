// Vectors, quaternions (w, x, y, z) and 4×4 matrices by columns.  Every function writes into its first
// argument, which may also be one of the others, and returns it: drawing a frame allocates nothing.

/** @typedef {Float64Array | Float32Array | number[]} Numbers */

/** @param {Numbers} a @param {Numbers} b */
export const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];

/** @param {Numbers} a */
export const norm = (a) => Math.sqrt(dot(a, a));

/** @template {Numbers} T @param {T} out @param {number} x @param {number} y @param {number} z */
export function setVector(out, x, y, z) {
  out[0] = x;
  out[1] = y;
  out[2] = z;
  return out;
}

/** The three numbers of `a` from `first` on. @template {Numbers} T @param {T} out @param {Numbers} a @param {number} [first] */
export function copyVector(out, a, first = 0) {
  return setVector(out, a[first], a[first + 1], a[first + 2]);
}

/** @template {Numbers} T @param {T} out @param {Numbers} a @param {number} s */
export function scaleVector(out, a, s) {
  return setVector(out, a[0] * s, a[1] * s, a[2] * s);
}

/** a + s b. @template {Numbers} T @param {T} out @param {Numbers} a @param {Numbers} b @param {number} s */
export function addScaled(out, a, b, s) {
  return setVector(out, a[0] + s * b[0], a[1] + s * b[1], a[2] + s * b[2]);
}

/** @template {Numbers} T @param {T} out @param {Numbers} a @param {Numbers} b */
export function cross(out, a, b) {
  return setVector(out, a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]);
}

/** The direction of `a`; zero stays zero. @template {Numbers} T @param {T} out @param {Numbers} a */
export function normalise(out, a) {
  return scaleVector(out, a, 1 / (norm(a) || 1));
}

/** A direction across the unit vector `z`. @template {Numbers} T @param {T} out @param {Numbers} z */
export function across(out, z) {
  if (Math.abs(z[0]) < 0.9) setVector(out, 0, z[2], -z[1]);
  else setVector(out, -z[2], 0, z[0]);
  return normalise(out, out);
}

/** The 3×3 matrix `m` (rows) times `v`. @template {Numbers} T @param {T} out @param {Numbers} m @param {Numbers} v */
export function applyRows(out, m, v) {
  const x = v[0], y = v[1], z = v[2];
  return setVector(out, m[0] * x + m[1] * y + m[2] * z, m[3] * x + m[4] * y + m[5] * z, m[6] * x + m[7] * y + m[8] * z);
}

/** @template {Numbers} T @param {T} out @param {number} w @param {number} x @param {number} y @param {number} z */
export function setQuaternion(out, w, x, y, z) {
  out[0] = w;
  out[1] = x;
  out[2] = y;
  out[3] = z;
  return out;
}

/** @template {Numbers} T @param {T} out @param {Numbers} p @param {Numbers} q */
export function multiplyQuaternions(out, p, q) {
  return setQuaternion(out,
    p[0] * q[0] - p[1] * q[1] - p[2] * q[2] - p[3] * q[3],
    p[0] * q[1] + p[1] * q[0] + p[2] * q[3] - p[3] * q[2],
    p[0] * q[2] - p[1] * q[3] + p[2] * q[0] + p[3] * q[1],
    p[0] * q[3] + p[1] * q[2] - p[2] * q[1] + p[3] * q[0]);
}

/** p* q, the rotation from p to q. @template {Numbers} T @param {T} out @param {Numbers} p @param {Numbers} q */
export function relativeQuaternion(out, p, q) {
  return setQuaternion(out,
    p[0] * q[0] + p[1] * q[1] + p[2] * q[2] + p[3] * q[3],
    p[0] * q[1] - p[1] * q[0] - p[2] * q[3] + p[3] * q[2],
    p[0] * q[2] + p[1] * q[3] - p[2] * q[0] - p[3] * q[1],
    p[0] * q[3] - p[1] * q[2] + p[2] * q[1] - p[3] * q[0]);
}

/** The angle between two attitudes, from 0 to π. @param {Numbers} p @param {Numbers} q */
export function angleBetween(p, q) {
  const d = relativeQuaternion(scratchQuaternion, p, q);
  return 2 * Math.atan2(Math.sqrt(d[1] * d[1] + d[2] * d[2] + d[3] * d[3]), Math.abs(d[0]));
}
const scratchQuaternion = new Float64Array(4);

/** The vector v, turned by the unit quaternion q. @template {Numbers} T @param {T} out @param {Numbers} q @param {Numbers} v */
export function rotate(out, q, v) {
  const w = q[0], a = q[1], b = q[2], c = q[3], x = v[0], y = v[1], z = v[2];
  const i = 2 * (b * z - c * y), j = 2 * (c * x - a * z), k = 2 * (a * y - b * x);
  return setVector(out, x + w * i + b * k - c * j, y + w * j + c * i - a * k, z + w * k + a * j - b * i);
}

/** The vector v, turned back by q. @template {Numbers} T @param {T} out @param {Numbers} q @param {Numbers} v */
export function rotateBack(out, q, v) {
  return rotate(out, setQuaternion(scratchQuaternion, q[0], -q[1], -q[2], -q[3]), v);
}

/** exp of the rotation vector v. @template {Numbers} T @param {T} out @param {Numbers} v */
export function exponential(out, v) {
  const half = norm(v) / 2, s = half > 1e-9 ? Math.sin(half) / (2 * half) : 0.5;
  return setQuaternion(out, Math.cos(half), v[0] * s, v[1] * s, v[2] * s);
}

/** The shortest rotation that takes (0, 0, 1) to the unit vector z. @template {Numbers} T @param {T} out @param {Numbers} z */
export function shortestFromZ(out, z) {
  const w = Math.sqrt(Math.max(0, (1 + z[2]) / 2));
  if (w < 1e-6) return setQuaternion(out, 0, 1, 0, 0);
  return setQuaternion(out, w, -z[1] / (2 * w), z[0] / (2 * w), 0);
}

/** From p to q by the share s, along a chord: enough for the eye. @template {Numbers} T @param {T} out @param {Numbers} p @param {Numbers} q @param {number} s */
export function blendQuaternions(out, p, q, s) {
  const sign = p[0] * q[0] + p[1] * q[1] + p[2] * q[2] + p[3] * q[3] < 0 ? -1 : 1;
  let sum = 0;
  for (let i = 0; i < 4; i++) {
    out[i] = (1 - s) * p[i] + sign * s * q[i];
    sum += out[i] * out[i];
  }
  for (let i = 0; i < 4; i++) out[i] /= Math.sqrt(sum) || 1;
  return out;
}

/** Columns x, y, z and place p. @template {Numbers} T @param {T} out @param {Numbers} x @param {Numbers} y @param {Numbers} z @param {Numbers} p */
export function matrixFromColumns(out, x, y, z, p) {
  for (let i = 0; i < 3; i++) {
    out[i] = x[i];
    out[4 + i] = y[i];
    out[8 + i] = z[i];
    out[12 + i] = p[i];
  }
  out[3] = out[7] = out[11] = 0;
  out[15] = 1;
  return out;
}

const columnX = new Float64Array(3), columnY = new Float64Array(3), columnZ = new Float64Array(3);

/** Scale by s, turn by q, move to p. @template {Numbers} T @param {T} out @param {Numbers} q @param {number} s @param {Numbers} p */
export function matrixFromQuaternion(out, q, s, p) {
  rotate(columnX, q, setVector(columnX, s, 0, 0));
  rotate(columnY, q, setVector(columnY, 0, s, 0));
  rotate(columnZ, q, setVector(columnZ, 0, 0, s));
  return matrixFromColumns(out, columnX, columnY, columnZ, p);
}

/** Take z to the direction of d, scale by s, move to p. @template {Numbers} T @param {T} out @param {Numbers} d @param {number} s @param {Numbers} p */
export function matrixAlong(out, d, s, p) {
  normalise(columnZ, d);
  across(columnX, columnZ);
  cross(columnY, columnZ, columnX);
  scaleVector(columnX, columnX, s);
  scaleVector(columnY, columnY, s);
  scaleVector(columnZ, columnZ, s);
  return matrixFromColumns(out, columnX, columnY, columnZ, p);
}

/** a b; `out` must be neither. @template {Numbers} T @param {T} out @param {Numbers} a @param {Numbers} b */
export function multiplyMatrices(out, a, b) {
  for (let j = 0; j < 16; j += 4)
    for (let i = 0; i < 4; i++)
      out[j + i] = a[i] * b[j] + a[4 + i] * b[j + 1] + a[8 + i] * b[j + 2] + a[12 + i] * b[j + 3];
  return out;
}

/** With the vertical field of view `fov` in radians. @template {Numbers} T @param {T} out @param {number} fov @param {number} aspect @param {number} near @param {number} far */
export function perspective(out, fov, aspect, near, far) {
  const f = 1 / Math.tan(fov / 2);
  out.fill(0);
  out[0] = f / aspect;
  out[5] = f;
  out[10] = (far + near) / (near - far);
  out[11] = -1;
  out[14] = 2 * far * near / (near - far);
  return out;
}

/** From the eye towards `to`, with `up` up. @template {Numbers} T @param {T} out @param {Numbers} eye @param {Numbers} to @param {Numbers} up */
export function lookAt(out, eye, to, up) {
  const z = normalise(columnZ, addScaled(columnZ, eye, to, -1));
  const x = normalise(columnX, cross(columnX, up, z)), y = cross(columnY, z, x);
  for (let i = 0; i < 3; i++) {
    out[4 * i] = x[i];
    out[4 * i + 1] = y[i];
    out[4 * i + 2] = z[i];
    out[4 * i + 3] = 0;
  }
  out[12] = -dot(x, eye);
  out[13] = -dot(y, eye);
  out[14] = -dot(z, eye);
  out[15] = 1;
  return out;
}

/** The point p by the matrix m, with the fourth coordinate in out[3]. @template {Numbers} T @param {T} out @param {Numbers} m @param {Numbers} p */
export function transformPoint(out, m, p) {
  const x = p[0], y = p[1], z = p[2];
  for (let i = 0; i < 4; i++) out[i] = m[i] * x + m[4 + i] * y + m[8 + i] * z + m[12 + i];
  return out;
}
