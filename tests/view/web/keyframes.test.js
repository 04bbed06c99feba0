// The motion between keyframes, against motions known in closed form.

import assert from "node:assert/strict";
import { test } from "node:test";

import { between, linearBetween, placeBetween, rowBefore } from "../../../src/polhode/view/web/keyframes.js";
import { angleBetween, exponential, multiplyQuaternions, norm, normalise, rotate } from "../../../src/polhode/view/web/vectors.js";

/** Keyframes of a known motion, in double precision: rounding to single must not blur what is tested. @param {number[]} times @param {(t: number) => {q: number[], omega: number[]}} motion */
function keyframes(times, motion) {
  const rows = times.map(motion);
  return /** @type {any} */ ({
    t: Float64Array.from(times), q: Float64Array.from(rows.flatMap(({ q }) => q)), omega: Float64Array.from(rows.flatMap(({ omega }) => omega)),
  });
}

/** The largest errors of attitude and angular velocity. @param {any} frames @param {(t: number) => {q: number[], omega: number[]}} motion @param {number} count */
function errors(frames, motion, count) {
  const q = new Float64Array(4), omega = new Float64Array(3), first = frames.t[0], span = frames.t.at(-1) - first;
  let angle = 0, rate = 0;
  for (let i = 0; i <= count; i++) {
    const t = first + span * i / count, want = motion(t);
    between(frames, t, q, omega);
    angle = Math.max(angle, angleBetween(q, want.q));
    rate = Math.max(rate, Math.hypot(...want.omega.map((w, k) => w - omega[k])));
  }
  return { angle, rate };
}

const attitude = [0.5, -0.5, 0.1, 0.7].map((x) => x / Math.hypot(0.5, 0.5, 0.1, 0.7));

/** A constant rate. @param {number[]} omega */
const constant = (omega) => (/** @type {number} */ t) => ({ q: multiplyQuaternions([0, 0, 0, 0], attitude, exponential([0, 0, 0, 0], omega.map((w) => w * t))), omega });

/** A free symmetric top: turns about L and about its own axis. @param {number} a moment across @param {number} c along the axis @param {number} tilt @param {number} spin ω₃ */
function symmetricTop(a, c, tilt, spin) {
  const across = c * spin * Math.tan(tilt) / a, precession = c * spin / (a * Math.cos(tilt)), own = (1 - c / a) * spin;
  return (/** @type {number} */ t) => {
    const q = multiplyQuaternions([0, 0, 0, 0], exponential([0, 0, 0, 0], [0, 0, precession * t]), exponential([0, 0, 0, 0], [0, tilt, 0]));
    multiplyQuaternions(q, q, exponential([0, 0, 0, 0], [0, 0, own * t]));
    return { q, omega: [-across * Math.cos(own * t), across * Math.sin(own * t), spin] };
  };
}

test("a constant rate is met exactly, many turns from one keyframe to the next", () => {
  for (const turns of [0.3, 0.98, 2.5, 7.1, 40.2]) { // after whole turns dexp has no inverse: keyframes are chosen elsewhere
    const omega = normalise([0, 0, 0], [0.3, -1, 2]).map((x) => x * 2 * Math.PI * turns), motion = constant(omega);
    const { angle, rate } = errors(keyframes([0, 1, 2], motion), motion, 500);
    assert.ok(angle < 1e-12 * (1 + turns), `${turns} turns: angle ${angle}`);
    assert.ok(rate < 2e-11 * (1 + turns), `${turns} turns: rate ${rate}`);
  }
});

test("a whole number of turns between keyframes is not taken for rest", () => {
  const motion = constant([0, 0, 6 * Math.PI]), { angle } = errors(keyframes([0, 1], motion), motion, 50);
  assert.ok(angle < 1e-12, String(angle));
});

test("the free symmetric top is a solution of its own equations", () => {
  const motion = symmetricTop(1, 1.8, 0.4, 3), h = 1e-4; // the reference itself: q' = q ω / 2, and L fixed
  for (const t of [0, 0.7, 2.9]) {
    const { q, omega } = motion(t), slope = motion(t + h).q.map((x, i) => (x - motion(t - h).q[i]) / (2 * h));
    multiplyQuaternions(q, q, [0, ...omega]).forEach((x, i) => assert.ok(Math.abs(x / 2 - slope[i]) < 1e-6));
    const L = rotate([0, 0, 0], motion(t).q, [omega[0], omega[1], 1.8 * omega[2]]);
    assert.ok(Math.hypot(L[0], L[1]) < 1e-12 * norm(L));
  }
});

test("a free symmetric top is met with errors that fall as h⁴", () => {
  const motion = symmetricTop(1, 1.8, 0.4, 3), steps = [20, 40, 80].map((n) => Array.from({ length: n + 1 }, (_, i) => 4 * i / n));
  const found = steps.map((times) => errors(keyframes(times, motion), motion, 2000));
  assert.ok(found[0].angle < 3e-4 && found[2].angle < 1.5e-6, JSON.stringify(found));
  for (const k of [0, 1]) assert.ok(found[k].angle / found[k + 1].angle > 13, JSON.stringify(found));
  for (const k of [0, 1]) assert.ok(found[k].rate / found[k + 1].rate > 7, JSON.stringify(found));
});

test("the angular velocity is that of the attitude drawn", () => {
  const motion = symmetricTop(1, 0.3, 0.9, 5), frames = keyframes([0, 0.5, 1.1, 1.4], motion), h = 1e-5;
  const q = new Float64Array(4), before = new Float64Array(4), after = new Float64Array(4), omega = new Float64Array(3), unused = new Float64Array(3);
  for (const t of [0.1, 0.33, 0.8, 1.2]) {
    between(frames, t, q, omega);
    between(frames, t - h, before, unused);
    between(frames, t + h, after, unused);
    const slope = after.map((x, i) => (x - before[i]) / (2 * h)), want = multiplyQuaternions([0, 0, 0, 0], q, [0, ...omega]);
    want.forEach((x, i) => assert.ok(Math.abs(x / 2 - slope[i]) < 1e-8));
  }
});

test("keyframes are met, times outside are clamped, one keyframe is enough", () => {
  const motion = symmetricTop(1, 1.8, 0.4, 3), frames = keyframes([1, 1.3, 1.5], motion), q = new Float64Array(4), omega = new Float64Array(3);
  for (const [t, at] of [[1, 1], [1.3, 1.3], [1.5, 1.5], [-7, 1], [99, 1.5]]) {
    between(frames, t, q, omega);
    assert.ok(angleBetween(q, motion(at).q) < 1e-12);
    assert.ok(Math.hypot(...motion(at).omega.map((w, k) => w - omega[k])) < 1e-11);
  }
  between(keyframes([2], motion), 5, q, omega);
  assert.ok(angleBetween(q, motion(2).q) < 1e-12);
});

test("a body at rest stays, also where q changes its sign", () => {
  const frames = /** @type {any} */ ({ t: new Float64Array([0, 1]), q: new Float32Array([1, 0, 0, 0, -1, 0, 0, 0]), omega: new Float32Array(6) });
  const q = new Float64Array(4), omega = new Float64Array(3);
  between(frames, 0.5, q, omega);
  assert.ok(angleBetween(q, [1, 0, 0, 0]) < 1e-6);
  assert.ok([...q, ...omega].every(Number.isFinite));
});

test("rows are found, also the first and the last", () => {
  const times = new Float64Array([0, 1, 2, 4]);
  assert.deepEqual([-1, 0, 0.5, 1, 3.9, 4, 9].map((t) => rowBefore(times, t)), [0, 0, 0, 1, 2, 2, 2]);
});

test("a parabola is a path that is met exactly; torques are linear", () => {
  const fall = (/** @type {number} */ t) => [3 * t, -t, 5 + 4 * t - 4.905 * t * t], times = [0, 0.5, 2], out = [0, 0, 0];
  const path = /** @type {any} */ ({ t: Float64Array.from(times), x: times.flatMap(fall), v: times.flatMap((t) => [3, -1, 4 - 9.81 * t]), origin: [0, 0, 0] });
  for (const t of [0, 0.2, 0.5, 1.7, 2]) placeBetween(path, t, out).forEach((x, i) => assert.ok(Math.abs(x - fall(t)[i]) < 1e-13));
  assert.deepEqual(linearBetween(new Float64Array([0, 2]), new Float32Array([0, 0, 0, 4, 8, -2]), 0.5, out), [1, 2, -0.5]);
});
