// The page: steps are taken as they are shown. Space pauses, an arrow takes one step, B turns time round.

const NOWHERE = -1; // how a motion has stopped that cannot begin
const BUDGET = 9, RECOMPUTED = 20000; // milliseconds of a frame for steps; steps that are computed again at once
let playing = !still, direction = 1, now = 0, before = null, dirty = null, telling = null;
let base = { clock: 0, t: 0, net: 0 }; // where the last beginning was: on the clock, in time, in steps from the start
let taken = 0, cost = 1e-3, started = []; // steps since then; milliseconds that a step takes; the first rows

const reached = () => ({ clock: base.clock + taken * Math.abs(h), t: base.t + taken * h, net: base.net + direction * taken });
const failed = (engine) => engine.stopped !== 0;

function tell(text, seconds = 0) {
  window.clearTimeout(telling);
  element("telling").textContent = text;
  element("telling").hidden = !text;
  if (seconds) telling = window.setTimeout(() => tell(""), 1000 * seconds);
}

// All methods begin: from the sliders, again from where they are, or at a point of the section.
function begin(how, t, clock, net, at) {
  engines.forEach((engine) => values.forEach((numbers, k) => engine.inputs[`values.${k}`].set(numbers)));
  base = { clock, t, net };
  taken = 0;
  engines.forEach((engine) => { engine.stopped = engine.begin(how, t, h, at) ? engine.outcome : NOWHERE; });
  if (how !== AGAIN) {
    forget();
    engines.forEach((engine) => { engine.table.clear(); engine.table.push(engine.row(t)); });
    started = engines.map((engine) => engine.row(t));
  }
  remember(clock, t, (method) => engines[method].held);
  now = clock;
  stale = true;
  if (engines.some(failed)) explain();
}

function restart() {
  direction = 1;
  h = Math.abs(h);
  tell("");
  begin(AFRESH, 0, 0, 0);
  if (live.section) { clearOrbits(); live.section.orbits.forEach((at) => beginOrbit(at, false)); beginOrbit(null, false); }
}

function showOrbit(how, at) { direction = 1; h = Math.abs(h); tell(""); begin(how, 0, 0, 0, at); }

function reverse() {
  const { clock, t, net } = reached();
  direction = -direction;
  h = -h;
  tell("");
  begin(AGAIN, t, clock, net);
}

// Steps; of each method as many frames as of the others, its last one again if it has failed.
function compute(count, every) {
  while (count > 0) {
    const part = Math.min(count, ROOM * every), alive = engines.map((engine) => !failed(engine));
    const kept = engines.map((engine, k) => (alive[k] ? engine.run(part, every) : 0)), most = Math.max(...kept);
    const leader = engines[kept.indexOf(most)];
    for (let i = 0; i < most; i++) {
      const node = Number(leader.nodes[i]), t = base.t + node * h;
      engines.forEach((engine, k) => { if (i < kept[k]) engine.table.push(engine.row(t, i)); });
      remember(base.clock + node * Math.abs(h), t, (method) => (i < kept[method] ? engines[method].pose(i) : engines[method].held));
      engines.forEach((engine, k) => { if (i === kept[k] - 1) engine.held = engine.copied(i); });
    }
    engines.forEach((engine, k) => { if (alive[k]) engine.stopped = engine.outcome; });
    if (most) taken = Number(leader.nodes[most - 1]);
    count -= part;
    if (engines.some((engine, k) => alive[k] && failed(engine))) return explain();
  }
}

function explain() {
  const words = engines.filter(failed).map((engine) => `${engine.name ? `${engine.name} stopped` : "Stopped"} at t = ${digits(engine.table.last[0])} ${live.unit}: ${engine.stopped === NOWHERE ? "with these parameters there is no initial state." : engine.failures[engine.stopped]}`);
  tell(words.join("\n"));
}

// What a slider has changed is computed again, up to the same time if that is soon done; or the motion goes on with it.
function apply() {
  const { clock, t, net } = reached();
  h = direction * step0[0];
  tell("");
  if (live.section) return restart();
  if (mode === "on") {
    begin(AGAIN, t, clock, 0);
    started = engines.map((engine) => engine.row(t));
    return;
  }
  direction = 1;
  h = step0[0];
  const count = Math.round(t / h);
  begin(AFRESH, 0, 0, 0);
  if (count > 0 && count <= RECOMPUTED) compute(count, Math.max(1, Math.ceil(count / (FRAMES - 100))));
  now = reached().clock;
}

function changed() { dirty = true; showNumbers(); }

// As many steps as it takes to come to `now`, or as there is time for.
function advance(seconds) {
  if (engines.every(failed)) return;
  now += seconds * SPEEDS[speed];
  let count = Math.ceil((now - reached().clock) / Math.abs(h) - 1e-9);
  if (direction < 0) count = Math.min(count, reached().net);
  const most = Math.max(1, Math.floor(BUDGET / cost));
  if (count > most) { count = most; now = reached().clock + count * Math.abs(h); }
  if (count > 0) {
    const begun = performance.now();
    compute(count, Math.max(1, Math.ceil(count / 4)));
    cost = 0.8 * cost + 0.2 * ((performance.now() - begun) / count);
  }
  if (engines.every(failed)) now = t1;
  if (direction < 0 && reached().net <= 0) returned();
}

// Time has run back to the start: how well each method has come back.
function returned() {
  playing = false;
  now = t1;
  const words = engines.map((engine, k) => {
    if (failed(engine)) return `${engine.name || "The motion"} stopped on the way.`;
    const off = apart(engine.table.last, started[k], live.columns.length), much = off < 1e-9 ? "to round-off" : "but not to round-off";
    return `${engine.name ? `${engine.name} is` : "The motion is"} back where it began, ${much}: off by ${power(off)}${engine.symmetric ? "" : " (the method is not symmetric)"}.`;
  });
  tell(words.join("\n"));
}

function single() {
  playing = false;
  if (direction < 0 && reached().net <= 0) return returned();
  compute(1, 1);
  now = t1;
  stale = true;
}

function play(on) {
  if (on && direction < 0 && reached().net <= 0) reverse();
  playing = on;
  if (on && !engines.some(failed)) tell("");
  stale = true;
}

function clock(t) {
  const round = Math.max(0, Math.min(6, 2 - Math.floor(Math.log10(motion.span))));
  return `${t.toFixed(round).replace("-", "−")} ${live.unit}`;
}

function show() {
  const moment = locate(now);
  retrace(moment);
  if (bodies.some((body) => body.x) || strings.length) accompany();
  draw(now);
  element("clock").textContent = clock(mix(instants[moment[0]], instants[moment[1]], moment[2]));
  element("speed").textContent = pacing();
  element("play").classList.toggle("playing", playing);
  showErrors();
  element("reverse").setAttribute("aria-pressed", String(direction < 0));
  element("follow").setAttribute("aria-pressed", String(camera.follow));
}

function tick(stamp) {
  if (dirty) { dirty = null; apply(); stale = true; }
  if (playing && before !== null) { advance(Math.min(stamp - before, 100) / 1000); stale = true; }
  before = stamp;
  if (live.section) { fillSection(playing ? 7 : 12); drawSections(); }
  if (stale) { const all = !playing; stale = false; show(); drawPlots(all); }
  window.requestAnimationFrame(tick);
}

function defaults() {
  live.sliders.forEach(({ value }, k) => values[k].splice(0, value.length, ...value));
  step0[0] = live.dt.value[0];
  changed();
}

listen({
  " ": () => play(!playing), ArrowRight: single, ArrowUp: () => pace(1), ArrowDown: () => pace(-1), Home: restart, b: reverse,
  f: follow, r: reset, l: copyLink, d: downloadTable, "+": () => zoom(1.2), "=": () => zoom(1.2), "-": () => zoom(1 / 1.2),
}, ({ key, target }) => target.type === "text" || (target.type === "range" && key.length > 1));
for (const [id, act] of Object.entries({ play: () => play(!playing), step: single, reverse, again: restart, link: copyLink, data: downloadTable, defaults }))
  element(id).addEventListener("click", act);
window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => sections.forEach((section) => { section.clean = false; }));
window.addEventListener("hashchange", () => { if (window.location.hash !== address()) { readAddress(); changed(); } });

async function load() {
  engines = await Promise.all(live.methods.map(async (about) => new Engine(about, await naiad.load(about.code, about.description))));
  prepareSection();
  prepareTouch();
  readTheme();
  fit();
  preparePlots();
  prepareReadout();
  readAddress();
  showNumbers();
  restart();
  show();
  drawPlots(true);
  performance.mark("shown");
  window.requestAnimationFrame(tick);
}
load().catch((error) => { tell(`This browser cannot compute the motion: ${error.message}`); throw error; });
