// The camera that all panes share, and panes: where each looks from, and where its points appear.

import { addScaled, blendQuaternions, copyVector, lookAt, perspective, rotate, rotateBack, scaleVector, setVector, transformPoint } from "./vectors.js";

/** @typedef {import("./vectors.js").Numbers} Numbers */
/** @typedef {"inertial" | "body" | "momentum"} Preset */
/** What a pane shows, for the camera: the axes of both presets while one turns into the other, the middle, a length. @typedef {{axes: Float64Array, axesBefore: Float64Array, centre: Float64Array, unit: number, radius: number}} Subject */

export const FIELD_OF_VIEW = 0.5;
const STEEPEST = 1.5533; // 89°: straight down there is no "up"
const EASE = 450; // milliseconds

/** Where each preset looks from. @type {{[preset in Preset]: {yaw: number, pitch: number}}} */
const PLACES = {
  inertial: { yaw: 0.9, pitch: 0.36 },
  body: { yaw: 0.9, pitch: 0.36 },
  momentum: { yaw: 0.9, pitch: STEEPEST },
};

export class Camera {
  constructor() {
    /** @type {Preset} */
    this.preset = "inertial";
    /** @type {Preset} */
    this.presetBefore = "inertial";
    this.places = structuredClone(PLACES);
    this.yaw = PLACES.inertial.yaw;
    this.pitch = PLACES.inertial.pitch;
    /** The distance, in units of that from which a pane's subject just fits. */
    this.zoom = 1;
    /** From the subject's middle to the target, in the preset's axes and the subject's units. */
    this.pan = new Float64Array(3);
    /** How far a move has come, from 0 to 1. */
    this.share = 1;
    this.eased = true;
    this.began = 0;
    this.from = new Float64Array(6);
    this.to = new Float64Array(6);
  }

  /** @param {Float64Array} out */
  state(out) {
    out[0] = this.yaw;
    out[1] = this.pitch;
    out[2] = Math.log(this.zoom);
    out.set(this.pan, 3);
    return out;
  }

  /** Go to a preset's place, or back to it. @param {Preset} preset */
  go(preset) {
    this.state(this.from);
    this.presetBefore = this.preset;
    this.preset = preset;
    this.yaw -= 2 * Math.PI * Math.round((this.yaw - this.places[preset].yaw) / (2 * Math.PI));
    this.state(this.from);
    this.to.set([this.places[preset].yaw, this.places[preset].pitch, 0, 0, 0, 0]);
    this.share = 0;
    this.began = 0;
    if (!this.eased) this.step(Infinity);
  }

  /** Begin at another place, and come back to it. @param {number} yaw @param {number} pitch */
  settle(yaw, pitch) {
    this.places.inertial = { yaw, pitch };
    this.yaw = yaw;
    this.pitch = pitch;
  }

  /** Move on; true while it moves. @param {number} now in milliseconds */
  step(now) {
    if (this.share === 1) return false;
    this.began ||= now;
    const s = now === Infinity ? 1 : Math.min(1, (now - this.began) / EASE), smooth = s * s * (3 - 2 * s);
    const { from, to } = this;
    this.share = smooth;
    this.yaw = from[0] + smooth * (to[0] - from[0]);
    this.pitch = from[1] + smooth * (to[1] - from[1]);
    this.zoom = Math.exp(from[2] + smooth * (to[2] - from[2]));
    for (let i = 0; i < 3; i++) this.pan[i] = from[3 + i] + smooth * (to[3 + i] - from[3 + i]);
    return this.share < 1;
  }

  /** Stop a move where it is: a hand has taken over. */
  hold() {
    this.share = 1;
  }

  /** @param {number} dx @param {number} dy in CSS pixels */
  turn(dx, dy) {
    this.hold();
    this.yaw -= 0.008 * dx;
    this.pitch = Math.max(-STEEPEST, Math.min(STEEPEST, this.pitch + 0.008 * dy));
  }

  /** @param {number} factor */
  zoomBy(factor) {
    this.hold();
    this.zoom = Math.max(0.05, Math.min(40, this.zoom * factor));
  }

  /** @param {number} dx @param {number} dy in CSS pixels @param {Pane} pane */
  shift(dx, dy, pane) {
    this.hold();
    const step = 2 * pane.distance * Math.tan(FIELD_OF_VIEW / 2) / pane.height / pane.unit;
    const c = Math.cos(this.yaw), s = Math.sin(this.yaw), rise = Math.sin(this.pitch);
    const right = dx * step, up = dy * step;
    this.pan[0] += s * right - rise * c * up;
    this.pan[1] += -c * right - rise * s * up;
    this.pan[2] += Math.cos(this.pitch) * up;
  }
}

const blended = new Float64Array(4), away = new Float64Array(3), upward = new Float64Array(3), eyeScaled = new Float64Array(3);
const targetScaled = new Float64Array(3), clip = new Float64Array(4), eyed = new Float64Array(4);

/** A rectangle of the canvas, in CSS pixels from its upper left corner, and what its camera sees. */
export class Pane {
  /** @param {string} kind @param {number} run */
  constructor(kind, run) {
    this.kind = kind;
    this.run = run;
    this.x = this.y = this.width = this.height = 0;
    this.view = new Float64Array(16);
    this.projection = new Float64Array(16);
    this.eye = new Float64Array(3);
    this.target = new Float64Array(3);
    this.distance = 1;
    this.unit = 1;
  }

  /** @param {number} x @param {number} y @param {number} width @param {number} height */
  place(x, y, width, height) {
    this.x = x;
    this.y = y;
    this.width = width;
    this.height = height;
  }

  /** Look at a subject: eye = target + distance (cos pitch cos yaw, cos pitch sin yaw, sin pitch) in its axes. @param {Camera} camera @param {Subject} subject */
  aim(camera, subject) {
    const aspect = this.width / this.height, { unit } = subject, level = Math.cos(camera.pitch);
    const fit = subject.radius / Math.sin(FIELD_OF_VIEW / 2) * Math.max(1, 1 / aspect), distance = fit * camera.zoom;
    blendQuaternions(blended, subject.axesBefore, subject.axes, camera.share);
    rotate(away, blended, setVector(away, level * Math.cos(camera.yaw), level * Math.sin(camera.yaw), Math.sin(camera.pitch)));
    rotate(upward, blended, setVector(upward, 0, 0, 1));
    addScaled(targetScaled, rotate(targetScaled, blended, camera.pan), subject.centre, 1 / unit);
    addScaled(eyeScaled, targetScaled, away, distance);
    lookAt(this.view, eyeScaled, targetScaled, upward);
    for (let i = 0; i < 12; i++) this.view[i] /= unit; // the graphics card sees lengths in units of the subject only
    perspective(this.projection, FIELD_OF_VIEW, aspect, 0.03 * distance, 30 * distance + 30);
    scaleVector(this.eye, eyeScaled, unit);
    scaleVector(this.target, targetScaled, unit);
    this.distance = distance * unit;
    this.unit = unit;
  }

  /** Where a point appears on the canvas, in CSS pixels; out[2] is its distance, negative behind the eye. @param {Numbers} out @param {Numbers} point */
  project(out, point) {
    transformPoint(eyed, this.view, point);
    transformPoint(clip, this.projection, eyed);
    const depth = clip[3];
    return setVector(out, this.x + this.width * (0.5 + 0.5 * clip[0] / depth), this.y + this.height * (0.5 - 0.5 * clip[1] / depth), depth);
  }

  /** The direction from the eye through a point of the canvas. @param {Numbers} out @param {number} x @param {number} y */
  ray(out, x, y) {
    const high = Math.tan(FIELD_OF_VIEW / 2), v = this.view, s = this.unit;
    const right = (2 * (x - this.x) / this.width - 1) * high * this.width / this.height, up = (1 - 2 * (y - this.y) / this.height) * high;
    return setVector(out, s * (right * v[0] + up * v[1] - v[2]), s * (right * v[4] + up * v[5] - v[6]), s * (right * v[8] + up * v[9] - v[10]));
  }

  /** The ray in the axes of a body at `place` with attitude q. @param {Numbers} origin @param {Numbers} direction @param {number} x @param {number} y @param {Numbers} q @param {Numbers} place */
  rayInBody(origin, direction, x, y, q, place) {
    this.ray(direction, x, y);
    rotateBack(direction, q, direction);
    rotateBack(origin, q, addScaled(origin, copyVector(origin, this.eye), place, -1));
  }

  /** @param {number} x @param {number} y */
  contains(x, y) {
    return x >= this.x && x < this.x + this.width && y >= this.y && y < this.y + this.height;
  }
}
