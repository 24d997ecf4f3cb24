// A click in the scene of a plane motion changes the state there; the motion goes on with it.

const STILL = 5, BRIEF = 500; // pixels that a click may move, and milliseconds that it may take

function prepareTouch() {
  if (!live.touch) return;
  let from = null;
  canvas.addEventListener("pointerdown", (event) => { from = held.size === 1 && !event.shiftKey ? [event.clientX, event.clientY, event.timeStamp] : null; });
  canvas.addEventListener("pointerup", (event) => {
    if (!from || Math.hypot(event.clientX - from[0], event.clientY - from[1]) > STILL || event.timeStamp - from[2] > BRIEF) return;
    const box = canvas.getBoundingClientRect(), at = onPlane(event.clientX - box.left, event.clientY - box.top);
    if (at) touch(at);
  });
  const hint = document.createElement("p");
  hint.textContent = "A click in the scene changes the motion there.";
  element("controls").prepend(hint);
}

// The point of the plane of the motion that is seen at a pixel.
function onPlane(x, y) {
  const seen = add(add(camera.target, right, (x - size[0] / 2) / scale), up, -(y - size[1] / 2 + 26) / scale), way = add(seen, eye, -1);
  const far = -eye[2] / way[2];
  return far > 0 ? add(eye, way, far).slice(0, 2) : null;
}

function touch(at) {
  const { clock, t } = reached(), kept = engines.map((engine) => engine.standing);
  const good = engines.map((engine) => engine.begin(TOUCHED, t, h, at));
  engines.forEach((engine, k) => { engine.standing = kept[k]; });
  if (!good.every(Boolean)) return tell("Nothing can begin there.", 2);
  direction = 1;
  h = Math.abs(h);
  tell("");
  begin(TOUCHED, t, clock, 0, at); // what was before is forgotten: energy and momentum are others now
  if (!playing) { show(); drawPlots(true); }
}
