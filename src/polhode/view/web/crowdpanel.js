// What stands over an ensemble: the colour bar with a histogram, the tip at a point, the brush, and who is picked.

import { LEVELS, levelNow, valueText } from "./cloud.js";
import { element, iconButton, write } from "./controls.js";
import { commonPower, roundTicks, tickText } from "./plots.js";

/** @typedef {import("./crowd.js").CrowdScene} CrowdScene */
/** @typedef {import("./style.js").Palette} Palette */

const BARS = 46, STRIP = 9, MARGIN = 10, SMALL_TEXT = "11px system-ui, sans-serif", BOLD_TEXT = "600 12px system-ui, sans-serif";
const LISTED = 12; // numbers of picked members that are shown
const REACH = 10, REACH_OF_FINGERS = 22; // pixels

/** The colour bar, under a histogram of all members and of those picked. */
class Legend {
  /** @param {CrowdScene} scene */
  constructor(scene) {
    this.scene = scene;
    const { name, unit, low, high } = scene.cloud.colour;
    this.title = unit ? `${name} (${unit})` : name;
    this.canvas = element("canvas", { class: "legend", role: "img", "aria-label": `Colours: ${this.title} from ${Number(low.toPrecision(4))} to ${Number(high.toPrecision(4))}` });
    this.context = /** @type {CanvasRenderingContext2D} */ (this.canvas.getContext("2d"));
    const bins = [21, 42, 63][+(scene.cloud.bodies > 300) + +(scene.cloud.bodies > 3000)]; // divisors of LEVELS
    this.all = new Float64Array(bins);
    this.some = new Float64Array(bins);
    this.ticks = this.makeTicks();
    this.marked = -1;
  }

  /** Where the ticks stand, as levels, and their texts. @returns {{level: number, text: string}[]} */
  makeTicks() {
    const { low, high, ticks } = this.scene.cloud.colour, level = (/** @type {number} */ value) => (value - low) / (high - low) * (LEVELS - 1);
    if (ticks) return ticks.map(([value, text]) => ({ level: level(value), text }));
    const power = commonPower(low, high), { step, values } = roundTicks(low, high, 5);
    if (power) this.title += `  ×10^${power}`;
    return values.map((value) => ({ level: level(value), text: tickText(value, step, power) }));
  }

  /** @param {Palette} colours @param {number} ratio */
  draw(colours, ratio) {
    const { canvas, context: g, scene } = this, width = canvas.clientWidth, height = canvas.clientHeight;
    if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
      canvas.width = Math.round(width * ratio);
      canvas.height = Math.round(height * ratio);
    }
    g.setTransform(ratio, 0, 0, ratio, 0, 0);
    g.clearRect(0, 0, width, height);
    scene.count(this.all, this.some, LEVELS);
    this.drawBars(g, width);
    g.font = BOLD_TEXT;
    g.fillStyle = colours.css.ink;
    g.textAlign = "left";
    g.fillText(this.title, MARGIN, 12, width - 2 * MARGIN);
    g.font = SMALL_TEXT;
    for (const { level, text } of this.ticks) this.drawTick(g, width, level, text, colours);
    if (this.marked >= 0) this.drawMark(g, width, colours);
  }

  /** @param {number} level @param {number} width */
  xOf(level, width) {
    return MARGIN + (width - 2 * MARGIN) * (level + 0.5) / LEVELS;
  }

  /** @param {CanvasRenderingContext2D} g @param {number} width */
  drawBars(g, width) {
    const { palette } = this.scene.cloud.colour, bins = this.all.length, base = 18 + BARS, step = (width - 2 * MARGIN) / bins, some = this.scene.pickedCount > 0;
    let most = 1;
    for (let i = 0; i < bins; i++) most = Math.max(most, this.all[i]);
    for (let i = 0; i < bins; i++) {
      const level = 3 * Math.round((i + 0.5) / bins * (LEVELS - 1)), x = MARGIN + i * step;
      g.fillStyle = `rgb(${palette[level]} ${palette[level + 1]} ${palette[level + 2]})`;
      g.fillRect(x, base + 3, step + 0.5, STRIP);
      g.globalAlpha = some ? 0.25 : 1;
      if (this.all[i]) g.fillRect(x, base - Math.max(1, BARS * this.all[i] / most), step, Math.max(1, BARS * this.all[i] / most));
      g.globalAlpha = 1;
      if (this.some[i]) g.fillRect(x, base - Math.max(1.5, BARS * this.some[i] / most), step, Math.max(1.5, BARS * this.some[i] / most));
    }
  }

  /** @param {CanvasRenderingContext2D} g @param {number} width @param {number} level @param {string} text @param {Palette} colours */
  drawTick(g, width, level, text, { css }) {
    const x = this.xOf(level, width), top = 21 + BARS + STRIP, half = g.measureText(text).width / 2;
    g.fillStyle = css.quiet;
    g.fillRect(x - 0.5, top, 1, 4);
    g.textAlign = "center";
    g.fillText(text, Math.max(half, Math.min(width - half, x)), top + 15);
  }

  /** The value of the member under the pointer. @param {CanvasRenderingContext2D} g @param {number} width @param {Palette} colours */
  drawMark(g, width, { css }) {
    const x = this.xOf(this.marked, width), y = 18 + BARS;
    g.fillStyle = css.ink;
    g.beginPath();
    g.moveTo(x - 4, y - 4);
    g.lineTo(x + 4, y - 4);
    g.lineTo(x, y + 3);
    g.fill();
  }
}

/** Put a text into the clipboard, also where the page may not write it directly. @param {string} text @param {HTMLElement} room */
async function copyText(text, room) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const area = element("textarea", { class: "copied", readonly: "" });
    area.value = text;
    room.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
}

/** @param {number} n */
const spaced = (n) => String(n).replace(/\B(?=(\d{3})+$)/g, "\u202f");

export const CROWD_KEYS = [["space", "play, pause"], ["← →", "back, on; with Shift further"], ["Home End", "first, last"], ["1 3", "camera: from the side, from above"],
  ["Shift and drag", "pick members in a rectangle; with Ctrl further ones"], ["Shift and click", "pick one member more"], ["b  Esc", "pick by dragging alone; pick nothing"],
  ["f  s  m", "full screen, screenshot, menu"], ["drag", "turn; right: move"], ["wheel", "zoom"], ["double click", "reset the camera"]];

export class CrowdPanel {
  /**
   * @param {HTMLElement} room @param {CrowdScene} scene @param {{bar: HTMLElement, shot: HTMLElement}} bar
   * @param {{ask: () => void, tellPicked: (numbers: number[]) => void, unit: string}} viewer
   */
  constructor(room, scene, { bar, shot }, viewer) {
    dressCrowd(/** @type {ShadowRoot} */ (room.getRootNode()));
    this.room = room;
    this.scene = scene;
    this.viewer = viewer;
    this.legend = new Legend(scene);
    this.tip = element("div", { class: "member" });
    this.tip.hidden = true;
    this.frame = element("div", { class: "brushing" });
    this.frame.hidden = true;
    this.list = element("output", { class: "numbers" });
    this.count = element("strong");
    this.copy = element("button", { class: "copy", type: "button" }, "Copy numbers");
    this.clear = element("button", { class: "clear", type: "button", "aria-label": "Pick nothing", title: "Pick nothing (Esc)" }, "Clear");
    this.box = element("div", { class: "picked", role: "status" }, this.count, this.list, this.copy, this.clear);
    this.box.hidden = true;
    room.append(this.legend.canvas, this.tip, this.frame, this.box);
    this.button = iconButton("brush", "Pick with a rectangle (b, or Shift and drag)");
    this.button.setAttribute("aria-pressed", "false");
    bar.insertBefore(this.button, shot);
    this.brushing = false;
    /** Where a rectangle began. @type {{x: number, y: number} | null} */
    this.began = null;
    this.pointer = { x: 0, y: 0, reach: REACH, asked: false };
    this.drawnAt = NaN;
    this.copy.addEventListener("click", () => void this.copyNumbers());
    this.clear.addEventListener("click", () => this.pick(null));
    this.button.addEventListener("click", () => this.setBrush(!this.brushing));
  }

  /** Whether a drag picks, without Shift. @param {boolean} on */
  setBrush(on) {
    this.brushing = on;
    this.button.setAttribute("aria-pressed", String(on));
  }

  /** What the pointers do here; true keeps an event from the camera. @param {"down" | "move" | "up"} kind @param {number} x @param {number} y @param {PointerEvent} event */
  take(kind, x, y, event) {
    if (kind === "down" && event.button === 0 && (event.shiftKey || this.brushing)) this.began = { x, y };
    if (!this.began) {
      this.hover(x, y, event.pointerType === "touch" ? REACH_OF_FINGERS : REACH);
      return false;
    }
    if (kind === "up") this.end(x, y, event.ctrlKey || event.metaKey);
    else this.drawFrame(x, y);
    return true;
  }

  /** @param {number} x @param {number} y */
  drawFrame(x, y) {
    const { x: x0, y: y0 } = /** @type {{x: number, y: number}} */ (this.began), { style } = this.frame;
    this.frame.hidden = false;
    this.tip.hidden = true;
    style.transform = `translate(${Math.min(x0, x)}px,${Math.min(y0, y)}px)`;
    style.width = `${Math.abs(x - x0)}px`;
    style.height = `${Math.abs(y - y0)}px`;
  }

  /** The rectangle is complete; a mere click picks the member there. @param {number} x @param {number} y @param {boolean} more */
  end(x, y, more) {
    const { x: x0, y: y0 } = /** @type {{x: number, y: number}} */ (this.began), { scene } = this;
    this.began = null;
    this.frame.hidden = true;
    if (Math.abs(x - x0) < 3 && Math.abs(y - y0) < 3) {
      const body = scene.nearest(x, y, REACH_OF_FINGERS);
      if (body >= 0) this.pick([...scene.pickedNumbers(), scene.cloud.numbers[body]]);
      return;
    }
    scene.brush(Math.min(x0, x), Math.min(y0, y), Math.max(x0, x), Math.max(y0, y), more);
    this.tell();
  }

  /** Pick these members, or none. @param {Iterable<number> | null} numbers */
  pick(numbers) {
    this.scene.choose(numbers ?? []);
    this.tell();
  }

  /** Say who is picked. */
  tell() {
    const numbers = this.scene.pickedNumbers(), many = numbers.length > LISTED;
    this.box.hidden = !numbers.length;
    write(this.count, `${spaced(numbers.length)} picked`);
    write(this.list, numbers.slice(0, LISTED).join(", ") + (many ? ", …" : ""));
    write(this.copy, "Copy numbers");
    this.drawnAt = NaN;
    this.viewer.tellPicked(numbers);
    this.viewer.ask();
  }

  async copyNumbers() {
    await copyText(this.scene.pickedNumbers().join(", "), this.room);
    write(this.copy, "Copied");
  }

  /** Show the member at a place, once for each frame of the browser. @param {number} x @param {number} y @param {number} reach */
  hover(x, y, reach) {
    const { pointer } = this;
    Object.assign(pointer, { x, y, reach });
    if (pointer.asked) return;
    pointer.asked = true;
    requestAnimationFrame(() => {
      pointer.asked = false;
      if (!this.began) this.showTip(this.scene.nearest(pointer.x, pointer.y, pointer.reach));
    });
  }

  /** @param {number} body -1: none */
  showTip(body) {
    const { scene, tip, viewer, pointer, legend } = this, { cloud } = scene, { colour } = cloud;
    tip.hidden = body < 0;
    const level = body < 0 ? -1 : levelNow(cloud, body);
    if (level !== legend.marked) {
      legend.marked = level;
      this.drawnAt = NaN;
      viewer.ask();
    }
    if (body < 0) return;
    const lines = [element("strong", {}, `member ${cloud.numbers[body]}`), element("span", {}, `${colour.name}: ${valueText(colour, level)}`)];
    if (cloud.time > cloud.until[body]) lines.push(element("em", {}, `failed at t = ${Number(cloud.until[body].toPrecision(5))} ${viewer.unit}`));
    tip.replaceChildren(...lines);
    const left = pointer.x + 14 + tip.offsetWidth < this.room.clientWidth ? pointer.x + 14 : pointer.x - 14 - tip.offsetWidth;
    tip.style.transform = `translate(${Math.max(0, left)}px,${Math.max(0, pointer.y - 14 - tip.offsetHeight)}px)`;
  }

  /** Draw what follows the time: the histogram. @param {Palette} colours @param {number} ratio */
  draw(colours, ratio) {
    const { cloud } = this.scene, follows = cloud.colour.changes && cloud.time !== this.drawnAt;
    if (cloud.time !== this.drawnAt && !Number.isNaN(this.drawnAt)) this.tip.hidden = true;
    if (Number.isNaN(this.drawnAt) || follows) this.legend.draw(colours, ratio);
    this.drawnAt = cloud.time;
  }

  /** Draw all anew: after a change of size or colours. */
  renew() {
    this.drawnAt = NaN;
  }
}

const CROWD_SHEET = `
canvas.legend { inset: auto auto 8px 8px; width: min(290px, 60%); height: 96px; pointer-events: none; }
.member { position: absolute; left: 0; top: 0; display: grid; padding: 5px 9px; border-radius: 7px; background: var(--raised); border: 1px solid var(--rule); box-shadow: 0 3px 12px rgb(0 0 0 / .16); font-size: 12px; pointer-events: none; white-space: nowrap; }
.member[hidden], .brushing[hidden], .picked[hidden] { display: none; } .member em { color: var(--bad); font-style: normal; }
.brushing { position: absolute; left: 0; top: 0; border: 1px solid var(--accent); background: color-mix(in srgb, var(--accent) 12%, transparent); pointer-events: none; }
.picked { position: absolute; right: 10px; top: 10px; width: min(260px, 56%); display: flex; flex-wrap: wrap; gap: 2px 8px; align-items: center; padding: 8px 12px; font-size: 12px; background: var(--raised); border: 1px solid var(--rule); border-radius: 10px; box-shadow: 0 3px 14px rgb(0 0 0 / .12); }
.picked strong { flex: 1 1 100%; font-size: 13px; } .picked output { flex: 1 1 100%; color: var(--quiet); overflow-wrap: anywhere; font-variant-numeric: tabular-nums; }
.picked button { height: 26px; border: 1px solid var(--rule); } button[aria-pressed=true] { background: var(--accent); color: var(--ground); }
.ph.narrow .bar { gap: 4px; } .ph.narrow output.now { min-width: 5.4em; }
textarea.copied { position: fixed; left: -100px; top: 0; width: 1px; height: 1px; }
`;


/** @param {ShadowRoot} root */
function dressCrowd(root) {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(CROWD_SHEET);
  root.adoptedStyleSheets = [...root.adoptedStyleSheets, sheet];
}
