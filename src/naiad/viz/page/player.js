// Playing: time, speed, mouse, touch and keys. With #t=12.5 after its address the page opens at that time, and waits.

const element = (id) => document.getElementById(id);
const SPEEDS = [-4, -3, -2, -1, 0, 1, 2, 3, 4].flatMap((power) => [1, 2, 5].map((digit) => digit * 10 ** power));
const SUPERSCRIPT = { "-": "⁻", 0: "⁰", 1: "¹", 2: "²", 3: "³", 4: "⁴", 5: "⁵", 6: "⁶", 7: "⁷", 8: "⁸", 9: "⁹" };
const still = window.matchMedia("(prefers-reduced-motion: reduce)").matches;
let now = t0, playing = duration > 0 && !still, speed = firstSpeed(), stale = true, before = null;

// Real time if that takes between 5 and 60 seconds, else the round speed that takes about half a minute.
function firstSpeed() {
  if (duration === 0 || (duration >= 5 && duration <= 60)) return SPEEDS.indexOf(1);
  const wanted = duration / (duration < 5 ? 12 : 30);
  return SPEEDS.reduce((best, value, k) => (Math.abs(Math.log(value / wanted)) < Math.abs(Math.log(SPEEDS[best] / wanted)) ? k : best), 0);
}

function clock(t) {
  const digits = Math.max(0, Math.min(6, 3 - Math.floor(Math.log10(duration || 1))));
  return `${t.toFixed(digits)} ${motion.unit || "s"}`;
}

function power(value) {
  if (value === 0) return "0";
  const [digits, exponent] = value.toExponential(1).split("e");
  return `${digits.replace("-", "−")} × 10${[...String(Number(exponent))].map((c) => SUPERSCRIPT[c]).join("")}`;
}

function show() {
  draw(now);
  element("clock").textContent = clock(now);
  element("slider").value = duration ? (now - t0) / duration : 0;
  element("slider").setAttribute("aria-valuetext", clock(now));
  element("speed").textContent = `× ${SPEEDS[speed] >= 0.001 ? Number(SPEEDS[speed].toPrecision(1)) : SPEEDS[speed].toExponential(0)}`;
  element("play").classList.toggle("playing", playing);
  element("follow").setAttribute("aria-pressed", String(camera.follow));
  if (motion.energy) element("energy").textContent = power(energyAt(locate(now)));
}

function tick(stamp) {
  if (playing && before !== null) {
    now += (Math.min(stamp - before, 100) / 1000) * SPEEDS[speed];
    if (now > t1) now = t0 + ((now - t0) % duration);
    stale = true;
  }
  before = stamp;
  if (stale) { stale = false; show(); }
  window.requestAnimationFrame(tick);
}

function play(on) { playing = on && duration > 0; stale = true; }
function go(t) { now = Math.min(t1, Math.max(t0, t)); stale = true; }
function step(count) {
  const [low, high, s] = locate(now), here = s > 0.999 ? high : low;
  play(false);
  go(times[Math.min(frames - 1, Math.max(0, here + (count < 0 && s > 0.001 && s < 0.999 ? count + 1 : count)))]);
}
function pace(change) { speed = Math.min(SPEEDS.length - 1, Math.max(0, speed + change)); stale = true; }
function reset() { Object.assign(camera, START, { zoom: 1, pan: null, follow: false }); stale = true; }
function follow() {
  if (!bodies[0]?.x) return;
  camera.follow = !camera.follow;
  const [wide, high] = motion.view ? motion.view.span : [motion.radius, motion.radius];
  camera.zoom = camera.follow ? Math.max(1, Math.max(wide, high) / (7 * Math.max(...bodies[0].axes))) : 1;
  stale = true;
}
function zoom(factor) { camera.zoom = Math.min(400, Math.max(0.15, camera.zoom * factor)); stale = true; }

const keys = {
  " ": () => play(!playing), ArrowLeft: (e) => step(e.shiftKey ? -10 : -1), ArrowRight: (e) => step(e.shiftKey ? 10 : 1),
  ArrowUp: () => pace(1), ArrowDown: () => pace(-1), Home: () => go(t0), End: () => { play(false); go(t1); },
  f: follow, r: reset, "+": () => zoom(1.2), "=": () => zoom(1.2), "-": () => zoom(1 / 1.2),
};
document.addEventListener("keydown", (event) => {
  const act = keys[event.key.length === 1 ? event.key.toLowerCase() : event.key];
  if (!act || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === " " && event.target.tagName === "BUTTON") return;
  event.preventDefault();
  act(event);
});

document.addEventListener("click", (event) => { if (event.detail && event.target.tagName === "BUTTON") event.target.blur(); });

const held = new Map();
let pinch = 0;
canvas.addEventListener("pointerdown", (event) => {
  canvas.setPointerCapture(event.pointerId);
  held.set(event.pointerId, [event.clientX, event.clientY]);
  canvas.classList.add("held");
  pinch = 0;
});
canvas.addEventListener("pointermove", (event) => {
  const from = held.get(event.pointerId);
  if (!from) return;
  const [dx, dy] = [event.clientX - from[0], event.clientY - from[1]];
  held.set(event.pointerId, [event.clientX, event.clientY]);
  if (held.size === 2) {
    const [a, b] = [...held.values()], apart = Math.hypot(a[0] - b[0], a[1] - b[1]);
    if (pinch) zoom(apart / pinch);
    pinch = apart;
  } else if (event.shiftKey || event.buttons === 4) {
    camera.pan = add(add(camera.pan || [0, 0, 0], right, -dx / scale), up, dy / scale);
  } else {
    camera.yaw -= 0.008 * dx;
    camera.pitch = Math.min(Math.PI / 2, Math.max(-Math.PI / 2, camera.pitch + 0.008 * dy));
  }
  stale = true;
});
for (const kind of ["pointerup", "pointercancel"])
  canvas.addEventListener(kind, (event) => { held.delete(event.pointerId); pinch = 0; if (!held.size) canvas.classList.remove("held"); });
canvas.addEventListener("wheel", (event) => { event.preventDefault(); zoom(Math.exp(-0.0015 * event.deltaY)); }, { passive: false });
canvas.addEventListener("dblclick", reset);

element("slider").addEventListener("input", (event) => { play(false); go(t0 + duration * Number(event.target.value)); });
element("play").addEventListener("click", () => play(!playing));
element("slower").addEventListener("click", () => pace(-1));
element("faster").addEventListener("click", () => pace(1));
element("follow").addEventListener("click", follow);
element("reset").addEventListener("click", reset);
element("follow").hidden = !bodies[0]?.x;
element("energy-row").hidden = !motion.energy;
if (motion.balance) element("energy-words").textContent = "energy less work";
if (hottest) {
  element("elastic-row").hidden = false;
  element("ramp").style.background = `linear-gradient(to right, ${RAMP.map((colour, k) => `${css(colour)} ${100 * (k / (RAMP.length - 1)) ** 2}%`).join()})`;
  element("hottest").textContent = `≥ ${Number(hottest.toPrecision(2))} J`;
}
element("note").hidden = !motion.note;
element("note").textContent = motion.note || "";
if (bodies.length > 1 && bodies.length <= 8)
  bodies.forEach((body, index) => {
    const item = document.createElement("li"), dot = document.createElement("i");
    dot.style.background = css(colourOf(index));
    item.append(dot, body.name);
    element("legend").append(item);
  });

window.addEventListener("resize", () => { fit(); stale = true; });
window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { readTheme(); stale = true; });
const moment = /^#t=(.+)$/.exec(window.location.hash);
if (moment && Number.isFinite(Number(moment[1]))) { play(false); go(Number(moment[1])); }
readTheme();
fit();
show();
window.requestAnimationFrame(tick);
