"""Surfaces of triangles for tests."""

import numpy as np


def box(*sides):
    """Twelve triangles."""
    vertices = np.array([(x, y, z) for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)]) * sides
    quads = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    return vertices, np.array([corners for a, b, c, d in quads for corners in ((a, b, c), (a, c, d))])


def ellipsoid(level, *axes):
    """An icosahedron whose triangles were cut in four so often, with vertices on the ellipsoid."""
    from naiad.hydro.meshes.refinement import split
    from naiad.hydro.meshes.surface import Surface

    t = (1 + 5**0.5) / 2
    vertices = [(0, a, b * t) for a in (-1, 1) for b in (-1, 1)]
    vertices = np.array([np.roll(v, k) for k in range(3) for v in vertices], dtype=float)
    distance = np.linalg.norm(vertices[:, None] - vertices, axis=2)
    near = np.abs(distance - 2.0) < 1e-9
    triangles = [
        (i, j, k) for i in range(12) for j in range(i) for k in range(j) if near[i, j] and near[j, k] and near[k, i]
    ]
    turned = [c if np.linalg.det(vertices[list(c)]) > 0 else c[::-1] for c in triangles]
    surface = Surface.given(vertices / np.linalg.norm(vertices[0]), np.array(turned))
    for _ in range(level):
        every = np.ones(len(surface.edges[0]), dtype=bool)
        finer = split(surface, every, 0.5 * every)
        vertices = finer.vertices / np.linalg.norm(finer.vertices, axis=1, keepdims=True)
        surface = Surface.given(vertices, finer.triangles)
    return surface.vertices * axes, surface.triangles


def cylinder(sectors, radius=1.0, length=2.0):
    """About e_3, as CAD programs write it: long strips, and fans of slivers."""
    angle = 2.0 * np.pi * np.arange(sectors) / sectors
    ring = radius * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    ends = [np.column_stack([ring, np.full(sectors, z)]) for z in (-length / 2, length / 2)]
    vertices = np.concatenate([*ends, [(0, 0, -length / 2), (0, 0, length / 2)]])
    i = np.arange(sectors)
    j, bottom, top = np.roll(i, -1), np.full(sectors, 2 * sectors), np.full(sectors, 2 * sectors + 1)
    parts = [(i, j, sectors + j), (i, sectors + j, sectors + i), (bottom, j, i), (top, sectors + i, sectors + j)]
    return vertices, np.concatenate([np.stack(part, axis=1) for part in parts])


def torus(around, across, large=1.0, small=0.4):
    """About e_3."""
    u, w = np.meshgrid(*(2.0 * np.pi * np.arange(n) / n for n in (around, across)), indexing="ij")
    out = large + small * np.cos(w)
    vertices = np.stack([out * np.cos(u), out * np.sin(u), small * np.sin(w)], axis=-1).reshape(-1, 3)
    i, j = np.meshgrid(np.arange(around), np.arange(across), indexing="ij")
    a, b, c, d = (((i + p) % around) * across + (j + q) % across for p, q in ((0, 0), (1, 0), (1, 1), (0, 1)))
    return vertices, np.stack([a, b, c, a, c, d], axis=-1).reshape(-1, 3)
