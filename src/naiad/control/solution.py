"""The result of an optimal control problem."""

import dataclasses
import functools
import operator
from typing import Any

import numpy as np

from naiad.control.interior import Status
from naiad.control.iterate import Iterate, Numbers, Packed
from naiad.control.problem import Problem
from naiad.errors import InputError
from naiad.mechanics import State
from naiad.numerics.arguments import shown
from naiad.numerics.checks import floats, namespace

ROUNDING = 1e-9  # of the duration: what a time may be outside of it


@dataclasses.dataclass(frozen=True, eq=False)
class Solution:
    """An optimal motion, or how far the method came.

    `t` and `states` are those of the nodes, `u` the controls at the times `t_u` in the steps (of shape (N, stages));
    `T` is the duration. `status` is solved, infeasible, iteration limit, stalled, or beyond the limit: an optimum of
    which a node is where the system cannot be (see its `limit`). `message` says in a line what is wrong, if anything
    is. `costates` are the multipliers of the increments of configuration and momentum at the nodes after the first: the
    discrete costates. `bound_multipliers` and `path_multipliers` are those of the inequalities, not negative,
    `end_multipliers` those of the conditions at the end. `error_estimate` is that of the cost, if it was asked for.
    `history` has cost, errors and barrier of each iteration.
    """

    cost: float
    status: Status
    message: str
    iterations: int
    T: float
    primal_error: float
    dual_error: float
    seconds: float
    problem: Problem = dataclasses.field(repr=False)
    packed: Packed = dataclasses.field(repr=False)
    numbers: Numbers = dataclasses.field(repr=False)
    told: list[dict[str, float]] = dataclasses.field(repr=False)
    error_estimate: float | None = None

    @property
    def iterate(self) -> Iterate:
        """All unknowns and multipliers."""
        return self.packed.iterate

    @functools.cached_property
    def t(self) -> np.ndarray:
        """The times of the nodes."""
        return self.T / self.iterate.steps * np.arange(self.iterate.steps + 1)

    @functools.cached_property
    def t_u(self) -> np.ndarray:
        """The times of the controls, a row for each step."""
        N = self.iterate.steps
        return self.T / N * (np.arange(N)[:, None] + np.asarray(self.problem.steps.times))

    @property
    def states(self) -> State:
        """Configurations and momenta at the nodes."""
        return State(self.iterate.g, self.iterate.m)

    @property
    def u(self) -> np.ndarray:
        """The controls at the stages of the steps."""
        return self.iterate.U

    @property
    def theta(self) -> np.ndarray:
        """The unknown parameters."""
        return self.problem.parameters(self.iterate.theta)

    @property
    def costates(self) -> State:
        """Multipliers of the increments of configuration and momentum at the nodes after the first."""
        return State(self.iterate.lam, self.iterate.gamma)

    @property
    def bound_multipliers(self) -> tuple[np.ndarray, np.ndarray]:
        """Multipliers of the lower and of the upper bounds of the controls."""
        return self.iterate.low, self.iterate.high

    @property
    def path_multipliers(self) -> np.ndarray:
        """Multipliers of the inequalities along the path."""
        return self.iterate.rho

    @property
    def end_multipliers(self) -> np.ndarray:
        """Multipliers of the conditions at the end."""
        return self.iterate.nu

    @functools.cached_property
    def history(self) -> dict[str, np.ndarray]:
        """Cost, errors and barrier of each iteration."""
        return {key: np.array([each[key] for each in self.told]) for key in self.told[0]}

    @property
    def solved(self) -> bool:
        """Whether it is an optimum."""
        return self.status is Status.SOLVED

    @property
    def order(self) -> int:
        """The order of the discretisation."""
        steps: Any = self.problem.steps
        return steps.method.order(self.problem.system)

    def control(self, t: Any) -> np.ndarray:
        """The controls at times: polynomials through those of a step."""
        given, t = t, floats("t", t)
        if not (t.size and np.all((t >= -ROUNDING * self.T) & (t <= (1.0 + ROUNDING) * self.T))):
            raise InputError(f"t = {shown(given)}; expected times of the plan, from 0 to {self.T:g}.")
        N = len(self.t_u)
        h = self.T / N
        k = np.clip((t / h).astype(int), 0, N - 1)
        weights = lagrange_weights(np.asarray(self.problem.steps.times), t / h - k)
        return np.einsum("...s,...su->...u", weights, self.u[k])


def lagrange_weights(nodes: np.ndarray, at: Any) -> Any:
    """The weights of values at nodes for the interpolation at other places."""

    def weight(own: int) -> Any:
        factors = [(at - other) / (nodes[own] - other) for j, other in enumerate(nodes) if j != own]
        return functools.reduce(operator.mul, factors, 1.0 + 0.0 * at)

    return namespace(at).stack([weight(own) for own in range(len(nodes))], axis=-1)
