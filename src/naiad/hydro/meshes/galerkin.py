"""The flow around a closed surface of triangles, by boundary elements that are linear between vertices.

With h the normal velocities of the six unit motions (x x n, n), S the single layer, K' its normal derivative and W the
hypersingular operator, the energy of the fluid outside is that of

    M = <h, S h> + f . W^-1 f,   f = (1/2 + K') h,

where W = sum_x C_x^T D C_x needs only D, the double integrals of 1/(4 pi R) over pairs of triangles, and the curls C
of the vertex functions. For translations f = h - W x and <h, S h> = V - x . W x hold exactly. Energies of this kind
are met from below, with the square of the error of the flow.

D has a closed form for a triangle with itself, a single integral for those that touch, a rule outside of a closed form
for those that are near, and moments for those that are far.
"""

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from naiad.compiler import compile
from naiad.hydro.meshes import triangle
from naiad.hydro.meshes.surface import Surface

ADJACENT, NEAR, MIDDLE = 1.0, 2.0, 5.0
"""Pairs whose centroids are closer than this, in the sum of their sizes: 12 points outside a closed form, 6, and 3 on
both; beyond it moments. This leaves 5e-5 of an ellipsoid of 1280 triangles."""

EDGE_POINTS = 5
BLOCK = 128
"""Triangles whose pairs with all others are treated at once."""


class System(NamedTuple):
    """What is solved: W psi = f, and the part of the inertia that needs no solution."""

    W: np.ndarray
    f: np.ndarray
    fixed: np.ndarray
    """<h, S h>."""
    pieces: Any
    """The functions that W takes to nothing: constants on each piece, as columns."""


def assemble(surface: Surface, tell: Callable[[float], None] = lambda done: None) -> System:
    """The matrices of a surface, for a fluid of unit density; `tell` is told the share that is done."""
    count = len(surface.triangles)
    W = np.zeros((len(surface.vertices),) * 2)
    K, S = np.zeros((count, 3, 3)), np.zeros((3, 3))
    D = Pairs(surface)
    curls = surface.curls
    for first in range(0, count, BLOCK):
        tell(first / count)
        rows = slice(first, min(first + BLOCK, count))
        block, K[rows], more = D.rows(rows)
        S += more
        here = np.unique(surface.triangles[rows])
        for C in curls:
            W[here] += C[rows][:, here].T @ (C.T @ block.T).T
    W = 0.5 * (W + W.T)
    H = surface.normal_velocities
    f = np.zeros_like(H)
    np.add.at(f, surface.triangles, np.pad(K, ((0, 0), (0, 0), (0, 3))))
    f[:, :3] += 0.5 * H[:, :3]
    x = surface.vertices
    f[:, 3:] = H[:, 3:] - W @ x
    fixed = np.empty((6, 6))
    fixed[:3, :3] = 0.5 * (S + S.T)
    fixed[:3, 3:] = f[:, :3].T @ x
    fixed[3:, :3] = fixed[:3, 3:].T
    fixed[3:, 3:] = surface.volume * np.eye(3) - x.T @ (W @ x)
    return System(W, f, fixed, surface.pieces)


class Pairs:
    """Integrals over all pairs of the triangles of a surface."""

    def __init__(self, surface: Surface):
        self.surface = surface
        corners = surface.corners
        offsets = corners - surface.centroids[:, None]
        self.sizes = np.linalg.norm(offsets, axis=2).max(axis=1)
        self.moments = np.einsum("tki,tkj->tij", offsets, offsets) / 12.0
        self.turns = np.cross(surface.centroids, surface.normals)
        self.own = triangle.own(corners)

    def rows(self, rows: slice) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """D of the triangles `rows` with all, the turns on all times the double layers of their vertex functions, and
        the turns on all times the single layers of the turns on them."""
        D, layer, square = self._far(rows)
        K, S = layer @ self.turns, D @ self.turns
        reach = self.sizes[rows, None] + self.sizes
        t, s = np.nonzero(square <= (MIDDLE * reach) ** 2)
        closeness = np.sqrt(square[t, s]) / reach[t, s]
        _add(K, t, -layer[t, s, None] * self.turns[s])
        _add(S, t, -D[t, s, None] * self.turns[s])
        K, S = np.repeat(K[:, None] / 3.0, 3, axis=1), S.T @ self.turns[rows]
        corners = self.surface.corners
        for kernel, least, most in ((_near(12), -1.0, ADJACENT), (_near(6), ADJACENT, NEAR), (_middle(), NEAR, MIDDLE)):
            here = (closeness > least) & (closeness <= most)
            if here.any():
                found = kernel.batch(corners[s[here]], corners[t[here] + rows.start])
                D[t[here], s[here]] = found.D
                _add(K, t[here], found.K)
                S += found.S.sum(axis=0)
        self._touch(rows, D)
        return D, K, S

    def _far(self, rows: slice) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """D by centroids and second moments, the double layer of one at the centroid of the other, and the squared
        distances of centroids."""
        surface, C = self.surface, self.moments
        x, n = surface.centroids, surface.normals[rows]
        r = [x[None, :, k] - x[rows, None, k] for k in range(3)]
        square = r[0] * r[0] + r[1] * r[1] + r[2] * r[2]
        own = np.arange(rows.start, rows.stop)
        square[own - rows.start, own] = np.inf
        over2 = 1.0 / square
        weight = np.sqrt(over2)
        weight *= surface.areas[rows, None] * surface.areas / (4.0 * np.pi)
        layer = weight * over2 * (n[:, 0, None] * r[0] + n[:, 1, None] * r[1] + n[:, 2, None] * r[2])
        quadratic = np.zeros_like(square)
        for i in range(3):
            for j in range(i, 3):
                both = C[rows, None, i, j] + C[None, :, i, j]
                both *= r[i]
                both *= r[j]
                quadratic += both if i == j else 2.0 * both
        traces = np.trace(C, axis1=1, axis2=2)
        quadratic *= 3.0 * over2
        quadratic -= traces[rows, None] + traces
        quadratic *= 0.5 * over2
        quadratic += 1.0
        square[own - rows.start, own] = 0.0
        return weight * quadratic, layer, square

    def _touch(self, rows: slice, D: np.ndarray) -> None:
        own = np.arange(rows.start, rows.stop)
        D[own - rows.start, own] = self.own[rows]
        t, s, turned_t, turned_s, graded = self.surface.touching
        here = slice(*np.searchsorted(t, (rows.start, rows.stop)))
        if here.start < here.stop:
            D[t[here] - rows.start, s[here]] = _touching().batch(turned_t[here], turned_s[here], graded[here])


def _add(sums: np.ndarray, rows: np.ndarray, values: np.ndarray) -> None:
    """Add the values to their rows, which come in order."""
    starts = np.flatnonzero(np.diff(rows, prepend=-1))
    if len(starts):
        sums[rows[starts]] += np.add.reduceat(values, starts)


def solve(system: System, space: Any = None) -> tuple[np.ndarray, np.ndarray]:
    """The inertia of a fluid of unit density, and the potentials of the unit motions at the vertices (outside less
    inside); with a `space`, whose columns are functions at the vertices, of those functions only."""
    W, f, pieces = system.W, system.f, system.pieces
    if space is not None:
        W, f, pieces = space.T @ (space.T @ W).T, space.T @ f, (space.T @ pieces > 0.0).astype(float)
    psi = -_up_to_constants(W, f, pieces)
    M = -f.T @ psi
    return 0.5 * (M + M.T) + system.fixed, psi if space is None else space @ psi


def _up_to_constants(W: np.ndarray, f: np.ndarray, pieces: Any) -> np.ndarray:
    """W psi = f, with no mean on any piece."""
    import scipy.linalg

    sizes = np.asarray(pieces.sum(axis=0)).ravel()
    level = np.trace(W) / len(W)
    whole = W + (pieces.multiply(level / sizes) @ pieces.T).toarray()
    factor = scipy.linalg.cho_factor(whole, lower=True, overwrite_a=True, check_finite=False)
    return scipy.linalg.cho_solve(factor, f - pieces @ ((pieces.T @ f) / sizes[:, None]), check_finite=False)


@functools.cache
def _near(count: int) -> Any:
    points, weights = triangle.rule(count)
    return compile(lambda outer, inner: triangle.near(outer, inner, points, weights))


@functools.cache
def _middle() -> Any:
    points, weights = triangle.rule(3)
    return compile(lambda outer, inner: triangle.middle(outer, inner, points, weights))


@functools.cache
def _touching() -> Any:
    nodes, weights = np.polynomial.legendre.leggauss(EDGE_POINTS)
    points, weights = 0.5 * (nodes + 1.0), 0.5 * weights
    return compile(lambda a, b, graded: triangle.touching(a, b, graded, points, weights))
