// From the packed header and blob to checked typed arrays.  Whatever does not fit is refused by name.

/** @typedef {[number, number]} Ref */
/** @typedef {{name: string, unit: string, labels: string[], t: Float64Array, values: (Float32Array | Float64Array)[], log: boolean}} Series */
/** @typedef {{t: Float64Array, x: Float32Array, v: Float32Array, origin: number[]}} PathData */
/**
 * @typedef {object} Run
 * @property {string} name @property {[string, string][]} facts @property {boolean} failed
 * @property {Float64Array} t @property {Float32Array} q @property {Float32Array} omega @property {Float32Array | null} torque
 * @property {number[] | null} inertia @property {PathData | null} path
 * @property {Float32Array} vertices @property {Uint32Array} faces @property {string} drawn
 * @property {{name: string, radius: number} | null} globe @property {number} reach @property {number[][]} points
 * @property {number} trail @property {number} turns @property {boolean} free @property {number[]} up
 * @property {{height: number} | null} ground @property {Series[]} series
 */
/** @typedef {{header: any, runs: Run[], notes: string[], start: number, end: number, past?: import("./live.js").Past}} Film */

const KINDS = { f8: Float64Array, f4: Float32Array, u4: Uint32Array, i2: Int16Array, u1: Uint8Array };

/** Unpack data as it lies in a page: planes of bytes, gzip, base64. @param {string} text @returns {Promise<ArrayBuffer>} */
export async function unpack(text) {
  const raw = atob(text.trim()), bytes = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; i++) bytes[i] = raw.charCodeAt(i);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return fromPlanes(new Uint8Array(await new Response(stream).arrayBuffer()));
}

/** Words of four bytes, from all their first bytes, then all their second ones, and so on. @param {Uint8Array} planes @returns {ArrayBuffer} */
export function fromPlanes(planes) {
  const words = new Uint8Array(planes.length), count = planes.length / 4;
  demand(Number.isInteger(count), "data", `has ${planes.length} bytes, not a multiple of 4`);
  for (let k = 0; k < 4; k++) for (let i = 0; i < count; i++) words[4 * i + k] = planes[k * count + i];
  return words.buffer;
}

/** @param {boolean} good @param {string} field @param {string} why @returns {asserts good} */
export function demand(good, field, why) {
  if (!good) throw new Error(`polhode viewer: ${field} ${why}`);
}

/**
 * The array of a ref: within the buffer, of `width` numbers a row, finite unless `gaps`.
 * @template {keyof typeof KINDS} K @param {ArrayBuffer} buffer @param {any} ref @param {K} kind @param {string} field
 * @param {{width?: number, rows?: number, gaps?: boolean}} [want] @returns {InstanceType<(typeof KINDS)[K]>}
 */
export function viewOf(buffer, ref, kind, field, want = {}) {
  const Kind = KINDS[kind], whole = Array.isArray(ref) && ref.length === 2 && ref.every((n) => Number.isSafeInteger(n) && n >= 0);
  demand(whole, field, `must be [byte offset, number of elements], not ${JSON.stringify(ref)}`);
  const [offset, count] = ref, bytes = count * Kind.BYTES_PER_ELEMENT, width = want.width ?? 1;
  demand(offset % 8 === 0, field, `starts at byte ${offset}, which is not a multiple of 8`);
  demand(offset + bytes <= buffer.byteLength, field, `ends at byte ${offset + bytes}, after the data's ${buffer.byteLength}`);
  demand(count % width === 0, field, `has ${count} numbers, not a multiple of ${width}`);
  demand(want.rows === undefined || count === width * want.rows, field, `has ${count / width} rows, not ${want.rows}`);
  const view = new Kind(buffer, offset, count);
  if (!want.gaps && kind[0] === "f") demand(view.every(Number.isFinite), field, "has numbers that are not finite");
  return /** @type {any} */ (view);
}

/** @param {any} value @param {string} field @param {number} [count] @returns {number[]} */
export function numbersOf(value, field, count) {
  const good = Array.isArray(value) && value.every(Number.isFinite) && (count === undefined || value.length === count);
  demand(good, field, `must be ${count ?? ""} finite numbers, not ${JSON.stringify(value)}`);
  return value;
}

/** @param {any} value @param {string} field @param {boolean} [positive] @returns {number} */
export function numberOf(value, field, positive = false) {
  demand(Number.isFinite(value) && (!positive || value > 0), field, `must be a ${positive ? "positive" : "finite"} number, not ${value}`);
  return value;
}

/** @param {Float64Array} times @param {string} field @param {boolean} [strict] */
function demandOrder(times, field, strict = true) {
  demand(times.length > 0, field, "is empty");
  for (let i = 1; i < times.length; i++)
    demand(strict ? times[i] > times[i - 1] : times[i] >= times[i - 1], field, `does not increase at row ${i}`);
}

/** @param {any} path @param {ArrayBuffer} buffer @param {string} field @returns {PathData} */
function readPath(path, buffer, field) {
  const t = viewOf(buffer, path.t, "f8", `${field}.t`), rows = t.length;
  demandOrder(t, `${field}.t`);
  const x = viewOf(buffer, path.x, "f4", `${field}.x`, { width: 3, rows });
  const v = viewOf(buffer, path.v, "f4", `${field}.v`, { width: 3, rows });
  return { t, x, v, origin: numbersOf(path.origin ?? [0, 0, 0], `${field}.origin`, 3) };
}

/** @param {any} series @param {ArrayBuffer} buffer @param {string} field @returns {Series} */
export function readSeries(series, buffer, field) {
  const t = viewOf(buffer, series.t, "f8", `${field}.t`);
  demandOrder(t, `${field}.t`, false);
  demand(Array.isArray(series.values), `${field}.values`, "must be a list of references");
  const values = series.values.map((/** @type {any} */ ref, /** @type {number} */ i) =>
    viewOf(buffer, ref, series.wide ? "f8" : "f4", `${field}.values[${i}]`, { rows: t.length, gaps: true }));
  const labels = values.map((/** @type {any} */ _, /** @type {number} */ i) => String(series.labels?.[i] ?? ""));
  return { name: String(series.name), unit: String(series.unit ?? ""), labels, t, values, log: Boolean(series.log) };
}

/** @param {any} run @param {ArrayBuffer} buffer @param {string} field */
function readMotion(run, buffer, field) {
  const t = viewOf(buffer, run.t, "f8", `${field}.t`), rows = t.length;
  demandOrder(t, `${field}.t`);
  const q = viewOf(buffer, run.q, "f4", `${field}.q`, { width: 4, rows });
  for (let i = 0; i < q.length; i += 4) {
    const square = q[i] ** 2 + q[i + 1] ** 2 + q[i + 2] ** 2 + q[i + 3] ** 2;
    demand(Math.abs(square - 1) < 1e-3, `${field}.q`, `is not a unit quaternion in row ${i / 4}`);
  }
  const omega = viewOf(buffer, run.omega, "f4", `${field}.omega`, { width: 3, rows });
  const torque = run.torque ? viewOf(buffer, run.torque, "f4", `${field}.torque`, { width: 3, rows }) : null;
  return { t, q, omega, torque };
}

/** @param {any} run @param {ArrayBuffer} buffer @param {string} field */
function readShape(run, buffer, field) {
  const vertices = viewOf(buffer, run.geometry?.vertices, "f4", `${field}.geometry.vertices`, { width: 3 });
  const faces = viewOf(buffer, run.geometry?.faces, "u4", `${field}.geometry.faces`, { width: 3 });
  demand(faces.every((i) => 3 * i < vertices.length), `${field}.geometry.faces`, "name a vertex that does not exist");
  const globe = run.globe && { name: String(run.globe.name), radius: numberOf(run.globe.radius, `${field}.globe.radius`, true) };
  return { vertices, faces, globe: globe || null, reach: numberOf(run.reach, `${field}.reach`, true), drawn: String(run.drawn ?? "mesh") };
}

/** @param {any} run @param {ArrayBuffer} buffer @param {number} index @returns {Run} */
function readRun(run, buffer, index) {
  const field = `runs[${index}]`, shape = readShape(run, buffer, field);
  const points = (run.points ?? [[0, 0, 1.25 * shape.reach]]).map((/** @type {any} */ p) => numbersOf(p, `${field}.points`, 3));
  return {
    ...readMotion(run, buffer, field), ...shape, points,
    name: String(run.name), failed: Boolean(run.failed), free: Boolean(run.free),
    facts: (run.facts ?? []).map((/** @type {any} */ fact) => /** @type {[string, string]} */ ([String(fact[0]), String(fact[1])])),
    inertia: run.inertia ? numbersOf(run.inertia, `${field}.inertia`, 9) : null,
    path: run.path ? readPath(run.path, buffer, `${field}.path`) : null,
    trail: numberOf(run.trail ?? 0, `${field}.trail`), turns: numberOf(run.turns ?? 0, `${field}.turns`),
    up: numbersOf(run.up ?? [0, 0, 1], `${field}.up`, 3),
    ground: run.ground ? { height: numberOf(run.ground.height, `${field}.ground.height`) } : null,
    series: (run.series ?? []).map((/** @type {any} */ s, /** @type {number} */ i) => readSeries(s, buffer, `${field}.series[${i}]`)),
  };
}

/** Check the header against the data and give typed arrays. @param {any} header @param {ArrayBuffer} buffer @returns {Film} */
export function read(header, buffer) {
  demand(header?.format === 1, "format", `must be 1, not ${header?.format}: the page and its data are of different versions`);
  demand(Array.isArray(header.runs), "runs", "must be a list");
  const runs = header.runs.map((/** @type {any} */ run, /** @type {number} */ i) => readRun(run, buffer, i));
  let start = Infinity, end = -Infinity;
  for (const { t } of runs) {
    start = Math.min(start, t[0]);
    end = Math.max(end, t[t.length - 1]);
  }
  if (!runs.length) start = end = 0;
  return { header, runs, notes: (header.notes ?? []).map(String), start, end };
}
