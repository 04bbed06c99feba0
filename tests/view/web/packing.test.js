// Reading packed runs: what is right becomes arrays, what is wrong is refused by name.

import assert from "node:assert/strict";
import { test } from "node:test";
import { gzipSync } from "node:zlib";

import { read, unpack } from "../../../src/polhode/view/web/packing.js";

/** A run of two keyframes with everything in it. @returns {{header: any, buffer: ArrayBuffer}} */
function packed() {
  /** @type {Uint8Array[]} */
  const parts = [];
  let size = 0;
  /** @param {Float64Array | Float32Array | Uint32Array} array */
  const put = (array) => {
    const bytes = new Uint8Array(8 * Math.ceil(array.byteLength / 8)), at = size;
    bytes.set(new Uint8Array(array.buffer));
    parts.push(bytes);
    size += bytes.length;
    return [at, array.length];
  };
  const t = put(Float64Array.of(0, 2)), run = {
    name: "run <b>", facts: [["status", "success"]], failed: false, t, q: put(Float32Array.of(1, 0, 0, 0, 0, 1, 0, 0)), omega: put(new Float32Array(6)),
    torque: put(new Float32Array(6)), inertia: [1, 0, 0, 0, 2, 0, 0, 0, 3], path: { t, x: put(new Float32Array(6)), v: put(new Float32Array(6)), origin: [0, 0, 1] },
    geometry: { vertices: put(Float32Array.of(0, 0, 0, 1, 0, 0, 0, 1, 0)), faces: put(Uint32Array.of(0, 1, 2)) }, drawn: "mesh", globe: null, reach: 1,
    points: [[0, 0, 1]], trail: 1, turns: 3, free: true, up: [0, 0, 1], ground: { height: -1 },
    series: [{ name: "drift", unit: "", labels: ["energy"], t, values: [put(Float32Array.of(NaN, 1e-9))], log: true }],
  };
  const whole = new Uint8Array(size);
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return { header: { format: 1, kind: "runs", title: "", notes: ["thinned"], runs: [run] }, buffer: whole.buffer };
}

test("what was packed is read", () => {
  const { header, buffer } = packed(), film = read(header, buffer), [run] = film.runs;
  assert.deepEqual([film.start, film.end, film.notes], [0, 2, ["thinned"]]);
  assert.deepEqual([...run.q], [1, 0, 0, 0, 0, 1, 0, 0]);
  assert.deepEqual([...run.faces], [0, 1, 2]);
  assert.ok(Number.isNaN(run.series[0].values[0][0])); // a gap
  assert.equal(run.name, "run <b>"); // text stays text
  assert.equal(run.path?.origin[2], 1);
});

test("the data may lack what is optional", () => {
  const { header, buffer } = packed(), [run] = header.runs;
  for (const name of ["torque", "inertia", "path", "globe", "ground", "up", "points", "series", "facts", "turns", "trail"]) delete run[name];
  const [bare] = read(header, buffer).runs;
  assert.deepEqual([bare.torque, bare.inertia, bare.path, bare.ground], [null, null, null, null]);
  assert.deepEqual([bare.up, bare.points], [[0, 0, 1], [[0, 0, 1.25]]]);
});

/** @type {[string, RegExp, (header: any, buffer: ArrayBuffer) => void][]} */
const WRONG = [
  ["another format", /format must be 1, not 2/, (header) => (header.format = 2)],
  ["no runs", /runs must be a list/, (header) => delete header.runs],
  ["a ref after the end", /runs\[0\]\.q ends at byte 4032, after the data's \d+/, (header) => (header.runs[0].q = [4000, 8])],
  ["a negative ref", /runs\[0\]\.t must be \[byte offset, number of elements\], not \[-8,2\]/, (header) => (header.runs[0].t = [-8, 2])],
  ["a broken ref", /runs\[0\]\.omega must be \[byte offset/, (header) => (header.runs[0].omega = "all")],
  ["a fractional ref", /runs\[0\]\.omega must be/, (header) => (header.runs[0].omega = [0, 1.5])],
  ["an odd offset", /runs\[0\]\.omega starts at byte 4, which is not a multiple of 8/, (header) => (header.runs[0].omega = [4, 6])],
  ["too few rates", /runs\[0\]\.omega has 1 rows, not 2/, (header) => (header.runs[0].omega[1] = 3)],
  ["a torn row", /runs\[0\]\.q has 7 numbers, not a multiple of 4/, (header) => (header.runs[0].q[1] = 7)],
  ["too many torques", /runs\[0\]\.torque has 1 rows, not 2/, (header) => (header.runs[0].torque[1] = 3)],
  ["NaN in an attitude", /runs\[0\]\.q has numbers that are not finite/, (header, buffer) => (new Float32Array(buffer, header.runs[0].q[0], 1)[0] = NaN)],
  ["infinite time", /runs\[0\]\.t has numbers that are not finite/, (header, buffer) => (new Float64Array(buffer, header.runs[0].t[0], 2)[1] = Infinity)],
  ["time that stands", /runs\[0\]\.t does not increase at row 1/, (header, buffer) => (new Float64Array(buffer, header.runs[0].t[0], 2)[1] = 0)],
  ["no keyframe", /runs\[0\]\.t is empty/, (header) => (header.runs[0].t = [0, 0])],
  ["no unit quaternion", /runs\[0\]\.q is not a unit quaternion in row 1/, (header, buffer) => (new Float32Array(buffer, header.runs[0].q[0], 8)[5] = 2)],
  ["a missing vertex", /runs\[0\]\.geometry\.faces name a vertex that does not exist/, (header, buffer) => (new Uint32Array(buffer, header.runs[0].geometry.faces[0], 3)[2] = 3)],
  ["no geometry", /runs\[0\]\.geometry\.vertices must be/, (header) => delete header.runs[0].geometry],
  ["no size", /runs\[0\]\.reach must be a positive number, not 0/, (header) => (header.runs[0].reach = 0)],
  ["a short matrix", /runs\[0\]\.inertia must be 9 finite numbers/, (header) => header.runs[0].inertia.pop()],
  ["a text for a number", /runs\[0\]\.ground\.height must be a finite number, not high/, (header) => (header.runs[0].ground.height = "high")],
  ["a path of other length", /runs\[0\]\.path\.x has 1 rows, not 2/, (header) => (header.runs[0].path.x[1] = 3)],
  ["a curve of other length", /runs\[0\]\.series\[0\]\.values\[0\] has 1 rows, not 2/, (header) => (header.runs[0].series[0].values[0][1] = 1)],
];

for (const [what, message, spoil] of WRONG)
  test(`refused: ${what}`, () => {
    const { header, buffer } = packed();
    spoil(header, buffer);
    assert.throws(() => read(header, buffer), message);
  });

test("gzip in base64 is unpacked", async () => {
  const bytes = Uint8Array.from({ length: 1000 }, (_, i) => i % 251), text = gzipSync(bytes).toString("base64");
  assert.deepEqual(new Uint8Array(await unpack(`\n${text}\n`)), bytes);
});
