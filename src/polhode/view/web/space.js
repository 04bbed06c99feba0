// The body in space: its surface, axes, arrows, trails and path.  A scene is what one pane shows: whatever has a pane
// and draw(pane, time) may stand in its place.

import { arrow, castRay, castRayAtSphere, graticule, HEAD, ON_CURVE, sharpEdges, sphere, surface } from "./geometry.js";
import { between, clampTime, linearBetween, placeBetween } from "./keyframes.js";
import { roundTicks } from "./plots.js";
import { HUES } from "./style.js";
import { addScaled, applyRows, copyVector, dot, matrixAlong, matrixFromQuaternion, norm, normalise, rotate, rotateBack, scaleVector, setQuaternion, setVector, shortestFromZ } from "./vectors.js";

/** @typedef {import("./vectors.js").Numbers} Numbers */
/** @typedef {import("./packing.js").Run} Run */
/** @typedef {import("./camera.js").Pane} Pane */
/** @typedef {import("./camera.js").Subject} Subject */
/** @typedef {import("./webgl.js").Painter} Painter */
/** @typedef {import("./webgl.js").Thing} Thing */
/** @typedef {{put: (pane: Pane, text: string, hue: number, tip: Numbers, base: Numbers, side?: number, faint?: boolean) => void, caption: (pane: Pane, text: string) => void}} Labels */
/**
 * What all scenes share.
 * @typedef {object} Stage
 * @property {Painter} painter @property {import("./style.js").Palette} colours @property {{[name: string]: boolean}} show
 * @property {Labels} labels @property {import("./camera.js").Camera} camera
 */
/**
 * What one pane shows.
 * @typedef {object} Scene
 * @property {Pane} pane
 * @property {(pane: Pane, time: number) => void} draw
 * @property {(x: number, y: number, time: number) => ({run: number, point: number[]} | null)} [pick] the body's point seen at x, y of the canvas
 */

export const AXIS = 1.25; // the length of a drawn body axis, in units of the body's reach
const LONGEST = 1.5; // the longest arrow
const MOST = 2000; // points of a trail
const MOST_OF_PATH = 8000;
const LONGEST_PATH = 12; // of a path that is seen as a whole, in units of the body's reach
const PER_TURN = 64;
const PER_KEYFRAME = 6;
const MOST_HIDING = 3000; // triangles that are looked through at each frame
export const WHOLE = 100; // turns up to which curves of the whole run are drawn
const ZERO = new Float64Array(3), TRAIL_HUES = [0, 3, 1, 2, 4, 5];

/** The largest length of rows of three. @param {Float32Array | null} rows */
function largest(rows) {
  let most = 0;
  for (let i = 0; rows && i < rows.length; i += 3) most = Math.max(most, Math.hypot(rows[i], rows[i + 1], rows[i + 2]));
  return most;
}

/** The state of one run at the time drawn, and in a window of time before it. */
export class Mover {
  /** @param {Run} run @param {number} index */
  constructor(run, index) {
    this.run = run;
    this.index = index;
    this.time = NaN;
    this.q = new Float64Array(4);
    this.omega = new Float64Array(3);
    this.place = new Float64Array(3);
    /** What is added to places: between the origin of the run's path and that of the first run, where both are in one pane. */
    this.shift = new Float64Array(3);
    /** In inertial axes, as the two below. */
    this.spin = new Float64Array(3);
    this.momentum = new Float64Array(3);
    this.torque = new Float64Array(3);
    this.longest = { omega: largest(run.omega), torque: largest(run.torque), momentum: this.largestMomentum() };
    const span = run.t[run.t.length - 1] - run.t[0], inWindow = span > 0 ? run.turns * Math.min(1, run.trail / span) : 0;
    /** Points of the window, and their states: enough for its turns, and for what bends between keyframes. */
    const keyframes = span > 0 ? run.t.length * Math.min(1, run.trail / span) : 0;
    this.most = Math.max(96, Math.min(MOST, Math.round(Math.max(PER_TURN * inWindow, PER_KEYFRAME * keyframes)) + 2));
    this.count = 0;
    this.attitudes = new Float64Array(4 * this.most);
    this.rates = new Float64Array(3 * this.most);
    this.places = new Float64Array(3 * this.most);
  }

  largestMomentum() {
    const { inertia, omega } = this.run, m = [0, 0, 0];
    let most = 0;
    for (let i = 0; inertia && i < omega.length; i += 3) most = Math.max(most, norm(applyRows(m, inertia, copyVector(m, omega, i))));
    return most;
  }

  /** @param {Numbers} shift */
  shiftTo(shift) {
    if (shift[0] === this.shift[0] && shift[1] === this.shift[1] && shift[2] === this.shift[2]) return;
    copyVector(this.shift, shift);
    this.time = NaN; // places are to be computed anew
  }

  /** @param {number} time */
  at(time) {
    if (time === this.time) return;
    this.time = time;
    const { run, q, omega } = this;
    between(run, time, q, omega);
    rotate(this.spin, q, omega);
    if (run.inertia) rotate(this.momentum, q, applyRows(this.momentum, run.inertia, omega));
    if (run.path) addScaled(this.place, placeBetween(run.path, time, this.place), this.shift, 1);
    if (run.torque) linearBetween(run.t, run.torque, time, this.torque);
    this.fillWindow(clampTime(time, run.t));
  }

  /** States at multiples of a fixed step, so that the trail does not shimmer, and at both ends of the window. @param {number} time */
  fillWindow(time) {
    const { run, most } = this, first = Math.max(run.t[0], time - run.trail), step = run.trail / (most - 2);
    this.count = 0;
    if (!(time > first)) return;
    this.fillRow(first);
    for (let k = Math.floor(first / step) + 1; k * step < time && this.count < most - 1; k++) this.fillRow(k * step);
    this.fillRow(time);
  }

  /** @param {number} time */
  fillRow(time) {
    const { run, attitudes, rates, places } = this, k = this.count++;
    between(run, time, rowQ, rowOmega);
    for (let i = 0; i < 4; i++) attitudes[4 * k + i] = rowQ[i];
    for (let i = 0; i < 3; i++) rates[3 * k + i] = rowOmega[i];
    if (!run.path) return;
    placeBetween(run.path, time, rowPlace);
    for (let i = 0; i < 3; i++) places[3 * k + i] = rowPlace[i] + this.shift[i];
  }
}
const rowQ = new Float64Array(4), rowOmega = new Float64Array(3), rowPlace = new Float64Array(3);

/** The axes that a camera preset looks from. @param {Float64Array} out @param {string} preset @param {Mover} mover */
export function presetAxes(out, preset, mover) {
  if (preset === "body") return setQuaternion(out, mover.q[0], mover.q[1], mover.q[2], mover.q[3]);
  normalise(direction, preset === "momentum" && norm(mover.momentum) > 0 ? mover.momentum : mover.run.up);
  return shortestFromZ(out, direction);
}

export const trailPoints = new Float32Array(3 * MOST);
const spaceModel = new Float64Array(16), direction = new Float64Array(3), tip = new Float64Array(3), point = new Float64Array(3), rayOrigin = new Float64Array(3);

/** One run's geometry, and how it is drawn. */
export class Actor {
  /** @param {Stage} stage @param {Mover} mover */
  constructor(stage, mover) {
    const { painter } = stage, { run } = mover;
    this.stage = stage;
    this.mover = mover;
    this.surface = painter.mesh(run.globe ? sphere(36) : surface(run.vertices, run.faces));
    this.edges = run.globe ? painter.lines(graticule(15), ON_CURVE) : painter.lines(sharpEdges(run.vertices, run.faces), 2);
    this.meridian = run.globe ? painter.lines(graticule(0), ON_CURVE) : null;
    this.arrow = painter.mesh(arrow(0.022));
    this.axis = painter.mesh(arrow(0.014));
    this.path = run.path ? this.makePath(run.path) : null;
    /** Whether trails move with the body, as the camera does along a long path: else they would be the path. */
    this.carried = false;
    /** @type {{point: number[], strip: Thing}[]} */
    this.trails = [];
    for (const p of run.points) this.addTrail(p);
  }

  /** @param {number[]} p in body axes */
  addTrail(p) {
    this.trails.push({ point: p, strip: this.stage.painter.strip(this.mover.most) });
  }

  /** @param {import("./packing.js").PathData} path */
  makePath(path) {
    const { t } = path, count = Math.max(2, Math.min(MOST_OF_PATH, 24 * t.length)), points = new Float32Array(3 * count), at = [0, 0, 0];
    for (let i = 0; i < count; i++) points.set(placeBetween(path, t[0] + (t[t.length - 1] - t[0]) * i / (count - 1), at), 3 * i);
    const strip = this.stage.painter.strip(count);
    this.stage.painter.setStrip(strip, points, count);
    return { strip, points };
  }

  /** @param {Pane} pane @param {number} ghost 0 for a solid body, else the number of the ghost */
  draw(pane, ghost) {
    const { stage, mover } = this, { show } = stage;
    if (show.body) this.drawBody(ghost);
    if (show.trail) this.drawTrails(ghost);
    if (show.path && this.path) this.drawPath(this.path.strip);
    if (show.axes) this.drawAxes(pane, ghost);
    if (ghost) return;
    if (show.momentum) this.drawArrow(pane, mover.momentum, mover.longest.momentum, 1, "L", HUES.momentum);
    if (show.omega) this.drawArrow(pane, mover.spin, mover.longest.omega, 0.93, "ω", HUES.omega);
    if (show.torque) this.drawArrow(pane, mover.torque, mover.longest.torque, 0.86, "T", HUES.torque);
  }

  /** @param {number} ghost */
  drawBody(ghost) {
    const { stage, mover } = this, { painter, colours } = stage, { run } = mover;
    const colour = ghost ? colours.runs[ghost % 6] : run.globe ? colours.globes[run.globe.name] ?? colours.body : colours.body;
    matrixFromQuaternion(spaceModel, mover.q, run.globe ? run.globe.radius : 1, mover.place);
    painter.drawMesh(this.surface, spaceModel, colour, ghost ? 0.17 : 1);
    painter.drawLine(this.edges, spaceModel, ghost ? colour : colours.edge, ghost ? 0.85 : run.globe ? 0.25 : 0.7, 1.1);
    if (this.meridian) painter.drawLine(this.meridian, spaceModel, colours.edge, 0.7, 1.6);
  }

  /** @param {number} ghost */
  drawTrails(ghost) {
    const { stage, mover, trails } = this, { painter, colours } = stage;
    for (let k = 0; k < trails.length && mover.count > 1; k++) {
      const { strip } = trails[k];
      this.fillTrail(trails[k].point);
      painter.setStrip(strip, trailPoints, mover.count);
      matrixFromQuaternion(spaceModel, UNTURNED, 1, this.carried ? mover.place : ZERO);
      painter.drawLine(strip, spaceModel, colours.runs[ghost ? ghost % 6 : TRAIL_HUES[k % 6]], ghost ? 0.8 : 1, 2.2, 1.2);
    }
  }

  /** @param {Numbers} p in body axes */
  fillTrail(p) {
    const { count, attitudes, places } = this.mover;
    for (let i = 0; i < count; i++) {
      for (let j = 0; j < 4; j++) rowQ[j] = attitudes[4 * i + j];
      rotate(point, rowQ, p);
      for (let j = 0; j < 3; j++) trailPoints[3 * i + j] = point[j] + (this.carried ? 0 : places[3 * i + j]);
    }
  }

  /** @param {Thing} strip */
  drawPath(strip) {
    matrixFromQuaternion(spaceModel, UNTURNED, 1, this.mover.shift);
    this.stage.painter.drawLine(strip, spaceModel, this.stage.colours.ink, 0.35, 1.4);
  }

  /** @param {Pane} pane @param {number} ghost */
  drawAxes(pane, ghost) {
    const { stage, mover } = this, { painter, colours } = stage, { reach } = mover.run;
    for (let k = 0; k < 3; k++) {
      setVector(direction, 0, 0, 0)[k] = AXIS * reach;
      rotate(direction, mover.q, direction);
      matrixAlong(spaceModel, direction, reach, mover.place);
      painter.drawMesh(this.axis, spaceModel, ghost ? colours.runs[ghost % 6] : colours.axes[k], ghost ? 0.55 : 1, 0.3, AXIS - HEAD);
      if (!ghost) this.label(pane, NUMBERS[k], HUES.axes[k], -9);
    }
  }

  /** @param {Pane} pane @param {Numbers} vector @param {number} most its largest length @param {number} share of the longest arrow @param {string} text @param {number} hue */
  drawArrow(pane, vector, most, share, text, hue) {
    const { stage, mover } = this, { reach } = mover.run, length = LONGEST * share * norm(vector) / most;
    if (!(length > 0.02)) return;
    const size = Math.min(1, length / HEAD); // a short arrow is all head
    scaleVector(direction, vector, length * reach / norm(vector));
    matrixAlong(spaceModel, direction, size * reach, mover.place);
    stage.painter.drawHidden(this.arrow, spaceModel, stage.colours.runs[hue], 0.3, length / size - HEAD); // a short arrow may lie inside the body
    stage.painter.drawMesh(this.arrow, spaceModel, stage.colours.runs[hue], 1, 0.3, length / size - HEAD);
    this.label(pane, text, hue, text === "ω" ? 9 : 0);
  }

  /** A text beside the arrow in `direction`, faint where the body hides its tip. @param {Pane} pane @param {string} text @param {number} hue @param {number} side in pixels */
  label(pane, text, hue, side) {
    const { run, q, place } = this.mover;
    addScaled(tip, place, direction, 1);
    rotateBack(rayOrigin, q, addScaled(rayOrigin, pane.eye, place, -1));
    rotateBack(point, q, addScaled(point, tip, pane.eye, -1));
    const hidden = this.stage.show.body && (run.globe || run.faces.length < 3 * MOST_HIDING) && this.castRay(rayOrigin, point) < 0.99;
    this.stage.labels.put(pane, text, hue, tip, place, side, Boolean(hidden));
  }

  /** @param {Numbers} origin @param {Numbers} along both in body axes */
  castRay(origin, along) {
    const { globe, vertices, faces } = this.mover.run;
    return globe ? castRayAtSphere(origin, along, globe.radius) : castRay(origin, along, vertices, faces);
  }

  /** @param {Pane} pane @param {number} x @param {number} y @returns {number[] | null} the body's point seen there */
  pick(pane, x, y) {
    pane.rayInBody(rayOrigin, direction, x, y, this.mover.q, this.mover.place);
    const far = this.castRay(rayOrigin, direction);
    return far < Infinity ? addScaled([0, 0, 0], rayOrigin, direction, far) : null;
  }
}
const UNTURNED = setQuaternion(new Float64Array(4), 1, 0, 0, 0), NUMBERS = ["1", "2", "3"];

/** A body, or several as ghosts of the first. @implements {Scene} */
export class SpaceScene {
  /** @param {Stage} stage @param {Pane} pane @param {Actor[]} actors */
  constructor(stage, pane, actors) {
    this.stage = stage;
    this.pane = pane;
    this.actors = actors;
    this.first = actors[0].mover;
    const origin = this.first.run.path?.origin;
    /** From the first run's origin to those of all. */
    this.shifts = actors.map(({ mover: { run } }) => (origin && run.path ? run.path.origin.map((x, i) => x - origin[i]) : [0, 0, 0]));
    const reach = Math.max(...actors.map(({ mover }) => mover.run.reach));
    /** @type {Subject} */
    this.subject = { axes: new Float64Array(4), axesBefore: new Float64Array(4), centre: new Float64Array(3), unit: reach, radius: 1.8 };
    this.groundRadius = this.groundCell = 1;
    this.fitPath();
  }

  /** The whole path is seen if it is not much larger than the body; else the camera follows.  The ground reaches as far as one sees. */
  fitPath() {
    const { path, reach, ground, up } = this.first.run, low = [Infinity, Infinity, Infinity], high = [-Infinity, -Infinity, -Infinity];
    this.actors.forEach(({ path: drawn }, i) => drawn?.points.forEach((v, k) => {
      low[k % 3] = Math.min(low[k % 3], v + this.shifts[i][k % 3]);
      high[k % 3] = Math.max(high[k % 3], v + this.shifts[i][k % 3]);
    }));
    const half = path ? Math.hypot(...high.map((v, i) => v - low[i])) / 2 : 0;
    if (path && half < LONGEST_PATH * reach) {
      this.middle = high.map((v, i) => (v + low[i]) / 2);
      this.subject.radius = Math.max(1.8, half / reach + 1.5);
    }
    for (const actor of this.actors) actor.carried = Boolean(path) && !this.middle;
    const highest = normalise(direction, up).reduce((sum, u, i) => sum + Math.max(u * high[i], u * low[i]), 0);
    const fall = path && ground ? Math.max(0, highest - ground.height + dot(path.origin, direction)) / reach : 0;
    this.groundRadius = Math.max(14, 5 * this.subject.radius, 5 * fall);
    this.groundCell = roundTicks(0, this.groundRadius, 14).step;
  }

  /** @param {Pane} pane @param {number} time */
  draw(pane, time) {
    const { stage, actors, first, subject } = this, { camera } = stage;
    for (let i = 0; i < actors.length; i++) {
      actors[i].mover.shiftTo(this.shifts[i]);
      actors[i].mover.at(time);
    }
    presetAxes(subject.axes, camera.preset, first);
    presetAxes(subject.axesBefore, camera.presetBefore, first);
    copyVector(subject.centre, this.middle && camera.preset !== "body" ? this.middle : first.place);
    pane.aim(camera, subject);
    stage.painter.pane(pane, stage.colours.ground);
    this.drawFloor(pane);
    for (let i = 0; i < actors.length; i++) actors[i].draw(pane, i);
    if (first.run.drawn === "box" && first.run.inertia && stage.show.body) stage.labels.caption(pane, "box with the body’s inertia");
  }

  /** The ground, or a faint grid below the body. @param {Pane} pane */
  drawFloor(pane) {
    const { stage, first, subject } = this, { painter, colours, show } = stage, { ground, up, path } = first.run, { unit } = subject;
    const real = ground && show.ground;
    if (!real && !show.grid) return;
    normalise(direction, !real && stage.camera.preset === "momentum" && norm(first.momentum) > 0 ? first.momentum : up);
    copyVector(point, real || this.middle ? pane.target : subject.centre);
    if (real) addScaled(point, point, direction, ground.height - (path ? dot(path.origin, direction) : 0) - dot(point, direction));
    else addScaled(point, point, direction, -subject.radius * unit);
    matrixFromQuaternion(spaceModel, shortestFromZ(rowQ, direction), unit, point);
    const radius = real ? this.groundRadius : 3.2 * subject.radius, cell = real ? this.groundCell : subject.radius > 4 ? 1 : 0.5;
    const slides = real || path;
    rotateBack(point, rowQ, point);
    const x = slides ? (point[0] / unit) % cell : 0, y = slides ? (point[1] / unit) % cell : 0;
    painter.drawGrid(spaceModel, radius, cell, colours.grid, real ? 0.45 : 0.34, colours.plane, real ? 0.8 : 0, 1, x, y);
  }

  /** @param {number} x @param {number} y @param {number} time */
  pick(x, y, time) {
    for (const actor of this.actors) {
      actor.mover.at(time);
      const found = actor.pick(this.pane, x, y);
      if (found) return { run: actor.mover.index, point: found };
    }
    return null;
  }

  /** Draw the trail of a further point. @param {number} run @param {number[]} p */
  trace(run, p) {
    for (const actor of this.actors) if (actor.mover.index === run) actor.addTrail(p);
  }
}
