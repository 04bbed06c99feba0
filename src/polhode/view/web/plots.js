// Linked plots: drawn once on a canvas of their own, with a cursor over them.

import { rowBefore } from "./keyframes.js";
import { HUES } from "./style.js";

/** @typedef {import("./packing.js").Series} Series */
/** @typedef {import("./style.js").Palette} Palette */
/** @typedef {{t: Float64Array, y: Float32Array | Float64Array, label: string, colour: string, text: string, dash: number[]}} Line */
/** @typedef {{title: string, log: boolean, lines: Line[], low: number, high: number, x0: number, x1: number, y0: number, y1: number}} Chart */

const FILLING = 30; // pixels up and down for each to the right
const NARROWEST = 236, FONT = "11px system-ui, sans-serif", TITLE = "600 12px system-ui, sans-serif";
const DASHES = [[], [5, 3], [2, 2], [7, 2, 2, 2]], SUPERSCRIPT = "⁰¹²³⁴⁵⁶⁷⁸⁹";

/** Round numbers within [low, high], at most about `most`, with a step of 1, 2 or 5 times a power of ten. @param {number} low @param {number} high @param {number} most */
export function roundTicks(low, high, most) {
  const rough = (high - low) / most, power = 10 ** Math.floor(Math.log10(rough)), share = rough / power;
  const step = power * (share > 5 ? 10 : share > 2 ? 5 : share > 1 ? 2 : 1);
  const first = Math.ceil(low / step - 1e-9), last = Math.floor(high / step + 1e-9);
  return { step, values: Array.from({ length: Math.max(0, last - first + 1) }, (_, i) => (first + i) * step) };
}

/** Powers of ten within [low, high] (logarithms), at most about `most`. @param {number} low @param {number} high @param {number} most */
export function powerTicks(low, high, most) {
  const step = Math.max(1, Math.ceil((high - low) / most)), first = Math.ceil(low / step) * step;
  return Array.from({ length: Math.max(0, Math.floor((high - first) / step) + 1) }, (_, i) => first + i * step);
}

/** @param {number} n */
export const superscript = (n) => (n < 0 ? "⁻" : "") + [...String(Math.abs(n))].map((d) => SUPERSCRIPT[+d]).join("");

/** The power of ten to take out of an axis' numbers, or 0. @param {number} low @param {number} high */
export function commonPower(low, high) {
  const power = Math.floor(Math.log10(Math.max(Math.abs(low), Math.abs(high)) || 1) + 1e-9);
  return power > 4 || power < -2 ? power : 0;
}

/** @param {number} value @param {number} step @param {number} power */
export function tickText(value, step, power) {
  const digits = Math.max(0, Math.min(12, -Math.floor(Math.log10(step / 10 ** power) + 1e-9)));
  const text = (value / 10 ** power).toFixed(digits);
  return (/^-0(\.0*)?$/.test(text) ? text.slice(1) : text).replace("-", "−");
}

/** @param {number[]} wished places, in order @param {number} gap @param {number} low @param {number} high */
export function spread(wished, gap, low, high) {
  const out = wished.slice();
  for (let i = 0; i < out.length; i++) out[i] = Math.max(out[i], i ? out[i - 1] + gap : low);
  for (let i = out.length - 1; i >= 0; i--) out[i] = Math.min(out[i], i < out.length - 1 ? out[i + 1] - gap : high);
  return out;
}

/** The value of a line at a time, or NaN. @param {Line} line @param {number} time */
function valueAt(line, time) {
  const { t, y } = line, last = t.length - 1;
  if (last < 0 || time < t[0] || time > t[last]) return NaN;
  if (last === 0) return y[0];
  const i = rowBefore(t, time), h = t[i + 1] - t[i];
  return h > 0 ? y[i] + (y[i + 1] - y[i]) * (time - t[i]) / h : y[i];
}

export class Plots {
  /** @param {HTMLCanvasElement} canvas @param {{name: string, series: Series[]}[]} runs @param {string} timeUnit */
  constructor(canvas, runs, timeUnit) {
    this.canvas = canvas;
    this.context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
    this.still = document.createElement("canvas");
    this.runs = runs;
    this.timeUnit = timeUnit;
    this.names = [...new Set(runs.flatMap((run) => run.series.map((series) => series.name)))];
    /** The first chart shown, where not all fit. */
    this.first = 0;
    this.fitting = 1;
    this.start = 0;
    this.end = 1;
    this.ratio = 1;
    this.ink = "#000";
    this.ground = "#fff";
    /** @type {Chart[]} */
    this.charts = [];
  }

  /** Show other charts, where not all fit. */
  turnPage() {
    this.first = this.first + this.fitting >= this.names.length ? 0 : this.first + this.fitting;
  }

  pageText() {
    return `${Math.floor(this.first / this.fitting) + 1}/${Math.ceil(this.names.length / this.fitting)} ›`;
  }

  /** Draw all but the cursor. @param {number} width @param {number} height @param {number} ratio @param {Palette} colours @param {number} start @param {number} end */
  layOut(width, height, ratio, colours, start, end) {
    Object.assign(this, { ratio, start, end, ink: colours.css.ink, ground: colours.css.ground });
    for (const canvas of [this.canvas, this.still]) {
      canvas.width = Math.round(width * ratio);
      canvas.height = Math.round(height * ratio);
    }
    const g = /** @type {CanvasRenderingContext2D} */ (this.still.getContext("2d"));
    g.setTransform(ratio, 0, 0, ratio, 0, 0);
    this.fitting = Math.max(1, Math.min(this.names.length, Math.floor(width / NARROWEST)));
    const names = this.names.slice(this.first, this.first + this.fitting), share = width / names.length;
    this.charts = names.map((name, k) => this.makeChart(name, colours, k * share, share, height));
    for (const chart of this.charts) this.drawChart(g, chart, colours);
  }

  /** @param {string} name @param {Palette} colours @param {number} x @param {number} width @param {number} height @returns {Chart} */
  makeChart(name, colours, x, width, height) {
    const found = this.runs.flatMap((run, i) => run.series.filter((s) => s.name === name).map((s) => /** @type {[number, Series]} */ ([i, s])));
    const lines = found.flatMap(([i, s]) => s.values.map((y, j) => this.makeLine(s, y, i, j, colours)));
    const { unit, log } = found[0][1], [low, high] = extent(lines, log);
    return { title: unit ? `${name} (${unit})` : name, log, lines, low, high, x0: x + 52, x1: x + width - 14, y0: 26, y1: height - 22 };
  }

  /** @param {Series} series @param {Float32Array | Float64Array} y @param {number} run @param {number} j @param {Palette} colours @returns {Line} */
  makeLine(series, y, run, j, colours) {
    const count = series.values.length, several = count > 1, hue = count === 3 ? HUES.axes[j] : several ? j % 6 : run % 6;
    const label = several ? (run ? "" : series.labels[j]) : this.runs.length > 1 ? this.runs[run].name : "";
    return { t: series.t, y, label, colour: colours.lines[hue], text: colours.text[hue], dash: several ? DASHES[run % 4] : [] };
  }

  /** @param {CanvasRenderingContext2D} g @param {Chart} chart @param {Palette} colours */
  drawChart(g, chart, colours) {
    const labels = chart.lines.filter((line) => line.label);
    g.font = FONT;
    for (const line of labels) line.label = shortText(g, line.label, 0.38 * (chart.x1 - chart.x0));
    const room = Math.max(0, ...labels.map((line) => g.measureText(line.label).width));
    if (labels.length) chart.x1 -= room + 4;
    this.drawAxes(g, chart, colours);
    g.save();
    g.beginPath();
    g.rect(chart.x0, chart.y0 - 2, chart.x1 - chart.x0 + 1, chart.y1 - chart.y0 + 4);
    g.clip();
    g.lineWidth = 1.4;
    g.lineJoin = "round";
    for (const line of chart.lines) this.drawLine(g, chart, line);
    g.restore();
    this.drawLabels(g, chart, labels);
  }

  /** @param {CanvasRenderingContext2D} g @param {Chart} chart @param {Palette} colours */
  drawAxes(g, chart, { css }) {
    const { x0, x1, y1, low, high, log } = chart, power = log ? 0 : commonPower(low, high);
    g.font = TITLE;
    g.fillStyle = css.ink;
    g.textAlign = "left";
    g.fillText(chart.title + (power ? `  ×10${superscript(power)}` : ""), x0 - 40, 16);
    g.font = FONT;
    g.fillStyle = css.quiet;
    g.strokeStyle = css.faint;
    g.lineWidth = 1;
    const { step, values } = log ? { step: 1, values: powerTicks(low, high, 4) } : roundTicks(low, high, 4);
    g.textAlign = "right";
    for (const v of values) {
      const y = Math.round(this.yOf(chart, v)) + 0.5;
      stroke(g, x0, y, x1, y);
      g.fillText(log ? `10${superscript(v)}` : tickText(v, step, power), x0 - 6, y + 3.5);
    }
    g.strokeStyle = css.rule;
    stroke(g, x0, y1 + 0.5, x1, y1 + 0.5);
    if (this.end > this.start) this.drawTimes(g, chart);
  }

  /** The last number carries the unit. @param {CanvasRenderingContext2D} g @param {Chart} chart */
  drawTimes(g, chart) {
    const { step, values } = roundTicks(this.start, this.end, Math.max(2, Math.floor((chart.x1 - chart.x0) / 50))), power = commonPower(this.start, this.end);
    const last = `${power ? ` ×10${superscript(power)}` : ""} ${this.timeUnit}`;
    let edge = Infinity;
    g.textAlign = "left";
    for (const t of values.reverse()) {
      const x = Math.round(this.xOf(chart, t)) + 0.5, number = tickText(t, step, power), text = edge < Infinity ? number : number + last;
      const left = Math.min(x - g.measureText(number).width / 2, chart.x1 + 10 - g.measureText(text).width);
      stroke(g, x, chart.y1, x, chart.y1 + 4);
      if (left + g.measureText(text).width > edge - 8) continue;
      g.fillText(text, left, chart.y1 + 16);
      edge = left;
    }
  }

  /** @param {CanvasRenderingContext2D} g @param {Chart} chart @param {Line} line */
  drawLine(g, chart, line) {
    g.strokeStyle = line.colour;
    g.setLineDash(line.dash);
    g.beginPath();
    let before = NaN, travel = 0;
    for (let i = 0; i < line.t.length; i++) {
      const y = this.yOf(chart, chart.log ? Math.log10(line.y[i]) : line.y[i]);
      if (Number.isFinite(y) && Number.isFinite(before)) {
        g.lineTo(this.xOf(chart, line.t[i]), y);
        travel += Math.abs(y - before);
      } else if (Number.isFinite(y)) g.moveTo(this.xOf(chart, line.t[i]), y);
      before = y;
    }
    g.globalAlpha = travel > FILLING * (chart.x1 - chart.x0) ? 0.5 : 1; // a line that fills an area must not hide others
    g.stroke();
    g.globalAlpha = 1;
    g.setLineDash([]);
  }

  /** Names at the ends of the lines. @param {CanvasRenderingContext2D} g @param {Chart} chart @param {Line[]} lines */
  drawLabels(g, chart, lines) {
    const ends = lines.map((line) => {
      const value = /** @type {Float64Array} */ (line.y).findLast((v) => Number.isFinite(chart.log ? Math.log10(v) : v)) ?? 0;
      return { line, y: this.yOf(chart, chart.log ? Math.log10(value) : value) };
    }).sort((a, b) => a.y - b.y);
    const places = spread(ends.map(({ y }) => y + 3.5), 13, chart.y0 + 6, chart.y1 + 3);
    g.textAlign = "left";
    ends.forEach(({ line }, i) => {
      g.fillStyle = line.text;
      g.fillText(line.label, chart.x1 + 6, places[i]);
    });
  }

  /** @param {Chart} chart @param {number} t */
  xOf(chart, t) {
    return chart.x0 + (chart.x1 - chart.x0) * (t - this.start) / (this.end - this.start || 1);
  }

  /** @param {Chart} chart @param {number} v its value, or logarithm */
  yOf(chart, v) {
    return chart.y1 - (chart.y1 - chart.y0) * (v - chart.low) / (chart.high - chart.low);
  }

  /** The charts, with a cursor at the time. @param {number} time */
  draw(time) {
    const { context: g, canvas, ratio, charts } = this;
    if (!canvas.width || !canvas.height) return;
    time = Math.min(time, this.end); // a simulation may have gone on since they were drawn
    g.setTransform(1, 0, 0, 1, 0, 0);
    g.clearRect(0, 0, canvas.width, canvas.height);
    g.drawImage(this.still, 0, 0);
    g.setTransform(ratio, 0, 0, ratio, 0, 0);
    g.lineWidth = 1;
    for (let i = 0; i < charts.length; i++) this.drawCursor(g, charts[i], time);
  }

  /** @param {CanvasRenderingContext2D} g @param {Chart} chart @param {number} time */
  drawCursor(g, chart, time) {
    const x = this.xOf(chart, time);
    g.strokeStyle = this.ink;
    g.globalAlpha = 0.55;
    stroke(g, x, chart.y0, x, chart.y1);
    g.globalAlpha = 1;
    g.strokeStyle = this.ground;
    for (let i = 0; i < chart.lines.length; i++) {
      const line = chart.lines[i], value = valueAt(line, time), y = this.yOf(chart, chart.log ? Math.log10(value) : value);
      if (!(y > chart.y0 - 3 && y < chart.y1 + 3)) continue;
      g.fillStyle = line.colour;
      g.beginPath();
      g.arc(x, y, 3.2, 0, 2 * Math.PI);
      g.fill();
      g.stroke();
    }
  }

  /** The time at a place of the canvas, or NaN beside the charts. @param {number} x @param {number} slack in pixels */
  timeAt(x, slack) {
    for (const { x0, x1 } of this.charts)
      if (x >= x0 - slack && x <= x1 + slack) return this.start + (this.end - this.start) * Math.min(1, Math.max(0, (x - x0) / (x1 - x0)));
    return NaN;
  }
}

/** A text cut to a width. @param {CanvasRenderingContext2D} g @param {string} text @param {number} width */
function shortText(g, text, width) {
  let count = text.length;
  while (count > 1 && g.measureText(count < text.length ? `${text.slice(0, count)}…` : text).width > width) count--;
  return count < text.length ? `${text.slice(0, count).trimEnd()}…` : text;
}

/** @param {CanvasRenderingContext2D} g @param {number} x0 @param {number} y0 @param {number} x1 @param {number} y1 */
function stroke(g, x0, y0, x1, y1) {
  g.beginPath();
  g.moveTo(x0, y0);
  g.lineTo(x1, y1);
  g.stroke();
}

/** The range of all lines (of their logarithms), with a margin; what is constant to four digits is shown as constant. @param {Line[]} lines @param {boolean} log @returns {[number, number]} */
function extent(lines, log) {
  let low = Infinity, high = -Infinity;
  for (const { y } of lines)
    for (const v of y) {
      const u = log ? Math.log10(v) : v;
      if (!Number.isFinite(u)) continue;
      low = Math.min(low, u);
      high = Math.max(high, u);
    }
  if (!(high >= low)) return [0, 1];
  if (log) return [Math.max(low, high - 20) - 0.2, high + 0.2];
  const middle = (low + high) / 2, least = 1e-4 * Math.max(Math.abs(low), Math.abs(high)) || 1;
  if (high - low < least) return [middle - least, middle + least];
  return [low - 0.05 * (high - low), high + 0.05 * (high - low)];
}
