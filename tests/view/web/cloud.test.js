// Ensembles: directions as NumPy packed them, places and colours between frames, and what is refused.

import assert from "node:assert/strict";
import { test } from "node:test";

import { fromOctahedron, levelNow, placeInFrame, placeNow, readCloud, setCloudTime, valueText } from "../../../src/polhode/view/web/cloud.js";

// directions, and what to_octahedron() of polhode.view.crowd makes of them
const PACKED = [
  [[1, 0, 0], [32767, 0]], [[0, -1, 0], [0, -32767]], [[0, 0, -1], [32767, 32767]], [[0, 0, 1], [0, 0]],
  [[0.6, 0.48, 0.64], [11430, 9144]], [[-0.6, 0.48, -0.64], [-23623, 21337]], [[0.36, -0.48, -0.8], [23177, -25574]],
  [[-0.64, -0.6, 0.48], [-12192, -11430]], [[0.002, -0.001, -0.9999975], [32734, -32702]], [[-Math.SQRT1_2, 0, -Math.SQRT1_2], [-32767, 16384]],
];

/** An ensemble of two members at two times. @param {object} [change] @returns {{header: any, buffer: ArrayBuffer}} */
function packed(change = {}) {
  /** @type {Uint8Array[]} */
  const parts = [];
  let size = 0;
  /** @param {Float64Array | Float32Array | Uint32Array | Int16Array | Uint8Array} array */
  const put = (array) => {
    const bytes = new Uint8Array(8 * Math.ceil(array.byteLength / 8)), at = size;
    bytes.set(new Uint8Array(array.buffer));
    parts.push(bytes);
    size += bytes.length;
    return [at, array.length];
  };
  const crowd = {
    where: "axis", label: "axis 3", facts: [["method", "mr2"]], t: put(Float64Array.of(0, 2)), box: null, between: "slerp", of: [2, 2],
    points: put(Int16Array.of(0, 0, 32767, 0, 0, 32767, -32768, -32768)), // z to y; x, then nothing
    members: put(Uint32Array.of(5, 12)),
    colour: { name: "tilt", unit: "°", each: "frame", low: 0, high: 251, ticks: null, values: put(Uint8Array.of(10, 20, 30, 255)), palette: put(new Uint8Array(756)) },
    failed: { bodies: put(Uint32Array.of(1)), t: put(Float64Array.of(1.5)) }, series: [], ...change,
  };
  const whole = new Uint8Array(size);
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return { header: { format: 1, kind: "crowd", title: "many", runs: [], crowd }, buffer: whole.buffer };
}

test("directions are those that NumPy packed", () => {
  for (const [direction, [x, y]] of PACKED) {
    const found = fromOctahedron([0, 0, 0], x, y), gap = Math.hypot(...found.map((v, k) => v - direction[k]));
    assert.ok(gap < 1e-4, `${direction}: ${found}`);
    assert.ok(Math.abs(Math.hypot(...found) - 1) < 1e-15);
  }
});

test("what was packed is read", () => {
  const { header, buffer } = packed(), cloud = readCloud(header, buffer);
  assert.deepEqual([...cloud.numbers], [5, 17]);
  assert.deepEqual([...cloud.until], [Infinity, 1.5]);
  assert.deepEqual([cloud.bodies, cloud.failures, cloud.name, cloud.inSpace], [2, 1, "many", false]);
});

test("between frames points move on great circles, and colours with them", () => {
  const { header, buffer } = packed(), cloud = readCloud(header, buffer), place = [0, 0, 0];
  setCloudTime(cloud, 0.5);
  assert.deepEqual([cloud.frame, cloud.next, cloud.share], [0, 1, 0.25]);
  assert.ok(placeNow(place, cloud, 0));
  [0, Math.sin(Math.PI / 8), Math.cos(Math.PI / 8)].forEach((v, k) => assert.ok(Math.abs(place[k] - v) < 1e-12));
  assert.equal(levelNow(cloud, 0), 15);
  assert.ok(placeNow(place, cloud, 1)); // nothing follows: it stays
  assert.equal(place[0], 1);
  assert.equal(levelNow(cloud, 1), 20);
  setCloudTime(cloud, 2);
  assert.deepEqual([cloud.frame, cloud.share], [1, 0]);
  assert.equal(placeNow(place, cloud, 1), false);
  assert.equal(levelNow(cloud, 1), -1);
  setCloudTime(cloud, -3);
  assert.deepEqual([cloud.frame, cloud.share], [0, 0]);
});

test("fast points jump", () => {
  const { header, buffer } = packed({ between: "jump" }), cloud = readCloud(header, buffer), place = [0, 0, 0];
  setCloudTime(cloud, 1.9);
  placeNow(place, cloud, 0);
  assert.deepEqual(place, [0, 0, 1]);
});

test("positions lie in their box", () => {
  const box = { low: [-1, 10, 0], high: [3, 12, 1] }, { header, buffer } = packed({ where: "space", box, between: "linear" });
  header.crowd.members = [header.crowd.members[0], 1]; // four times three numbers would be needed for two
  header.crowd.colour = { ...header.crowd.colour, each: "member", values: [header.crowd.colour.values[0], 1] };
  header.crowd.failed = null;
  header.crowd.points = [header.crowd.points[0], 6];
  const cloud = readCloud(header, buffer), place = [0, 0, 0];
  assert.deepEqual([[...cloud.centre], [...cloud.half], cloud.unit], [[1, 11, 0.5], [1, 0.5, 0.25], 2]);
  assert.ok(placeInFrame(place, cloud, 0, 0));
  assert.deepEqual(place, [0, 0, 0.25]); // 0, 0, 32767
});

test("values are told to the precision they have", () => {
  const colour = { name: "energy", unit: "J", changes: false, low: 100, high: 102, ticks: null, values: new Uint8Array(1), palette: new Uint8Array(756) };
  assert.equal(valueText(colour, 125.5), "101 J");
  assert.equal(valueText(colour, 1), "100.01 J");
  assert.equal(valueText(colour, -1), "no value");
  assert.equal(valueText({ ...colour, unit: "°", low: 0, high: 251 }, 37), "37°");
  assert.equal(valueText({ ...colour, low: 0, high: 1, ticks: [[0, "ok"], [1, "not finite"]] }, 251), "not finite");
});

for (const [name, change, message] of /** @type {[string, any, RegExp][]} */ ([
  ["times that do not increase", { t: [0, 0] }, /crowd\.t must be times/],
  ["points that are too few", { points: [16, 6] }, /crowd\.points has/],
  ["an unknown motion", { between: "fly" }, /crowd\.between must be/],
  ["failures of nobody", { failed: { bodies: [48, 1], t: [0, 1] } }, /crowd\.failed\.bodies/],
  ["a box without a size", { where: "axis", box: { low: [0, 0, 0], high: [1, 0, 1] } }, /crowd\.box\.high must be above low/],
  ["a colour bar upside down", { colour: { name: "", each: "member", low: 1, high: 0, values: [0, 2], palette: [0, 756] } }, /crowd\.colour/],
]))
  test(`${name} are refused`, () => {
    const { header, buffer } = packed(change);
    if (change.failed) new Uint32Array(buffer, 48, 1)[0] = 9;
    assert.throws(() => readCloud(header, buffer), message);
  });
