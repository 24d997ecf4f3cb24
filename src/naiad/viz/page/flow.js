// Streamlines: lines of equal stream function on a grid that a body carries, by marching squares.

const LINES = 48, EDGE = 10;
const stream = motion.flow ? decodeFlow(motion.flow) : null;

function decodeFlow(flow) {
  const bytes = Uint8Array.from(window.atob(flow.psi), (c) => c.charCodeAt(0)), view = new DataView(bytes.buffer);
  const [count, ny, nx] = flow.shape;
  const values = Float32Array.from({ length: count * ny * nx }, (_, k) => view.getInt16(2 * k, true) / 32767);
  return { ...flow, count, ny, nx, values, now: new Float32Array(ny * nx) };
}

// The values at a time, between two of the frames; from the last one on to the first.
function flowAt(t) {
  const { count, ny, nx, values, now, period } = stream, size = ny * nx;
  const phase = (((t - t0) / period) % 1) * count, i = Math.floor(phase) % count, j = (i + 1) % count, s = phase - Math.floor(phase);
  for (let k = 0; k < size; k++) now[k] = mix(values[i * size + k], values[j * size + k], s);
  return now;
}

// From the plane of the grid to the screen: project(), for many points.
function planeToScreen(frame, place) {
  const q = add(place, camera.target, -1), far = 7 * motion.radius;
  const [r, u, d] = [right, up, toward].map((e) => [dot(q, e), dot(frame[0], e), dot(frame[1], e)]);
  return (x, y) => {
    const f = far / Math.max(0.05 * motion.radius, far - (d[0] + d[1] * x + d[2] * y));
    return [size[0] / 2 + (r[0] + r[1] * x + r[2] * y) * f * scale, size[1] / 2 - 26 - (u[0] + u[1] * x + u[2] * y) * f * scale];
  };
}

// Each triangle of each cell gives a piece of every line between its corners; lines fade towards the edge of the grid.
function drawFlow(t, where) {
  if (!stream) return;
  const { frame, place } = where[stream.body], { nx, ny, corner, cell } = stream, psi = flowAt(t);
  const onScreen = planeToScreen(frame, place), paths = [0, 1, 2].map(() => new Path2D());
  const piece = (path, a, b, c) => {
    const [low, middle, high] = [a, b, c].sort((p, q) => p[2] - q[2]);
    const at = (p, q, level) => {
      const s = (level - p[2]) / (q[2] - p[2]);
      return onScreen(mix(p[0], q[0], s), mix(p[1], q[1], s));
    };
    for (let n = Math.ceil((low[2] * LINES) / 2 - 0.5); (n + 0.5) * 2 < high[2] * LINES; n++) {
      const level = ((n + 0.5) * 2) / LINES;
      path.moveTo(...at(low, high, level));
      path.lineTo(...(level < middle[2] ? at(low, middle, level) : at(middle, high, level)));
    }
  };
  for (let j = 0; j + 1 < ny; j++)
    for (let i = 0; i + 1 < nx; i++) {
      const k = j * nx + i, path = paths[Math.min(2, Math.floor((3 * Math.min(i, nx - 2 - i, j, ny - 2 - j)) / EDGE))];
      const bands = [k, k + 1, k + nx, k + nx + 1].map((m) => Math.floor((psi[m] * LINES) / 2 + 0.5));
      if (bands[0] === bands[1] && bands[0] === bands[2] && bands[0] === bands[3]) continue;
      const x = corner[0] + cell[0] * i, y = corner[1] + cell[1] * j, X = x + cell[0], Y = y + cell[1];
      const centre = [(x + X) / 2, (y + Y) / 2, (psi[k] + psi[k + 1] + psi[k + nx] + psi[k + nx + 1]) / 4];
      const ring = [[x, y, psi[k]], [X, y, psi[k + 1]], [X, Y, psi[k + nx + 1]], [x, Y, psi[k + nx]]];
      ring.forEach((p, m) => piece(path, p, ring[(m + 1) % 4], centre));
    }
  pen.strokeStyle = css(blend(theme.quiet, PALETTE[0], 0.6));
  pen.lineWidth = 1.2;
  pen.lineCap = "butt";
  paths.forEach((path, n) => { pen.globalAlpha = [0.15, 0.4, 0.7][n]; pen.stroke(path); });
  pen.globalAlpha = 1;
}
