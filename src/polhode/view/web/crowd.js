// An ensemble in a pane: a point for every member on a sphere, or in a box in space.  The graphics card unpacks the
// points and moves them between two frames, so that drawing costs the same however long the film is.

import { levelNow, placeInFrame, placeNow, setCloudTime } from "./cloud.js";
import { castRayAtSphere, graticule, ON_CURVE, sphere } from "./geometry.js";
import { addScaled, dot, matrixFromQuaternion, setQuaternion, setVector } from "./vectors.js";
import { compile } from "./webgl.js";

/** @typedef {import("./vectors.js").Numbers} Numbers */
/** @typedef {import("./camera.js").Pane} Pane */
/** @typedef {import("./cloud.js").Cloud} Cloud */
/** @typedef {import("./space.js").Scene} Scene */
/** @typedef {import("./space.js").Stage} Stage */
/** @typedef {import("./webgl.js").Program} Program */

// Members that are not of this pass are moved out of sight: first all, faint if some are picked, then those on top.
const DOTS = [`#version 300 es
uniform mat4 modelview, projection; uniform vec3 eye, box; uniform float share, time, size, space, pass, faint; uniform vec3 ground, cross;
uniform highp sampler2D palette;
layout(location=0) in vec3 a; layout(location=1) in vec3 b; layout(location=2) in float first; layout(location=3) in float second;
layout(location=4) in float picked; layout(location=5) in float until;
flat out vec4 tint; flat out float wide, failed;
vec3 unfold(vec2 e) { vec3 v = vec3(e, 1. - abs(e.x) - abs(e.y)); float f = max(-v.z, 0.); v.xy -= vec2(v.x < 0. ? -f : f, v.y < 0. ? -f : f); return normalize(v); }
vec3 place(vec3 e) { return space > 0. ? e / 32767. * box : unfold(e.xy / 32767.); }
vec3 along(vec3 p, vec3 q) {
  float w = acos(clamp(dot(p, q), -1., 1.));
  return space > 0. || w < 1e-3 ? mix(p, q, share) : (sin((1. - share) * w) * p + sin(share * w) * q) / sin(w);
}
void main() {
  gl_Position = vec4(2, 2, 2, 1); gl_PointSize = 1.; tint = vec4(0); wide = 1.; failed = 0.;
  if (a.x < -32767.5) return;
  vec3 p = place(a); if (share > 0. && b.x > -32767.5) p = along(p, place(b));
  if (space == 0. && dot(p, eye) < 1.) return;
  failed = time > until ? 1. : 0.;
  bool top = picked > 0. || (failed > 0. && faint == 0.);
  if (top != (pass > 0.)) return;
  float level = second > 254.5 ? first : mix(first, second, share);
  vec3 colour = failed > 0. ? cross : texelFetch(palette, ivec2(int(first > 254.5 ? 255. : level + .5), 0), 0).rgb;
  tint = vec4(pass > 0. ? colour : mix(colour, ground, faint), 1);
  wide = (failed > 0. ? max(2.2 * size, 8.) : picked > 0. ? 1.35 * size + 1. : size) + 1.;
  gl_PointSize = wide; gl_Position = projection * modelview * vec4(p, 1); gl_Position.z -= pass * 1e-4 * gl_Position.w;
}`, `#version 300 es
precision highp float; flat in vec4 tint; flat in float wide, failed; out vec4 o;
void main() {
  vec2 d = wide * (gl_PointCoord - .5);
  float edge = failed > 0. ? max(min(abs(d.x - d.y), abs(d.x + d.y)) - 1.1, max(abs(d.x), abs(d.y)) - .5 * wide + 1.) : length(d) - .5 * wide + 1.;
  float alpha = clamp(.5 - edge, 0., 1.);
  if (alpha < .02) discard;
  o = vec4(tint.rgb * alpha, alpha);
}`];

/** The points of a cloud on the graphics card. */
class Dots {
  /** @param {import("./webgl.js").Painter} painter @param {Cloud} cloud @param {Uint8Array} picked 1 for each body that is */
  constructor(painter, cloud, picked) {
    this.painter = painter;
    this.cloud = cloud;
    this.picked = picked;
    this.texels = new Uint8Array(1024);
    for (let i = 0; i < 256; i++) for (let k = 0; k < 4; k++) this.texels[4 * i + k] = k === 3 ? 255 : cloud.colour.palette[3 * i + k] ?? 128;
    this.build = this.build.bind(this);
    this.build();
    painter.things.push(/** @type {any} */ (this)); // which builds it again after the context was lost
  }

  build() {
    const { gl } = this.painter, { cloud } = this;
    this.program = compile(gl, DOTS);
    this.array = gl.createVertexArray();
    gl.bindVertexArray(this.array);
    this.points = this.upload(cloud.points);
    this.values = this.upload(cloud.colour.values);
    this.until = cloud.failures ? this.upload(cloud.until) : null;
    if (this.until) this.attribute(5, 1, gl.FLOAT, 0);
    this.flags = this.upload(this.picked);
    this.attribute(4, 1, gl.UNSIGNED_BYTE, 0);
    for (let i = 0; i < 4; i++) gl.enableVertexAttribArray(i);
    gl.bindVertexArray(null);
    this.texture = gl.createTexture();
    gl.bindTexture(gl.TEXTURE_2D, this.texture);
    gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA8, 256, 1, 0, gl.RGBA, gl.UNSIGNED_BYTE, this.texels);
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MIN_FILTER, gl.NEAREST);
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MAG_FILTER, gl.NEAREST);
  }

  /** @param {Int16Array | Uint8Array | Float32Array} data */
  upload(data) {
    const { gl } = this.painter, buffer = gl.createBuffer();
    gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
    gl.bufferData(gl.ARRAY_BUFFER, data, gl.STATIC_DRAW);
    return buffer;
  }

  /** @param {number} index @param {number} size @param {number} type @param {number} offset */
  attribute(index, size, type, offset) {
    const { gl } = this.painter;
    gl.enableVertexAttribArray(index);
    gl.vertexAttribPointer(index, size, type, false, 0, offset);
  }

  /** Send the picked bodies. */
  mark() {
    const { gl } = this.painter;
    gl.bindBuffer(gl.ARRAY_BUFFER, this.flags ?? null);
    gl.bufferSubData(gl.ARRAY_BUFFER, 0, this.picked);
  }

  /** Point the attributes at the frames before and after the time. */
  aim() {
    const { gl } = this.painter, { cloud } = this, { bodies, width, frame, next } = cloud;
    gl.bindVertexArray(this.array ?? null);
    gl.bindBuffer(gl.ARRAY_BUFFER, this.points ?? null);
    this.attribute(0, width, gl.SHORT, 2 * width * bodies * frame);
    this.attribute(1, width, gl.SHORT, 2 * width * bodies * next);
    gl.bindBuffer(gl.ARRAY_BUFFER, this.values ?? null);
    this.attribute(2, 1, gl.UNSIGNED_BYTE, cloud.colour.changes ? bodies * frame : 0);
    this.attribute(3, 1, gl.UNSIGNED_BYTE, cloud.colour.changes ? bodies * next : 0);
    if (!this.until) gl.vertexAttrib1f(5, Infinity);
  }

  /** @param {Numbers} model @param {Pane} pane @param {number} size in CSS pixels @param {import("./style.js").Palette} colours @param {boolean} some whether some are picked */
  draw(model, pane, size, colours, some) {
    const { painter, cloud } = this, { gl } = painter, at = painter.use(this.program, model), { ground, omega } = colours;
    this.aim();
    gl.bindTexture(gl.TEXTURE_2D, this.texture ?? null);
    gl.uniform1i(at.palette, 0);
    gl.uniform3f(at.eye, pane.eye[0], pane.eye[1], pane.eye[2]);
    gl.uniform3f(at.box, cloud.half[0], cloud.half[1], cloud.half[2]);
    gl.uniform3f(at.ground, ground[0], ground[1], ground[2]);
    gl.uniform3f(at.cross, omega[0], omega[1], omega[2]);
    gl.uniform1f(at.share, cloud.share);
    gl.uniform1f(at.time, cloud.time);
    gl.uniform1f(at.size, size * painter.ratio);
    gl.uniform1f(at.space, cloud.inSpace ? 1 : 0);
    gl.uniform1f(at.faint, some ? 0.72 : 0);
    if (!cloud.inSpace) gl.disable(gl.DEPTH_TEST); // those behind the sphere are left out already
    for (let pass = 0; pass < (some || cloud.failures ? 2 : 1); pass++) {
      gl.uniform1f(at.pass, pass);
      gl.drawArrays(gl.POINTS, 0, cloud.bodies);
    }
    gl.enable(gl.DEPTH_TEST);
  }
}

/** The edges of a box about 0. @param {Numbers} half its sizes */
function boxEdges(half) {
  const out = [];
  for (let k = 0; k < 3; k++)
    for (const [s, t] of [[-1, -1], [-1, 1], [1, -1], [1, 1]])
      for (const end of [-1, 1]) {
        const corner = [0, 0, 0];
        corner[k] = end * half[k];
        corner[(k + 1) % 3] = s * half[(k + 1) % 3];
        corner[(k + 2) % 3] = t * half[(k + 2) % 3];
        out.push(...corner);
      }
  return new Float32Array(out);
}

const NIGHT = [0.15, 0.165, 0.19]; // a sphere on which dark and light points are seen
const AXIS_END = 1.1, model = new Float64Array(16), UNMOVED = setQuaternion(new Float64Array(4), 1, 0, 0, 0), MIDDLE = new Float64Array(3);
const place = new Float64Array(3), seen = new Float64Array(3), beyond = new Float64Array(3);

/** An ensemble. @implements {Scene} */
export class CrowdScene {
  /** @param {Stage} stage @param {Pane} pane @param {Cloud} cloud */
  constructor(stage, pane, cloud) {
    const { painter } = stage;
    this.stage = stage;
    this.pane = pane;
    this.cloud = cloud;
    this.picked = new Uint8Array(cloud.bodies);
    this.pickedCount = 0;
    this.dots = new Dots(painter, cloud, this.picked);
    this.ball = cloud.inSpace ? null : painter.mesh(sphere(48));
    this.lines = cloud.inSpace ? painter.lines(boxEdges(cloud.half), 2) : painter.lines(graticule(30), ON_CURVE);
    this.ends = cloud.inSpace ? null : painter.lines(new Float32Array([0, 1, 2].flatMap((k) => [1, AXIS_END].flatMap((r) => [0, 1, 2].map((i) => (i === k ? r : 0))))), 2);
    const radius = cloud.inSpace ? 1.08 * Math.hypot(cloud.half[0], cloud.half[1], cloud.half[2]) : 1.2;
    /** @type {import("./camera.js").Subject} */
    this.subject = { axes: UNMOVED, axesBefore: UNMOVED, centre: MIDDLE, unit: 1, radius };
    if (!cloud.inSpace) this.face();
  }

  /** Begin where most points are seen, if they are on one side, somewhat from above. */
  face() {
    const { cloud, stage } = this, sum = [0, 0, 0], step = Math.ceil(cloud.bodies / 2000);
    let count = 0;
    for (let frame = 0; frame < cloud.t.length; frame++)
      for (let body = 0; body < cloud.bodies; body += step)
        if (placeInFrame(place, cloud, body, frame)) {
          addScaled(sum, sum, place, 1);
          count++;
        }
    const aside = Math.hypot(sum[0], sum[1]), size = Math.hypot(aside, sum[2]);
    if (size < 0.4 * count) return;
    const pitch = Math.max(-1, Math.min(1, Math.atan2(sum[2], aside) + 0.1));
    stage.camera.settle(aside > 0.2 * size ? Math.atan2(sum[1], sum[0]) + 0.2 : stage.camera.yaw, pitch);
  }

  /** The size of a point, smaller the more there are. */
  size() {
    const { pane, cloud } = this, side = Math.min(pane.width, pane.height);
    return Math.min(9, Math.max(1.9, 26 * cloud.bodies ** -0.22)) * Math.min(1.4, Math.max(0.7, side / 520));
  }

  /** @param {Pane} pane @param {number} time */
  draw(pane, time) {
    const { stage, cloud } = this, { painter, colours, show } = stage;
    setCloudTime(cloud, time);
    pane.aim(stage.camera, this.subject);
    painter.pane(pane, colours.ground);
    if (this.ball) painter.drawMesh(this.ball, matrixFromQuaternion(model, UNMOVED, 0.999, MIDDLE), colours.ground[0] > 0.5 ? colours.ellipsoid : NIGHT, 1, 0.4);
    matrixFromQuaternion(model, UNMOVED, 1, MIDDLE);
    if (show.grid) painter.drawLine(this.lines, model, colours.grid, this.ball ? 0.5 : 0.8, 1);
    if (show.axes && this.ends) painter.drawLine(this.ends, model, colours.ink, 0.8, 1.6);
    this.dots.draw(model, pane, this.size(), colours, this.pickedCount > 0);
    if (show.axes) this.drawNames(pane);
  }

  /** The names of the axes at their ends, unless the sphere hides them; or along the edges of the box. @param {Pane} pane */
  drawNames(pane) {
    const { cloud, stage } = this, { half } = cloud;
    for (let k = 0; k < 3; k++) {
      if (cloud.inSpace) {
        setVector(place, half[0], k === 2 ? -half[1] : half[1], -half[2])[k] = 0;
        stage.labels.put(pane, cloud.axes[k], -1, place, MIDDLE);
        continue;
      }
      setVector(place, 0, 0, 0)[k] = AXIS_END;
      if (castRayAtSphere(pane.eye, addScaled(beyond, place, pane.eye, -1), 1) > 1) stage.labels.put(pane, cloud.axes[k], -1, place, MIDDLE);
    }
  }

  /** Where a body appears on the canvas, in `seen`; false if it does not. @param {number} body */
  see(body) {
    const { cloud, pane } = this;
    if (!placeNow(place, cloud, body) || (!cloud.inSpace && dot(place, pane.eye) < 1)) return false;
    pane.project(seen, place);
    return seen[2] > 0;
  }

  /** The body nearest to x, y of the canvas within `reach` pixels, or -1. @param {number} x @param {number} y @param {number} reach */
  nearest(x, y, reach) {
    let found = -1, least = reach * reach, depth = Infinity;
    for (let body = 0; body < this.cloud.bodies; body++) {
      if (!this.see(body)) continue;
      const far = (seen[0] - x) ** 2 + (seen[1] - y) ** 2;
      if (far > least || (far === least && seen[2] >= depth)) continue;
      found = body;
      least = far;
      depth = seen[2];
    }
    return found;
  }

  /** Pick the bodies within a rectangle of the canvas. @param {number} left @param {number} top @param {number} right @param {number} bottom @param {boolean} more keep those that are */
  brush(left, top, right, bottom, more) {
    const { picked, pane } = this;
    if (!more) picked.fill(0);
    for (let body = 0; body < picked.length; body++)
      if (this.see(body) && pane.contains(seen[0], seen[1]) && seen[0] >= left && seen[0] <= right && seen[1] >= top && seen[1] <= bottom) picked[body] = 1;
    this.mark();
  }

  /** Pick the members with these numbers. @param {Iterable<number>} numbers */
  choose(numbers) {
    const wanted = new Set(numbers);
    this.cloud.numbers.forEach((number, body) => {
      this.picked[body] = wanted.has(number) ? 1 : 0;
    });
    this.mark();
  }

  mark() {
    this.pickedCount = this.picked.reduce((sum, one) => sum + one, 0);
    this.dots.mark();
  }

  /** The numbers of the picked members. @returns {number[]} */
  pickedNumbers() {
    return Array.from(this.cloud.numbers).filter((_, body) => this.picked[body]);
  }

  /** Count bodies by the level of their colour, in equal bins. @param {Float64Array} all @param {Float64Array} some of them that are picked @param {number} levels */
  count(all, some, levels) {
    all.fill(0);
    some.fill(0);
    for (let body = 0; body < this.picked.length; body++) {
      const level = levelNow(this.cloud, body);
      if (level < 0) continue;
      const bin = Math.min(all.length - 1, Math.floor(level / levels * all.length));
      all[bin]++;
      some[bin] += this.picked[body];
    }
  }
}
