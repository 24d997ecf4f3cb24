"""The direction of Newton's step, with a curvature that leaves the pivots positive; and what the constants add to it."""

from typing import Any, NamedTuple

import jax
import numpy as np

from naiad.control.newton import Newton

LARGEST_SHIFT = 1e8


class Constants(NamedTuple):
    """The constants of problems, or a change of them: their values (of a change only), gaps to their bounds, the
    multipliers of these, and the barrier."""

    gaps: tuple[np.ndarray, np.ndarray]
    least: np.ndarray
    most: np.ndarray
    barrier: np.ndarray

    @classmethod
    def of(cls, gaps: tuple[np.ndarray, np.ndarray], least: Any, most: Any, barrier: np.ndarray) -> "Constants":
        return cls(gaps, least, most, barrier[:, None])

    @property
    def stiff(self) -> np.ndarray:
        """What bounds add to the diagonal."""
        return self.least / self.gaps[0] + self.most / self.gaps[1]

    @property
    def slope(self) -> np.ndarray:
        """What they add to the slope."""
        return self.barrier / self.gaps[1] - self.barrier / self.gaps[0]

    def step(self, theta: np.ndarray) -> "ConstantsStep":
        """The changes of the multipliers with those of the constants."""
        return ConstantsStep(
            theta,
            (self.barrier - self.least * theta) / self.gaps[0] - self.least,
            (self.barrier + self.most * theta) / self.gaps[1] - self.most,
        )

    def limits(self, change: "ConstantsStep") -> tuple[np.ndarray, np.ndarray]:
        """The multiples of a change at which a bound is met, and at which a multiplier vanishes."""
        primal = ((self.gaps[0], change.theta), (self.gaps[1], -change.theta))
        return _limits(primal), _limits(((self.least, change.least), (self.most, change.most)))

    def chosen(self, rows: np.ndarray) -> "Constants":
        """Of some problems."""
        return jax.tree.map(lambda a: a[rows], self)


class ConstantsStep(NamedTuple):
    """Changes of constants and of the multipliers of their bounds."""

    theta: np.ndarray
    least: np.ndarray
    most: np.ndarray


def _limits(pairs: Any) -> np.ndarray:
    found = [np.where(change < 0.0, -value / change, np.inf).min(axis=1, initial=np.inf) for value, change in pairs]
    return np.minimum(*found)


def directed(newton: Newton, barrier: np.ndarray, shift: np.ndarray, bounds: Constants, halvings: int) -> np.ndarray:
    """Solve for the changes of all steps; the smallest pivots, which are positive where there are such.

    Where they are not, the curvature of the equations is left out (Gauss-Newton), or a share of it, found by so many
    `halvings`, that leaves them positive: it is slower from afar, and faster away from a saddle. Where that does not
    help, the controls' diagonal is shifted more and more.
    """
    pivot = newton.sweep(barrier, shift, bounds.stiff, bounds.slope)
    wrong = np.flatnonzero(~(pivot > 0))
    if not wrong.size:
        return pivot
    part = newton.chosen(wrong)
    own, best = _softened(part, barrier[wrong], shift[wrong], bounds.chosen(wrong), halvings)
    pivot[wrong] = own
    for name, memory in best.items():
        table = getattr(newton, name)
        rows = newton.matrix(table)
        getattr(part, name).memory[...] = memory
        rows[wrong] = part.matrix(getattr(part, name))
        table.put(rows.reshape(-1, table.fields.size))
    newton.x_end[wrong] = part.x_end
    return pivot


def _softened(
    part: Newton, barrier: np.ndarray, shift: np.ndarray, bounds: Constants, halvings: int
) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """The pivots of problems with less curvature, and the tables of their directions."""
    P, names = part.P, ("kept", "change")
    full, full_ends = {name: getattr(part, name).memory.copy() for name in ("swept", "kept")}, part.ends
    part.linearise(barrier, np.zeros(P))
    plain, plain_ends = {name: getattr(part, name).memory.copy() for name in ("swept", "kept")}, part.ends

    def swept() -> np.ndarray:
        return part.sweep(barrier, shift, bounds.stiff, bounds.slope)

    pivot = swept()
    best, x_end = {name: getattr(part, name).memory.copy() for name in names}, part.x_end.copy()

    def better(good: np.ndarray, new: np.ndarray) -> None:
        mask = good[part.owner][:, None]
        for name in names:
            np.copyto(best[name], getattr(part, name).memory, where=mask)
        x_end[good], pivot[good] = part.x_end[good], new[good]

    least, most = np.zeros(P), np.where(pivot > 0, 1.0, 0.0)
    for _ in range(halvings):
        share = 0.5 * (least + most)
        spread = share[part.owner][:, None]
        for name, memory in plain.items():
            getattr(part, name).memory[...] = memory + spread * (full[name] - memory)
        part.ends = jax.tree.map(
            lambda a, b: a + share.reshape(-1, *[1] * (a.ndim - 1)) * (b - a), plain_ends, full_ends
        )
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
