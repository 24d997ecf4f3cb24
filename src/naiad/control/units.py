"""The units in which a problem is solved: its numbers are of the size of one there, whatever those of its user."""

from typing import Any, NamedTuple

import numpy as np

from naiad.mechanics import State

SMALLEST, LARGEST = 1e-2, 1e3  # momenta and costs between these are as good as one


class ProblemUnits(NamedTuple):
    """Those of momenta, controls and costs; those of multipliers follow. Tables have numbers in them, iterates outside
    of tables do not."""

    momentum: Any = 1.0
    control: Any = 1.0
    cost: Any = 1.0

    @classmethod
    def of(cls, momentum: float, cost: float, control: float) -> "ProblemUnits":
        """For numbers of these sizes."""
        if all(SMALLEST < size < LARGEST or size == 0.0 for size in (momentum, cost)):
            return cls()
        sizes = (size if np.isfinite(size) and size > 0.0 else 1.0 for size in (momentum, control, cost))
        return cls(*(float(2.0 ** np.round(np.log2(size))) for size in sizes))

    @property
    def plain(self) -> bool:
        """Whether all are one."""
        return self.momentum == self.control == self.cost == 1.0

    def state(self, state: State) -> State:
        """A state in these units."""
        return State(state.g, state.mu / self.momentum)

    def numbers(self, numbers: Any) -> Any:
        """The numbers of a problem in these units."""
        bounds = numbers.lower / self.control, numbers.upper / self.control
        return numbers._replace(goal=self.state(numbers.goal), lower=bounds[0], upper=bounds[1])

    def into(self, at: Any, momenta: slice) -> Any:
        """An iterate in these units; `momenta` are the conditions of the end that are momenta."""
        return self._times(at, momenta, lambda a, b: a / b)

    def out(self, at: Any, momenta: slice) -> Any:
        """An iterate in these units as it is outside."""
        return self._times(at, momenta, lambda a, b: a * b)

    def _times(self, at: Any, momenta: slice, scaled: Any) -> Any:
        momentum, control, cost = self
        K, nu = np.ones((at.K.shape[1], 1)), np.full(len(at.nu), cost)
        K[-1:] = momentum if at.K.shape[1] > 1 else 1.0  # of steps with stages
        nu[momenta] = cost / momentum
        sizes = {"m": momentum, "K": K, "U": control, "sigma": cost / momentum, "lam": cost, "gamma": cost / momentum}
        sizes |= {"rho": cost, "low": cost / control, "high": cost / control, "least": cost, "most": cost, "nu": nu}
        return at._replace(**{name: scaled(getattr(at, name), size) for name, size in sizes.items()})
