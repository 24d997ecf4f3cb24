"""The direction of Newton's step, whose pivots are positive."""

from typing import Any

import jax
import numpy as np

from naiad.control.constants import Bounds
from naiad.control.newton import NewtonTables

LARGEST_SHIFT = 1e8


def directed(
    newton: NewtonTables, barrier: np.ndarray, shift: np.ndarray, bounds: Bounds | None, halvings: int
) -> np.ndarray:
    """Solve for the changes of all steps; the smallest pivots, which are positive where there are such.

    Where they are not, the curvature of the equations is left out (Gauss-Newton), or a share of it, found by so many
    `halvings`, that leaves them positive: it is slower from afar, and faster away from a saddle. Where that does not
    help, the controls' diagonal is shifted more and more.
    """
    pivot = newton.sweep(barrier, shift, bounds)
    if (pivot > 0).all():
        return pivot
    wrong = np.flatnonzero(~(pivot > 0))
    part = newton.chosen(wrong)
    own, best = _softened(
        part, barrier[wrong], shift[wrong], None if bounds is None else bounds.chosen(wrong), halvings
    )
    pivot[wrong] = own
    for name, memory in best.items():
        table = getattr(newton, name)
        rows = newton.matrix(table)
        getattr(part, name).memory[...] = memory
        rows[wrong] = part.matrix(getattr(part, name))
        table.put(rows.reshape(-1, table.fields.size))
    newton.x_end[wrong] = part.x_end
    part.release()
    return pivot


def _softened(
    part: NewtonTables, barrier: np.ndarray, shift: np.ndarray, bounds: Bounds | None, halvings: int
) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """The pivots of problems with less curvature, and the tables of their directions."""
    P, names = part.P, ("kept", "change")
    full, full_ends = {name: getattr(part, name).memory.copy() for name in ("swept", "kept")}, part.ends
    full_ends = jax.tree.map(np.copy, full_ends)  # which the next ones overwrite
    part.linearise(barrier, np.zeros(P))
    plain, plain_ends = {name: getattr(part, name).memory.copy() for name in ("swept", "kept")}, part.ends

    def swept() -> np.ndarray:
        return part.sweep(barrier, shift, bounds)

    pivot = swept()
    best, x_end = {name: getattr(part, name).memory.copy() for name in names}, part.x_end.copy()

    def better(good: np.ndarray, new: np.ndarray) -> None:
        for name in names:
            np.copyto(best[name], getattr(part, name).memory, where=part.of_steps(good, name))
        x_end[good], pivot[good] = part.x_end[good], new[good]

    least, most = np.zeros(P), np.where(pivot > 0, 1.0, 0.0)
    for _ in range(halvings):
        share = 0.5 * (least + most)
        for name, memory in plain.items():
            getattr(part, name).memory[...] = memory + part.of_steps(share, name) * (full[name] - memory)
        part.ends = _mixed(plain_ends, full_ends, share)
        tried = swept()
        good = tried > 0
        better(good, tried)
        least, most = np.where(good, share, least), np.where(good, most, share)
    for name, memory in plain.items():
        getattr(part, name).memory[...] = memory
    part.ends = plain_ends
    while (still := ~(pivot > 0) & (shift < LARGEST_SHIFT)).any():
        shift = np.where(still, np.maximum(10.0 * shift, 1e-6), shift)
        better(still, swept())
    part.x_end = x_end
    return pivot, best


def _mixed(one: Any, other: Any, share: np.ndarray) -> Any:
    """Between the blocks of two curvatures, on which they depend linearly."""
    return jax.tree.map(lambda a, b: a + share.reshape(-1, *[1] * (a.ndim - 1)) * (b - a), one, other)
