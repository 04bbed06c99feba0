// Rays, surfaces, axes, ticks, the camera and the joined module.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { Camera, FIELD_OF_VIEW, Pane } from "../../../src/polhode/view/web/camera.js";
import { castRay, castRayAtSphere, ellipsoid, principalAxes, sharpEdges, surface } from "../../../src/polhode/view/web/geometry.js";
import { commonPower, powerTicks, roundTicks, spread, tickText } from "../../../src/polhode/view/web/plots.js";
import { PoinsotScene } from "../../../src/polhode/view/web/poinsot.js";
import { dot, exponential, norm, rotate, rotateBack, shortestFromZ } from "../../../src/polhode/view/web/vectors.js";

const near = (/** @type {number} */ a, /** @type {number} */ b, slack = 1e-12) => assert.ok(Math.abs(a - b) <= slack, `${a} is not ${b}`);

const CORNERS = Float32Array.from({ length: 24 }, (_, i) => ((Math.floor(i / 3) >> i % 3) & 1 ? 1 : -1));
const FACES = Uint32Array.from([0, 2, 3, 0, 3, 1, 4, 5, 7, 4, 7, 6, 0, 1, 5, 0, 5, 4, 2, 6, 7, 2, 7, 3, 0, 4, 6, 0, 6, 2, 1, 3, 7, 1, 7, 5]);

test("a ray meets the near side of a cube, or misses it", () => {
  near(castRay([5, 0.2, 0.3], [-1, 0, 0], CORNERS, FACES), 4);
  near(castRay([5, 0.2, 0.3], [-2, 0, 0], CORNERS, FACES), 2); // in units of the direction
  near(castRay([0, 0.1, 0.2], [0, 0, 1], CORNERS, FACES), 0.8); // from inside
  assert.equal(castRay([5, 0.2, 0.3], [1, 0, 0], CORNERS, FACES), Infinity); // away
  assert.equal(castRay([5, 1.2, 0.3], [-1, 0, 0], CORNERS, FACES), Infinity); // beside
});

test("a ray meets a sphere", () => {
  near(castRayAtSphere([0, 0, 3], [0, 0, -2], 1), 1);
  assert.equal(castRayAtSphere([0, 0, 3], [0, 1, 0], 1), Infinity);
  assert.equal(castRayAtSphere([0, 0, 3], [0, 0, 1], 1), Infinity);
});

test("a cube has flat faces and twelve edges, also as a soup of triangles", () => {
  const soup = new Float32Array(3 * FACES.length), numbers = FACES.map((_, k) => k);
  FACES.forEach((i, k) => soup.set(CORNERS.subarray(3 * i, 3 * i + 3), 3 * k));
  for (const [vertices, faces] of /** @type {[Float32Array, Uint32Array][]} */ ([[CORNERS, FACES], [soup, numbers]])) {
    const corners = surface(vertices, faces);
    for (let i = 0; i < corners.length; i += 6) {
      const normal = [...corners.subarray(i + 3, i + 6)];
      assert.deepEqual(normal.map(Math.abs).sort(), [0, 0, 1]);
      near(dot(normal, corners.subarray(i, i + 3)), 1); // outwards
    }
    assert.equal(sharpEdges(vertices, faces).length / 6, 12);
  }
});

test("an ellipsoid of inertia has r·Ir = 1, and normals along Ir", () => {
  const inertia = [2, 0.3, -0.1, 0.3, 3, 0.2, -0.1, 0.2, 4], { moments, axes } = principalAxes(inertia), points = ellipsoid(axes, moments.map((m) => 1 / Math.sqrt(m)));
  near(moments.reduce((sum, m) => sum + m), 9);
  for (let i = 0; i < points.length; i += 60) {
    const r = [...points.subarray(i, i + 3)], image = [0, 3, 6].map((k) => dot(inertia.slice(k, k + 3), r));
    near(dot(r, image), 1, 1e-6);
    near(dot(image, points.subarray(i + 3, i + 6)), norm(image), 1e-6);
  }
  for (const k of [0, 1, 2]) axes[k].forEach((x, i) => near(dot(inertia.slice(3 * i, 3 * i + 3), axes[k]), moments[k] * x));
});

test("ticks are round, within the range, and written without excess", () => {
  for (const [low, high] of [[0, 1], [-3.2, 7.9], [0.1248, 0.1249], [-1e-14, 3e-14], [0, 6.3e9]])
    for (const most of [2, 4, 7]) {
      const { step, values } = roundTicks(low, high, most);
      assert.ok(values.length >= 1 && values.length <= most + 1, `${low} to ${high}: ${values}`);
      assert.ok(values.every((v) => v >= low - 1e-9 * step && v <= high + 1e-9 * step));
      near([1, 2, 5, 10].reduce((best, k) => Math.min(best, Math.abs(Math.log10(step / k) % 1)), 1), 0, 1e-9);
    }
  assert.deepEqual(roundTicks(0, 20, 4).values, [0, 5, 10, 15, 20]);
  assert.deepEqual([-0.5, 0, 0.5].map((v) => tickText(v, 0.5, 0)), ["−0.5", "0.0", "0.5"]);
  assert.equal(tickText(-1e-20, 0.5, 0), "0.0");
  assert.equal(tickText(2e7, 1e7, 7), "2");
  assert.deepEqual([[0, 20], [0, 3e7], [-2e-6, 1e-6], [0, 0]].map(([a, b]) => commonPower(a, b)), [0, 7, -6, 0]);
  assert.deepEqual(powerTicks(-16.2, -7.8, 4), [-15, -12, -9]);
});

test("labels are spread apart, within their range", () => {
  assert.deepEqual(spread([10, 11, 50], 13, 0, 100), [10, 23, 50]);
  assert.deepEqual(spread([95, 96, 97], 10, 0, 100), [80, 90, 100]);
});

/** A pane that looks at something. @param {Partial<import("../../../src/polhode/view/web/camera.js").Subject>} [subject] @param {Camera} [camera] */
function paneOf(subject = {}, camera = new Camera()) {
  const pane = new Pane("space", 0), axes = new Float64Array([1, 0, 0, 0]);
  pane.place(100, 50, 600, 400);
  pane.aim(camera, { axes, axesBefore: axes, centre: new Float64Array(3), unit: 1, radius: 1.75, ...subject });
  return pane;
}

test("points appear where a camera by the book sees them", () => {
  const camera = new Camera();
  camera.yaw = 0.4;
  camera.pitch = 0.3;
  for (const unit of [1e-10, 1, 1e8]) {
    const centre = Float64Array.of(unit, -2 * unit, 0.5 * unit), pane = paneOf({ unit, centre }, camera), d = pane.distance;
    near(d / unit, 1.75 / Math.sin(FIELD_OF_VIEW / 2));
    const away = [Math.cos(0.3) * Math.cos(0.4), Math.cos(0.3) * Math.sin(0.4), Math.sin(0.3)], right = [-Math.sin(0.4), Math.cos(0.4), 0];
    const up = [-Math.sin(0.3) * Math.cos(0.4), -Math.sin(0.3) * Math.sin(0.4), Math.cos(0.3)], p = [0.3, -0.6, 0.8].map((x) => x * unit);
    const depth = d - dot(p, away), scale = 200 / Math.tan(FIELD_OF_VIEW / 2) / depth, seen = pane.project([0, 0, 0], p.map((x, i) => x + centre[i]));
    near(seen[0], 400 + scale * dot(p, right), 1e-8);
    near(seen[1], 250 - scale * dot(p, up), 1e-8);
    near(pane.target[1] / unit, -2);
  }
});

test("the ray through a seen point passes through the point", () => {
  const pane = paneOf({ unit: 3, axes: exponential(new Float64Array(4), [0.2, 0.5, -1]) }), p = [0.7, 1.1, -0.4], seen = pane.project([0, 0, 0], p);
  const ray = pane.ray([0, 0, 0], seen[0], seen[1]), to = p.map((x, i) => x - pane.eye[i]);
  near(dot(ray, to) / norm(ray) / norm(to), 1, 1e-12);
  const q = exponential([0, 0, 0, 0], [1, -2, 0.5]), place = [0.1, 0.2, 0.3], origin = [0, 0, 0], along = [0, 0, 0];
  pane.rayInBody(origin, along, seen[0], seen[1], q, place);
  rotate(origin, q, origin).forEach((x, i) => near(x + place[i], pane.eye[i]));
  rotate(along, q, along).forEach((x, i) => near(x, ray[i]));
});

test("a narrow pane stands further off; moving by pixels moves the picture by as many", () => {
  const camera = new Camera(), pane = paneOf({}, camera), wide = pane.distance, seen = pane.project([0, 0, 0], [0, 0, 0]);
  camera.shift(30, -20, pane);
  const moved = paneOf({}, camera).project([0, 0, 0], [0, 0, 0]);
  near(moved[0] - seen[0], 30, 1e-9);
  near(moved[1] - seen[1], -20, 1e-9);
  pane.place(0, 0, 200, 400);
  pane.aim(new Camera(), { axes: new Float64Array([1, 0, 0, 0]), axesBefore: new Float64Array([1, 0, 0, 0]), centre: new Float64Array(3), unit: 1, radius: 1.75 });
  near(pane.distance, 2 * wide);
});

test("a preset is reached in time, or at once where motion is unwanted", () => {
  const camera = new Camera();
  camera.zoomBy(3);
  camera.go("momentum");
  assert.ok(camera.step(1000) && camera.step(1200) && camera.pitch > 0.36 && camera.pitch < 1.55);
  assert.ok(!camera.step(1500));
  near(camera.zoom, 1);
  camera.eased = false;
  camera.go("body");
  assert.deepEqual([camera.share, camera.preset], [1, "body"]);
});

test("the shortest rotation from z goes there, also straight down", () => {
  for (const z of [[0, 0, 1], [0, 0, -1], [0.6, 0, 0.8], [-0.48, 0.64, -0.6]]) {
    rotate([0, 0, 0], shortestFromZ([0, 0, 0, 0], z), [0, 0, 1]).forEach((x, i) => near(x, z[i]));
    rotateBack([0, 0, 0], shortestFromZ([0, 0, 0, 0], z), z).forEach((x, i) => near(x, i === 2 ? 1 : 0));
  }
});

test("the modules can be joined into one: imports and exports of the plain kind, no name twice", () => {
  /** @type {Map<string, string>} */
  const names = new Map(), done = new Set();
  /** @param {string} file */
  const take = (file) => {
    if (done.has(file)) return;
    done.add(file);
    const text = readFileSync(new URL(`../../../src/polhode/view/web/${file}`, import.meta.url), "utf8");
    for (const forbidden of ["</script", "<!--", "]]>", "import *", "innerHTML", "import("]) assert.ok(!text.replaceAll(/\/\*\*[^]*?\*\//g, "").includes(forbidden), `${file}: ${forbidden}`);
    for (const [, other] of text.matchAll(/^import \{[^}]*\} from "\.\/([\w.]+)";$/gm)) take(other);
    assert.equal(text.match(/^import /gm)?.length ?? 0, text.match(/^import \{[^}]*\} from "\.\/[\w.]+";$/gm)?.length ?? 0, file);
    for (const [, name] of text.matchAll(/^(?:export )?(?:async )?(?:function|class) (\w+)/gm)) note(name, file);
    for (const [, list] of text.matchAll(/^(?:export )?(?:const|let) ([^;]*?);?$/gm)) {
      const left = list[0] === "[" || list[0] === "{" ? list.slice(1, list.search(/[\]}] =/)).split(",") : list.replaceAll(/\([^()]*\)|\{[^{}]*\}|\[[^[\]]*\]/g, "").split(",");
      for (const part of left) note(part.trim().split(/[\s=]/)[0], file);
    }
  };
  /** @param {string} name @param {string} file */
  const note = (name, file) => {
    if (!/^[A-Za-z_]\w*$/.test(name)) return;
    assert.ok(!names.has(name) || names.get(name) === file, `${name} is in ${names.get(name)} and ${file}`);
    names.set(name, file);
  };
  take("viewer.js");
  assert.ok(done.size >= 12 && names.has("mount") && names.has("unpack") && names.has("between"));
});

test("Poinsot's plane hardly turns where the momentum of a top precesses about the vertical", () => {
  /** @param {number} angle */
  const momentum = (angle) => [0.05 * Math.cos(angle), 0.05 * Math.sin(angle), 1].map((x) => x / Math.hypot(0.05, 1));
  /** @param {number[]} m */
  const down = (m) => m.map((x) => -x);
  const room = shortestFromZ(new Float64Array(4), down(momentum(0)));
  for (let k = 0; k <= 12; k++) {
    const out = new Float64Array(4), m = momentum((k * Math.PI) / 6), mover = { run: { free: false }, momentum: m };
    PoinsotScene.prototype.lookFrom.call(/** @type {any} */ ({ mover, room }), out, "inertial");
    rotate([0, 0, 0], out, [0, 0, 1]).forEach((x, i) => near(x, -m[i]));
    const [x, x0] = [out, room].map((q) => rotate([0, 0, 0], q, [1, 0, 0]));
    assert.ok(dot(x, x0) > Math.cos(0.11), `${k}: ${dot(x, x0)}`);
  }
});
