"""The bounds of the unknown constants of problems, such as a free duration, in the interior-point method."""

from typing import Any, NamedTuple

import jax
import numpy as np


class ConstantsStep(NamedTuple):
    """Changes of constants and of the multipliers of their bounds."""

    theta: np.ndarray
    least: np.ndarray
    most: np.ndarray


class Bounds(NamedTuple):
    """Gaps of the constants to their bounds, the multipliers of these, and the barrier; rows are problems."""

    below: np.ndarray
    above: np.ndarray
    least: np.ndarray
    most: np.ndarray
    barrier: np.ndarray

    @property
    def stiff(self) -> np.ndarray:
        """What they add to the diagonal."""
        return self.least / self.below + self.most / self.above

    @property
    def slope(self) -> np.ndarray:
        """What they add to the slope."""
        return self.barrier / self.above - self.barrier / self.below

    def step(self, theta: np.ndarray) -> ConstantsStep:
        """The changes of the multipliers with those of the constants."""
        return ConstantsStep(
            theta,
            (self.barrier - self.least * theta) / self.below - self.least,
            (self.barrier + self.most * theta) / self.above - self.most,
        )

    def limits(self, change: ConstantsStep) -> tuple[np.ndarray, np.ndarray]:
        """The multiples of a change at which a bound is met, and at which a multiplier vanishes."""
        primal = ((self.below, change.theta), (self.above, -change.theta))
        return _limit(primal), _limit(((self.least, change.least), (self.most, change.most)))

    def chosen(self, rows: np.ndarray) -> "Bounds":
        """Of some problems."""
        return jax.tree.map(lambda a: a[rows], self)


def _limit(pairs: Any) -> np.ndarray:
    found = [np.where(change < 0.0, -value / change, np.inf).min(axis=1) for value, change in pairs]
    return np.minimum(*found)
