// A page that follows a simulation: states come from the server as events, the last seconds are kept, and a point of
// the body that is held is pulled towards the pointer.  The server applies the force; nothing is computed here.

import { Pane } from "./camera.js";
import { element, showPlaying, write } from "./controls.js";
import { PoinsotScene } from "./poinsot.js";
import { Actor, Mover, SpaceScene, trailPoints } from "./space.js";
import { HUES } from "./style.js";
import { addScaled, applyRows, copyVector, dot, matrixFromQuaternion, norm, rotate } from "./vectors.js";

/** @typedef {import("./vectors.js").Numbers} Numbers */
/** @typedef {import("./packing.js").Film} Film */
/** @typedef {import("./packing.js").Run} Run */
/** @typedef {import("./packing.js").Series} Series */
/** @typedef {import("./space.js").Stage} Stage */
/** @typedef {import("./webgl.js").Thing} Thing */
/** A point of the body that is held, in body axes, and where it is pulled to. @typedef {{pointer: number, point: number[], anchor: Float64Array, target: Float64Array}} Held */

const ROWS = 1200, TRAIL = 480; // states that are kept, 20 s at 60 a second, and those of a trail
const REPLOT = 120, CONFIRM = 250; // milliseconds between two drawings of the plots, and two words to the server while the body is held
const TRIES = 3; // failed connections after which the simulation is taken to have ended
const FAR = 24; // the radius of the ground, in units of the body's reach
const ROOM = 2.6, SLACK = 0.7, CATCH_UP = 0.2; // the camera's view and how far the body may go in it, in units of reach; seconds in which it follows
const T = 0, Q = 1, MOMENTUM = 5, OMEGA = 8, X = 11, V = 14, ENERGY = 17; // places in a state
const NUMBERS_OF_A_STATE = 18;

const spun = new Float64Array(3), liveModel = new Float64Array(16), heldAt = new Float64Array(3), sight = new Float64Array(3);
const liveTurn = new Float64Array(4), NOWHERE = new Float64Array(3), UPRIGHT = new Float64Array([1, 0, 0, 0]);

/** @param {string} name @param {string} unit @param {string[]} labels @returns {Series} */
function emptySeries(name, unit, labels) {
  return { name, unit, labels, t: new Float64Array(ROWS), values: labels.map(() => new Float32Array(ROWS)), log: false };
}

/** The last states of a simulation, the oldest first, in arrays that are made once. */
export class Past {
  /** @param {Run} run with the state of the beginning @param {{mass: number, energy: boolean}} about */
  constructor(run, { mass, energy }) {
    this.mass = mass;
    this.origin = run.path?.origin ?? [0, 0, 0];
    this.count = 0;
    this.version = 0;
    this.t = new Float64Array(ROWS);
    this.attitudes = new Float64Array(4 * ROWS);
    this.rates = new Float64Array(3 * ROWS);
    this.places = new Float64Array(3 * ROWS);
    this.series = [
      emptySeries("rates", "rad/s", ["ω1", "ω2", "ω3"]),
      emptySeries("energy", "J", energy ? ["kinetic", "potential", "total"] : ["kinetic"]),
      emptySeries("momentum", "kg m²/s", ["Lx", "Ly", "Lz"]),
      emptySeries("position", "m", ["x", "y", "z"]),
    ];
    this.columns = this.series.flatMap(({ values }) => values);
    this.row = new Float64Array(this.columns.length);
  }

  /** Take a state; one that is not later than the last ones replaces them. @param {ArrayLike<number | null>} state */
  push(state) {
    const t = Number(state[T]);
    while (this.count && t <= this.t[this.count - 1]) this.count--; // it was rewound, or set
    if (this.count === ROWS) this.forget();
    const k = this.count++, number = (/** @type {number} */ i) => /** @type {number} */ (state[i]);
    this.t[k] = t;
    for (let i = 0; i < 4; i++) this.attitudes[4 * k + i] = number(Q + i);
    for (let i = 0; i < 3; i++) this.rates[3 * k + i] = number(OMEGA + i);
    for (let i = 0; i < 3; i++) this.places[3 * k + i] = number(X + i) - this.origin[i];
    this.measure(state);
    for (const series of this.series) series.t.fill(t, k); // what is not filled yet looks like the last state
    this.columns.forEach((column, i) => column.fill(this.row[i], k));
    for (const series of this.series) series.t.set(this.t.subarray(0, k));
    this.version++;
  }

  /** Drop the oldest state. */
  forget() {
    for (const [array, width] of /** @type {[Float64Array | Float32Array, number][]} */ ([[this.t, 1], [this.attitudes, 4], [this.rates, 3], [this.places, 3]])) array.copyWithin(0, width);
    for (const column of this.columns) column.copyWithin(0, 1);
    this.count--;
  }

  /** What the plots show of a state. @param {ArrayLike<number | null>} state */
  measure(state) {
    const { row } = this, number = (/** @type {number} */ i) => /** @type {number} */ (state[i]);
    let turning = 0, moving = 0, i = 0;
    for (let j = 0; j < 3; j++) {
      turning += number(OMEGA + j) * number(MOMENTUM + j) / 2;
      moving += this.mass * number(V + j) ** 2 / 2;
      row[i++] = number(OMEGA + j);
      spun[j] = number(MOMENTUM + j);
    }
    row[i++] = turning + moving;
    if (this.series[1].values.length > 1) {
      const total = state[ENERGY] ?? NaN;
      row[i++] = total - turning - moving;
      row[i++] = total;
    }
    for (let j = 0; j < 4; j++) liveTurn[j] = number(Q + j);
    rotate(spun, liveTurn, spun);
    for (let j = 0; j < 3; j++) row[i++] = spun[j];
    for (let j = 0; j < 3; j++) row[i++] = number(X + j);
  }

  clear() {
    this.count = 0;
  }
}

/** Give a film that follows a simulation its past, of which the plots are made. @param {Film} film */
export function beginPast(film) {
  const { mass, energy, state } = film.header.live ?? {}, [run] = film.runs;
  film.past = new Past(run, { mass: Number(mass), energy: Boolean(energy) });
  film.past.push(readState(state));
  run.series = film.past.series;
}

/** Check a state. @param {unknown} state @returns {(number | null)[]} */
function readState(state) {
  const good = Array.isArray(state) && state.length === NUMBERS_OF_A_STATE && state.every((x, i) => Number.isFinite(x) || (i === ENERGY && x === null));
  if (!good) throw new Error(`polhode viewer: a state must be ${NUMBERS_OF_A_STATE} numbers, not ${JSON.stringify(state)}`);
  return state;
}

/** A mover that is where the simulation is. */
class LiveMover extends Mover {
  /** @param {Run} run @param {Past} past */
  constructor(run, past) {
    super(run, 0);
    this.past = past;
    this.version = -1;
    this.most = TRAIL;
    this.attitudes = new Float64Array(4 * TRAIL);
    this.rates = new Float64Array(3 * TRAIL);
    this.places = new Float64Array(3 * TRAIL);
  }

  at() {
    const { past, run, q, omega } = this, k = past.count - 1, first = Math.max(0, past.count - TRAIL);
    if (this.version === past.version || k < 0) return;
    this.version = past.version;
    for (let i = 0; i < 4; i++) q[i] = past.attitudes[4 * k + i];
    copyVector(omega, past.rates, 3 * k);
    copyVector(this.place, past.places, 3 * k);
    rotate(this.spin, q, omega);
    this.count = past.count - first;
    for (let i = 0; i < 4 * this.count; i++) this.attitudes[i] = past.attitudes[4 * first + i];
    for (let i = 0; i < 3 * this.count; i++) this.rates[i] = past.rates[3 * first + i];
    for (let i = 0; i < 3 * this.count; i++) this.places[i] = past.places[3 * first + i];
    this.longest.omega = this.longest.momentum = 0;
    for (let i = 0; i < this.count; i++) this.measureRow(i);
    if (run.inertia) rotate(this.momentum, q, applyRows(this.momentum, run.inertia, omega));
  }

  /** Arrows are scaled by the largest of the trail. @param {number} i */
  measureRow(i) {
    const { longest, run } = this;
    copyVector(spun, this.rates, 3 * i);
    longest.omega = Math.max(longest.omega, norm(spun));
    if (run.inertia) longest.momentum = Math.max(longest.momentum, norm(applyRows(spun, run.inertia, spun)));
  }
}

/** A body with the path that it has come. */
class LiveActor extends Actor {
  makePath() {
    return { strip: this.stage.painter.strip(TRAIL), points: new Float32Array(3 * TRAIL) };
  }

  /** @param {Thing} strip */
  drawPath(strip) {
    const { mover } = this;
    if (mover.count < 2) return;
    for (let i = 0; i < 3 * mover.count; i++) trailPoints[i] = mover.places[i];
    this.stage.painter.setStrip(strip, trailPoints, mover.count);
    super.drawPath(strip);
  }
}

/** The body in space.  The camera follows it at some distance, and stands still while it is held. */
class LiveScene extends SpaceScene {
  /** @param {Stage} stage @param {Pane} pane @param {Actor[]} actors */
  constructor(stage, pane, actors) {
    super(stage, pane, actors);
    this.string = stage.painter.strip(2);
    this.before = 0;
    /** @type {Held | null} */
    this.held = null;
  }

  fitPath() {
    this.middle = [0, 0, 0];
    this.subject.radius = ROOM;
    this.groundRadius = FAR;
  }

  /** @param {Pane} pane @param {number} time */
  draw(pane, time) {
    this.first.at(time);
    const now = performance.now();
    if (!this.held) this.follow(/** @type {number[]} */ (this.middle), (now - this.before) / 1000);
    this.before = now;
    super.draw(pane, time);
    if (this.held) this.drawString(this.held);
  }

  /** @param {number[]} middle @param {number} seconds since the last frame */
  follow(middle, seconds) {
    const { place, run } = this.first, away = Math.hypot(place[0] - middle[0], place[1] - middle[1], place[2] - middle[2]) / run.reach;
    const share = away > 2 * ROOM ? 1 : away > SLACK ? (1 - Math.exp(-seconds / CATCH_UP)) * (1 - SLACK / away) : 0; // far away: at once
    for (let i = 0; i < 3; i++) middle[i] += share * (place[i] - middle[i]);
  }

  /** The point that is held, now. @param {Held} held @param {Numbers} out */
  placeOf({ point }, out) {
    const { q, place } = this.first;
    return addScaled(out, place, rotate(out, q, point), 1);
  }

  /** @param {Held} held */
  drawString(held) {
    const { string, stage } = this, { painter, colours } = stage;
    this.placeOf(held, heldAt);
    for (let i = 0; i < 3; i++) {
      trailPoints[i] = heldAt[i];
      trailPoints[3 + i] = held.target[i];
    }
    painter.setStrip(string, trailPoints, 2);
    matrixFromQuaternion(liveModel, UPRIGHT, 1, NOWHERE);
    painter.drawLine(string, liveModel, colours.runs[HUES.torque], 1, 3, 0, 0.02);
  }

  /** Where the pointer is, in the plane across the line of sight through the point as it was taken. @param {Held} held @param {number} x @param {number} y */
  aim({ anchor, target }, x, y) {
    const { pane } = this;
    addScaled(sight, pane.target, pane.eye, -1);
    const depth = dot(addScaled(heldAt, anchor, pane.eye, -1), sight);
    pane.ray(heldAt, x, y);
    addScaled(target, pane.eye, heldAt, depth / dot(heldAt, sight));
  }
}

/** The scenes of a page that follows a simulation. @param {Stage} stage @param {Film} film */
export function sceneLive(stage, film) {
  const [run] = film.runs, mover = new LiveMover(run, /** @type {Past} */ (film.past));
  const space = new LiveScene(stage, new Pane("space", 0), [new LiveActor(stage, mover)]);
  const scenes = run.inertia ? [space, new PoinsotScene(stage, new Pane("poinsot", 0), mover)] : [space];
  return { scenes: { side: scenes, ghosts: scenes }, start: film.start, end: film.end };
}

/** Follows the simulation, for a viewer. */
export class Follower {
  /** @param {import("./viewer.js").Viewer} viewer */
  constructor(viewer) {
    this.viewer = viewer;
    this.past = /** @type {Past} */ (viewer.film.past);
    this.page = 0;
    this.failures = 0;
    this.ended = false;
    /** Whether states are missing before the next one. */
    this.gap = true;
    this.replotted = 0;
    /** Whether a push is on its way, and whether there is a newer one. */
    this.sending = this.waiting = false;
    this.confirming = 0;
    this.notice = element("div", { class: "notice", role: "status" });
    this.notice.hidden = true;
    viewer.room.append(this.notice);
    viewer.bar.time.hidden = viewer.bar.speed.hidden = true;
    viewer.play = () => this.follow(true);
    viewer.pause = () => this.follow(false);
    viewer.seek = () => {};
    viewer.advance = () => {};
    viewer.hands.take = (kind, x, y, event) => this.take(kind, x, y, event);
    this.scene = /** @type {LiveScene | undefined} */ (viewer.staged?.scenes.side.find((scene) => scene instanceof LiveScene));
    this.source = new EventSource("states");
    this.source.addEventListener("hello", (event) => this.begin(JSON.parse(event.data).page));
    this.source.addEventListener("message", (event) => this.receive(JSON.parse(event.data)));
    this.source.addEventListener("end", () => this.end());
    this.source.addEventListener("error", () => this.fail());
    this.follow(true);
  }

  // ---- states

  /** @param {number} page the server's number for it */
  begin(page) {
    this.page = page;
    this.failures = 0;
    this.gap = true;
    this.say("");
  }

  /** @param {unknown} state */
  receive(state) {
    const { viewer, past } = this;
    if (!viewer.playing) return;
    if (this.gap) past.clear();
    this.gap = false;
    past.push(readState(state));
    this.showTime();
    const now = performance.now();
    if (now - this.replotted > REPLOT) this.replot(now);
    viewer.ask();
  }

  showTime() {
    const { viewer, past } = this;
    viewer.start = past.t[0];
    viewer.time = viewer.end = past.t[past.count - 1];
    viewer.tellTime();
  }

  /** @param {number} now in milliseconds */
  replot(now) {
    const { plots, plotting, start, end } = this.viewer;
    this.replotted = now;
    if (!plotting.hidden) plots.layOut(plotting.clientWidth, plotting.clientHeight, this.viewer.ratio(), this.viewer.colours(), start, end);
  }

  /** Follow, or freeze the picture; the simulation goes on. @param {boolean} on */
  follow(on) {
    const { viewer } = this;
    viewer.playing = on;
    showPlaying(viewer.bar.play, on);
    this.gap = true;
    this.showTime();
    this.replot(0);
    if (!on) this.release();
    viewer.ask();
  }

  /** A connection has broken; the browser tries again by itself. */
  fail() {
    this.release();
    this.page = 0;
    if (this.ended) return;
    this.failures++;
    if (this.source.readyState === EventSource.CLOSED || this.failures >= TRIES) this.end();
    else this.say("the connection is lost; trying again …");
  }

  end() {
    this.ended = true;
    this.source.close();
    this.release();
    this.replot(0);
    this.say("the simulation has ended");
    this.viewer.ask();
  }

  /** @param {string} text */
  say(text) {
    write(this.notice, text);
    this.notice.hidden = !text;
  }

  // ---- pushes

  /** The pointer's hand: it takes the body, or leaves it to the camera. @param {"down" | "move" | "up"} kind @param {number} x @param {number} y @param {PointerEvent} event */
  take(kind, x, y, event) {
    if (kind === "down") return this.grab(x, y, event);
    const { scene } = this, held = scene?.held;
    if (!scene || !held || held.pointer !== event.pointerId) return false;
    if (kind === "up") this.release();
    else {
      scene.aim(held, x, y);
      this.send();
    }
    this.viewer.ask();
    return true;
  }

  /** @param {number} x @param {number} y @param {PointerEvent} event */
  grab(x, y, event) {
    const { scene, viewer } = this;
    if (!scene || scene.held || !this.page || !viewer.playing || event.button !== 0 || event.shiftKey || !scene.pane.contains(x, y)) return false;
    const found = scene.pick(x, y, viewer.time);
    if (!found) return false;
    /** @type {Held} */
    const held = { pointer: event.pointerId, point: found.point, anchor: new Float64Array(3), target: new Float64Array(3) };
    scene.placeOf(held, held.anchor);
    scene.held = held;
    scene.aim(held, x, y);
    this.confirming = window.setInterval(() => this.send(), CONFIRM);
    this.send();
    viewer.ask();
    return true;
  }

  release() {
    if (!this.scene?.held) return;
    this.scene.held = null;
    clearInterval(this.confirming);
    this.send();
    this.viewer.ask();
  }

  /** Tell the server what is held; one word at a time, and the newest next. */
  async send() {
    if (this.sending) {
      this.waiting = true;
      return;
    }
    this.sending = true;
    do {
      this.waiting = false;
      await this.post();
    } while (this.waiting);
    this.sending = false;
  }

  async post() {
    const held = this.scene?.held, { page, past } = this;
    if (!page) return;
    const target = held && Array.from(held.target, (x, i) => x + past.origin[i]);
    try {
      await fetch("push", { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(held ? { page, point: held.point, target } : { page }) });
    } catch {
      // the events will say that the server is gone
    }
  }

  close() {
    this.ended = true;
    clearInterval(this.confirming);
    this.source.close();
  }
}
