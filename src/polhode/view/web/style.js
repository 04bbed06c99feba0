// Colours and the style sheet.  Okabe and Ito's palette, as in polhode.plot.

/** @typedef {[number, number, number]} Colour */
/**
 * @typedef {object} Palette
 * @property {Colour} ground @property {Colour} rule @property {Colour} ink @property {Colour} grid @property {Colour} body
 * @property {Colour} edge @property {Colour} ellipsoid @property {Colour} plane @property {Colour} omega @property {Colour} momentum
 * @property {Colour} torque @property {Colour[]} axes @property {Colour[]} runs @property {{[name: string]: Colour}} globes
 * @property {{[name: string]: string}} css @property {string[]} lines @property {string[]} text
 */

/** @param {string} hex @returns {Colour} */
const rgb = (hex) => /** @type {Colour} */ ([1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16) / 255));

const CSS_LIGHT = { ground: "#ffffff", ink: "#262626", quiet: "#666b73", faint: "#e3e5e8", rule: "#d9dce0", raised: "#ffffff", hover: "#eef0f3", accent: "#0072b2", bad: "#b03a00" };
const CSS_DARK = { ground: "#16181c", ink: "#e6e6e6", quiet: "#9aa1ab", faint: "#2a2e35", rule: "#33373f", raised: "#1f2228", hover: "#2b3038", accent: "#4fadea", bad: "#ff8a4d" };
const LINES_LIGHT = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9"];
const LINES_DARK = ["#2e8fd3", "#e8701a", "#00b383", "#d58bb3", "#e69f00", "#9ad6f7"]; // lighter; blue and sky, of one hue, far apart
const TEXT_LIGHT = ["#0072b2", "#b85100", "#007a59", "#a84f80", "#9a6a00", "#2379ad"]; // the same hues, dark enough to read

/** @param {typeof CSS_LIGHT} css @param {string[]} lines @param {string[]} text @param {{[name: string]: string}} more @returns {Palette} */
function palette(css, lines, text, more) {
  const [blue, red, green, purple, orange, sky] = lines.map(rgb);
  return {
    ground: rgb(css.ground), rule: rgb(css.rule), ink: rgb(css.ink), grid: rgb(more.grid), body: rgb(more.body), edge: rgb(more.edge),
    ellipsoid: rgb(more.ellipsoid), plane: rgb(more.plane), omega: red, momentum: green, torque: purple, axes: [sky, orange, blue],
    runs: [blue, red, green, purple, orange, sky], globes: { Earth: rgb(more.earth), Moon: rgb(more.moon) }, css, lines, text,
  };
}

export const PALETTES = {
  light: palette(CSS_LIGHT, LINES_LIGHT, TEXT_LIGHT, { grid: "#8a929c", body: "#d5dae2", edge: "#3c4450", ellipsoid: "#dfe3ea", plane: "#eef1f4", earth: "#a9c8e4", moon: "#cfcdc8" }),
  dark: palette(CSS_DARK, LINES_DARK, LINES_DARK, { grid: "#79828e", body: "#98a2b0", edge: "#0d0f12", ellipsoid: "#9aa5b5", plane: "#242931", earth: "#5c89b3", moon: "#9a9892" }),
};

/** Where a name stands in `lines` and `text`. */
export const HUES = { omega: 1, momentum: 2, torque: 3, axes: [5, 4, 0] };

const SHEET = `
:host { display: block; height: 100%; min-height: 360px; contain: content; }
.ph { position: relative; display: flex; flex-direction: column; height: 100%; min-height: inherit; overflow: hidden; outline: none;
  font: 13px/1.4 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; color: var(--ink); background: var(--ground); -webkit-text-size-adjust: none; }
.ph *, .ph *::before { box-sizing: border-box; }
[hidden] { display: none !important; }
.room { position: relative; flex: 1; min-height: 120px; }
canvas { display: block; position: absolute; inset: 0; width: 100%; height: 100%; }
canvas.scene { touch-action: none; cursor: grab; } canvas.scene:active { cursor: grabbing; }
.labels { position: absolute; inset: 0; pointer-events: none; overflow: hidden; }
.labels span { position: absolute; left: 0; top: 0; font-weight: 600; white-space: nowrap; will-change: transform;
  text-shadow: 0 0 3px var(--ground), 0 0 3px var(--ground), 0 0 2px var(--ground); }
.labels .faint { opacity: .4; }
.labels .caption { font-weight: 400; font-size: 12px; color: var(--quiet); }
.corner { position: absolute; padding: 10px 12px; max-width: 46%; font-size: 12px; pointer-events: none; text-shadow: 0 0 4px var(--ground), 0 0 2px var(--ground); }
.corner[open] { background: color-mix(in srgb, var(--ground) 45%, transparent); border-radius: 0 0 10px 0; }
.corner summary { font-weight: 600; font-size: 13px; pointer-events: auto; cursor: pointer; list-style: none; width: fit-content; max-width: 100%; overflow-wrap: anywhere; }
.corner summary::-webkit-details-marker { display: none; }
.corner summary::after { content: " ▸"; color: var(--quiet); font-weight: 400; } .corner[open] summary::after { content: ""; }
.corner summary i { display: inline-block; width: 10px; height: 10px; border-radius: 50%; margin-right: 6px; }
.corner dl { display: grid; grid-template-columns: auto 1fr; gap: 1px 10px; margin: 4px 0 0; }
.corner dt { color: var(--quiet); white-space: nowrap; } .corner dd { margin: 0; overflow-wrap: anywhere; } .corner.failed dd.status, .corner.failed summary { color: var(--bad); }
.corner.ghosts { max-width: 96%; } .corner.ghosts div { display: flex; gap: 8px; align-items: center; padding: 1px 0; } .ghosts i { flex: none; width: 10px; height: 10px; border-radius: 50%; }   .ghosts span { white-space: nowrap; font-variant-numeric: tabular-nums; }
.corner p { margin: 4px 0 0; color: var(--quiet); }
.plotting { position: relative; flex: none; height: clamp(104px, 26%, 172px); border-top: 1px solid var(--rule); } 
canvas.plots { cursor: crosshair; touch-action: pan-y; }
.ph .plotting button.next { position: absolute; right: 4px; top: 0; height: 24px; font-size: 12px; color: var(--quiet); }
.bar { position: relative; display: flex; flex-wrap: wrap; gap: 6px 8px; align-items: center; flex: none; padding: 6px 10px; border-top: 1px solid var(--rule); }
button { font: inherit; color: inherit; background: none; border: 0; border-radius: 6px; padding: 0 6px; height: 32px; min-width: 32px; cursor: pointer; display: inline-flex; align-items: center; justify-content: center; }
button:hover, select:hover { background: var(--hover); }
button.play { background: var(--accent); color: var(--ground); border-radius: 50%; width: 34px; height: 34px; padding: 0; } button.play:hover { filter: brightness(1.12); }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 1px; }
.ph:focus-visible { outline-offset: -2px; } .ph.fresh { outline: none; }
svg { width: 18px; height: 18px; fill: none; stroke: currentColor; stroke-width: 1.7; stroke-linecap: round; stroke-linejoin: round; } .play svg { fill: currentColor; stroke: none; width: 16px; height: 16px; }
input.time { flex: 1 1 120px; min-width: 90px; accent-color: var(--accent); height: 28px; margin: 0; }
output.now { font-variant-numeric: tabular-nums; min-width: 9em; white-space: nowrap; text-align: right; }
select { font: inherit; color: inherit; background: var(--ground); border: 1px solid var(--rule); border-radius: 6px; height: 28px; padding: 0 2px; }
div.menu { position: absolute; right: 8px; bottom: 100%; margin-bottom: 6px; z-index: 2; max-height: min(70vh, 520px); overflow: auto; display: grid; grid-template-columns: auto auto; gap: 10px 22px; align-items: start;
  padding: 12px 16px; background: var(--raised); border: 1px solid var(--rule); border-radius: 10px; box-shadow: 0 8px 28px rgb(0 0 0 / .16); }
.menu fieldset { border: 0; padding: 0; margin: 0 0 8px; min-width: 0; } .menu legend { padding: 0; font-size: 12px; color: var(--quiet); }
.menu label { display: flex; gap: 7px; align-items: center; padding: 2px 0; white-space: nowrap; cursor: pointer; } .menu input { accent-color: var(--accent); margin: 0; }
.menu .keys { grid-column: 1 / -1; display: grid; grid-template-columns: auto 1fr; gap: 2px 12px; margin: 0; font-size: 12px; border-top: 1px solid var(--rule); padding-top: 8px; } .keys dt { font-weight: 600; } .keys dd { margin: 0; color: var(--quiet); }
.notice { position: absolute; left: 50%; bottom: 14px; transform: translateX(-50%); padding: 5px 12px; border: 1px solid var(--rule); border-radius: 8px; background: var(--raised); color: var(--ink); } .notice[hidden] { display: none; }
.error { position: absolute; inset: 0; display: grid; place-items: center; padding: 24px; text-align: center; color: var(--quiet); background: var(--ground); }
.ph.narrow .menu .keys { display: none; } .ph.narrow .plotting { height: clamp(104px, 20%, 148px); } .ph.narrow .corner { padding: 8px 10px; } .ph.narrow .bar { padding: 6px 8px; gap: 4px 6px; }
.ph.narrow input.time { flex-basis: 100%; order: -1; } .ph.narrow output.now { flex: 1; text-align: left; padding-left: 4px; min-width: 7em; } .ph.narrow button { height: 40px; min-width: 38px; } .ph.narrow button.play { height: 40px; width: 40px; }
`;

/** Style a shadow root; a constructed sheet needs no permission of the page's security policy. @param {ShadowRoot} root */
export function dress(root) {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(SHEET);
  root.adoptedStyleSheets = [sheet];
}

/** @param {HTMLElement} element @param {Palette} colours */
export function applyPalette(element, colours) {
  for (const [name, value] of Object.entries(colours.css)) element.style.setProperty(`--${name}`, value);
}

/** @param {Colour} colour */
export const cssOf = (colour) => `rgb(${colour.map((c) => Math.round(255 * c)).join(" ")})`;
