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
    D = Pairs(surface)
    curls = surface.curls
    for first in range(0, count, BLOCK):
        tell(first / count)
        columns = slice(first, min(first + BLOCK, count))
        block = D.columns(columns)
        here = np.unique(surface.triangles[columns])
        W[here] += sum(C[columns][:, here].T @ (C.T @ block).T for C in curls)
    W = 0.5 * (W + W.T)
    H = surface.normal_velocities
    f = np.zeros_like(H)
    np.add.at(f, surface.triangles, np.pad(D.K, ((0, 0), (0, 0), (0, 3))))
    f[:, :3] += 0.5 * H[:, :3]
    x = surface.vertices
    f[:, 3:] = H[:, 3:] - W @ x
    fixed = np.empty((6, 6))
    fixed[:3, :3] = 0.5 * (D.S + D.S.T)
    fixed[:3, 3:] = f[:, :3].T @ x
    fixed[3:, :3] = fixed[:3, 3:].T
    fixed[3:, 3:] = surface.volume * np.eye(3) - x.T @ (W @ x)
    return System(W, f, fixed, surface.pieces)


class Pairs:
    """Integrals over all pairs of the triangles of a surface, as far as their columns were asked for."""

    K: np.ndarray
    """[t, k, a]: the turn a on all, times the double layer of the vertex function k of t."""
    S: np.ndarray
    """[a, b]: the turn a on all, times the single layer of the turn b on all."""

    def __init__(self, surface: Surface):
        self.surface = surface
        self.distant = triangle.Distant.of(surface.corners, surface.centroids, surface.normals, surface.areas)
        self.own = triangle.own(surface.corners)
        self.K, self.S = np.zeros((len(surface.triangles), 3, 3)), np.zeros((3, 3))

    def columns(self, columns: slice) -> np.ndarray:
        """D of all triangles with those of the columns; what these do to all is added to K and S."""
        others, width = slice(columns.start, columns.start + BLOCK), columns.stop - columns.start
        outer = triangle.Distant(*(_filled(each[others]) for each in self.distant))
        D, layer, source = _far().batch(self.distant, outer, shared=(1,))
        self.K += layer[:, None] / 3.0
        self.S += source.T @ self.distant.turn
        D = D[:, :width] if width < BLOCK else D
        self._near(D, columns.start)
        self._touch(D, columns)
        return D

    def _near(self, D: np.ndarray, first: int) -> None:
        """Those that are left."""
        t, s = np.nonzero(D == 0.0)
        x, sizes, corners = self.distant.centroid, self.distant.size, self.surface.corners
        closeness = np.linalg.norm(x[t] - x[s + first], axis=1) / (sizes[t] + sizes[s + first])
        for kernel, least, most in (
            (_near(12), -1.0, ADJACENT),
            (_near(6), ADJACENT, NEAR),
            (_middle(), NEAR, np.inf),
        ):
            here = (closeness > least) & (closeness <= most)
            if here.any():
                found = kernel.batch(corners[s[here] + first], corners[t[here]])
                D[t[here], s[here]] = found.D
                _add(self.K, t[here], found.K)
                self.S += found.S.sum(axis=0)

    def _touch(self, D: np.ndarray, columns: slice) -> None:
        own = np.arange(columns.start, columns.stop)
        D[own, own - columns.start] = self.own[columns]
        s, t, turned_s, turned_t, graded = self.surface.touching
        here = slice(*np.searchsorted(s, (columns.start, columns.stop)))
        if here.start < here.stop:
            D[t[here], s[here] - columns.start] = _touching().batch(turned_s[here], turned_t[here], graded[here])


def _filled(rows: np.ndarray) -> np.ndarray:
    """A block of rows, those that are missing as zeros: triangles without area."""
    return np.pad(rows, [(0, BLOCK - len(rows)), *[(0, 0)] * (rows.ndim - 1)])


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
def _far() -> Any:
    return compile(lambda inner, outer: triangle.far(inner, outer, MIDDLE))


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
