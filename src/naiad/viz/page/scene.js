// Drawing: a camera, shaded ellipsoids with their axes, trails, a globe for pure rotations, a floor for paths.

const canvas = document.getElementById("view"), pen = canvas.getContext("2d");
const PALETTE = ["#3b82c4", "#e07b39", "#2fa37c", "#c878a8", "#d9a62e", "#62b6e8", "#8768b8", "#7d858c"].map(rgb);
const AXES = ["#d55e00", "#009e73", "#0072b2"].map(rgb);
const START = motion.view ? { yaw: motion.view.yaw, pitch: motion.view.pitch } : motion.planar ? { yaw: -Math.PI / 2, pitch: Math.PI / 2 } : motion.wall ? { yaw: -1.4, pitch: 0.16 } : { yaw: -0.9, pitch: 0.38 };
const camera = { ...START, zoom: 1, target: motion.centre, follow: false };
const dense = bodies.length > 60 ? 12 : bodies.length > 12 ? 20 : bodies.length > 3 ? 36 : bodies.length > 1 || motion.live ? 56 : 80;
let theme = {}, size = [1, 1], eye, light, right, up, toward, scale;

function rgb(hex) { return [1, 3, 5].map((k) => parseInt(hex.slice(k, k + 2), 16)); }
function css(colour) { return `rgb(${colour[0] | 0},${colour[1] | 0},${colour[2] | 0})`; }
function blend(a, b, s) { return [mix(a[0], b[0], s), mix(a[1], b[1], s), mix(a[2], b[2], s)]; }
const colourOf = (index) => PALETTE[((bodies[index]?.colour ?? index) + (motion.strings ? 7 : 0)) % PALETTE.length]; // grey beside a coloured string

function readTheme() {
  const style = getComputedStyle(document.documentElement);
  for (const name of ["paper", "paper-low", "ink", "quiet", "grid", "shadow"]) theme[name] = rgb(style.getPropertyValue("--" + name).trim());
  theme.paper = blend(theme.paper, theme["paper-low"], 0.5);
  theme.axes = AXES.map((colour) => blend(colour, [255, 255, 255], theme.paper[0] < 128 ? 0.3 : 0));
}

function fit() {
  const ratio = window.devicePixelRatio || 1;
  size = [canvas.clientWidth, canvas.clientHeight];
  canvas.width = Math.round(size[0] * ratio);
  canvas.height = Math.round(size[1] * ratio);
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
}

function aim() {
  const c = Math.cos(camera.pitch), s = Math.sin(camera.pitch), a = Math.cos(camera.yaw), b = Math.sin(camera.yaw);
  toward = [c * a, c * b, s];
  right = [-b, a, 0];
  up = cross(toward, right);
  eye = add(camera.target, toward, 7 * motion.radius);
  light = unit(add(add(scaled(toward, 0.75), up, 0.7), right, -0.45));
  const [wide, high] = motion.view ? motion.view.span : [1.02 * motion.radius, 1.02 * motion.radius];
  scale = camera.zoom * Math.min(Math.max(60, size[0] - 70) / (2 * wide), Math.max(60, size[1] - Math.min(180, 0.4 * size[1])) / (2 * high));
}

// Screen x, screen y, and nearness to the eye.
function project(point) {
  const p = add(point, camera.target, -1), depth = dot(p, toward);
  const f = (7 * motion.radius) / Math.max(0.05 * motion.radius, 7 * motion.radius - depth);
  return [size[0] / 2 + dot(p, right) * f * scale, size[1] / 2 - 26 - dot(p, up) * f * scale, depth];
}

function stroke(points, colour, width, strength = 1) {
  pen.globalAlpha = strength;
  pen.strokeStyle = colour;
  pen.lineWidth = width;
  pen.beginPath();
  points.forEach((p, k) => (k ? pen.lineTo(p[0], p[1]) : pen.moveTo(p[0], p[1])));
  pen.stroke();
  pen.globalAlpha = 1;
}

function mesh(nu, nv) {
  const points = [], faces = [];
  for (let v = 0; v <= nv; v++)
    for (let u = 0; u < nu; u++) {
      const a = (2 * Math.PI * u) / nu, b = (Math.PI * v) / nv - Math.PI / 2;
      points.push([Math.cos(b) * Math.cos(a), Math.cos(b) * Math.sin(a), Math.sin(b)]);
    }
  for (let v = 0; v < nv; v++)
    for (let u = 0; u < nu; u++) {
      const next = (u + 1) % nu;
      const centre = [Math.PI * (2 * u + 1) / nu, (Math.PI * (v + 0.5)) / nv - Math.PI / 2];
      const normal = [Math.cos(centre[1]) * Math.cos(centre[0]), Math.cos(centre[1]) * Math.sin(centre[0]), Math.sin(centre[1])];
      faces.push({ corners: [v * nu + u, v * nu + next, (v + 1) * nu + next, (v + 1) * nu + u], normal, odd: normal[0] * normal[1] * normal[2] < 0 });
    }
  return { points, faces, screen: new Float64Array(2 * points.length) };
}
const ball = mesh(dense, dense / 2);

function inSpace(frame, place, local) {
  return add(add(add(place, frame[0], local[0]), frame[1], local[1]), frame[2], local[2]);
}

// The ellipsoid that stands for a body: where its axes and its middle are. They need not be those of the body.
function solidOf(body, frame, place) {
  const tilt = body.tilt && [0, 3, 6].map((k) => inSpace(frame, [0, 0, 0], body.tilt.slice(k, k + 3)));
  return { frame: tilt || frame, place: body.centre ? inSpace(frame, place, body.centre) : place };
}

// Whether a point is within the ellipsoid: below one.
function depthIn(body, solid, point) {
  const d = add(point, solid.place, -1);
  return Math.sqrt(solid.frame.reduce((sum, axis, k) => sum + (dot(axis, d) / body.axes[k]) ** 2, 0));
}

function drawBody({ body, index, frame: own, place: origin, solid }) {
  const [a, b, c] = body.axes, tint = colourOf(index), { frame, place } = solid, at = project(place);
  const pixels = (Math.max(a, b, c) * scale);
  if (!body.point) drawAxes(body, own, place, false);
  const pivot = body.centre && !body.x && project(origin);
  if (pivot && pivot[2] < at[2]) drawPivot(body, solid, origin);
  if (pixels < 4) {
    spot(at, css(tint), 4);
  } else {
    if (body.mesh) drawMesh(body, own, place, tint);
    else drawSolid(body, frame, place, tint);
  }
  if (pivot && pivot[2] >= at[2]) drawPivot(body, solid, origin);
  if (!body.point) drawAxes(body, own, place, true);
}

// The visible faces of an ellipsoid, those of one shade at once: they do not cover each other. In the frame of its axes,
// and without a new array for each, as there are thousands in every frame.
function drawSolid(body, frame, place, tint) {
  const [a, b, c] = body.axes, far = 7 * motion.radius, near = 0.05 * motion.radius, from = add(place, camera.target, -1);
  const [r, u, d] = [right, up, toward].map((e) => [dot(from, e), a * dot(frame[0], e), b * dot(frame[1], e), c * dot(frame[2], e)]);
  const { points, screen } = ball;
  for (let k = 0; k < points.length; k++) {
    const [x, y, z] = points[k], f = (far * scale) / Math.max(near, far - (d[0] + d[1] * x + d[2] * y + d[3] * z));
    screen[2 * k] = size[0] / 2 + (r[0] + r[1] * x + r[2] * y + r[3] * z) * f;
    screen[2 * k + 1] = size[1] / 2 - 26 - (u[0] + u[1] * x + u[2] * y + u[3] * z) * f;
  }
  const inBody = (e) => [dot(frame[0], e) / a, dot(frame[1], e) / b, dot(frame[2], e) / c];
  const [toEye, toLight, toUp, toHalf] = [add(eye, place, -1), light, up, unit(add(light, toward))].map(inBody);
  const pale = blend(tint, [255, 255, 255], body.point ? 0 : 0.7), deep = blend(tint, [10, 16, 40], 0.62), paleDeep = blend(pale, deep, 0.62);
  const shades = new Map();
  for (const { normal: [x, y, z], corners, odd } of ball.faces) {
    if (x * toEye[0] + y * toEye[1] + z * toEye[2] <= 1) continue;
    const length = Math.hypot(x / a, y / b, z / c);
    const along = (e) => (x * e[0] + y * e[1] + z * e[2]) / length;
    const lit = Math.min(1, 0.3 + 0.16 * along(toUp) + 0.74 * Math.max(0, along(toLight))), shine = Math.max(0, along(toHalf)) ** 28;
    const key = (odd ? 4096 : 0) + 64 * Math.round(63 * Math.max(0, lit)) + Math.round(24 * shine);
    let path = shades.get(key);
    if (!path) shades.set(key, (path = new Path2D()));
    path.moveTo(screen[2 * corners[0]], screen[2 * corners[0] + 1]);
    for (let k = 1; k < 4; k++) path.lineTo(screen[2 * corners[k]], screen[2 * corners[k] + 1]);
    path.closePath();
  }
  pen.lineJoin = "bevel";
  pen.lineWidth = 0.7;
  for (const [key, path] of shades) {
    const lit = Math.floor((key % 4096) / 64) / 63, matt = key >= 4096 ? blend(paleDeep, pale, lit) : blend(deep, tint, lit);
    pen.fillStyle = pen.strokeStyle = css(blend(matt, [255, 255, 255], (0.38 * (key % 64)) / 24));
    pen.fill(path);
    pen.stroke(path);
  }
}

// The point about which a body turns that is held there, and a stay to its surface.
function drawPivot(body, solid, origin) {
  const depth = depthIn(body, solid, origin), at = project(origin);
  if (depth > 1) stroke([at, project(add(origin, add(solid.place, origin, -1), 1 - 1 / depth))], css(theme.ink), 2);
  spot(at, css(theme.ink), 4);
}

function spot(at, colour, radius) {
  pen.fillStyle = colour;
  pen.beginPath();
  pen.arc(at[0], at[1], radius, 0, 7);
  pen.fill();
}

// The body axes from the surface outwards: those that point away before the body is drawn, the others after it.
function drawAxes(body, frame, place, front) {
  if (motion.flow) return;
  const detailed = bodies.length <= 12;
  frame.forEach((axis, k) => {
    const nearer = dot(axis, add(eye, place, -1)) > 0;
    if (nearer !== front || (motion.planar && k === 2) || (bodies.length > 60)) return;
    const from = project(add(place, axis, (body.depths || body.axes)[k])), to = project(add(place, axis, body.reach));
    const colour = front ? theme.axes[k] : blend(theme.axes[k], theme.paper, 0.25);
    pen.lineCap = "round";
    stroke([from, to], css(colour), detailed ? 2.2 : 1.2);
    const length = Math.hypot(to[0] - from[0], to[1] - from[1]);
    if (!detailed || length < 10) return;
    const d = [(to[0] - from[0]) / length, (to[1] - from[1]) / length];
    pen.fillStyle = css(colour);
    pen.beginPath();
    pen.moveTo(to[0] + 7 * d[0], to[1] + 7 * d[1]);
    pen.lineTo(to[0] - 2 * d[0] - 4 * d[1], to[1] - 2 * d[1] + 4 * d[0]);
    pen.lineTo(to[0] - 2 * d[0] + 4 * d[1], to[1] - 2 * d[1] - 4 * d[0]);
    pen.fill();
    if (bodies.length <= 3) label(String(k + 1), to[0] + 16 * d[0], to[1] + 16 * d[1], css(colour), 12);
  });
}

function label(text, x, y, colour, points) {
  pen.font = `600 ${points}px system-ui, sans-serif`;
  pen.fillStyle = colour;
  pen.textAlign = "center";
  pen.textBaseline = "middle";
  pen.fillText(text, x, y);
}

// A globe of radius one about a body that only turns, and the path of the tip of its third axis. One side at a time.
function drawGlobe(centre, front) {
  const e = add(eye, centre, -1), distance = Math.hypot(...e), n = scaled(e, 1 / distance);
  if (!front) {
    const side = unit(cross(n, Math.abs(n[2]) < 0.9 ? [0, 0, 1] : [1, 0, 0])), other = cross(n, side);
    const radius = Math.sqrt(1 - 1 / (distance * distance)), middle = add(centre, n, 1 / distance);
    const rim = circle((a) => add(add(middle, side, radius * Math.cos(a)), other, radius * Math.sin(a))).map(project);
    stroke(rim, css(blend(theme.grid, theme.quiet, 0.25)), 1.2);
  }
  if (bodies.length > 12) return;
  const rings = [-60, -30, 0, 30, 60].map((degrees) => {
    const b = (degrees * Math.PI) / 180;
    return circle((a) => add(centre, [Math.cos(b) * Math.cos(a), Math.cos(b) * Math.sin(a), Math.sin(b)]));
  });
  for (let k = 0; k < 6; k++) {
    const b = (k * Math.PI) / 6;
    rings.push(circle((a) => add(centre, [Math.sin(a) * Math.cos(b), Math.sin(a) * Math.sin(b), Math.cos(a)])));
  }
  for (const ring of rings) strokeSide(ring, centre, e, front, () => css(theme.quiet), 0.8, front ? 0.3 : 0.12);
}

function circle(point) { return Array.from({ length: 73 }, (_, k) => point((2 * Math.PI * k) / 72)); }

// The parts of a curve on the unit sphere that lie on the near (or far) side, each piece in its own colour.
function strokeSide(curve, centre, e, front, colour, width, strength = 1) {
  let piece = [], shade = "";
  const flush = () => { if (piece.length > 1) stroke(piece, shade, width, strength); piece = []; };
  curve.forEach((p, k) => {
    if (dot(add(p, centre, -1), e) > 1 !== front) return flush();
    const here = project(p), next = colour(k / (curve.length - 1 || 1));
    piece.push(here);
    if (next !== shade && piece.length > 1) { flush(); piece = [here]; }
    shade = next;
  });
  flush();
}

function tipTrail(body, t) {
  const span = (motion.trail || 0.3) * duration, begin = Math.max(t0, t - span), from = locate(begin)[0], to = locate(t)[0];
  const count = Math.round(Math.min(motion.live ? 500 : 1200, 12000 / bodies.length, Math.max(60, 3 * (to - from))));
  return Array.from({ length: count + 1 }, (_, k) => add(body.offset, axesOf(body, locate(mix(begin, t, k / count)))[2]));
}

function drawGlobes(t, front) {
  bodies.forEach((body, index) => {
    if (!body.globe) return;
    drawGlobe(body.offset, front);
    if (bodies.length > 60 || motion.coarse) return;
    const tint = bodies.length === 1 ? theme.axes[2] : colourOf(index), fade = theme.paper;
    const shades = Array.from({ length: 24 }, (_, k) => css(blend(tint, fade, (front ? 0.9 : 0.95) - (front ? 0.9 : 0.45) * Math.pow(k / 23, 0.8))));
    pen.lineCap = "round";
    if (!front) body.traced = tipTrail(body, t); // the side that is drawn first
    strokeSide(body.traced, body.offset, add(eye, body.offset, -1), front, (s) => shades[Math.round(23 * s)], bodies.length > 12 ? 1.2 : 2);
  });
}

// The floor under a path: a grid, the shadow of the path and of the bodies.
function drawFloor(where) {
  if (motion.floor === undefined) return;
  const step = motion.step, reach = Math.ceil((1.5 * motion.radius) / step), z = motion.floor;
  const [cx, cy] = [0, 1].map((k) => Math.round(motion.centre[k] / step) * step);
  for (let k = -reach; k <= reach; k++) {
    const strength = 1 - 0.9 * (k / reach) ** 2, colour = css(theme.grid);
    stroke([[cx + k * step, cy - reach * step, z], [cx + k * step, cy + reach * step, z]].map(project), colour, 1, strength);
    stroke([[cx - reach * step, cy + k * step, z], [cx + reach * step, cy + k * step, z]].map(project), colour, 1, strength);
  }
  if (motion.planar) return;
  bodies.forEach((body, index) => {
    if (paths[index] && bodies.length <= 12) stroke(paths[index].map((p) => project([p[0], p[1], z])), css(blend(theme.shadow, theme.paper, 0.35)), 1);
  });
  where.forEach(({ body, solid: { frame, place } }) => {
    const s = [0, 0, 0];
    frame.forEach((axis, k) => {
      const w = body.axes[k] * body.axes[k];
      s[0] += w * axis[0] * axis[0]; s[1] += w * axis[0] * axis[1]; s[2] += w * axis[1] * axis[1];
    });
    const a = Math.sqrt(s[0]), b = s[1] / a, c = Math.sqrt(Math.max(0, s[2] - b * b));
    const outline = circle((q) => [place[0] + a * Math.cos(q), place[1] + b * Math.cos(q) + c * Math.sin(q), z]).map(project);
    pen.fillStyle = css(blend(theme.shadow, theme.paper, 0.25));
    pen.beginPath();
    outline.forEach((p, k) => (k ? pen.lineTo(p[0], p[1]) : pen.moveTo(p[0], p[1])));
    pen.fill();
  });
}

// The path of every body that has one, thinned to what a screen can show.
let paths = bodies.map((body) => {
  if (!body.x) return null;
  const count = Math.min(frames, Math.max(160, Math.round(1600 / bodies.length)));
  return Array.from({ length: count }, (_, k) => placeOf(body, locate(mix(t0, t1, count > 1 ? k / (count - 1) : 0))));
});

function trailPieces({ body, index, place, solid }, t) {
  const path = paths[index];
  if (!path || path.length < 2) return [];
  const now = motion.live ? path.length - 1 : ((t - t0) / (duration || 1)) * (path.length - 1), last = Math.floor(now), pieces = [];
  const inside = (p) => depthIn(body, solid, p) < 1;
  const put = (p, q, age, past) => {
    const middle = scaled(add(p, q), 0.5);
    if (inside(middle)) return;
    const a = project(p), b = project(q);
    const fade = past ? 0.12 + 0.5 * Math.min(1, (3 * age) / path.length) : 0.74;
    const depth = motion.planar ? (past ? -9 : -10) * motion.radius : project(middle)[2];
    pieces.push({ depth, draw: () => stroke([a, b], css(blend(colourOf(index), theme.paper, fade)), past ? (bodies.length > 12 ? 1.3 : 2.2) : 1.1) });
  };
  const crowd = bodies.length > 12 && !motion.live, first = crowd ? Math.max(0, last - Math.ceil(path.length / 8)) : 0;
  for (let k = first; k < last; k++) put(path[k], path[k + 1], now - k, true);
  put(path[last], place, 0, true);
  if (crowd) return pieces;
  if (last + 1 < path.length) put(place, path[last + 1], 0, false);
  for (let k = last + 1; k + 1 < path.length; k++) put(path[k], path[k + 1], 0, false);
  return pieces;
}

// The axes of space: the third points up unless `compass` says where they point.
function drawCompass() {
  const origin = [46, size[1] - 118], names = ["x", "y", "z"];
  const directions = (motion.compass || [[1, 0, 0], [0, 1, 0], [0, 0, 1]]).map((e, k) => ({ k, p: [dot(e, right), -dot(e, up)], depth: dot(e, toward) }));
  pen.lineCap = "round";
  for (const { k, p, depth } of directions.sort((a, b) => a.depth - b.depth)) {
    if (Math.hypot(...p) < 0.12) continue;
    const colour = css(blend(theme.quiet, theme.paper, depth < -0.05 ? 0.45 : 0));
    stroke([origin, [origin[0] + 22 * p[0], origin[1] + 22 * p[1]]], colour, 1.4);
    label(names[k], origin[0] + 31 * p[0], origin[1] + 31 * p[1], colour, 11);
  }
}

function draw(t) {
  const moment = locate(t);
  const where = bodies.map((body, index) => {
    const frame = axesOf(body, moment), place = placeOf(body, moment);
    return { body, index, frame, place, solid: solidOf(body, frame, place) };
  });
  camera.target = camera.follow ? where[0].place : camera.pan ? add(motion.centre, camera.pan) : motion.centre;
  aim();
  pen.clearRect(0, 0, size[0], size[1]);
  const under = motion.floor !== undefined && eye[2] < motion.floor;
  if (!under) { drawFloor(where); drawStringShadows(moment); }
  drawFlow(t, where);
  drawGlobes(t, false);
  const items = where.map((one) => ({ depth: project(one.solid.place)[2], draw: () => drawBody(one) }));
  for (const one of where) items.push(...trailPieces(one, t));
  items.push(...stringPieces(moment, where), ...linkPieces(where));
  pen.lineCap = "round";
  items.sort((a, b) => a.depth - b.depth).forEach((item) => item.draw());
  drawGlobes(t, true);
  if (under) { drawFloor(where); drawStringShadows(moment); }
  drawCompass();
}
