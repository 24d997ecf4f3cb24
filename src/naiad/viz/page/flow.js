// Streamlines: lines of equal stream function on a grid that a body carries, by marching squares.

const LINES = 48, EDGE = 10;
const stream = motion.flow ? decodeFlow(motion.flow) : null;

function decodeFlow(flow) {
  const [count, ny, nx] = flow.shape;
  const values = Float32Array.from(unpack(flow.psi), (step) => step / 32767);
  return { ...flow, count, ny, nx, values, now: new Float32Array(ny * nx) };
}

// The values at a time, between two of the frames; from the last one on to the first.
function flowAt(t) {
  const { count, ny, nx, values, now, period } = stream, size = ny * nx;
  const phase = (((t - t0) / period) % 1) * count, i = Math.floor(phase) % count, j = (i + 1) % count, s = phase - Math.floor(phase);
  for (let k = 0; k < size; k++) now[k] = mix(values[i * size + k], values[j * size + k], s);
  return now;
}

// Each triangle of each cell gives a piece of every line between its corners; lines fade towards the edge of the grid.
function drawFlow(t, where) {
  if (!stream) return;
  const { frame, place } = where[stream.body], { nx, ny, corner, cell } = stream, psi = flowAt(t), half = LINES / 2;
  const q = add(place, camera.target, -1), far = 7 * motion.radius, near = 0.05 * motion.radius;
  const [r, u, d] = [right, up, toward].map((e) => [dot(q, e), dot(frame[0], e), dot(frame[1], e)]);
  const paths = [0, 1, 2].map(() => new Path2D());
  let path, sx, sy;
  // The place of a level between two corners on the screen: project(), for many points.
  const find = (px, py, p, qx, qy, q, level) => {
    const s = (level - p) / (q - p), x = px + s * (qx - px), y = py + s * (qy - py);
    const f = (far * scale) / Math.max(near, far - (d[0] + d[1] * x + d[2] * y));
    sx = size[0] / 2 + (r[0] + r[1] * x + r[2] * y) * f;
    sy = size[1] / 2 - 26 - (u[0] + u[1] * x + u[2] * y) * f;
  };
  const piece = (ax, ay, a, bx, by, b, cx, cy, c) => {
    if (a > b) return piece(bx, by, b, ax, ay, a, cx, cy, c);
    if (b > c) return piece(ax, ay, a, cx, cy, c, bx, by, b);
    for (let n = Math.ceil(a * half - 0.5); n + 0.5 < c * half; n++) {
      const level = (n + 0.5) / half;
      find(ax, ay, a, cx, cy, c, level);
      path.moveTo(sx, sy);
      if (level < b) find(ax, ay, a, bx, by, b, level); else find(bx, by, b, cx, cy, c, level);
      path.lineTo(sx, sy);
    }
  };
  for (let j = 0; j + 1 < ny; j++)
    for (let i = 0; i + 1 < nx; i++) {
      const k = j * nx + i, a = psi[k], b = psi[k + 1], c = psi[k + nx + 1], e = psi[k + nx];
      const low = Math.min(a, b, c, e), high = Math.max(a, b, c, e);
      if (Math.ceil(low * half - 0.5) + 0.5 >= high * half) continue;
      path = paths[Math.min(2, Math.floor((3 * Math.min(i, nx - 2 - i, j, ny - 2 - j)) / EDGE))];
      const x = corner[0] + cell[0] * i, y = corner[1] + cell[1] * j, X = x + cell[0], Y = y + cell[1];
      const mx = (x + X) / 2, my = (y + Y) / 2, m = (a + b + c + e) / 4;
      piece(x, y, a, X, y, b, mx, my, m);
      piece(X, y, b, X, Y, c, mx, my, m);
      piece(X, Y, c, x, Y, e, mx, my, m);
      piece(x, Y, e, x, y, a, mx, my, m);
    }
  pen.strokeStyle = css(blend(theme.quiet, PALETTE[0], 0.6));
  pen.lineWidth = 1.2;
  pen.lineCap = "butt";
  paths.forEach((each, n) => { pen.globalAlpha = [0.15, 0.4, 0.7][n]; pen.stroke(each); });
  pen.globalAlpha = 1;
}
