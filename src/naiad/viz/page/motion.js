// The data, and where everything is at a time between two frames.

const motion = JSON.parse(document.getElementById("motion").textContent);
const times = motion.time, bodies = motion.bodies;
let frames, t0, t1, duration;

function measure() {
  frames = times.length;
  t0 = times[0];
  t1 = times[frames - 1];
  duration = t1 - t0;
}
measure();

const add = (a, b, s = 1) => [a[0] + s * b[0], a[1] + s * b[1], a[2] + s * b[2]];
const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
const scaled = (a, s) => [a[0] * s, a[1] * s, a[2] * s];
const unit = (a) => scaled(a, 1 / (Math.hypot(a[0], a[1], a[2]) || 1));
const mix = (a, b, s) => a + (b - a) * s;

// The frame before t, and how far t is towards the next one.
function locate(t) {
  let low = 0, high = frames - 1;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (times[middle] <= t) low = middle; else high = middle;
  }
  const step = times[high] - times[low];
  return [low, high, step > 0 ? Math.min(1, Math.max(0, (t - times[low]) / step)) : 0];
}

function slerp(q, i, j, s) {
  let cosine = 0;
  for (let k = 0; k < 4; k++) cosine += q[4 * i + k] * q[4 * j + k];
  const sign = cosine < 0 ? -1 : 1, angle = Math.acos(Math.min(1, Math.abs(cosine))), sine = Math.sin(angle);
  const a = sine < 1e-6 ? 1 - s : Math.sin((1 - s) * angle) / sine;
  const b = sign * (sine < 1e-6 ? s : Math.sin(s * angle) / sine);
  const out = [0, 1, 2, 3].map((k) => a * q[4 * i + k] + b * q[4 * j + k]);
  const norm = Math.hypot(...out);
  return out.map((value) => value / norm);
}

// The body axes in space, as three vectors.
function axesOf(body, [i, j, s]) {
  if (body.beta) {
    const angle = mix(body.beta[i], body.beta[j], s), c = Math.cos(angle), n = Math.sin(angle);
    return [[c, n, 0], [-n, c, 0], [0, 0, 1]];
  }
  if (!body.q) return [[1, 0, 0], [0, 1, 0], [0, 0, 1]];
  const [w, x, y, z] = slerp(body.q, i, j, s);
  return [
    [1 - 2 * (y * y + z * z), 2 * (x * y + w * z), 2 * (x * z - w * y)],
    [2 * (x * y - w * z), 1 - 2 * (x * x + z * z), 2 * (y * z + w * x)],
    [2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y)],
  ];
}

function placeOf(body, [i, j, s]) {
  const path = body.x || (body.beside === undefined ? null : bodies[body.beside].x);
  if (!path) return body.offset;
  return add([0, 1, 2].map((k) => mix(path[3 * i + k], path[3 * j + k], s)), body.offset);
}

// 16-bit numbers, little end first, from base64.
function unpack(text) {
  const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0)), view = new DataView(bytes.buffer);
  return Int16Array.from({ length: bytes.length / 2 }, (_, k) => view.getInt16(2 * k, true));
}

const energyAt = ([i, j, s]) => mix(motion.energy[i], motion.energy[j], s);
