"""Surfaces of few triangles, to draw bodies with."""

import math
from typing import NamedTuple

import numpy as np

Row = tuple[float, float, float]


class Facets(NamedTuple):
    """Vertices, three numbers each, and triangles, three numbers of vertices each: plain tuples, so that they can be
    compared."""

    vertices: tuple[Row, ...]
    triangles: tuple[tuple[int, int, int], ...]

    @classmethod
    def of(cls, vertices: np.ndarray, triangles: np.ndarray) -> "Facets":
        """Of arrays; six digits are enough for a picture."""
        return cls(_rounded(vertices), tuple((a, b, c) for a, b, c in triangles.tolist()))

    def moved(self, x: np.ndarray, R: np.ndarray | None = None) -> "Facets":
        """In a frame where their own lies at x, turned by R."""
        vertices = np.array(self.vertices)
        return Facets(_rounded((vertices if R is None else vertices @ np.asarray(R).T) + x), self.triangles)


def _rounded(vertices: np.ndarray) -> tuple[Row, ...]:
    """Six digits of the largest number."""
    scale = float(np.abs(vertices).max(initial=0.0)) or 1.0
    return tuple((x, y, z) for x, y, z in vertices.round(6 - math.ceil(math.log10(scale))).tolist())


def joined(parts: list[Facets]) -> Facets:
    """All of them as one."""
    starts = np.cumsum([0, *(len(part.vertices) for part in parts)])
    triangles = [np.array(part.triangles) + start for part, start in zip(parts, starts[:-1], strict=True)]
    return Facets.of(np.concatenate([np.array(part.vertices) for part in parts]), np.concatenate(triangles))


def ringed(rings: list[np.ndarray], first: Row, last: Row) -> tuple[np.ndarray, np.ndarray]:
    """Vertices and triangles of the surface through rings of as many points each, from the point `first` to the point
    `last`; outside is where the points of a ring go counterclockwise about the way from first to last."""
    count = len(rings[0])
    vertices = np.concatenate([*rings, [first, last]])
    i, end = np.arange(count), (len(rings) - 1) * count
    j, begin, tip = np.roll(i, -1), np.full(count, len(vertices) - 2), np.full(count, len(vertices) - 1)
    parts = [(begin, j, i), (tip, end + i, end + j)]
    for start in range(0, end, count):
        ahead = start + count
        parts += [(start + i, start + j, ahead + j), (start + i, ahead + j, ahead + i)]
    return vertices, np.concatenate([np.stack(part, axis=1) for part in parts])


def ellipsoid_facets(rows: np.ndarray, centre: np.ndarray, most: int) -> Facets:
    """An ellipsoid with semi-axes in rows, in about `most` triangles."""
    around = max(6, int(np.sqrt(most)))
    rings = max(3, around // 2)
    angle, height = 2 * np.pi * np.arange(around) / around, np.pi * np.arange(rings - 1, 0, -1) / rings
    ball = [np.array([[np.sin(b) * np.cos(a), np.sin(b) * np.sin(a), np.cos(b)] for a in angle]) for b in height]
    points, triangles = ringed(ball, (0.0, 0.0, -1.0), (0.0, 0.0, 1.0))
    return Facets.of(points @ rows + centre, triangles if np.linalg.det(rows) > 0 else triangles[:, ::-1])


def thinned(vertices: np.ndarray, triangles: np.ndarray, most: int) -> Facets:
    """A surface with `most` triangles or fewer: vertices in one cell of a grid become one, where the planes of their
    triangles come nearest, so that edges stay sharp [lindstrom2000]."""
    if len(triangles) <= most:
        return Facets.of(vertices, triangles)
    size = float(np.ptp(vertices, axis=0).max())
    fine, coarse = size / 256.0, size
    found = _clustered(vertices, triangles, coarse)
    for _ in range(12):
        cell = np.sqrt(fine * coarse)
        tried = _clustered(vertices, triangles, cell)
        if len(tried[1]) > most:
            fine = cell
        else:
            coarse, found = cell, tried
    return Facets.of(*found)


def _clustered(vertices: np.ndarray, triangles: np.ndarray, cell: float) -> tuple[np.ndarray, np.ndarray]:
    corners = vertices[triangles]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    cells = np.floor((vertices - vertices.min(axis=0)) / cell).astype(np.int64)
    _, group = np.unique(cells, axis=0, return_inverse=True)
    group = group.reshape(-1)
    count = int(group.max()) + 1
    sums = np.stack([np.bincount(group, vertices[:, k], count) for k in range(3)], 1)
    mean = sums / np.bincount(group, minlength=count)[:, None]
    planes, levels = np.zeros((count, 3, 3)), np.zeros((count, 3))
    for k in range(3):  # each triangle's plane counts where its corners are
        owner = group[triangles[:, k]]
        outer = np.einsum("ti,tj->tij", normals, normals)
        np.add.at(planes, owner, outer)
        np.add.at(levels, owner, np.einsum("tij,tj->ti", outer, corners[:, 0] - mean[owner]))
    shift = np.einsum("nij,nj->ni", np.linalg.pinv(planes, rcond=1e-2, hermitian=True), levels)
    inside = np.abs(shift).max(axis=1) <= cell
    points = mean + np.where(inside[:, None], shift, 0.0)
    kept = group[triangles]
    a, b, c = kept.T
    kept = kept[(a != b) & (b != c) & (c != a)]
    _, first, number = np.unique(np.sort(kept, axis=1), axis=0, return_index=True, return_inverse=True)
    odd = np.bincount(number.reshape(-1), minlength=len(first)) % 2 == 1  # two sheets that fell on each other are none
    return points, kept[first[odd]]
