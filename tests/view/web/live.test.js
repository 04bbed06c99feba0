// What a page keeps of a simulation that it follows.

import assert from "node:assert/strict";
import test from "node:test";

import { Past } from "../../../src/polhode/view/web/live.js";

const RUN = /** @type {any} */ ({ path: { origin: [1, 2, 3] } });

/** @param {number} t @param {{[place: number]: number | null}} [numbers] */
function state(t, numbers = {}) {
  const made = /** @type {(number | null)[]} */ (new Array(18).fill(0));
  made[0] = t;
  made[1] = 1;
  return Object.assign(made, numbers);
}

test("states are kept in order, places from the origin", () => {
  const past = new Past(RUN, { mass: 2, energy: true });
  past.push(state(0, { 11: 4, 12: 5, 13: 7 }));
  past.push(state(0.5, { 8: 0.1, 9: 0.2, 10: 0.3 }));
  assert.equal(past.count, 2);
  assert.deepEqual([...past.t.subarray(0, 2)], [0, 0.5]);
  assert.deepEqual([...past.places.subarray(0, 6)], [3, 3, 4, -1, -2, -3]);
  assert.deepEqual([...past.rates.subarray(3, 6)], [0.1, 0.2, 0.3]);
});

test("a state that is not later replaces what came after it", () => {
  const past = new Past(RUN, { mass: 2, energy: false });
  for (const t of [0, 1, 2, 3, 4]) past.push(state(t));
  past.push(state(2, { 11: 9 }));
  assert.equal(past.count, 3);
  assert.equal(past.t[2], 2);
  assert.equal(past.places[6], 8);
});

test("the arrays never grow, and the oldest states go", () => {
  const past = new Past(RUN, { mass: 2, energy: false }), arrays = [past.t, past.attitudes, past.rates, past.places, ...past.columns];
  const lengths = arrays.map((array) => array.length);
  for (let k = 0; k < 2000; k++) past.push(state(k, { 8: k }));
  assert.equal(past.count, 1200);
  assert.equal(past.t[0], 800);
  assert.equal(past.series[0].t[0], 800);
  assert.equal(past.series[0].values[0][0], 800);
  assert.equal(past.series[0].values[0][1199], 1999);
  assert.deepEqual([past.t, past.attitudes, past.rates, past.places, ...past.columns].map((array) => array.length), lengths);
  assert.ok(arrays.every((array, i) => array === [past.t, past.attitudes, past.rates, past.places, ...past.columns][i]));
});

test("what is not filled yet looks like the last state: times never decrease", () => {
  const past = new Past(RUN, { mass: 2, energy: false });
  past.push(state(1, { 8: 5 }));
  past.push(state(2, { 8: 6 }));
  const { t, values } = past.series[0];
  assert.deepEqual([t[0], t[1], t[2], t[1199]], [1, 2, 2, 2]);
  assert.deepEqual([values[0][0], values[0][1], values[0][1199]], [5, 6, 6]);
});

test("energies and momenta are those of the state", () => {
  const past = new Past(RUN, { mass: 2, energy: true }), half = Math.SQRT1_2;
  // a quarter turn about z takes the momentum from x to y
  past.push(state(0, { 1: half, 4: half, 5: 3, 8: 4, 14: 1, 15: 2, 17: 20 }));
  const [kinetic, potential, total] = past.series[1].values.map((column) => column[0]);
  assert.equal(kinetic, 0.5 * 12 + 0.5 * 2 * 5);
  assert.deepEqual([potential, total], [9, 20]);
  const momentum = past.series[2].values.map((column) => column[0]);
  assert.ok(Math.hypot(momentum[0], momentum[1] - 3, momentum[2]) < 1e-6);
  past.push(state(1, { 17: null }));
  assert.ok(Number.isNaN(past.series[1].values[2][1]));
});
