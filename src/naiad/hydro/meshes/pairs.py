"""The integrals over all pairs of triangles of a surface that its boundary elements need.

Every pair is treated once: a triangle with itself in closed form, those that touch by a single integral, those that are
near by a rule outside of a closed form, and those that are far by moments.
"""

import functools
from typing import Any, NamedTuple

import numpy as np

from naiad.compiler import compile
from naiad.hydro.meshes import triangle
from naiad.hydro.meshes.surface import Surface

ADJACENT, NEAR, MIDDLE = 1.0, 2.0, 5.0
"""Pairs whose centroids are closer than this, in the sum of their sizes: 12 points outside a closed form, 6, and 3 on
both; beyond it moments. This leaves 5e-5 of an ellipsoid of 1280 triangles."""

EDGE_POINTS = 5
BLOCK = 120
"""Triangles whose pairs with all others are treated at once; no power of two, of which columns would share a few places
of a cache."""


class Columns(NamedTuple):
    """What some triangles, one after the other, are to others."""

    D: np.ndarray
    """[t, s]: the double integrals over 4 pi of 1/R, every pair once: t is up to the last of them, and what would be
    there in both orders is halved. All these, side by side, and their transpose have the sum of both orders."""
    K: np.ndarray
    """[t, k, a]: the turn a on one, times the double layer of the vertex function k of t, on the other."""
    S: np.ndarray
    """[a, b]: the turn a on one, times the single layer of the turn b on the other."""


class Pairs:
    """Integrals over the pairs of the triangles of a surface."""

    def __init__(self, surface: Surface):
        self.corners = surface.corners
        self.distant = triangle.Distant.of(surface.corners, surface.centroids, surface.normals, surface.areas)
        self.own = triangle.own(surface.corners)
        self.own_source = 0.5 * _near(12).batch(surface.corners, surface.corners).S
        t, s, turned_t, turned_s, graded = surface.touching
        found = _touching().batch(turned_t, turned_s, graded)
        self.touching = t, s, 0.5 * (found + found[np.lexsort((t, s))])  # in this order t and s have changed places

    def columns(self, first: int) -> Columns:
        """Of a block of triangles; K and S over all sum up to those of all pairs."""
        last = min(first + BLOCK, len(self.corners))
        D, K, S = self._far(first, last)
        S += self.own_source[first:last].sum(axis=0)
        t, s = np.nonzero(D == 0.0)
        s += first
        once = t < s
        t, s = t[once], s[once]
        x, sizes = self.distant.centroid, self.distant.size
        closeness = np.linalg.norm(x[t] - x[s], axis=1) / (sizes[t] + sizes[s])
        for kernel, least, most in ((_near(12), -1.0, ADJACENT), (_near(6), ADJACENT, NEAR), (_middle(), NEAR, np.inf)):
            here = (closeness > least) & (closeness <= most)
            if here.any():
                one, other = t[here], s[here]
                found = kernel.batch(self.corners[one], self.corners[other])
                D[one, other - first] = found.D
                _add(K, one, found.first)
                _add(K, other, found.second)
                S += found.S.sum(axis=0)
        self._touch(D, first, last)
        return Columns(D, K, S)

    def _far(self, first: int, last: int) -> Columns:
        """By moments; D is 0 where they will not do."""
        missing = BLOCK - (last - first)  # filled with zeros: triangles without area
        block = [np.pad(each[first:last], [(0, missing), *[(0, 0)] * (each.ndim - 1)]) for each in self.distant]
        D, layer, source = _far().batch(self.distant, triangle.Distant(*block), shared=(1,))
        D = D[:last, : last - first]
        D[first:] *= 0.5
        return Columns(D, np.repeat(layer[:, None] / 3.0, 3, axis=1), source.T @ self.distant.turn)

    def _touch(self, D: np.ndarray, first: int, last: int) -> None:
        own = np.arange(first, last)
        D[own, own - first] = 0.5 * self.own[first:last]
        s, t, found = self.touching
        here = slice(*np.searchsorted(s, (first, last)))
        once = here.start + np.flatnonzero(t[here] < s[here])
        D[t[once], s[once] - first] = found[once]


def _add(sums: np.ndarray, rows: np.ndarray, values: np.ndarray) -> None:
    """Add the values to their rows."""
    import scipy.sparse

    count = len(rows)
    which = scipy.sparse.csc_matrix((np.ones(count), rows, np.arange(count + 1)), (len(sums), count))
    sums += (which @ values.reshape(count, -1)).reshape(sums.shape)


@functools.cache
def _far() -> Any:
    return compile(lambda inner, outer: triangle.far(inner, outer, MIDDLE))


@functools.cache
def _near(count: int) -> Any:
    points, weights = triangle.rule(count)
    near = functools.partial(triangle.near, points=points, weights=weights)
    return compile(lambda one, other: triangle.both(near, one, other))


@functools.cache
def _middle() -> Any:
    points, weights = triangle.rule(3)
    middle = functools.partial(triangle.middle, points=points, weights=weights)
    return compile(lambda one, other: triangle.both(middle, one, other))


@functools.cache
def _touching() -> Any:
    nodes, weights = np.polynomial.legendre.leggauss(EDGE_POINTS)
    points, weights = 0.5 * (nodes + 1.0), 0.5 * weights
    return compile(lambda a, b, graded: triangle.touching(a, b, graded, points, weights))
