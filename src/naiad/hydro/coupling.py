"""The added inertia of several bodies from their boundaries and poses.

With P and O the potentials and normal velocities that the bodies' sources make on each other, and a `Level`'s A, a, b,

    (A + O) s = h,     M = rho (K - (a^T P - b^T O) s).

The second is Green's identity for the flow of the others and that of the body alone: no potential of a body on itself
is needed but the one in K and b, which does not change when bodies move.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from naiad.hydro.boundary import Boundary, Level


class Blocks(NamedTuple):
    """What bodies do to one another: potentials P and normal velocities O at the nodes of one (row) from the sources of
    another (column), None where they are the same."""

    P: list[list[Any]]
    O: list[list[Any]]  # noqa: E741 - the symbol of the equation


def blocks(levels: Sequence[Level], poses: Any, xp: Any) -> Blocks:
    """P and O of every pair, poses being rows (beta, x, y)."""
    P: list[list[Any]] = [[None] * len(levels) for _ in levels]
    O: list[list[Any]] = [[None] * len(levels) for _ in levels]  # noqa: E741
    for i, j in pairs(len(levels)):
        z, normal = seen(levels[i], poses[i], poses[j], xp)
        P[i][j] = levels[j].sources.potential(z, xp)
        O[i][j] = levels[j].sources.normal_velocity(z, normal, xp)
    return Blocks(P, O)


def pairs(count: int) -> list[tuple[int, int]]:
    """All (i, j) with i and j apart."""
    return [(i, j) for i in range(count) for j in range(count) if i != j]


def seen(level: Level, pose: Any, viewer: Any, xp: Any) -> tuple[Any, Any]:
    """Nodes and normals of a body, columns, in the frame of another."""
    turn = xp.exp(1j * (pose[0] - viewer[0]))
    shift = ((pose[1] - viewer[1]) + 1j * (pose[2] - viewer[2])) * xp.exp(-1j * viewer[0])
    return turn * level.z[:, None] + shift, turn * level.normal[:, None]


def matrix(levels: Sequence[Level], found: Blocks, xp: Any) -> Any:
    """A + O, all bodies together."""
    rows = range(len(levels))
    return xp.concatenate(
        [xp.concatenate([levels[i].A if i == j else found.O[i][j] for j in rows], axis=1) for i in rows]
    )


def inertia(boundaries: Sequence[Boundary], levels: Sequence[Level], poses: Any, density: float, xp: Any) -> Any:
    """M, 3n x 3n, each body in its own frame."""
    found = blocks(levels, poses, xp)
    s = xp.linalg.solve(matrix(levels, found, xp), stacked([level.h for level in levels]))
    outward = functional(levels, found, xp)
    return density * (stacked([each.inertia for each in boundaries]) - outward @ s)


def functional(levels: Sequence[Level], found: Blocks, xp: Any) -> Any:
    """a^T P - b^T O, with three rows for each body."""
    rows = range(len(levels))

    def block(i: int, j: int) -> Any:
        if i == j:
            return np.zeros((3, levels[i].size))
        return levels[i].a.T @ found.P[i][j] - levels[i].b.T @ found.O[i][j]

    return xp.concatenate([xp.concatenate([block(i, j) for j in rows], axis=1) for i in rows])


def stacked(parts: Sequence[np.ndarray]) -> np.ndarray:
    """The parts as a matrix with nothing but them, one after the other, on its diagonal."""
    rows, columns = (np.concatenate([[0], np.cumsum([part.shape[axis] for part in parts])]) for axis in (0, 1))
    whole = np.zeros((rows[-1], columns[-1]))
    for k, part in enumerate(parts):
        whole[rows[k] : rows[k + 1], columns[k] : columns[k + 1]] = part
    return whole
