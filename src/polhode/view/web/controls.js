// What hands touch: the bar, the menu, the keys, the pointers; and the texts over the scene.

import { cssOf } from "./style.js";

/** @typedef {import("./vectors.js").Numbers} Numbers */
/** @typedef {import("./camera.js").Pane} Pane */

export const SPEEDS = [0.05, 0.1, 0.25, 0.5, 1, 2, 4, 10];
const ICONS = {
  play: "M4 2.5v11l9-5.5z", pause: "M3.5 2.5h3.2v11H3.5zM9.3 2.5h3.2v11H9.3z",
  full: "M6 2H2v4M10 2h4v4M6 14H2v-4M10 14h4v-4", shot: "M1.5 5h3l1.2-2h4.6l1.2 2h3v8.5h-13zM10.4 9a2.4 2.4 0 1 1-4.8 0a2.4 2.4 0 0 1 4.8 0",
  menu: "M2 4h12M2 8h12M2 12h12", brush: "M2 5V2h3M11 2h3v3M14 11v3h-3M5 14H2v-3M7.2 2h1.6M7.2 14h1.6M2 7.2v1.6M14 7.2v1.6",
};
const SWITCHES = {
  body: "body", axes: "body axes 1 2 3", omega: "angular velocity ω", momentum: "angular momentum L", torque: "torque T", trail: "trails",
  poinsot: "Poinsot’s ellipsoid", path: "path", ground: "ground", grid: "grid", plots: "plots", corner: "facts",
};
const KEYS = [["space", "play, pause"], ["← →", "back, on; with Shift further"], ["Home End", "first, last"], ["1 2 3", "camera: inertial, body, along L"],
  ["f  s  m", "full screen, screenshot, menu"], ["drag", "turn; right or Shift: move"], ["wheel", "zoom"], ["double click", "trail of that point; beside the body: reset the camera"]];

/**
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} tag @param {{[name: string]: string}} [attributes] @param {(Node | string)[]} children
 */
export function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

/** @param {keyof typeof ICONS} name */
function icon(name) {
  const [svg, path] = ["svg", "path"].map((tag) => document.createElementNS("http://www.w3.org/2000/svg", tag));
  svg.setAttribute("viewBox", "0 0 16 16");
  svg.setAttribute("aria-hidden", "true");
  path.setAttribute("d", ICONS[name]);
  svg.append(path);
  return svg;
}

/** @param {keyof typeof ICONS} name @param {string} label */
export function iconButton(name, label) {
  const button = element("button", { class: name, type: "button", "aria-label": label, title: label });
  button.append(icon(name));
  return button;
}

/** Change a text only where it differs. @param {HTMLElement} where @param {string} text */
export function write(where, text) {
  if (where.textContent !== text) where.textContent = text;
}

/** The bar below. */
export function makeBar() {
  const play = iconButton("play", "Play"), full = iconButton("full", "Full screen (f)"), shot = iconButton("shot", "Screenshot (s)"), menu = iconButton("menu", "Menu (m)");
  const time = element("input", { class: "time", type: "range", "aria-label": "Time", min: "0", max: "1", step: "any", value: "0" });
  const speed = element("select", { class: "speed", "aria-label": "Speed", title: "Speed" });
  for (const s of SPEEDS) speed.append(new Option(`${s}×`, String(s), s === 1, s === 1));
  const now = element("output", { class: "now" });
  menu.setAttribute("aria-expanded", "false");
  const bar = element("div", { class: "bar" }, play, time, now, speed, shot, full, menu);
  return { bar, play, time, speed, now, full, shot, menu };
}

/** @param {HTMLButtonElement} button @param {boolean} playing */
export function showPlaying(button, playing) {
  button.replaceChildren(icon(playing ? "pause" : "play"));
  button.setAttribute("aria-label", playing ? "Pause" : "Play");
  button.title = playing ? "Pause (space)" : "Play (space)";
}

/** @param {string} legend @param {string} name @param {[string, string][]} choices value and text */
function radios(legend, name, choices) {
  const set = element("fieldset", {}, element("legend", {}, legend));
  for (const [value, text] of choices) set.append(element("label", {}, element("input", { type: "radio", name, value }), text));
  return set;
}

/** The menu: switches that make sense here, and choices. @param {string[]} switches @param {boolean} several runs @param {boolean} presets @param {string[][]} [keys] */
export function makeMenu(switches, several, presets, keys = KEYS) {
  const shown = element("fieldset", {}, element("legend", {}, "show"));
  for (const [name, text] of Object.entries(SWITCHES))
    if (switches.includes(name)) shown.append(element("label", {}, element("input", { type: "checkbox", name }), text));
  const choices = element("div");
  if (presets) choices.append(radios("camera", "camera", [["inertial", "inertial"], ["body", "body-fixed"], ["momentum", "along L"]]));
  if (several) choices.append(radios("runs", "layout", [["side", "side by side"], ["ghosts", "as ghosts"]]));
  choices.append(radios("colours", "theme", [["auto", "as the system"], ["light", "light"], ["dark", "dark"]]));
  const list = element("dl", { class: "keys" });
  for (const [key, does] of keys) list.append(element("dt", {}, key), element("dd", {}, does));
  const menu = element("div", { class: "menu", role: "group", "aria-label": "Menu" }, shown, choices, list);
  menu.hidden = true;
  return menu;
}

/** Tick what holds. @param {HTMLElement} menu @param {{[name: string]: boolean}} show @param {{[name: string]: string}} choices */
export function tickMenu(menu, show, choices) {
  for (const input of menu.querySelectorAll("input")) input.checked = input.type === "radio" ? choices[input.name] === input.value : Boolean(show[input.name]);
}

/**
 * What pointers do.  `take`, if given, sees each event first and returns true to keep it: so a brush or a push
 * replaces the camera's hand.
 * @typedef {object} Hands
 * @property {(dx: number, dy: number) => void} turn @property {(dx: number, dy: number, x: number, y: number) => void} shift
 * @property {(factor: number) => void} zoom @property {(x: number, y: number) => void} pick @property {() => void} focus
 * @property {((kind: "down" | "move" | "up", x: number, y: number, event: PointerEvent) => boolean) | null} take
 */

/** @param {HTMLElement} canvas @param {Hands} hands @param {AbortSignal} signal that ends it */
export function listenToPointers(canvas, hands, signal) {
  /** @type {Map<number, {x: number, y: number}>} */
  const down = new Map();
  const place = (/** @type {MouseEvent} */ event) => {
    const box = canvas.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  };
  let last = { x: NaN, y: NaN, time: 0 };
  /** Two taps of a finger are a double click, of which not every phone tells. @param {PointerEvent} event */
  const tap = (event) => {
    const { x, y } = place(event), near = Math.hypot(x - last.x, y - last.y) < 24 && event.timeStamp - last.time < 350;
    if (event.pointerType !== "touch") return;
    if (near) hands.pick(x, y);
    last = { x: near ? NaN : x, y, time: event.timeStamp };
  };
  /** @param {"down" | "move" | "up"} kind @param {PointerEvent} event */
  const taken = (kind, event) => Boolean(hands.take?.(kind, place(event).x, place(event).y, event));
  canvas.addEventListener("pointerdown", (event) => {
    hands.focus();
    canvas.setPointerCapture(event.pointerId);
    if (!taken("down", event)) down.set(event.pointerId, place(event));
  }, { signal });
  canvas.addEventListener("pointermove", (event) => {
    const before = down.get(event.pointerId), now = place(event);
    if (!before) return void taken("move", event);
    if (down.size === 1) drag(hands, before, now, event.shiftKey || (event.buttons & 6) !== 0);
    else if (down.size === 2) pinch(hands, [...down].filter(([id]) => id !== event.pointerId)[0][1], before, now);
    down.set(event.pointerId, now);
  }, { signal });
  for (const type of /** @type {const} */ (["pointerup", "pointercancel"]))
    canvas.addEventListener(type, (event) => void (down.delete(event.pointerId) ? tap(event) : taken("up", event)), { signal });
  canvas.addEventListener("wheel", (event) => {
    event.preventDefault();
    hands.zoom(Math.exp(Math.max(-100, Math.min(100, event.deltaY * (event.deltaMode ? 30 : 1))) * 0.0015));
  }, { signal, passive: false });
  canvas.addEventListener("contextmenu", (event) => event.preventDefault(), { signal });
  canvas.addEventListener("dblclick", (event) => {
    if (!(event instanceof PointerEvent && event.pointerType === "touch")) hands.pick(place(event).x, place(event).y);
  }, { signal });
}

/** @typedef {{x: number, y: number}} Place */

/** @param {Hands} hands @param {Place} before @param {Place} now @param {boolean} moves */
function drag(hands, before, now, moves) {
  if (moves) hands.shift(now.x - before.x, now.y - before.y, now.x, now.y);
  else hands.turn(now.x - before.x, now.y - before.y);
}

/** One of two fingers has moved. @param {Hands} hands @param {Place} other @param {Place} before @param {Place} now */
function pinch(hands, other, before, now) {
  hands.zoom(Math.hypot(before.x - other.x, before.y - other.y) / Math.max(1, Math.hypot(now.x - other.x, now.y - other.y)));
  hands.shift((now.x - before.x) / 2, (now.y - before.y) / 2, now.x, now.y);
}

const TIP = "tip", FAINT = "tip faint", CAPTION = "caption";
const tipSeen = new Float64Array(3), baseSeen = new Float64Array(3);

/** Texts beside the tips of arrows, and captions of panes: elements that are used again at each frame. */
export class SceneLabels {
  /** @param {HTMLElement} room @param {() => import("./style.js").Palette} colours */
  constructor(room, colours) {
    this.room = room;
    this.colours = colours;
    /** @type {{element: HTMLElement, x: number, y: number, text: string, hue: number, kind: string}[]} */
    this.pool = [];
    this.used = 0;
  }

  begin() {
    this.used = 0;
  }

  /** Beside the tip, away from the base. @param {Pane} pane @param {string} text @param {number} hue @param {Numbers} tip @param {Numbers} base @param {number} [side] pixels to the right, seen along the arrow @param {boolean} [faint] */
  put(pane, text, hue, tip, base, side = 0, faint = false) {
    pane.project(tipSeen, tip);
    if (tipSeen[2] <= 0 || !pane.contains(tipSeen[0], tipSeen[1])) return;
    pane.project(baseSeen, base);
    const dx = tipSeen[0] - baseSeen[0], dy = tipSeen[1] - baseSeen[1], length = Math.hypot(dx, dy) || 1;
    const x = tipSeen[0] + (12 * dx - side * dy) / length - 5, y = tipSeen[1] + (12 * dy + side * dx) / length - 9;
    const within = Math.max(pane.x + 4, Math.min(pane.x + pane.width - 16, x));
    this.show(text, hue, faint ? FAINT : TIP, within, this.freeHeight(within, Math.max(pane.y + 2, Math.min(pane.y + pane.height - 20, y))));
  }

  /** A height at which no other label stands. @param {number} x @param {number} y */
  freeHeight(x, y) {
    for (let i = 0; i < this.used; i++) {
      const other = this.pool[i];
      if (Math.abs(other.x - x) < 13 && Math.abs(other.y - y) < 15) y = other.y + (y >= other.y ? 15 : -15);
    }
    return y;
  }

  /** @param {Pane} pane @param {string} text */
  caption(pane, text) {
    this.show(text, -1, CAPTION, pane.x + 12, pane.y + pane.height - 26);
  }

  /** @param {string} text @param {number} hue @param {string} kind @param {number} x @param {number} y */
  show(text, hue, kind, x, y) {
    if (this.used === this.pool.length) this.add();
    const label = this.pool[this.used++], { style } = label.element;
    if (label.text !== text) label.element.textContent = label.text = text;
    if (label.kind !== kind) label.element.className = label.kind = kind;
    if (label.hue !== hue) style.color = (label.hue = hue) < 0 ? "" : this.colours().text[hue];
    if (label.x === x && label.y === y) return;
    label.x = x;
    label.y = y;
    style.transform = `translate(${x.toFixed(1)}px,${y.toFixed(1)}px)`;
  }

  add() {
    const span = element("span");
    this.room.append(span);
    this.pool.push({ element: span, x: NaN, y: NaN, text: "", hue: -1, kind: "" });
  }

  end() {
    for (let i = 0; i < this.pool.length; i++) {
      const label = this.pool[i], hidden = i >= this.used;
      if (label.element.hidden !== hidden) label.element.hidden = hidden;
    }
  }

  /** Colours anew, after a change of theme. */
  recolour() {
    for (const label of this.pool) label.hue = NaN;
  }
}

/** A run's corner: name, facts and notes, all as text. @param {{name: string, facts: [string, string][], failed: boolean}} run @param {string[]} notes */
export function makeCorner(run, notes) {
  const name = element("summary", {}, run.name), facts = element("dl");
  for (const [label, text] of run.facts) facts.append(element("dt", {}, label), element("dd", label === "status" ? { class: "status" } : {}, text));
  const corner = element("details", { class: "corner" }, name, facts);
  for (const note of notes) corner.append(element("p", {}, note));
  corner.classList.toggle("failed", run.failed);
  return corner;
}

/** A dot of the run's colour before its name. @param {HTMLElement} corner @param {import("./style.js").Colour | null} colour */
export function markCorner(corner, colour) {
  corner.querySelector("i")?.remove();
  if (!colour) return;
  const dot = element("i");
  dot.style.background = cssOf(colour);
  corner.querySelector("summary")?.prepend(dot);
}
