"""The result of an optimal control problem."""

import functools
import operator
from typing import Any, NamedTuple

import numpy as np

from naiad.control.interior import Status
from naiad.control.iterate import Iterate, Numbers
from naiad.control.problem import Problem
from naiad.mechanics import State
from naiad.numerics.checks import namespace


class Solution(NamedTuple):
    """An optimal motion, or how far the method came.

    `t` and `states` are those of the nodes, `u` the controls at the times `t_u` in the steps (of shape (N, stages));
    `T` is the duration. `status` is solved, infeasible, iteration limit or stalled, and `message` says in a line what
    is wrong, if anything is. `costates` are the multipliers of the increments of configuration and momentum at the
    nodes after the first: the discrete costates. `bound_multipliers` and `path_multipliers` are those of the
    inequalities, not negative, `end_multipliers` those of the conditions at the end. `error_estimate` is that of the
    cost, if it was asked for. `history` has cost, errors and barrier of each iteration.
    """

    cost: float
    status: Status
    message: str
    iterations: int
    T: float
    t: np.ndarray
    states: State
    t_u: np.ndarray
    u: np.ndarray
    theta: np.ndarray
    costates: State
    bound_multipliers: tuple[np.ndarray, np.ndarray]
    path_multipliers: np.ndarray
    end_multipliers: np.ndarray
    primal_error: float
    dual_error: float
    error_estimate: float | None
    seconds: float
    history: dict[str, np.ndarray]
    problem: Problem
    iterate: Iterate
    numbers: Numbers

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
        t = np.asarray(t, float)
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
