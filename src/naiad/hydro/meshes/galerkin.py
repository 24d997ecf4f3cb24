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

import contextlib
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from naiad.errors import InputError
from naiad.hydro.meshes.pairs import BLOCK, Columns, Pairs
from naiad.hydro.meshes.surface import Surface
from naiad.hydro.threads import on_all_cores, one_thread

SMALL = 3000
"""Vertices up to which threads that wait for busy cores may cost more than idle ones give."""


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
    import scipy.sparse

    count, vertices = len(surface.triangles), len(surface.vertices)
    W, K, S = np.zeros((vertices, vertices)), np.zeros((count, 3, 3)), np.zeros((3, 3))
    pairs = Pairs(surface)
    curls: Any = scipy.sparse.vstack([C.T for C in surface.curls], format="csc")

    def part(first: int) -> tuple[np.ndarray, np.ndarray, Columns]:
        """The rows of W that these triangles touch, what they add to them, and what was found."""
        found = pairs.columns(first)
        last, width = found.D.shape
        here = np.unique(surface.triangles[first:last])
        inner = (curls[:, :last] @ found.D).reshape(3, vertices, width).swapaxes(1, 2).reshape(3 * width, vertices)
        outer = scipy.sparse.hstack([C[first:last, here].T for C in surface.curls], format="csr")
        return here, outer @ inner, found._replace(D=np.empty(0))

    starts = range(0, count, BLOCK)
    tell(0.0)
    for first, (here, rows, found) in zip(starts, on_all_cores(part, starts), strict=True):
        tell((first / count) ** 2)
        W[here] += rows
        K += found.K
        S += found.S
    W += W.T
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
    with one_thread() if len(W) < SMALL else contextlib.nullcontext():
        try:
            factor = scipy.linalg.cho_factor(definite(W, pieces), lower=True, overwrite_a=True, check_finite=False)
        except np.linalg.LinAlgError:
            raise InputError(
                "The flow around the mesh cannot be solved for: some of its parts are so thin, or so near each other, "
                "that two sheets of triangles can hardly be told apart. Join parts that should touch, or give walls a "
                "thickness of a thousandth of the size or more."
            ) from None
        return scipy.linalg.cho_solve(factor, f - pieces @ ((pieces.T @ f) / sizes[:, None]), check_finite=False)


def definite(W: np.ndarray, pieces: Any) -> np.ndarray:
    """W with its mean diagonal in place of the zeros that it has for the constants on each piece."""
    constants = pieces.toarray() / np.sqrt(pieces.sum(axis=0)).A1
    return W + (np.trace(W) / len(W) * constants) @ constants.T
