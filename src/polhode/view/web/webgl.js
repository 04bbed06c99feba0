// Drawing with WebGL2: lit surfaces, thick lines, round points and plane grids.  What is made here can be made again
// after the context was lost, from the arrays that were given.

import { multiplyMatrices } from "./vectors.js";

/** @typedef {import("./vectors.js").Numbers} Numbers */
/** A piece of geometry on the graphics card. @typedef {{data: Float32Array, indices: Uint32Array | null, count: number, array: WebGLVertexArrayObject | null, buffer: WebGLBuffer | null, build: () => void}} Thing */
/** One attribute of vertices: how many numbers (or bytes), how far apart, from where; in bytes. @typedef {[size: number, stride: number, offset: number, bytes?: boolean]} Attribute */
/** @typedef {{program: WebGLProgram, at: {[name: string]: WebGLUniformLocation | null}}} Program */
/** @typedef {{x: number, y: number, width: number, height: number, view: Float64Array, projection: Float64Array}} Window3 */

const SURFACE = [`#version 300 es
uniform mat4 modelview, projection; uniform float stretch;
layout(location=0) in vec3 place; layout(location=1) in vec3 normal; out vec3 n, p;
void main() {
  vec4 at = modelview * vec4(place.xy, place.z + (place.z > 0. ? stretch : 0.), 1);
  n = mat3(modelview) * normal; p = at.xyz; gl_Position = projection * at;
}`, `#version 300 es
precision highp float; uniform vec4 colour; uniform float lit; in vec3 n, p; out vec4 o;
void main() {
  vec3 m = normalize(n); if (!gl_FrontFacing) m = -m;
  float key = max(dot(m, normalize(vec3(-.35, .5, .8))), 0.), sky = .5 + .5 * m.y;
  float shade = mix(1., .62 + .36 * key + .06 * sky, lit);
  vec3 h = normalize(normalize(vec3(-.35, .5, .8)) - normalize(p));
  float gloss = .1 * lit * pow(max(dot(m, h), 0.), 24.);
  o = vec4(min(colour.rgb * shade + gloss, 1.) * colour.a, colour.a);
}`];

// A strip with two vertices at each point, on both sides of the line.  Neighbouring pieces share them, so that
// translucent lines show no beads.  (Instances of one piece each are simpler, but slow without a graphics card.)
const LINE = [`#version 300 es
uniform mat4 modelview, projection; uniform vec2 size; uniform float width, fade, pieces, lift;
layout(location=0) in vec3 before; layout(location=1) in vec3 here; layout(location=2) in vec3 after;
out float side, strength; const float NEAR = 1e-3;
vec4 seen(vec3 p) { return projection * modelview * vec4(p, 1); }
vec2 way(vec4 p, vec4 q, vec2 other) {
  if (p.w < NEAR && q.w < NEAR) return other;
  if (p.w < NEAR) p = mix(q, p, (q.w - NEAR) / (q.w - p.w));
  if (q.w < NEAR) q = mix(p, q, (p.w - NEAR) / (p.w - q.w));
  vec2 d = (q.xy / q.w - p.xy / p.w) * size; float l = length(d); return l > 1e-3 ? d / l : other;
}
void main() {
  float up = (gl_VertexID & 1) == 0 ? 1. : -1., reach = .5 * width + 1.; vec4 at = seen(here);
  vec2 d = way(seen(before), at, vec2(0)), e = way(at, seen(after), d); if (d == vec2(0)) d = e;
  vec2 along = dot(d, e) < -.5 || d == vec2(0) ? e : normalize(d + e), across = vec2(-along.y, along.x);
  if (at.w > NEAR) at.xy += across * up * reach / max(dot(across, vec2(-e.y, e.x)), .5) * 2. / size * at.w;
  at.z -= lift * at.w; gl_Position = at;
  side = up * reach; strength = fade > 0. ? pow(float(gl_VertexID >> 1) / pieces, fade) : 1.;
}`, `#version 300 es
precision highp float; uniform vec4 colour; uniform float width; in float side, strength; out vec4 o;
void main() { float a = colour.a * strength * clamp(.5 * width + .5 - abs(side), 0., 1.); if (a < .004) discard; o = vec4(colour.rgb * a, a); }`];

const GRID = [`#version 300 es
uniform mat4 modelview, projection; uniform float radius; out vec2 at;
void main() { at = radius * vec2((gl_VertexID & 1) * 2 - 1, (gl_VertexID & 2) - 1); gl_Position = projection * modelview * vec4(at, 0, 1); }`,
`#version 300 es
precision highp float; uniform vec4 colour, fill; uniform vec2 origin; uniform float radius, cell, soft; in vec2 at; out vec4 o;
void main() {
  vec2 g = (at + origin) / cell, w = max(fwidth(g), 1e-6), d = abs(fract(g - .5) - .5) / w;
  float line = max((1. - min(d.x, 1.)) * smoothstep(.5, .1, w.x), (1. - min(d.y, 1.)) * smoothstep(.5, .1, w.y));
  float r = length(at) / radius, edge = soft > 0. ? smoothstep(1., soft * .2, r) : smoothstep(1., 1. - 1.5 * fwidth(r), r);
  float a = mix(fill.a, 1., line * colour.a) * edge; vec3 c = mix(fill.rgb, colour.rgb, fill.a > 0. ? line * colour.a : 1.);
  if (fill.a == 0.) a = line * colour.a * edge;
  if (a < .004) discard; o = vec4(c * a, a);
}`];

const POINT = [`#version 300 es
uniform mat4 modelview, projection; uniform float zoom;
layout(location=0) in vec3 place; layout(location=1) in float size; layout(location=2) in vec4 tint; out vec4 c; out float s;
void main() { gl_Position = projection * modelview * vec4(place, 1); s = size * zoom + 1.; gl_PointSize = s; c = tint; }`,
`#version 300 es
precision highp float; uniform float alpha; in vec4 c; in float s; out vec4 o;
void main() { float a = c.a * alpha * clamp(.5 * s - s * length(gl_PointCoord - .5), 0., 1.); if (a < .004) discard; o = vec4(c.rgb * a, a); }`];

const modelview64 = new Float64Array(16), modelview32 = new Float32Array(16), projection32 = new Float32Array(16);

/** @param {WebGL2RenderingContext} gl @param {string[]} sources @returns {Program} */
export function compile(gl, sources) {
  const program = /** @type {WebGLProgram} */ (gl.createProgram());
  sources.forEach((source, i) => {
    const shader = /** @type {WebGLShader} */ (gl.createShader(i ? gl.FRAGMENT_SHADER : gl.VERTEX_SHADER));
    gl.shaderSource(shader, source);
    gl.compileShader(shader);
    gl.attachShader(program, shader);
    gl.deleteShader(shader);
  });
  gl.linkProgram(program);
  if (!gl.getProgramParameter(program, gl.LINK_STATUS) && !gl.isContextLost()) throw new Error(gl.getProgramInfoLog(program) ?? "no program");
  /** @type {Program["at"]} */
  const at = {}, count = gl.getProgramParameter(program, gl.ACTIVE_UNIFORMS) ?? 0;
  for (let i = 0; i < count; i++) {
    const name = gl.getActiveUniform(program, i)?.name ?? "";
    at[name] = gl.getUniformLocation(program, name);
  }
  return { program, at };
}

/** The points before, at and after each vertex, from one buffer. @type {Attribute[]} */
const LINE_LAYOUT = [[3, 12, 0], [3, 12, 24], [3, 12, 48]];

/** Each point twice, and both ends once more. @param {Float32Array} out @param {Float32Array} points @param {number} count */
function doublePoints(out, points, count) {
  for (let i = 0; i < count + 2; i++) {
    const from = 3 * Math.max(0, Math.min(count - 1, i - 1));
    for (let j = 0; j < 3; j++) out[6 * i + j] = out[6 * i + 3 + j] = points[from + j];
  }
}

/** Draws into one canvas.  Colours are [red, green, blue] from 0 to 1, widths are in CSS pixels. */
export class Painter {
  /** @param {HTMLCanvasElement} canvas */
  constructor(canvas) {
    const gl = canvas.getContext("webgl2", { antialias: true, alpha: false });
    if (!gl) throw new Error("This browser has no WebGL2, which the moving picture needs.");
    this.gl = gl;
    this.canvas = canvas;
    this.ratio = 1;
    /** @type {Thing[]} */
    this.things = [];
    /** @type {Window3 | null} */
    this.window = null;
    this.build();
  }

  /** Make the programs, and again all geometry: at the start, and after the context was lost. */
  build() {
    const gl = this.gl;
    this.surface = compile(gl, SURFACE);
    this.line = compile(gl, LINE);
    this.grid = compile(gl, GRID);
    this.point = compile(gl, POINT);
    this.empty = gl.createVertexArray();
    for (const thing of this.things) thing.build();
    gl.enable(gl.DEPTH_TEST);
    gl.enable(gl.SCISSOR_TEST);
    gl.enable(gl.BLEND);
    gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
    gl.depthFunc(gl.LEQUAL);
  }

  /** @param {Float32Array} data @param {number} count of vertices @param {Attribute[]} layout @param {{moving?: boolean, indices?: Uint32Array}} [more] whether it changes from frame to frame; an order */
  thing(data, count, layout, { moving = false, indices } = {}) {
    const gl = this.gl;
    /** @type {Thing} */
    const thing = { data, count, indices: indices ?? null, array: null, buffer: null, build };
    function build() {
      thing.array = gl.createVertexArray();
      thing.buffer = gl.createBuffer();
      gl.bindVertexArray(thing.array);
      gl.bindBuffer(gl.ARRAY_BUFFER, thing.buffer);
      gl.bufferData(gl.ARRAY_BUFFER, data, moving ? gl.DYNAMIC_DRAW : gl.STATIC_DRAW);
      layout.forEach(([size, stride, offset, bytes], i) => {
        gl.enableVertexAttribArray(i);
        gl.vertexAttribPointer(i, size, bytes ? gl.UNSIGNED_BYTE : gl.FLOAT, Boolean(bytes), stride, offset);
      });
      if (indices) gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, gl.createBuffer());
      if (indices) gl.bufferData(gl.ELEMENT_ARRAY_BUFFER, indices, gl.STATIC_DRAW);
      gl.bindVertexArray(null);
    }
    build();
    this.things.push(thing);
    return thing;
  }

  /** Triangles: place and normal of each corner. @param {Float32Array} data */
  mesh(data) {
    return this.thing(data, data.length / 6, [[3, 24, 0], [3, 24, 12]]);
  }

  /** Many lines of `per` points each. @param {Float32Array} points @param {number} per */
  lines(points, per) {
    const lines = points.length / (3 * per), data = new Float32Array(6 * (per + 2) * lines), indices = new Uint32Array((2 * per + 1) * lines);
    for (let k = 0; k < lines; k++) {
      const first = 2 * (per + 2) * k;
      doublePoints(data.subarray(3 * first), points.subarray(3 * per * k), per);
      for (let i = 0; i < 2 * per; i++) indices[(2 * per + 1) * k + i] = first + i;
      indices[(2 * per + 1) * (k + 1) - 1] = 0xffffffff; // a new strip begins
    }
    return this.thing(data, indices.length, LINE_LAYOUT, { indices });
  }

  /** One line through at most `most` points, which setStrip() gives. @param {number} most */
  strip(most) {
    return this.thing(new Float32Array(6 * (most + 2)), 0, LINE_LAYOUT, { moving: true });
  }

  /** Let a strip go through the first `count` points. @param {Thing} strip @param {Float32Array} points @param {number} count */
  setStrip(strip, points, count) {
    doublePoints(strip.data, points, count);
    strip.count = 2 * count;
    this.send(strip, 6 * (count + 2));
  }

  /** Points: place (3 numbers), size in CSS pixels, and four bytes of colour in the fifth number's place. @param {Float32Array} data @param {boolean} [moving] */
  points(data, moving = true) {
    return this.thing(data, data.length / 5, [[3, 20, 0], [1, 20, 12], [4, 20, 16, true]], { moving });
  }

  /** Send the first `length` numbers of a thing that has changed. @param {Thing} thing @param {number} [length] */
  send(thing, length = thing.data.length) {
    const gl = this.gl;
    gl.bindBuffer(gl.ARRAY_BUFFER, thing.buffer);
    gl.bufferSubData(gl.ARRAY_BUFFER, 0, thing.data, 0, length);
  }

  /** Fit the canvas to its place on the page. @param {number} width @param {number} height @param {Numbers} ground */
  frame(width, height, ground) {
    const { gl, canvas, ratio } = this, w = Math.round(width * ratio), h = Math.round(height * ratio);
    if (canvas.width !== w || canvas.height !== h) [canvas.width, canvas.height] = [w, h];
    gl.scissor(0, 0, w, h);
    gl.clearColor(ground[0], ground[1], ground[2], 1);
    gl.clear(gl.COLOR_BUFFER_BIT);
  }

  /** Fill a rectangle. @param {{x: number, y: number, width: number, height: number}} box @param {Numbers} colour */
  fill(box, colour) {
    const { gl, ratio } = this, right = Math.round((box.x + box.width) * ratio), bottom = Math.round((box.y + box.height) * ratio);
    const x = Math.round(box.x * ratio), y = Math.round(box.y * ratio);
    gl.scissor(x, this.canvas.height - bottom, Math.max(1, right - x), Math.max(1, bottom - y));
    gl.clearColor(colour[0], colour[1], colour[2], 1);
    gl.clear(gl.COLOR_BUFFER_BIT);
  }

  /** Begin a pane. @param {Window3} window in CSS pixels from the canvas' upper left corner @param {Numbers} ground */
  pane(window, ground) {
    const { gl, ratio } = this, x = Math.round(window.x * ratio), right = Math.round((window.x + window.width) * ratio);
    const top = Math.round(window.y * ratio), bottom = Math.round((window.y + window.height) * ratio);
    this.window = window;
    projection32.set(window.projection);
    gl.viewport(x, this.canvas.height - bottom, right - x, bottom - top);
    gl.scissor(x, this.canvas.height - bottom, right - x, bottom - top);
    gl.clearColor(ground[0], ground[1], ground[2], 1);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
  }

  /** @param {Program | undefined} program @param {Numbers} model @returns {Program["at"]} */
  use(program, model) {
    const { gl, window } = this;
    if (!window || !program) throw new Error("no pane was begun");
    multiplyMatrices(modelview64, window.view, model);
    modelview32.set(modelview64);
    gl.useProgram(program.program);
    gl.uniformMatrix4fv(program.at.modelview, false, modelview32);
    gl.uniformMatrix4fv(program.at.projection, false, projection32);
    return program.at;
  }

  /**
   * Of a translucent surface only what lies in front is seen.
   * @param {Thing} mesh @param {Numbers} model @param {Numbers} colour @param {number} [alpha] @param {number} [lit] 0: the plain colour @param {number} [stretch] of an arrow
   */
  drawMesh(mesh, model, colour, alpha = 1, lit = 1, stretch = 0) {
    const gl = this.gl, at = this.use(this.surface, model);
    gl.uniform4f(at.colour, colour[0], colour[1], colour[2], alpha);
    gl.uniform1f(at.lit, lit);
    gl.uniform1f(at.stretch, stretch);
    gl.bindVertexArray(mesh.array);
    if (alpha < 1) {
      gl.colorMask(false, false, false, false);
      gl.drawArrays(gl.TRIANGLES, 0, mesh.count);
      gl.colorMask(true, true, true, true);
    }
    gl.drawArrays(gl.TRIANGLES, 0, mesh.count);
  }

  /** What of a surface lies behind others, faintly. @param {Thing} mesh @param {Numbers} model @param {Numbers} colour @param {number} alpha @param {number} stretch */
  drawHidden(mesh, model, colour, alpha, stretch) {
    const gl = this.gl;
    gl.depthFunc(gl.GREATER);
    gl.depthMask(false);
    gl.enable(gl.CULL_FACE);
    this.drawMesh(mesh, model, colour, alpha, 0, stretch);
    gl.disable(gl.CULL_FACE);
    gl.depthMask(true);
    gl.depthFunc(gl.LEQUAL);
  }

  /** @param {Thing} line @param {Numbers} model @param {Numbers} colour @param {number} alpha @param {number} width @param {number} [fade] exponent with which it fades towards its beginning @param {number} [lift] towards the eye */
  drawLine(line, model, colour, alpha, width, fade = 0, lift = 4e-4) {
    if (line.count < 4) return;
    const { gl, ratio } = this, at = this.use(this.line, model), window = /** @type {Window3} */ (this.window);
    gl.uniform2f(at.size, window.width * ratio, window.height * ratio);
    gl.uniform1f(at.width, width * ratio);
    gl.uniform1f(at.fade, fade);
    gl.uniform1f(at.pieces, line.count / 2 - 1);
    gl.uniform1f(at.lift, lift);
    gl.uniform4f(at.colour, colour[0], colour[1], colour[2], alpha);
    gl.bindVertexArray(line.array);
    gl.depthMask(false);
    if (line.indices) gl.drawElements(gl.TRIANGLE_STRIP, line.count, gl.UNSIGNED_INT, 0);
    else gl.drawArrays(gl.TRIANGLE_STRIP, 0, line.count);
    gl.depthMask(true);
  }

  /**
   * A disc with a grid in the plane z = 0 of the model.
   * @param {Numbers} model @param {number} radius @param {number} cell @param {Numbers} colour of the lines @param {number} alpha of the lines
   * @param {Numbers} fill @param {number} fillAlpha @param {number} soft 0: a sharp rim, to 1: fades all the way
   * @param {number} [x] where the disc's middle lies in the grid @param {number} [y]
   */
  drawGrid(model, radius, cell, colour, alpha, fill, fillAlpha, soft, x = 0, y = 0) {
    const gl = this.gl, at = this.use(this.grid, model);
    gl.uniform4f(at.colour, colour[0], colour[1], colour[2], alpha);
    gl.uniform4f(at.fill, fill[0], fill[1], fill[2], fillAlpha);
    gl.uniform2f(at.origin, x, y);
    gl.uniform1f(at.radius, radius);
    gl.uniform1f(at.cell, cell);
    gl.uniform1f(at.soft, soft);
    gl.bindVertexArray(this.empty ?? null);
    gl.depthMask(false);
    gl.drawArrays(gl.TRIANGLE_STRIP, 0, 4);
    gl.depthMask(true);
  }

  /** @param {Thing} points @param {Numbers} model @param {number} count @param {number} [alpha] @param {number} [zoom] factor of all sizes */
  drawPoints(points, model, count, alpha = 1, zoom = 1) {
    const gl = this.gl, at = this.use(this.point, model);
    gl.uniform1f(at.alpha, alpha);
    gl.uniform1f(at.zoom, zoom * this.ratio);
    gl.bindVertexArray(points.array);
    gl.drawArrays(gl.POINTS, 0, count);
  }

  /** Give the context back: browsers allow only some sixteen. */
  destroy() {
    this.things = [];
    this.gl.getExtension("WEBGL_lose_context")?.loseContext();
  }
}
