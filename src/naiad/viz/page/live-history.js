// What is remembered of a live motion: the last frames, for the scene, and rows of all numbers, for plots and tables.

const FRAMES = 900, ROWS = 1500;
const instants = []; // the time of each frame; the clock of `times` goes on, whichever way time runs
const fitted = { centre: motion.centre, radius: motion.radius, floor: motion.floor };

// Rows since the start, fewer and fewer of them as they become too many: every second one is dropped then.
class Table {
  clear() { Object.assign(this, { rows: [], every: 1, count: 0, last: null }); }
  push(row) {
    this.last = row;
    if (this.count++ % this.every) return;
    this.rows.push(row);
    if (this.rows.length <= ROWS) return;
    this.rows = this.rows.filter((_, k) => k % 2 === 0);
    this.every *= 2;
  }
  get all() { return this.rows.at(-1) === this.last ? this.rows : [...this.rows, this.last]; }
}

function forget() {
  for (const list of [times, instants]) list.length = 0;
  for (const body of bodies) for (const key of ["q", "beta", "x"]) if (body[key]) body[key].length = 0;
  for (const string of strings) string.steps.length = string.energies.length = 0;
}

// A frame: `poseOf(method)` has the poses, the nodes and the energies by the name of their arrays.
function remember(clock, instant, poseOf) {
  times.push(clock);
  instants.push(instant);
  for (const body of bodies) {
    if (body.fixed) continue;
    const pose = poseOf(body.method)("bodies"), at = 7 * body.row;
    if (body.q) body.q.push(pose[at], pose[at + 1], pose[at + 2], pose[at + 3]);
    if (body.beta) body.beta.push(unwound(body.beta.at(-1), pose[at]));
    if (body.x) body.x.push(pose[at + 4], pose[at + 5], pose[at + 6]);
  }
  for (const string of strings) {
    const read = poseOf(string.method);
    string.steps.push(...read(`nodes${string.row}`));
    if (string.elastic) string.energies.push(...read(`elastic${string.row}`).map((energy) => energy / string.elastic.unit));
  }
  if (times.length > 1.5 * FRAMES) trim(times.length - FRAMES);
  measure();
}

const unwound = (before, angle) => (before === undefined ? angle : angle + 2 * Math.PI * Math.round((before - angle) / (2 * Math.PI)));

function trim(count) {
  for (const list of [times, instants]) list.splice(0, count);
  for (const body of bodies) for (const [key, width] of [["q", 4], ["beta", 1], ["x", 3]]) body[key]?.splice(0, width * count);
  for (const string of strings) {
    string.steps.splice(0, 3 * string.nodes * count);
    string.energies.splice(0, string.elastic ? (string.nodes - 1) * count : 0);
  }
}

// The paths that lead to where bodies are at a moment, through frames, so that they lie still while they grow.
function retrace(moment) {
  const most = Math.max(60, Math.round(700 / bodies.length)), stride = Math.max(1, Math.ceil(frames / most)), last = moment[0];
  paths = bodies.map((body) => {
    if (!body.x) return null;
    const path = [];
    for (let k = last % stride; k <= last; k += stride) path.push(add([body.x[3 * k], body.x[3 * k + 1], body.x[3 * k + 2]], body.offset));
    return path;
  });
}

// The camera goes along where a motion leaves what it was fitted to.
function accompany() {
  const low = [Infinity, Infinity, Infinity], high = [-Infinity, -Infinity, -Infinity];
  const reach = (list) => {
    for (let k = 0; k < list.length; k++) { const a = k % 3; if (list[k] < low[a]) low[a] = list[k]; if (list[k] > high[a]) high[a] = list[k]; }
  };
  for (const body of bodies) if (body.x) reach(body.x);
  for (const string of strings) reach(string.steps);
  if (!(low[0] <= high[0])) return;
  const middle = scaled(add(low, high), 0.5), half = scaled(add(high, low, -1), 0.5);
  const inside = [0, 1, 2].every((a) => Math.abs(middle[a] - fitted.centre[a]) + half[a] <= fitted.radius);
  const radius = inside ? fitted.radius : Math.max(fitted.radius, 0.86 * Math.hypot(...half) + 0.3 * fitted.radius);
  motion.centre = add(motion.centre, add(inside ? fitted.centre : middle, motion.centre, -1), 0.06);
  motion.radius += 0.06 * (radius - motion.radius);
  if (motion.floor === undefined) return;
  motion.floor += 0.06 * ((inside ? fitted.floor : low[2] - 0.15 * motion.radius) - motion.floor);
  const step = 10 ** Math.floor(Math.log10(motion.radius / 2));
  motion.step = step * Math.max(...[1, 2, 5].filter((m) => m === 1 || m * step <= motion.radius / 2));
}
