// The motion between keyframes.  The attitude is q0 exp(ψ(s)) with ψ a cubic that has the angular velocities
// at both ends, so keyframes may be many turns apart.  keyframes.py does the same in NumPy.

import { addScaled, copyVector, cross, dot, exponential, multiplyQuaternions, norm, relativeQuaternion, scaleVector, setQuaternion } from "./vectors.js";

/** @typedef {import("./vectors.js").Numbers} Numbers */
/** @typedef {{t: Float64Array, q: Float32Array, omega: Float32Array}} Motion */
/** @typedef {{t: Float64Array, x: Float32Array, v: Float32Array, origin: Numbers}} Path */

const q0 = new Float64Array(4), q1 = new Float64Array(4), turn = new Float64Array(4);
const omega0 = new Float64Array(3), omega1 = new Float64Array(3), mean = new Float64Array(3), axis = new Float64Array(3);
const whole = new Float64Array(3), start = new Float64Array(3), stop = new Float64Array(3);
const psi = new Float64Array(3), slope = new Float64Array(3), c1 = new Float64Array(3), c2 = new Float64Array(3);

/** The last row whose time is not after t, at most the last but one. @param {Float64Array} times @param {number} t */
export function rowBefore(times, t) {
  let lo = 0, hi = times.length - 1;
  while (hi - lo > 1) {
    const middle = (lo + hi) >> 1;
    if (times[middle] <= t) lo = middle;
    else hi = middle;
  }
  return lo;
}

/** @param {number} t @param {Float64Array} times */
export const clampTime = (t, times) => Math.min(Math.max(t, times[0]), times[times.length - 1]);

/** dexp⁻¹: the rate of ψ for the angular velocity w in body axes. @param {Float64Array} out @param {Numbers} p @param {Numbers} w */
function inverseDexp(out, p, w) {
  const square = dot(p, p), a = Math.sqrt(square);
  const k = square < 1e-6 ? 1 / 12 + square / 720 : (1 - a / 2 / Math.tan(a / 2)) / square;
  cross(c1, p, w);
  cross(c2, p, c1);
  return addScaled(out, addScaled(out, w, c1, 0.5), c2, k);
}

/** dexp: the angular velocity in body axes for the rate r of ψ. @param {Numbers} out @param {Numbers} p @param {Numbers} r */
function dexp(out, p, r) {
  const square = dot(p, p), a = Math.sqrt(square), sine = Math.sin(a / 2);
  const b = square < 1e-6 ? 0.5 - square / 24 : 2 * sine * sine / square;
  const c = square < 1e-6 ? 1 / 6 - square / 120 : (a - Math.sin(a)) / (square * a);
  cross(c1, p, r);
  cross(c2, p, c1);
  return addScaled(out, addScaled(out, r, c1, -b), c2, c);
}

/** The rotation vector from q0 to q1, with the whole turns that the mean rate asks for. @param {number} h */
function wholeTurn(h) {
  const d = relativeQuaternion(turn, q0, q1), sine = Math.sqrt(d[1] * d[1] + d[2] * d[2] + d[3] * d[3]);
  addScaled(mean, omega0, omega1, 1);
  scaleVector(mean, mean, h / 2);
  copyVector(whole, d, 1);
  if (sine > 1e-12) scaleVector(axis, whole, 1 / sine);
  else scaleVector(axis, mean, 1 / (norm(mean) || 1));
  scaleVector(whole, whole, sine > 1e-12 ? 2 * Math.atan2(sine, d[0]) / sine : 2);
  const missing = (dot(mean, axis) - dot(whole, axis)) / (2 * Math.PI);
  addScaled(whole, whole, axis, 2 * Math.PI * Math.round(missing));
}

/** @param {Motion} motion @param {number} row */
function loadInterval(motion, row) {
  const { q, omega } = motion, i = 4 * row;
  setQuaternion(q0, q[i], q[i + 1], q[i + 2], q[i + 3]);
  setQuaternion(q1, q[i + 4], q[i + 5], q[i + 6], q[i + 7]);
  copyVector(omega0, omega, 3 * row);
  copyVector(omega1, omega, 3 * row + 3);
}

/**
 * The attitude and the angular velocity (body axes) at time t, which is clamped to the run.
 * @param {Motion} motion @param {number} t @param {Numbers} q @param {Numbers} omega
 */
export function between(motion, t, q, omega) {
  const times = motion.t;
  if (times.length === 1) {
    for (let i = 0; i < 4; i++) q[i] = motion.q[i];
    copyVector(omega, motion.omega);
    return;
  }
  t = clampTime(t, times);
  const row = rowBefore(times, t), h = times[row + 1] - times[row], s = (t - times[row]) / h;
  loadInterval(motion, row);
  wholeTurn(h);
  scaleVector(start, omega0, h);
  scaleVector(stop, inverseDexp(stop, whole, omega1), h);
  const s2 = s * s, s3 = s2 * s;
  scaleVector(psi, start, s3 - 2 * s2 + s);
  addScaled(psi, psi, whole, 3 * s2 - 2 * s3);
  addScaled(psi, psi, stop, s3 - s2);
  scaleVector(slope, start, (3 * s2 - 4 * s + 1) / h);
  addScaled(slope, slope, whole, (6 * s - 6 * s2) / h);
  addScaled(slope, slope, stop, (3 * s2 - 2 * s) / h);
  dexp(omega, psi, slope);
  multiplyQuaternions(q, q0, exponential(turn, psi));
}

/** The place on a path, cubic between its rows, relative to its origin. @param {Path} path @param {number} t @param {Numbers} out */
export function placeBetween(path, t, out) {
  const { t: times, x, v } = path;
  if (times.length === 1) return copyVector(out, x);
  t = clampTime(t, times);
  const row = rowBefore(times, t), h = times[row + 1] - times[row], s = (t - times[row]) / h;
  const s2 = s * s, s3 = s2 * s, last = 3 * s2 - 2 * s3;
  for (let i = 0, k = 3 * row; i < 3; i++, k++)
    out[i] = (1 - last) * x[k] + last * x[k + 3] + h * ((s3 - 2 * s2 + s) * v[k] + (s3 - s2) * v[k + 3]);
  return out;
}

/** Rows of three numbers, linear between. @param {Float64Array} times @param {Float32Array} rows @param {number} t @param {Numbers} out */
export function linearBetween(times, rows, t, out) {
  if (times.length === 1) return copyVector(out, rows);
  t = clampTime(t, times);
  const row = rowBefore(times, t), s = (t - times[row]) / (times[row + 1] - times[row]);
  for (let i = 0, k = 3 * row; i < 3; i++, k++) out[i] = (1 - s) * rows[k] + s * rows[k + 3];
  return out;
}
