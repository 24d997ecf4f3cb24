// Strings: lines through nodes, in the colours of the elastic energy of their elements, and the stay to a body.

const RAMP = ["#3f66c9", "#2fa3a0", "#d9a62e", "#d5401e"].map(rgb), STAY = 6;
const strings = (motion.strings || []).map((string) => ({
  ...string, steps: string.points ? unpack(string.points) : [], energies: string.elastic?.energy ? unpack(string.elastic.energy) : [],
}));
const hottest = Math.max(0, ...strings.filter((s) => s.elastic).map((s) => 32767 * s.elastic.unit));

function nodesOf({ nodes, steps, unit, middle }, [i, j, s]) {
  const at = (n, k, axis) => steps[3 * (nodes * n + k) + axis];
  return Array.from({ length: nodes }, (_, k) => middle.map((m, axis) => m + unit * mix(at(i, k, axis), at(j, k, axis), s)));
}

// The energies of the elements, relative to the top of the scale.
function energiesOf({ nodes, energies, elastic }, [i, j, s]) {
  const count = nodes - 1, part = elastic.unit / (hottest || 1);
  return Array.from({ length: count }, (_, k) => part * mix(energies[count * i + k], energies[count * j + k], s));
}

// The square root tells small energies apart.
function ramp(part) {
  const place = Math.sqrt(Math.max(0, part)) * (RAMP.length - 1), k = Math.min(RAMP.length - 2, Math.floor(place));
  return css(blend(RAMP[k], RAMP[k + 1], place - k));
}

function stringPieces(moment, where) {
  const pieces = [];
  const put = (p, q, colour, width) => {
    const a = project(p), b = project(q);
    pieces.push({ depth: (a[2] + b[2]) / 2, draw: () => stroke([a, b], colour, width) });
  };
  for (const string of strings) {
    const points = nodesOf(string, moment), parts = string.elastic ? energiesOf(string, moment) : null;
    for (let k = 0; k + 1 < points.length; k++) put(points[k], points[k + 1], parts ? ramp(parts[k]) : css(theme.ink), 3);
    const start = project(points[0]);
    pieces.push({ depth: start[2], draw: () => { pen.fillStyle = css(theme.quiet); pen.fillRect(start[0] - 5, start[1] - 5, 10, 10); } });
    if (string.body !== undefined) stay(points[points.length - 1], where[string.body], put);
  }
  return pieces;
}

// From the end of the string to the body, as far as its surface.
function stay(end, { body, index, solid }, put) {
  const d = add(end, solid.place, -1), size = depthIn(body, solid, end);
  if (size <= 1) return;
  const reach = 1 - 1 / size, tint = css(blend(colourOf(index), theme.ink, 0.3));
  for (let k = 0; k < STAY; k++) put(add(end, d, (-reach * k) / STAY), add(end, d, (-reach * (k + 1)) / STAY), tint, 1.6);
}

function drawStringShadows(moment) {
  if (motion.floor === undefined) return;
  for (const string of strings)
    stroke(nodesOf(string, moment).map((p) => project([p[0], p[1], motion.floor])), css(blend(theme.shadow, theme.paper, 0.2)), 1.4);
}
