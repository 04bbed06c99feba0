// The data of an ensemble: directions or positions of many bodies at a few times, and what colours them.

import { demand, numberOf, numbersOf, readSeries, viewOf } from "./packing.js";
import { normalise, setVector } from "./vectors.js";

/** @typedef {import("./vectors.js").Numbers} Numbers */
/** @typedef {import("./packing.js").Series} Series */
/**
 * @typedef {object} Colour
 * @property {string} name @property {string} unit @property {boolean} changes with time
 * @property {number} low @property {number} high @property {[number, string][] | null} ticks where values stand for names
 * @property {Uint8Array} values 0 … 251, or 255: none @property {Uint8Array} palette three bytes a level
 */
/**
 * @typedef {object} Cloud
 * @property {boolean} inSpace positions, not directions @property {string} name @property {string} label @property {string[]} axes their names
 * @property {[string, string][]} facts @property {boolean} failed
 * @property {Float64Array} t of the frames @property {number} bodies how many
 * @property {Int16Array} points @property {number} width numbers of a point @property {Float64Array} centre of the box
 * @property {Float64Array} half the sizes of the box, the largest being 1 @property {number} unit what 1 is in metres
 * @property {"slerp" | "linear" | "jump"} between @property {Uint32Array} numbers of the members @property {Colour} colour
 * @property {Float32Array} until when a body failed, infinite if it did not @property {number} failures
 * @property {Series[]} series @property {number} frame the one before the time now @property {number} next
 * @property {number} share of the way to the next @property {number} time
 */

const LARGEST = 32767, NOTHING = -32768; // 16-bit numbers, as in crowd.py
export const LEVELS = 252, MISSING = 255; // as in colours.py

/** The unit vector of two 16-bit numbers: the octahedron is unfolded into a square. @template {Numbers} T @param {T} out @param {number} x @param {number} y */
export function fromOctahedron(out, x, y) {
  x /= LARGEST;
  y /= LARGEST;
  const z = 1 - Math.abs(x) - Math.abs(y), fold = Math.max(-z, 0);
  return normalise(out, setVector(out, x < 0 ? x + fold : x - fold, y < 0 ? y + fold : y - fold, z));
}

/** Where a body is drawn at a frame; false where there is nothing. @param {Numbers} out @param {Cloud} cloud @param {number} body @param {number} frame */
export function placeInFrame(out, cloud, body, frame) {
  const { points, width, half } = cloud, i = width * (frame * cloud.bodies + body);
  if (points[i] === NOTHING) return false;
  if (cloud.inSpace) for (let k = 0; k < 3; k++) out[k] = points[i + k] / LARGEST * half[k];
  else fromOctahedron(out, points[i], points[i + 1]);
  return true;
}

/** Set the time: the frames before and after it. @param {Cloud} cloud @param {number} time */
export function setCloudTime(cloud, time) {
  const { t } = cloud;
  let low = 0, high = t.length - 1;
  while (high > low) {
    const middle = (low + high + 1) >> 1;
    if (t[middle] <= time) low = middle;
    else high = middle - 1;
  }
  const last = low === t.length - 1;
  cloud.time = time;
  cloud.frame = low;
  cloud.next = last || cloud.between === "jump" ? low : low + 1;
  cloud.share = cloud.next === low ? 0 : Math.min(Math.max((time - t[low]) / (t[low + 1] - t[low]), 0), 1);
}

const ahead = new Float64Array(3);

/** Where a body is drawn now; false where there is nothing. @param {Numbers} out @param {Cloud} cloud @param {number} body */
export function placeNow(out, cloud, body) {
  const { share } = cloud;
  if (!placeInFrame(out, cloud, body, cloud.frame)) return false;
  if (share === 0 || !placeInFrame(ahead, cloud, body, cloud.next)) return true;
  let p = 1 - share, q = share;
  if (!cloud.inSpace) {
    const angle = Math.acos(Math.min(out[0] * ahead[0] + out[1] * ahead[1] + out[2] * ahead[2], 1));
    if (angle > 1e-3) {
      p = Math.sin(p * angle) / Math.sin(angle);
      q = Math.sin(q * angle) / Math.sin(angle);
    }
  }
  for (let k = 0; k < 3; k++) out[k] = p * out[k] + q * ahead[k];
  return true;
}

/** The level of a body's colour now, from 0 to 251; -1 if it has none. @param {Cloud} cloud @param {number} body */
export function levelNow(cloud, body) {
  const { values, changes } = cloud.colour, first = values[(changes ? cloud.frame * cloud.bodies : 0) + body];
  if (first === MISSING) return -1;
  const second = changes ? values[cloud.next * cloud.bodies + body] : first;
  return second === MISSING ? first : first + cloud.share * (second - first);
}

/** @param {Colour} colour @param {number} level */
export const valueOfLevel = (colour, level) => colour.low + (colour.high - colour.low) * level / (LEVELS - 1);

/** The value in words, to the precision of the levels. @param {Colour} colour @param {number} level */
export function valueText(colour, level) {
  if (level < 0) return "no value";
  const value = valueOfLevel(colour, level);
  if (colour.ticks) return colour.ticks[Math.round(value)]?.[1] ?? String(value);
  const digits = Math.max(1, Math.ceil(Math.log10(Math.max(Math.abs(value) / ((colour.high - colour.low) / 300), 10))));
  const text = Number(value.toPrecision(Math.min(digits, 12))).toString();
  return colour.unit ? `${text}${colour.unit === "°" ? "" : " "}${colour.unit}` : text;
}

/** @param {any} colour @param {ArrayBuffer} buffer @param {number} bodies @param {number} frames @returns {Colour} */
function readColour(colour, buffer, bodies, frames) {
  const field = "crowd.colour", changes = colour?.each === "frame";
  demand(changes || colour?.each === "member", `${field}.each`, "must be member or frame");
  const values = viewOf(buffer, colour.values, "u1", `${field}.values`, { rows: changes ? bodies * frames : bodies });
  const palette = viewOf(buffer, colour.palette, "u1", `${field}.palette`, { width: 3, rows: LEVELS });
  const low = numberOf(colour.low, `${field}.low`), high = numberOf(colour.high, `${field}.high`);
  demand(high > low, `${field}.high`, "must be above low");
  const ticks = colour.ticks?.map((/** @type {any} */ tick) => [numberOf(tick[0], `${field}.ticks`), String(tick[1])]) ?? null;
  return { name: String(colour.name), unit: String(colour.unit ?? ""), changes, low, high, ticks, values, palette };
}

/** @param {any} box @returns {{centre: Float64Array, half: Float64Array, unit: number}} */
function readBox(box) {
  const centre = new Float64Array(3), half = new Float64Array([1, 1, 1]);
  if (!box) return { centre, half, unit: 1 };
  const low = numbersOf(box.low, "crowd.box.low", 3), high = numbersOf(box.high, "crowd.box.high", 3);
  demand(low.every((x, k) => high[k] > x), "crowd.box.high", "must be above low");
  const unit = Math.max(...low.map((x, k) => (high[k] - x) / 2));
  low.forEach((x, k) => {
    centre[k] = (x + high[k]) / 2;
    half[k] = (high[k] - x) / 2 / unit;
  });
  return { centre, half, unit };
}

/** @param {any} failed @param {ArrayBuffer} buffer @param {number} bodies */
function readFailures(failed, buffer, bodies) {
  const until = new Float32Array(bodies).fill(Infinity);
  if (!failed) return { until, failures: 0 };
  const some = viewOf(buffer, failed.bodies, "u4", "crowd.failed.bodies");
  const t = viewOf(buffer, failed.t, "f8", "crowd.failed.t", { rows: some.length, gaps: true });
  some.forEach((body, i) => {
    demand(body < bodies, "crowd.failed.bodies", `name ${body} of ${bodies}`);
    until[body] = t[i];
  });
  return { until, failures: some.length };
}

/** Check the header of an ensemble against its data. @param {any} header @param {ArrayBuffer} buffer @returns {Cloud} */
export function readCloud({ crowd, title: name }, buffer) {
  const t = viewOf(buffer, crowd.t, "f8", "crowd.t"), inSpace = crowd.where === "space", width = inSpace ? 3 : 2;
  demand(t.length > 0 && t.every((x, i) => i === 0 || x > t[i - 1]), "crowd.t", "must be times that increase");
  const steps = viewOf(buffer, crowd.members, "u4", "crowd.members"), bodies = steps.length;
  const points = viewOf(buffer, crowd.points, "i2", "crowd.points", { width, rows: bodies * t.length });
  demand(["slerp", "linear", "jump"].includes(crowd.between), "crowd.between", "must be slerp, linear or jump");
  const numbers = new Uint32Array(bodies);
  for (let i = 0, sum = 0; i < bodies; i++) numbers[i] = sum += steps[i];
  return {
    inSpace, width, t, bodies, points, numbers, name: String(name), label: String(crowd.label), failed: false,
    axes: [0, 1, 2].map((k) => String(crowd.axes?.[k] ?? "xyz"[k])),
    facts: (crowd.facts ?? []).map((/** @type {any} */ fact) => /** @type {[string, string]} */ ([String(fact[0]), String(fact[1])])),
    ...readBox(crowd.box), ...readFailures(crowd.failed, buffer, bodies), between: crowd.between,
    colour: readColour(crowd.colour, buffer, bodies, t.length),
    series: (crowd.series ?? []).map((/** @type {any} */ s, /** @type {number} */ i) => readSeries(s, buffer, `crowd.series[${i}]`)),
    frame: 0, next: 0, share: 0, time: t[0],
  };
}
