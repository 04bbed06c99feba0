// The viewer: builds the page's parts inside a shadow root, keeps time, and draws when something has changed.

import { Camera, FIELD_OF_VIEW, Pane } from "./camera.js";
import { readCloud } from "./cloud.js";
import { CrowdScene } from "./crowd.js";
import { CROWD_KEYS, CrowdPanel } from "./crowdpanel.js";
import { element, listenToPointers, makeBar, makeCorner, makeMenu, markCorner, SceneLabels, showPlaying, tickMenu, write } from "./controls.js";
import { beginPast, Follower, sceneLive } from "./live.js";
import { read } from "./packing.js";
import { Plots, superscript } from "./plots.js";
import { PoinsotScene } from "./poinsot.js";
import { Actor, Mover, SpaceScene } from "./space.js";
import { applyPalette, dress, PALETTES } from "./style.js";
import { angleBetween } from "./vectors.js";
import { Painter } from "./webgl.js";

/** @typedef {import("./camera.js").Preset} Preset */
/** @typedef {import("./packing.js").Film} Film */
/** @typedef {import("./space.js").Scene} Scene */
/** @typedef {import("./space.js").Stage} Stage */
/** @typedef {"side" | "ghosts"} Layout */
/** @typedef {"auto" | "light" | "dark"} Theme */
/** The scenes of each layout, and the time they span. @typedef {{scenes: {[layout in Layout]: Scene[]}, start: number, end: number}} Show */

const SHOWN = { body: true, axes: true, omega: true, momentum: true, torque: false, trail: true, poinsot: true, path: true, ground: true, grid: true, plots: true, corner: true };
const NARROW = 560, SMALLEST = 190; // CSS pixels: of a phone, and of a pane that still shows something

/** The scenes of runs: each in space and as Poinsot saw it; or all together. @param {Stage} stage @param {Film} film @returns {Show} */
function sceneRuns(stage, film) {
  const movers = film.runs.map((run, i) => new Mover(run, i)), actors = movers.map((mover) => new Actor(stage, mover));
  const poinsot = movers.filter(({ run }) => run.inertia?.some((x) => x !== 0)).map((mover) => new PoinsotScene(stage, new Pane("poinsot", mover.index), mover));
  const space = actors.map((actor) => new SpaceScene(stage, new Pane("space", actor.mover.index), [actor]));
  const side = space.flatMap((scene, i) => [scene, ...poinsot.filter(({ mover }) => mover.index === i)]);
  const ghosts = [new SpaceScene(stage, new Pane("space", 0), actors), ...poinsot.filter(({ mover }) => mover.index === 0)];
  return { scenes: { side, ghosts }, start: film.start, end: film.end };
}

/** The scene of an ensemble. @param {Stage} stage @param {import("./cloud.js").Cloud} cloud @returns {Show} */
function sceneCrowd(stage, cloud) {
  const scenes = [new CrowdScene(stage, new Pane("crowd", 0), cloud)];
  return { scenes: { side: scenes, ghosts: scenes }, start: cloud.t[0], end: cloud.t[cloud.t.length - 1] };
}

/** Who makes the scenes of each kind of page; from the viewer it may take span, hands and frames. @type {{[kind: string]: (stage: Stage, film: Film, buffer: ArrayBuffer, viewer: Viewer) => Show}} */
const KINDS_OF_SHOW = { runs: sceneRuns, live: sceneLive };

/** Which switches make sense. @param {Film} film @param {Show | null} show */
function switchesOf({ runs }, show) {
  const names = new Set(["grid", "corner", ...(runs.length ? ["body", "axes", "omega", "trail"] : [])]);
  for (const run of runs) {
    if (run.inertia) names.add("momentum");
    if (run.torque) names.add("torque");
    if (run.path) names.add("path");
    if (run.ground) names.add("ground");
    if (run.series.length) names.add("plots");
  }
  if (show?.scenes.side.some(({ pane }) => pane.kind === "poinsot")) names.add("poinsot");
  return [...names];
}

/** @typedef {{x: number, y: number, width: number, height: number}} Box */

/**
 * Share the room among the scenes: a cell for each run, in it a pane for each of its scenes.  Gives the lines between.
 * @param {Scene[]} scenes @param {number} width @param {number} height @returns {Box[]}
 */
export function arrange(scenes, width, height) {
  const runs = [...new Set(scenes.map(({ pane }) => pane.run))], count = runs.length, /** @type {Box[]} */ rules = [];
  let rows = 1; // as many as make the cells most like squares
  const oblong = (/** @type {number} */ n) => Math.abs(Math.log((width / Math.ceil(count / n)) / (height / n) / 1.1));
  for (let n = 2; n <= count; n++) if (oblong(n) < oblong(rows)) rows = n;
  const high = (height - rows + 1) / rows;
  for (let row = 0, done = 0; row < rows; row++) {
    const inRow = Math.ceil((count - done) / (rows - row)), wide = (width - inRow + 1) / inRow, y = row * (high + 1);
    if (row) rules.push({ x: 0, y: y - 1, width, height: 1 });
    for (let i = 0; i < inRow; i++, done++) {
      const cell = { x: i * (wide + 1), y, width: wide, height: high };
      if (i) rules.push({ x: cell.x - 1, y, width: 1, height: high });
      fillCell(scenes.filter(({ pane }) => pane.run === runs[done]), cell, rules);
    }
  }
  return rules;
}

/** @param {Scene[]} scenes one, or two @param {Box} cell @param {Box[]} rules */
function fillCell([main, second], { x, y, width, height }, rules) {
  const wide = width > 1.15 * height, share = Math.round(0.58 * (wide ? width : height)), rest = (wide ? width : height) - share - 1;
  if (!second || Math.min(rest, wide ? height : width) < SMALLEST) {
    main.pane.place(x, y, width, height);
    second?.pane.place(x, y, 0, 0);
  } else if (wide) {
    main.pane.place(x, y, share, height);
    second.pane.place(x + share + 1, y, rest, height);
    rules.push({ x: x + share, y, width: 1, height });
  } else {
    main.pane.place(x, y, width, share);
    second.pane.place(x, y + share + 1, width, rest);
    rules.push({ x, y: y + share, width, height: 1 });
  }
}

/** @param {number} time @param {number} span */
function timeText(time, span) {
  const size = Math.floor(Math.log10(span || 1)), power = size > 5 || size < -3 ? size : 0;
  const number = (time / 10 ** power).toFixed(Math.max(0, Math.min(9, 3 - size + power))).replace("-", "−");
  return power ? `${number}×10${superscript(power)}` : number;
}

/** @param {Film} film @param {{name: string, facts: [string, string][], failed: boolean}[]} acts */
function makeParts({ header, notes }, acts) {
  const title = String(header.title ?? "polhode");
  const canvas = element("canvas", { class: "scene", role: "img", "aria-label": `${title}: moving picture` });
  const labelRoom = element("div", { class: "labels", "aria-hidden": "true" }), legend = element("div", { class: "corner ghosts" }, ...acts.map(() => element("div", {}, element("i"), element("b"), element("span"))), ...notes.map((note) => element("p", {}, note)));
  const corners = acts.map((act, i) => makeCorner(act, i ? [] : notes)), room = element("div", { class: "room" }, canvas, labelRoom, ...corners, legend);
  const sheet = element("canvas", { class: "plots", role: "img", "aria-label": "Plots" });
  const next = element("button", { type: "button", class: "next", "aria-label": "More plots", title: "More plots" }, "›");
  const plotting = element("div", { class: "plotting" }, sheet, next), bar = makeBar();
  const root = element("div", { class: "ph", tabindex: "0", role: "application", "aria-label": title }, room, plotting, bar.bar);
  return { canvas, labelRoom, legend, corners, room, sheet, next, plotting, bar, root };
}

export class Viewer {
  /** @param {HTMLElement} host @param {any} header @param {ArrayBuffer} buffer @param {{focus?: boolean}} [options] */
  constructor(host, header, buffer, options = {}) {
    const film = read(header, buffer);
    if (header.kind === "live") beginPast(film);
    /** An ensemble, if this is one. */
    this.cloud = header.kind === "crowd" ? readCloud(header, buffer) : null;
    this.host = host;
    this.film = film;
    this.ending = new AbortController();
    this.frames = 0;
    this.playing = false;
    this.speed = 1;
    this.asked = 0;
    this.before = 0;
    this.gone = false;
    /** A body's point, or the numbers of members. @type {{run: number, point: number[]} | number[] | null} */
    this.picked = null;
    /** @type {Set<(time: number) => void>} */
    this.timeListeners = new Set();
    /** @type {Set<(picked: any) => void>} */
    this.pickListeners = new Set();
    /** @type {Layout} */
    this.layout = film.runs.length > 1 && header.layout === "ghosts" ? "ghosts" : "side";
    /** @type {Theme} */
    this.theme = header.theme ?? "auto";
    this.still = matchMedia("(prefers-reduced-motion: reduce)");
    this.dark = matchMedia("(prefers-color-scheme: dark)");
    const acts = this.cloud ? [this.cloud] : film.runs, parts = makeParts(film, acts); // acts have a name, facts and plots
    this.canvas = parts.canvas;
    this.labelRoom = parts.labelRoom;
    this.room = parts.room;
    this.sheet = parts.sheet;
    this.next = parts.next;
    this.plotting = parts.plotting;
    this.bar = parts.bar;
    this.root = parts.root;
    this.corners = parts.corners;
    this.legend = parts.legend;
    const shadow = host.shadowRoot ?? host.attachShadow({ mode: "open" }), time = header.time ?? {};
    dress(shadow);
    shadow.replaceChildren(this.root);
    this.unit = String(time.unit ?? "s");
    this.plots = new Plots(this.sheet, acts, this.unit);
    this.shows = { ...SHOWN, ...header.show };
    this.view = new Camera();
    this.labels = new SceneLabels(this.labelRoom, () => this.colours());
    this.hands = this.makeHands();
    this.stage = this.makeStage();
    this.staged = this.stage && this.makeShow(this.stage, buffer);
    this.menu = this.cloud ? makeMenu(["axes", "grid", "plots", "corner"], false, false, CROWD_KEYS)
      : makeMenu(switchesOf(film, this.staged), film.runs.length > 1, Boolean(this.staged));
    this.bar.bar.append(this.menu);
    const scene = this.staged?.scenes.side[0], panel = scene instanceof CrowdScene ? new CrowdPanel(this.room, scene, this.bar, this) : null;
    this.panel = panel;
    if (panel) this.hands.take = (...event) => panel.take(...event);
    this.observer = new ResizeObserver(() => this.layOut());
    /** @type {Scene[]} */
    this.current = [];
    /** @type {Box[]} */
    this.rules = [];
    this.start = this.staged?.start ?? film.start;
    this.end = this.staged?.end ?? film.end;
    this.time = this.start;
    this.listen();
    this.setTheme(this.theme);
    this.seek(this.start);
    /** Who brings the states of a simulation that runs. */
    this.follower = header.kind === "live" ? new Follower(this) : null;
    if (options.focus ?? window.top === window) this.focusFresh();
  }

  /** Take the keyboard at once, without a frame that nobody asked for. */
  focusFresh() {
    this.root.classList.add("fresh");
    this.root.addEventListener("blur", () => this.root.classList.remove("fresh"), { once: true, signal: this.ending.signal });
    this.root.focus({ preventScroll: true });
  }

  /** @returns {Stage | null} */
  makeStage() {
    try {
      return { painter: new Painter(this.canvas), colours: this.colours(), show: this.shows, labels: this.labels, camera: this.view };
    } catch (error) {
      this.room.append(element("div", { class: "error", role: "alert" }, String(/** @type {Error} */ (error).message)));
      return null;
    }
  }

  /** @param {Stage} stage @param {ArrayBuffer} buffer */
  makeShow(stage, buffer) {
    if (this.cloud) return sceneCrowd(stage, this.cloud);
    const kind = String(this.film.header.kind ?? "runs"), make = Object.hasOwn(KINDS_OF_SHOW, kind) ? KINDS_OF_SHOW[kind] : null;
    if (!make) throw new Error(`polhode viewer: kind must be one of ${Object.keys(KINDS_OF_SHOW).join(", ")}, not ${kind}`);
    return make(stage, this.film, buffer, this);
  }

  colours() {
    return PALETTES[this.theme === "dark" || (this.theme === "auto" && this.dark.matches) ? "dark" : "light"];
  }

  // ---- time

  get runs() {
    return this.film.runs;
  }

  /** Change the span of time, as while a run goes on. @param {number} start @param {number} end */
  setSpan(start, end) {
    this.start = start;
    this.end = end;
    this.layOut();
  }

  /** @param {number} time */
  seek(time) {
    this.time = Math.min(Math.max(Number(time) || 0, this.start), this.end);
    this.tellTime();
    this.ask();
  }

  tellTime() {
    for (const listener of this.timeListeners) listener(this.time);
  }

  play() {
    if (this.time >= this.end) this.time = this.start;
    this.playing = true;
    this.before = 0;
    showPlaying(this.bar.play, true);
    this.ask();
  }

  pause() {
    this.playing = false;
    showPlaying(this.bar.play, false);
  }

  /** @param {number} speed in units of the header's */
  setSpeed(speed) {
    if (!(speed > 0)) throw new Error(`speed must be positive, not ${speed}`);
    this.speed = speed;
    const { speed: select } = this.bar;
    if (![...select.options].some((option) => +option.value === speed)) select.append(new Option(`${speed}×`, String(speed)));
    select.value = String(speed);
  }

  /** Draw at the next opportunity. */
  ask() {
    if (!this.asked && !this.gone) this.asked = requestAnimationFrame(this.step);
  }

  step = (/** @type {number} */ now) => {
    this.asked = 0;
    if (this.playing) this.advance(now);
    const moving = this.view.step(now);
    this.draw();
    if ((this.playing && !this.follower) || moving) this.ask();
  };

  /** @param {number} now in milliseconds */
  advance(now) {
    if (this.before) this.time += Math.min(now - this.before, 250) / 1000 * this.speed * (this.film.header.speed ?? 1);
    this.before = now;
    if (this.time >= this.end) {
      this.time = this.end;
      this.pause();
    }
    this.tellTime();
  }

  // ---- drawing

  /** The scenes of this layout that are switched on. */
  scenes() {
    const all = this.staged?.scenes[this.layout] ?? [];
    return this.shows.poinsot ? all : all.filter(({ pane }) => pane.kind !== "poinsot");
  }

  /** Give every part its place: after a change of size, layout, switches or theme. */
  layOut() {
    this.root.classList.toggle("narrow", this.root.clientWidth < NARROW);
    this.plotting.hidden = !this.shows.plots || !this.plots.names.length;
    if (!this.plotting.hidden) {
      this.plots.layOut(this.plotting.clientWidth, this.plotting.clientHeight, this.ratio(), this.colours(), this.start, this.end);
      this.next.hidden = this.plots.fitting >= this.plots.names.length;
      write(this.next, this.plots.pageText());
    }
    const { clientWidth: width, clientHeight: height } = this.room;
    this.current = this.scenes();
    if (width && height) this.rules = arrange(this.current, width, height);
    this.placeCorners();
    this.panel?.renew();
    this.bar.time.min = String(this.start);
    this.bar.time.max = String(this.end);
    tickMenu(this.menu, this.shows, { camera: this.view.preset, layout: this.layout, theme: this.theme });
    this.ask();
  }

  ratio() {
    return Math.min(2, devicePixelRatio || 1);
  }

  placeCorners() {
    const several = this.runs.length > 1, ghosts = this.layout === "ghosts";
    this.legend.hidden = !ghosts || !this.shows.corner;
    this.corners.forEach((corner, i) => {
      const pane = this.current.find((scene) => scene.pane.run === i)?.pane;
      corner.hidden = !this.shows.corner || ghosts || !pane;
      if (corner.hidden || !pane) return;
      const tall = pane.width > 300 && pane.height > 1.3 * pane.width, roomy = pane.height > 300 && (pane.width > 420 || tall);
      if (corner.dataset.roomy !== String(roomy)) corner.open = roomy;
      corner.dataset.roomy = String(roomy);
      corner.style.left = `${pane.x}px`;
      corner.style.top = `${pane.y}px`;
      corner.style.maxWidth = `${Math.max(150, pane.width > 560 ? 0.5 * pane.width : pane.width - 8)}px`;
      markCorner(corner, several ? this.colours().runs[i % 6] : null);
      const above = Math.min(corner.offsetHeight, pane.height - pane.width); // where there is height to spare, the picture stays below
      if (above > 0) pane.place(pane.x, pane.y + above, pane.width, pane.height - above);
    });
  }

  draw() {
    const { stage } = this, width = this.room.clientWidth, height = this.room.clientHeight;
    if (stage && width && height && !stage.painter.gl.isContextLost()) {
      stage.painter.ratio = this.ratio();
      stage.painter.frame(width, height, stage.colours.ground);
      for (let i = 0; i < this.rules.length; i++) stage.painter.fill(this.rules[i], stage.colours.rule);
      this.labels.begin();
      for (let i = 0; i < this.current.length; i++) {
        const scene = this.current[i];
        if (scene.pane.width > 0) scene.draw(scene.pane, this.time);
      }
      this.labels.end();
    }
    this.panel?.draw(this.colours(), this.ratio());
    if (!this.plotting.hidden) this.plots.draw(this.time);
    this.writeNumbers();
    this.frames++;
  }

  writeNumbers() {
    write(this.bar.now, `t = ${timeText(this.time, this.end - this.start)} ${this.unit}`);
    if (!this.bar.time.matches(":active")) this.bar.time.value = String(this.time);
    if (!this.legend.hidden) this.writeAngles();
  }

  /** The angle between the first run and each other. */
  writeAngles() {
    const scene = /** @type {SpaceScene | undefined} */ (this.current[0]);
    if (!(scene instanceof SpaceScene)) return;
    scene.actors.forEach(({ mover }, i) => {
      const [mark, name, angle] = /** @type {HTMLCollectionOf<HTMLElement>} */ (this.legend.children[i].children);
      mark.style.background = this.colours().lines[i % 6];
      write(name, mover.run.name);
      write(angle, i && holds(scene.first.run, this.time) && holds(mover.run, this.time) ? `${angleText(angleBetween(scene.first.q, mover.q))} apart` : "");
    });
  }

  // ---- what hands do

  listen() {
    const { signal } = this.ending, { bar, menu } = this;
    const on = (/** @type {EventTarget} */ target, /** @type {string} */ type, /** @type {(event: any) => void} */ f) => target.addEventListener(type, f, { signal });
    on(bar.play, "click", () => this.toggle());
    on(bar.time, "input", () => this.seek(+bar.time.value));
    on(bar.speed, "change", () => this.setSpeed(+bar.speed.value));
    on(bar.full, "click", () => this.toggleFullScreen());
    on(bar.shot, "click", () => this.saveScreenshot());
    on(bar.menu, "click", () => this.toggleMenu());
    for (const corner of this.corners) on(corner, "toggle", () => this.layOut());
    on(menu, "change", (event) => this.choose(event.target));
    on(this.next, "click", () => (this.plots.turnPage(), this.layOut()));
    on(this.root, "keydown", (event) => this.press(event));
    on(this.sheet, "pointerdown", (event) => this.seekPlot(event, 8));
    on(this.sheet, "pointermove", (event) => event.buttons & 1 && this.seekPlot(event, Infinity));
    on(this.dark, "change", () => this.setTheme(this.theme));
    on(this.canvas, "webglcontextlost", (event) => (event.preventDefault(), this.pause()));
    on(this.canvas, "webglcontextrestored", () => (this.stage?.painter.build(), this.ask()));
    listenToPointers(this.canvas, this.hands, signal);
    this.observer.observe(this.room);
  }

  /** @returns {import("./controls.js").Hands} */
  makeHands() {
    const moved = (/** @type {() => void} */ f) => (f(), this.ask());
    return {
      take: null,
      focus: () => {
        this.root.focus({ preventScroll: true });
        if (!this.menu.hidden) this.toggleMenu();
      },
      turn: (dx, dy) => moved(() => this.view.turn(dx, dy)),
      zoom: (factor) => moved(() => this.view.zoomBy(factor)),
      shift: (dx, dy, x, y) => moved(() => {
        const scene = this.current.find(({ pane }) => pane.contains(x, y)) ?? this.current[0];
        if (scene) this.view.shift(dx, dy, scene.pane);
      }),
      pick: (x, y) => this.pickAt(x, y),
    };
  }

  toggle() {
    if (this.playing) this.pause();
    else this.play();
  }

  toggleMenu() {
    this.menu.hidden = !this.menu.hidden;
    this.bar.menu.setAttribute("aria-expanded", String(!this.menu.hidden));
  }

  toggleFullScreen() {
    if (document.fullscreenElement) document.exitFullscreen();
    else this.host.requestFullscreen?.().catch(() => {});
  }

  /** @param {HTMLInputElement} input */
  choose(input) {
    if (input.name === "camera") this.setCamera(/** @type {Preset} */ (input.value));
    else if (input.name === "layout") this.setLayout(/** @type {Layout} */ (input.value));
    else if (input.name === "theme") this.setTheme(/** @type {Theme} */ (input.value));
    else this.show(input.name, input.checked);
  }

  /** @param {PointerEvent} event @param {number} slack */
  seekPlot(event, slack) {
    const box = this.sheet.getBoundingClientRect(), time = this.plots.timeAt(event.clientX - box.left, slack);
    if (event.type === "pointerdown") this.sheet.setPointerCapture(event.pointerId);
    if (Number.isFinite(time)) this.seek(time);
  }

  /** @param {KeyboardEvent} event */
  press(event) {
    const target = /** @type {HTMLElement} */ (event.composedPath()[0]), inside = target.matches("select, .menu input");
    if (event.ctrlKey || event.metaKey || event.altKey || (inside && event.key !== "Escape")) return;
    if (event.key === " " && target.matches("button")) return; // the button presses itself
    const step = (this.end - this.start) / (event.shiftKey ? 20 : 200);
    /** @type {{[key: string]: () => void}} */
    const keys = {
      " ": () => this.toggle(), ArrowLeft: () => this.seek(this.time - step), ArrowRight: () => this.seek(this.time + step),
      Home: () => this.seek(this.start), End: () => this.seek(this.end),
      1: () => this.setCamera("inertial"), 2: () => this.setCamera("body"), 3: () => this.setCamera("momentum"),
      f: () => this.toggleFullScreen(), s: () => this.saveScreenshot(), m: () => this.toggleMenu(), "?": () => this.toggleMenu(),
      Escape: () => (this.menu.hidden ? this.panel?.pick(null) : this.toggleMenu()), b: () => this.panel?.setBrush(!this.panel.brushing),
    };
    if (!Object.hasOwn(keys, event.key)) return;
    event.preventDefault();
    keys[event.key]();
  }

  /** Start a trail at the body's point there, or else reset the camera. @param {number} x @param {number} y */
  pickAt(x, y) {
    const scene = this.current.find(({ pane }) => pane.contains(x, y)), found = scene?.pick?.(x, y, this.time);
    if (!found) return this.setCamera(this.view.preset);
    this.trace(found.run, found.point);
    this.tellPicked(found);
  }

  /** Pick the members of an ensemble that have these numbers. @param {number[]} numbers */
  pick(numbers) {
    this.panel?.pick(numbers);
  }

  /** @param {{run: number, point: number[]} | number[]} picked */
  tellPicked(picked) {
    this.picked = picked;
    for (const listener of this.pickListeners) listener(picked);
  }

  // ---- the handle

  /** @param {string} name @param {boolean} on */
  show(name, on) {
    if (!Object.hasOwn(SHOWN, name)) throw new Error(`there is no switch ${name}; there are ${Object.keys(SHOWN).join(", ")}`);
    this.shows[/** @type {keyof typeof SHOWN} */ (name)] = Boolean(on);
    this.layOut();
  }

  shown() {
    return { ...this.shows };
  }

  /** @param {Preset} preset */
  setCamera(preset) {
    if (!["inertial", "body", "momentum"].includes(preset)) throw new Error(`there is no camera ${preset}; there are inertial, body, momentum`);
    this.view.eased = !this.still.matches;
    this.view.go(preset);
    this.layOut();
  }

  /**
   * Where the camera of a run's pane stands: eye = target + distance (cos pitch cos yaw, cos pitch sin yaw, sin pitch), in
   * axes that the shortest rotation from z to `up` (to L for "momentum") gives, or in body axes for "body".  The target is
   * in inertial axes, from the origin of the run's path.
   * @param {number} [run]
   */
  camera(run = 0) {
    const pane = (this.current.find((scene) => scene.pane.run === run) ?? this.current[0])?.pane, { preset, yaw, pitch } = this.view;
    return { preset, yaw, pitch, distance: pane?.distance ?? 0, fov: FIELD_OF_VIEW, target: [...(pane?.target ?? [])] };
  }

  /** @param {Layout} layout */
  setLayout(layout) {
    if (layout !== "side" && layout !== "ghosts") throw new Error(`there is no layout ${layout}; there are side, ghosts`);
    this.layout = layout;
    this.layOut();
  }

  /** @param {Theme} theme */
  setTheme(theme) {
    if (!["auto", "light", "dark"].includes(theme)) throw new Error(`there is no theme ${theme}; there are auto, light, dark`);
    this.theme = theme;
    const colours = this.colours();
    this.root.dataset.theme = colours === PALETTES.dark ? "dark" : "light";
    applyPalette(this.root, colours);
    if (this.stage) this.stage.colours = colours;
    this.labels.recolour();
    this.layOut();
  }

  panes() {
    return this.current.filter(({ pane }) => pane.width > 0).map(({ pane: { kind, run, x, y, width, height } }) => ({ kind, run, x, y, width, height }));
  }

  /** Draw the trail of a further point of a body. @param {number} run @param {number[]} point in body axes */
  trace(run, point) {
    for (const scene of this.staged?.scenes.ghosts ?? []) if (scene instanceof SpaceScene) scene.trace(run, [...point]);
    this.ask();
  }

  /** @param {(time: number) => void} listener @returns {() => void} that ends it */
  onTime(listener) {
    this.timeListeners.add(listener);
    return () => this.timeListeners.delete(listener);
  }

  /** @param {(picked: any) => void} listener @returns {() => void} that ends it */
  onPick(listener) {
    this.pickListeners.add(listener);
    return () => this.pickListeners.delete(listener);
  }

  /** The scene with its labels, and the plots, as a PNG. @returns {Promise<Blob>} */
  screenshot() {
    this.draw(); // the browser forgets what was drawn before
    return picture(this.root, this.room, this.plotting.hidden ? [this.canvas] : [this.canvas, this.sheet], this.ratio());
  }

  async saveScreenshot() {
    const link = element("a", { download: "polhode.png", href: URL.createObjectURL(await this.screenshot()) });
    link.click();
    URL.revokeObjectURL(link.href);
  }

  destroy() {
    this.gone = true;
    cancelAnimationFrame(this.asked);
    this.ending.abort();
    this.follower?.close();
    this.observer.disconnect();
    this.stage?.painter.destroy();
    this.root.remove();
  }
}

/** Whether a run has a state at this time: before and after it stands still. @param {import("./packing.js").Run} run @param {number} time */
function holds({ t }, time) {
  return time >= t[0] && time <= t[t.length - 1];
}

/** @param {number} angle */
function angleText(angle) {
  const degrees = angle * 180 / Math.PI;
  return degrees < 0.01 ? `${angle.toExponential(1)} rad` : `${degrees.toFixed(degrees < 10 ? 2 : 1)}°`;
}

/** Draw canvases and the texts of a room as they stand on the page. @param {HTMLElement} root @param {HTMLElement} room @param {HTMLCanvasElement[]} canvases @param {number} ratio @returns {Promise<Blob>} */
function picture(root, room, canvases, ratio) {
  const origin = root.getBoundingClientRect(), sheet = element("canvas"), style = getComputedStyle(root);
  const bottom = Math.max(...canvases.map((canvas) => canvas.getBoundingClientRect().bottom)) - origin.top;
  sheet.width = Math.round(origin.width * ratio);
  sheet.height = Math.round(bottom * ratio);
  const g = /** @type {CanvasRenderingContext2D} */ (sheet.getContext("2d"));
  g.scale(ratio, ratio);
  g.fillStyle = style.backgroundColor;
  g.fillRect(0, 0, origin.width, bottom);
  for (const canvas of canvases) {
    const box = canvas.getBoundingClientRect();
    g.drawImage(canvas, box.left - origin.left, box.top - origin.top, box.width, box.height);
  }
  g.textBaseline = "middle";
  for (const text of /** @type {NodeListOf<HTMLElement>} */ (room.querySelectorAll(".labels span, summary, dt, dd, p, b, .ghosts span"))) {
    const box = text.getBoundingClientRect(), look = getComputedStyle(text);
    if (!box.width || text.hidden) continue;
    g.font = `${look.fontWeight} ${look.fontSize} system-ui, sans-serif`;
    g.fillStyle = look.color;
    g.fillText(text.textContent ?? "", box.left - origin.left, box.top - origin.top + box.height / 2);
  }
  return new Promise((resolve, reject) => sheet.toBlob((blob) => (blob ? resolve(blob) : reject(new Error("the browser made no picture"))), "image/png"));
}

/** Draw packed runs inside an element. @param {HTMLElement} host @param {any} header @param {ArrayBuffer} buffer @param {{focus?: boolean}} [options] */
export function mount(host, header, buffer, options) {
  try {
    return new Viewer(host, header, buffer, options);
  } catch (error) {
    const root = host.shadowRoot ?? host.attachShadow({ mode: "open" });
    root.replaceChildren(element("p", { class: "error", role: "alert" }, String(/** @type {Error} */ (error).message)));
    throw error;
  }
}

/** The widget of a notebook. @param {{model: any, el: HTMLElement}} cell */
function render({ model, el }) {
  const data = model.get("data"), header = JSON.parse(model.get("header"));
  el.style.height = model.get("height") ?? "520px";
  const viewer = mount(el, header, data.buffer.slice(data.byteOffset, data.byteOffset + data.byteLength), { focus: false });
  let own = false, asked = 0;
  const tell = () => {
    asked = 0;
    own = true;
    model.set("time", viewer.time);
    model.save_changes();
    own = false;
  };
  const follow = () => own || viewer.seek(model.get("time"));
  viewer.seek(model.get("time")); // it may have been set before the cell was shown
  viewer.onTime(() => (asked ||= window.setTimeout(tell, 100))); // ten messages a second are enough
  viewer.onPick((picked) => {
    own = true;
    model.set("picked", picked);
    model.save_changes();
    own = false;
  });
  const choose = () => own || viewer.pick(model.get("picked"));
  model.on("change:time", follow);
  model.on("change:picked", choose);
  return () => {
    clearTimeout(asked);
    model.off("change:time", follow);
    model.off("change:picked", choose);
    viewer.destroy();
  };
}

export default { render };
