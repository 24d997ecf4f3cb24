// Bodies that are meshes: triangles in the frame of the body about the middle of the shape.

function meshOf(body) {
  if (body.mesh.faces) return body.mesh;
  const { vertices, triangles } = body.mesh, faces = [];
  const points = Array.from({ length: vertices.length / 3 }, (_, k) => vertices.slice(3 * k, 3 * k + 3));
  for (let k = 0; k < triangles.length; k += 3) {
    const corners = triangles.slice(k, k + 3), [a, b, c] = corners.map((i) => points[i]);
    const across = cross(add(b, a, -1), add(c, a, -1)), area = Math.hypot(...across);
    if (!area) continue;
    const middle = scaled(add(add(a, b), c), 1 / 3);
    faces.push({ corners, normal: scaled(across, 1 / area), middle, odd: middle[0] * middle[1] * middle[2] < 0 });
  }
  body.mesh.depth = new Float64Array(faces.length);
  return Object.assign(body.mesh, { points, faces, order: faces.map((_, k) => k), screen: new Float64Array(2 * points.length) });
}

// The faces that look at the eye, the far ones first, as a mesh may cover itself.
function drawMesh(body, frame, place, tint) {
  const { points, faces, order, depth, screen } = meshOf(body);
  const far = 7 * motion.radius, near = 0.05 * motion.radius, from = add(place, camera.target, -1);
  const inBody = (e) => frame.map((axis) => dot(axis, e));
  const [r, u, d] = [right, up, toward].map((e) => [dot(from, e), ...inBody(e)]);
  for (let k = 0; k < points.length; k++) {
    const [x, y, z] = points[k], f = (far * scale) / Math.max(near, far - (d[0] + d[1] * x + d[2] * y + d[3] * z));
    screen[2 * k] = size[0] / 2 + (r[0] + r[1] * x + r[2] * y + r[3] * z) * f;
    screen[2 * k + 1] = size[1] / 2 - 26 - (u[0] + u[1] * x + u[2] * y + u[3] * z) * f;
  }
  const [toEye, toLight, toUp, toHalf] = [add(eye, place, -1), light, up, unit(add(light, toward))].map(inBody);
  const pale = blend(tint, [255, 255, 255], 0.7), deep = blend(tint, [10, 16, 40], 0.62), paleDeep = blend(pale, deep, 0.62);
  faces.forEach(({ middle }, k) => { depth[k] = d[1] * middle[0] + d[2] * middle[1] + d[3] * middle[2]; });
  order.sort((a, b) => depth[a] - depth[b]);
  pen.lineJoin = "bevel";
  pen.lineWidth = 0.7;
  for (const index of order) {
    const { corners, normal, middle, odd } = faces[index];
    if (dot(normal, add(toEye, middle, -1)) <= 0) continue;
    const lit = Math.max(0, Math.min(1, 0.3 + 0.16 * dot(normal, toUp) + 0.74 * Math.max(0, dot(normal, toLight))));
    const shine = 0.38 * Math.max(0, dot(normal, toHalf)) ** 28;
    const matt = odd ? blend(paleDeep, pale, lit) : blend(deep, tint, lit);
    pen.fillStyle = pen.strokeStyle = css(blend(matt, [255, 255, 255], shine));
    pen.beginPath();
    corners.forEach((i, k) => (k ? pen.lineTo(screen[2 * i], screen[2 * i + 1]) : pen.moveTo(screen[2 * i], screen[2 * i + 1])));
    pen.closePath();
    pen.fill();
    pen.stroke();
  }
}
