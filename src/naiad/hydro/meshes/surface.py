"""A closed surface of triangles: its geometry, and what boundary elements need of it."""

import functools
from dataclasses import dataclass
from typing import Any

import numpy as np

SHARP = np.deg2rad(40.0)
"""Facets that meet at a larger angle are meant to: an edge of the body."""


@dataclass(frozen=True, eq=False)
class Surface:
    """Vertices (rows) and triangles (three of their numbers each, seen from outside counterclockwise)."""

    vertices: np.ndarray
    triangles: np.ndarray
    origin: np.ndarray
    """The number of the triangle of the given surface that each was cut out of; one in the same plane, if triangles
    shared their area in another way since."""

    @classmethod
    def given(cls, vertices: np.ndarray, triangles: np.ndarray) -> "Surface":
        """A surface that was not cut."""
        return cls(vertices, triangles, np.arange(len(triangles)))

    @functools.cached_property
    def corners(self) -> np.ndarray:
        """The three corners of every triangle."""
        return self.vertices[self.triangles]

    @functools.cached_property
    def centroids(self) -> np.ndarray:
        return self.corners.mean(axis=1)

    @functools.cached_property
    def _twice(self) -> np.ndarray:
        v = self.corners
        return np.cross(v[:, 1] - v[:, 0], v[:, 2] - v[:, 0])

    @functools.cached_property
    def areas(self) -> np.ndarray:
        return 0.5 * np.linalg.norm(self._twice, axis=1)

    @functools.cached_property
    def normals(self) -> np.ndarray:
        """Unit normals, outwards."""
        return self._twice / (2.0 * self.areas[:, None])

    @functools.cached_property
    def volume(self) -> float:
        v = self.corners
        return float(np.einsum("ti,ti->", v[:, 0], np.cross(v[:, 1], v[:, 2])) / 6.0)

    @functools.cached_property
    def centre(self) -> np.ndarray:
        v = self.corners
        sixth = np.einsum("ti,ti->t", v[:, 0], np.cross(v[:, 1], v[:, 2]))
        return sixth @ v.sum(axis=1) / (24.0 * self.volume)

    @functools.cached_property
    def second_moment(self) -> np.ndarray:
        """The integral of x x^T over the volume."""
        v = self.corners
        sixth = np.einsum("ti,ti->t", v[:, 0], np.cross(v[:, 1], v[:, 2]))
        total = v.sum(axis=1)
        return (np.einsum("t,ti,tj->ij", sixth, total, total) + np.einsum("t,tki,tkj->ij", sixth, v, v)) / 120.0

    @functools.cached_property
    def curls(self) -> list[Any]:
        """The curls of the vertex functions, a sparse matrix (triangles by vertices) for each axis."""
        import scipy.sparse

        opposite = np.roll(self.corners, -2, axis=1) - np.roll(self.corners, -1, axis=1)
        curls = opposite / (2.0 * self.areas[:, None, None])
        rows = np.repeat(np.arange(len(self.triangles)), 3)
        shape = (len(self.triangles), len(self.vertices))
        columns = self.triangles.ravel()
        return [scipy.sparse.csr_matrix((curls[:, :, k].ravel(), (rows, columns)), shape) for k in range(3)]

    @functools.cached_property
    def normal_velocities(self) -> np.ndarray:
        """The normal velocities of the six unit motions, against the vertex functions."""
        n = np.repeat(self.normals[:, None], 3, axis=1)
        h = np.concatenate([np.cross(self.corners, n), n], axis=2)
        mass = (np.ones((3, 3)) + np.eye(3)) / 12.0
        found = np.zeros((len(self.vertices), 6))
        np.add.at(found, self.triangles, self.areas[:, None, None] * np.einsum("kl,tla->tka", mass, h))
        return found

    @functools.cached_property
    def edges(self) -> tuple[np.ndarray, np.ndarray]:
        """The ends of every edge (the smaller number first), and its two triangles, first the one in which it runs from
        its first end to its second."""
        ends = self.triangles[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2)
        forward = ends[:, 0] < ends[:, 1]
        triangle_of = np.repeat(np.arange(len(self.triangles)), 3)
        order = [
            np.lexsort((ends[way, high], ends[way, low])) for way, low, high in ((forward, 0, 1), (~forward, 1, 0))
        ]
        first, second = triangle_of[forward][order[0]], triangle_of[~forward][order[1]]
        return ends[forward][order[0]], np.stack([first, second], axis=1)

    @functools.cached_property
    def pieces(self) -> Any:
        """Which vertices are connected: a sparse matrix with a column of ones and zeros for each piece."""
        import scipy.sparse

        ends, _ = self.edges
        count = len(self.vertices)
        links = scipy.sparse.coo_matrix((np.ones(len(ends)), ends.T), (count, count))
        _, number = scipy.sparse.csgraph.connected_components(links, directed=False)
        return scipy.sparse.csr_matrix((np.ones(count), (np.arange(count), number)))

    @functools.cached_property
    def sharp(self) -> np.ndarray:
        """Which edges are sharp."""
        _, sides = self.edges
        return np.einsum("ei,ei->e", *self.normals[sides].swapaxes(0, 1)) < np.cos(SHARP)

    @functools.cached_property
    def touching(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Pairs (t, s) of different triangles that share a vertex, in the order of t; their corners, turned so that the
        shared ones come first and in the same order; and whether they share two, as 1 or 0."""
        import scipy.sparse

        count = len(self.triangles)
        rows = np.repeat(np.arange(count), 3)
        incidence = scipy.sparse.csr_matrix(
            (np.ones(3 * count, dtype=np.int8), (rows, self.triangles.ravel())), (count, len(self.vertices))
        )
        pairs = scipy.sparse.coo_matrix(incidence @ incidence.T)
        order = np.lexsort((pairs.col, pairs.row))
        t, s, shared = pairs.row[order], pairs.col[order], pairs.data[order]
        different = t != s
        t, s, shared = t[different], s[different], shared[different]
        same = self.triangles[t][:, :, None] == self.triangles[s][:, None, :]
        in_t = np.argsort(~same.any(axis=2), axis=1, kind="stable")
        first, second = (np.take_along_axis(self.triangles[t], in_t, axis=1)[:, k] for k in (0, 1))
        theirs = self.triangles[s]
        rank = np.where(
            theirs == first[:, None], 0, np.where((theirs == second[:, None]) & (shared[:, None] > 1), 1, 2)
        )
        in_s = np.argsort(rank, axis=1, kind="stable")
        corners_t = np.take_along_axis(self.corners[t], in_t[:, :, None], axis=1)
        corners_s = np.take_along_axis(self.corners[s], in_s[:, :, None], axis=1)
        return t, s, corners_t, corners_s, (shared > 1).astype(float)
