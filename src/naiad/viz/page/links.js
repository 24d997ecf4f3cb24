// Links: from the surface of a body to the joint, and on to the surface of the next; -1, or none, is space.

function linkPieces(where) {
  const pieces = [];
  for (const { first, second, joint } of motion.links || []) {
    const near = where[first], far = where[second];
    const start = near ? near.solid.place : joint || [0, 0, 0];
    const point = !joint ? null : near ? inSpace(near.frame, near.place, joint) : joint;
    put(pieces, start, point || far.solid.place, near, point ? null : far);
    if (point) put(pieces, point, far.solid.place, null, far);
    const shown = project(point || start);
    if (point || !near) pieces.push({ depth: shown[2] + 0.02 * motion.radius, draw: () => spot(shown, css(theme.ink), 3.5) });
  }
  return pieces;
}

// A line, without what lies within the bodies at its ends.
function put(pieces, from, to, near, far) {
  const leave = near ? depthIn(near.body, near.solid, to) : Infinity, enter = far ? depthIn(far.body, far.solid, from) : Infinity;
  if (leave <= 1 || enter <= 1) return;
  const d = add(to, from, -1), a = project(add(from, d, near ? 1 / leave : 0)), b = project(add(to, d, far ? -1 / enter : 0));
  pieces.push({ depth: (a[2] + b[2]) / 2, draw: () => stroke([a, b], css(blend(theme.ink, theme.paper, 0.25)), 2) });
}
