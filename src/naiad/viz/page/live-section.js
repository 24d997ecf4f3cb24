// Poincare sections: points of many orbits, in a picture for each method. A click, or a brush, begins orbits.

const SURROUND = { left: 46, right: 8, top: 20, bottom: 32 };
const ENOUGH = 1200, LONGEST = 3e6, SPREAD = 16; // points and steps of an orbit; pixels between the starts of a brush
let sections = [], orbits = [], frameOfSection = null;

function prepareSection() {
  if (!live.section) return;
  document.body.classList.add("sectioned");
  const home = element("section");
  home.hidden = false;
  home.classList.toggle("pair", engines.length > 1);
  frameOfSection = live.section.frame && [...live.section.frame];
  sections = engines.map((engine, index) => {
    const figure = document.createElement("figure"), canvas = document.createElement("canvas"), caption = document.createElement("figcaption");
    caption.textContent = engine.name;
    figure.append(canvas, ...(engine.name ? [caption] : []));
    home.append(figure);
    if (live.section.paint) painting(canvas, index); else canvas.classList.add("still");
    return { canvas, pen: canvas.getContext("2d"), clean: false };
  });
  const hint = document.createElement("p");
  hint.textContent = live.section.paint ? "Click or drag in the picture: an orbit begins there. The scene shows the last one." : "The crossings of the motion.";
  home.append(hint);
}

function painting(canvas, index) {
  let last = null;
  const at = (event) => {
    const box = canvas.getBoundingClientRect(), place = [event.clientX - box.left, event.clientY - box.top];
    if (last && Math.hypot(place[0] - last[0], place[1] - last[1]) < SPREAD) return;
    last = place;
    const [x0, x1, y0, y1] = sections[index].frame, [width, height] = [box.width, box.height];
    beginOrbit([
      x0 + ((place[0] - SURROUND.left) / (width - SURROUND.left - SURROUND.right)) * (x1 - x0),
      y0 + ((height - SURROUND.bottom - place[1]) / (height - SURROUND.top - SURROUND.bottom)) * (y1 - y0),
    ]);
  };
  canvas.addEventListener("pointerdown", (event) => { canvas.setPointerCapture(event.pointerId); last = null; at(event); });
  canvas.addEventListener("pointermove", (event) => { if (event.buttons) at(event); });
}

// An orbit from a point of the picture, or from where the sliders say; the scene goes on with it.
function beginOrbit(at, asked = true) {
  const how = at ? AT_POINT : AFRESH, kept = engines.map((engine) => engine.standing);
  const runs = engines.map((engine) => ({ good: engine.begin(how, 0, Math.abs(h), at), standing: engine.standing, points: [], steps: 0 }));
  if (at && !runs.every(({ good }) => good)) {
    engines.forEach((engine, k) => { engine.standing = kept[k]; });
    if (asked) tell("No orbit begins there.", 2);
    return;
  }
  orbits.push({ runs, colour: css(PALETTE[orbits.length % PALETTE.length]), start: at || null });
  showOrbit(how, at);
}

function clearOrbits() {
  orbits = [];
  sections.forEach((section) => { section.clean = false; });
}

// Background work for some milliseconds: the orbits with fewest points first.
function fillSection(milliseconds) {
  if (!orbits.length) return;
  const until = performance.now() + milliseconds;
  const unfinished = ({ run }) => run.good && run.points.length < 2 * ENOUGH && run.steps < LONGEST;
  let open = orbits.flatMap((orbit) => orbit.runs.map((run, k) => ({ orbit, run, k }))).filter(unfinished);
  if (!open.length) return;
  const kept = engines.map((engine) => engine.standing);
  while (open.length && performance.now() < until) {
    open.sort((a, b) => a.run.steps - b.run.steps);
    const { orbit, run, k } = open[0], engine = engines[k];
    engine.standing = run.standing;
    engine.inputs.t0[0] = 0;
    engine.inputs.h[0] = Math.abs(h);
    engine.run(400, 400);
    run.standing = engine.standing;
    run.steps += 400;
    run.good = engine.outcome === 0;
    addPoints(engine, orbit, run, sections[k]);
    open = open.filter(unfinished);
  }
  engines.forEach((engine, k) => {
    engine.standing = kept[k];
    engine.inputs.t0[0] = base.t;
    engine.inputs.h[0] = h;
  });
}

function addPoints(engine, orbit, run, section) {
  const count = Number(engine.crossed[0]);
  for (let i = 0; i < count; i++) {
    const x = engine.points[2 * i], y = engine.points[2 * i + 1];
    if (!Number.isFinite(x + y)) continue;
    run.points.push(x, y);
    widen(x, y);
    if (section.clean) dotAt(section, orbit.colour, x, y);
  }
}

function widen(x, y) {
  if (live.section.frame) return;
  const f = (frameOfSection ??= [x - 1e-3, x + 1e-3, y - 1e-3, y + 1e-3]);
  if (x >= f[0] && x <= f[1] && y >= f[2] && y <= f[3]) return;
  const wide = 0.15 * (f[1] - f[0]), high = 0.15 * (f[3] - f[2]);
  frameOfSection = [x < f[0] ? x - wide : f[0], x > f[1] ? x + wide : f[1], y < f[2] ? y - high : f[2], y > f[3] ? y + high : f[3]];
  sections.forEach((section) => { section.clean = false; });
}

function dotAt({ pen, px, py }, colour, x, y) {
  pen.fillStyle = colour;
  pen.fillRect(px(x) - 0.8, py(y) - 0.8, 1.6, 1.6);
}

function drawSections() {
  sections.forEach((section, k) => {
    const { canvas, pen } = section;
    if ((section.clean && section.width === canvas.clientWidth) || !frameOfSection) return;
    section.width = canvas.clientWidth;
    const size = sizedCanvas(canvas, pen);
    Object.assign(section, axes(pen, size, frameOfSection, { labels: live.section.labels, across: 5, margin: SURROUND }), { clean: true, frame: frameOfSection });
    for (const { runs, colour } of orbits) {
      const { points } = runs[k];
      for (let i = 0; i < points.length; i += 2) dotAt(section, colour, points[i], points[i + 1]);
    }
  });
}
