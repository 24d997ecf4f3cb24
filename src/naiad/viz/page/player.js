// Playing: time, speed, mouse, touch and keys. With #t=12.5 after its address the page opens at that time, and waits.

let now = t0, playing = duration > 0 && !still, before = null;

function clock(t) {
  const digits = Math.max(0, Math.min(6, 3 - Math.floor(Math.log10(duration || 1))));
  return `${t.toFixed(digits)} ${motion.unit ?? "s"}`;
}

function show() {
  draw(now);
  element("clock").textContent = clock(now);
  element("slider").value = duration ? (now - t0) / duration : 0;
  element("slider").setAttribute("aria-valuetext", clock(now));
  element("speed").textContent = pacing();
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

listen({
  " ": () => play(!playing), ArrowLeft: (e) => step(e.shiftKey ? -10 : -1), ArrowRight: (e) => step(e.shiftKey ? 10 : 1),
  ArrowUp: () => pace(1), ArrowDown: () => pace(-1), Home: () => go(t0), End: () => { play(false); go(t1); },
  f: follow, r: reset, "+": () => zoom(1.2), "=": () => zoom(1.2), "-": () => zoom(1 / 1.2),
});

element("slider").addEventListener("input", (event) => { play(false); go(t0 + duration * Number(event.target.value)); });
element("play").addEventListener("click", () => play(!playing));
element("energy-row").hidden = !motion.energy;
if (motion.balance) element("energy-words").textContent = "energy less work";
const moment = /^#t=(.+)$/.exec(window.location.hash);
if (moment && Number.isFinite(Number(moment[1]))) { play(false); go(Number(moment[1])); }
readTheme();
fit();
show();
window.requestAnimationFrame(tick);
