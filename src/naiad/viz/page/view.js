// The view: camera, mouse, touch, legend and colours; what recorded and live motions share.

const element = (id) => document.getElementById(id);
const SPEEDS = [-4, -3, -2, -1, 0, 1, 2, 3, 4].flatMap((power) => [1, 2, 5].map((digit) => digit * 10 ** power));
const SUPERSCRIPT = { "-": "⁻", 0: "⁰", 1: "¹", 2: "²", 3: "³", 4: "⁴", 5: "⁵", 6: "⁶", 7: "⁷", 8: "⁸", 9: "⁹" };
const still = window.matchMedia("(prefers-reduced-motion: reduce)").matches;
let stale = true;

// Real time if that takes between 5 and 60 seconds, else the round speed that takes about half a minute.
function firstSpeed(duration) {
  if (duration === 0 || (duration >= 5 && duration <= 60)) return SPEEDS.indexOf(1);
  const wanted = duration / (duration < 5 ? 12 : 30);
  return SPEEDS.reduce((best, value, k) => (Math.abs(Math.log(value / wanted)) < Math.abs(Math.log(SPEEDS[best] / wanted)) ? k : best), 0);
}

let speed = firstSpeed(motion.span ?? duration);

const pacing = () => `× ${SPEEDS[speed] >= 0.001 ? Number(SPEEDS[speed].toPrecision(1)) : SPEEDS[speed].toExponential(0)}`;
function pace(change) { speed = Math.min(SPEEDS.length - 1, Math.max(0, speed + change)); stale = true; }

function power(value) {
  if (value === 0) return "0";
  const [digits, exponent] = value.toExponential(1).split("e");
  return `${digits.replace("-", "−")} × 10${[...String(Number(exponent))].map((c) => SUPERSCRIPT[c]).join("")}`;
}

function reset() { Object.assign(camera, START, { zoom: 1, pan: null, follow: false }); stale = true; }
function follow() {
  if (!bodies[0]?.x) return;
  camera.follow = !camera.follow;
  const [wide, high] = motion.view ? motion.view.span : [motion.radius, motion.radius];
  camera.zoom = camera.follow ? Math.max(1, Math.max(wide, high) / (7 * Math.max(...bodies[0].axes))) : 1;
  stale = true;
}
function zoom(factor) { camera.zoom = Math.min(400, Math.max(0.15, camera.zoom * factor)); stale = true; }

// What keys do, but for the space that presses a button, and those that are meant for another element.
function listen(keys, meant = () => false) {
  document.addEventListener("keydown", (event) => {
    const act = keys[event.key.length === 1 ? event.key.toLowerCase() : event.key];
    if (!act || event.ctrlKey || event.metaKey || event.altKey) return;
    if ((event.key === " " && event.target.tagName === "BUTTON") || meant(event)) return;
    event.preventDefault();
    act(event);
  });
}

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

element("slower").addEventListener("click", () => pace(-1));
element("faster").addEventListener("click", () => pace(1));
element("follow").addEventListener("click", follow);
element("reset").addEventListener("click", reset);
element("follow").hidden = !bodies[0]?.x;
if (hottest) {
  element("elastic-row").hidden = false;
  element("ramp").style.background = `linear-gradient(to right, ${RAMP.map((colour, k) => `${css(colour)} ${100 * (k / (RAMP.length - 1)) ** 2}%`).join()})`;
  element("hottest").textContent = `≥ ${Number(hottest.toPrecision(2))} J`;
}
element("note").hidden = !motion.note;
element("note").textContent = motion.note || "";
const named = motion.legend ?? (bodies.length > 1 && bodies.length <= 8 ? bodies.map((body, index) => [body.name, index]) : []);
for (const [name, index] of named) {
  const item = document.createElement("li"), dot = document.createElement("i");
  dot.style.background = css(colourOf(index));
  item.append(dot, name);
  element("legend").append(item);
}

window.addEventListener("resize", () => { fit(); stale = true; });
window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { readTheme(); stale = true; });
