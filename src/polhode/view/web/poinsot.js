// Poinsot's picture: the ellipsoid r·Ir = 1 rolls on the plane across the angular momentum; its point of contact
// ω / √(2E) draws the polhode on the ellipsoid and the herpolhode on the plane.

import { arrow, ellipsoid, HEAD, ON_CURVE, principalAxes, principalSections } from "./geometry.js";
import { between } from "./keyframes.js";
import { presetAxes, trailPoints, WHOLE } from "./space.js";
import { HUES } from "./style.js";
import { applyRows, dot, matrixAlong, matrixFromQuaternion, multiplyQuaternions, norm, normalise, rotate, rotateBack, scaleVector, setQuaternion, shortestFromZ } from "./vectors.js";

/** @typedef {import("./vectors.js").Numbers} Numbers */
/** @typedef {import("./camera.js").Pane} Pane */
/** @typedef {import("./space.js").Stage} Stage */
/** @typedef {import("./space.js").Mover} Mover */
/** @typedef {import("./webgl.js").Thing} Thing */

const FLATTEST = 81; // a rod's ellipsoid is infinitely long: moments below this share of the largest are drawn as this share
const contactPoints = new Float32Array(trailPoints.length);
const poinsotModel = new Float64Array(16), contact = new Float64Array(3), downward = new Float64Array(3), foot = new Float64Array(3), rate = new Float64Array(3);
const rowAttitude = new Float64Array(4), turnOfPlane = new Float64Array(4), NO_TURN = setQuaternion(new Float64Array(4), 1, 0, 0, 0), ORIGIN = new Float64Array(3);

/** The point of contact in body axes: ω / √(2E), or zero at rest. @param {Numbers} out @param {number[]} inertia @param {Numbers} omega */
function contactPoint(out, inertia, omega) {
  const double = dot(omega, applyRows(out, inertia, omega));
  return scaleVector(out, omega, double > 0 ? 1 / Math.sqrt(double) : 0);
}

/** @typedef {import("./space.js").Scene} Scene */
/** @implements {Scene} */
export class PoinsotScene {
  /** @param {Stage} stage @param {Pane} pane @param {Mover} mover of a run with an inertia */
  constructor(stage, pane, mover) {
    const { painter } = stage, given = /** @type {number[]} */ (mover.run.inertia);
    this.stage = stage;
    this.pane = pane;
    this.mover = mover;
    const most = Math.max(...given.map(Math.abs)), inertia = given.map((x) => x / most); // graphics know no numbers beyond 1e38, nor their squares
    this.inertia = inertia;
    const { moments, axes } = principalAxes(inertia), least = Math.max(...moments) / FLATTEST;
    const radii = moments.map((m) => 1 / Math.sqrt(Math.max(m, least)));
    this.size = Math.max(...radii);
    this.ellipsoid = painter.mesh(ellipsoid(axes, radii));
    this.sections = painter.lines(principalSections(axes, radii), ON_CURVE);
    this.arrow = painter.mesh(arrow(0.018));
    this.thin = painter.mesh(arrow(0.009));
    this.polhode = painter.strip(mover.most);
    this.herpolhode = painter.strip(mover.most);
    const calm = mover.run.free && mover.run.turns <= WHOLE && mover.run.t.length > 1; // under a torque the plane moves, and old curves only confuse
    this.whole = calm ? this.makeWhole() : null;
    this.room = this.makeRoom();
    /** @type {import("./camera.js").Subject} */
    this.subject = { axes: new Float64Array(4), axesBefore: new Float64Array(4), centre: new Float64Array(3), unit: this.size, radius: 1.55 };
  }

  /** Axes in which the angular momentum of the beginning points down. */
  makeRoom() {
    const { run } = this.mover, q = new Float64Array(4), omega = new Float64Array(3), down = new Float64Array(3);
    for (let i = 0; i < run.t.length && norm(down) === 0; i++) {
      between(run, run.t[i], q, omega);
      rotate(down, q, applyRows(down, this.inertia, omega));
    }
    if (norm(down) === 0) scaleVector(down, run.up, -1);
    return shortestFromZ(new Float64Array(4), normalise(down, scaleVector(down, down, -1)));
  }

  /** Polhode and herpolhode of the whole run. */
  makeWhole() {
    const { run } = this.mover, { painter } = this.stage, count = Math.max(200, Math.min(6400, Math.round(64 * run.turns)));
    const polhode = painter.strip(count), herpolhode = painter.strip(count), onBody = new Float32Array(3 * count), onPlane = new Float32Array(3 * count), q = new Float64Array(4), r = new Float64Array(3), omega = new Float64Array(3);
    const first = run.t[0], span = run.t[run.t.length - 1] - first;
    for (let i = 0; i < count; i++) {
      between(run, first + span * i / (count - 1), q, omega);
      onBody.set(contactPoint(r, this.inertia, omega), 3 * i);
      onPlane.set(rotate(r, q, r), 3 * i);
    }
    painter.setStrip(polhode, onBody, count);
    painter.setStrip(herpolhode, onPlane, count);
    return { polhode, herpolhode };
  }

  fillWindow() {
    const { mover, polhode, herpolhode, stage } = this;
    for (let i = 0; i < mover.count; i++) {
      for (let j = 0; j < 4; j++) rowAttitude[j] = mover.attitudes[4 * i + j];
      for (let j = 0; j < 3; j++) rate[j] = mover.rates[3 * i + j];
      contactPoint(contact, this.inertia, rate);
      for (let j = 0; j < 3; j++) trailPoints[3 * i + j] = contact[j];
      rotate(contact, rowAttitude, contact);
      for (let j = 0; j < 3; j++) contactPoints[3 * i + j] = contact[j];
    }
    if (mover.count < 2) return;
    stage.painter.setStrip(polhode, trailPoints, mover.count);
    stage.painter.setStrip(herpolhode, contactPoints, mover.count);
  }

  /** @param {Pane} pane @param {number} time */
  draw(pane, time) {
    const { stage, mover, subject } = this, { camera } = stage;
    mover.at(time);
    this.fillWindow();
    this.lookFrom(subject.axes, camera.preset);
    this.lookFrom(subject.axesBefore, camera.presetBefore);
    contactPoint(contact, this.inertia, mover.omega);
    rotate(contact, mover.q, contact);
    normalise(downward, mover.momentum);
    const depth = dot(contact, downward);
    scaleVector(subject.centre, downward, 0.3 * depth);
    pane.aim(camera, subject);
    stage.painter.pane(pane, stage.colours.ground);
    if (depth > 0) this.drawPlane(depth);
    this.drawCurves();
    if (depth > 0) this.drawArrows(pane, depth);
    stage.labels.caption(pane, !(depth > 0) ? "at rest" : mover.run.free ? "invariable plane" : "instantaneous plane");
  }

  /** A torque turns the momentum; the plane stays below, and turns as little as it can since the beginning. @param {Float64Array} out @param {string} preset */
  lookFrom(out, preset) {
    if (preset === "body") presetAxes(out, preset, this.mover);
    else if (this.mover.run.free || norm(this.mover.momentum) === 0) out.set(this.room);
    else {
      normalise(downward, scaleVector(downward, this.mover.momentum, -1));
      multiplyQuaternions(out, this.room, shortestFromZ(turnOfPlane, rotateBack(foot, this.room, downward)));
    }
  }

  /** @param {number} depth of the plane below the middle */
  drawPlane(depth) {
    const { stage, size } = this, { painter, colours } = stage;
    scaleVector(foot, downward, depth);
    matrixAlong(poinsotModel, downward, size, foot);
    painter.drawGrid(poinsotModel, 1.35, 0.25, colours.grid, stage.show.grid ? 0.4 : 0, colours.plane, 0.75, 0);
  }

  /** The curves, and between them the ellipsoid: what lies behind it shines through. */
  drawCurves() {
    const { stage, mover, whole } = this, { painter, colours } = stage, current = mover.count > 1;
    matrixFromQuaternion(poinsotModel, NO_TURN, 1, ORIGIN);
    if (whole) painter.drawLine(whole.herpolhode, poinsotModel, colours.omega, 0.3, 1.2);
    if (current) painter.drawLine(this.herpolhode, poinsotModel, colours.omega, 1, 2.2, 1.2);
    matrixFromQuaternion(poinsotModel, mover.q, 1, ORIGIN);
    painter.drawLine(this.sections, poinsotModel, colours.edge, 0.15, 1);
    const polhode = whole ? whole.polhode : current ? this.polhode : null;
    if (polhode) painter.drawLine(polhode, poinsotModel, colours.axes[2], 0.55, 1.8);
    painter.drawMesh(this.ellipsoid, poinsotModel, colours.ellipsoid, 0.55);
    painter.drawLine(this.sections, poinsotModel, colours.edge, 0.4, 1, 0, 3e-3);
    if (polhode) painter.drawLine(polhode, poinsotModel, colours.axes[2], 1, 2, 0, 3e-3);
  }

  /** The angular velocity from the middle to the point of contact, and the momentum through the plane. @param {Pane} pane @param {number} depth */
  drawArrows(pane, depth) {
    const { stage, size } = this, { gl } = stage.painter;
    gl.disable(gl.DEPTH_TEST); // they stand inside the ellipsoid, and must be seen
    if (stage.show.momentum) this.drawArrow(pane, scaleVector(foot, downward, depth + 0.3 * size), this.thin, "L", HUES.momentum);
    if (stage.show.omega) this.drawArrow(pane, contact, this.arrow, "ω", HUES.omega);
    gl.enable(gl.DEPTH_TEST);
  }

  /** @param {Pane} pane @param {Numbers} vector @param {Thing} mesh @param {string} text @param {number} hue */
  drawArrow(pane, vector, mesh, text, hue) {
    const { stage, size } = this;
    matrixAlong(poinsotModel, vector, size, ORIGIN);
    stage.painter.drawMesh(mesh, poinsotModel, stage.colours.runs[hue], 1, 0.3, norm(vector) / size - HEAD);
    stage.labels.put(pane, text, hue, vector, ORIGIN, hue === HUES.omega ? 11 : 0);
  }
}
