"""How an optimum changes with parameters of its system: implicit derivatives, by one more sweep."""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from naiad.control.constants import Bounds
from naiad.control.doors import parameters
from naiad.control.ending import CONDITION_SLACK
from naiad.control.first_node import Start
from naiad.control.iterate import Iterate, Numbers
from naiad.control.newton import NewtonTables
from naiad.control.solution import Solution
from naiad.errors import InputError
from naiad.mechanics import LagrangianSystem
from naiad.numerics import Module, static
from naiad.numerics.arguments import checked

ROUNDS = 4  # each makes what conditions of the end miss a million times smaller


class Sensitivity(NamedTuple):
    """Derivatives of an optimum, a row for each parameter: of its cost, its duration, its unknown parameters `theta`,
    its controls `u`, and of its nodes: left-trivialised (`eta`), and momenta."""

    cost: np.ndarray
    T: np.ndarray
    theta: np.ndarray
    u: np.ndarray
    eta: np.ndarray
    mu: np.ndarray


class _Both(Module):
    """The system with the unknown parameters of a problem, and then those that are given."""

    own: Any
    other: Any
    count: int = static()

    def __call__(self, system: LagrangianSystem, theta: Any) -> LagrangianSystem:
        given = self.other(system, theta[self.count :])
        return given if self.own is None else self.own(given, theta[: self.count])


@checked
def sensitivity(solution: Solution, model: Callable[..., Any], theta: Any) -> Sensitivity:
    """The derivatives of an optimum in parameters of its system, which is `model(system, theta)` with those given.

    They come from the equations that the optimum solves, differentiated: no other problem is solved. Where a bound or
    an inequality is just about to be met or left, the derivatives jump, and these are those of the barrier.
    """
    if not solution.solved:
        raise InputError(f"sensitivity: the solution is not solved ({solution.message}); only an optimum has one.")
    problem = solution.problem
    values, *_ = parameters(problem.system, model, theta, None, None)
    made = model(problem.system, jnp.asarray(values))
    for one, other in zip(jax.tree.leaves(made), jax.tree.leaves(problem.system), strict=True):
        if not np.allclose(one, other, rtol=1e-12, atol=0.0):
            raise InputError("sensitivity: model(system, theta) is another system than that of the solution.")
    count, c, n = values.size, problem.constants, problem.group.dim
    both = _Both(problem.model, model, problem.unknown)
    wider = problem.replaced(model=both, constants=c + count)
    at, numbers = _extended(solution, values)
    at, numbers = jax.tree.map(lambda a: np.repeat(a, count + 1, axis=0), (at, numbers))
    barrier, none = np.full(count + 1, solution.history["barrier"][-1]), np.zeros(count + 1)
    newton = NewtonTables.of(wider, at, numbers)
    newton.linearise(barrier, np.ones(count + 1))
    cost = newton.gradient().by_theta[0, :, c:].sum(axis=0) + newton.ends.dual[0, n + c : n + c + count]
    gaps = (at.theta - numbers.least, numbers.most - at.theta)
    bounds = Bounds(*gaps, at.least, at.most, barrier[:, None])
    miss, slopes = newton.starts.miss.copy(), newton.starts.slopes
    miss[1:] += slopes[0, c:]
    newton.starts = Start(miss, slopes[:, :c])
    for _ in range(ROUNDS):
        newton.sweep(barrier, none, bounds)
        slopes, x_end = newton.ends.slopes, newton.x_end
        missed = np.einsum("px,pxr->pr", x_end - x_end[:1], slopes) / CONDITION_SLACK
        newton.ends = newton.ends._replace(v=newton.ends.v + np.einsum("pxr,pr->px", slopes, missed))
    change = newton.changes()
    x = np.concatenate([change.x, x_end[:, None]], axis=1)
    x, u = x[1:] - x[0], change.U[1:] - change.U[0]
    constants = x[:, 0, n : n + c]
    free = int(problem.free_time)
    return Sensitivity(
        cost=cost,
        T=constants[:, 0] if free else np.zeros(count),
        theta=constants[:, free:],
        u=u.reshape(count, *solution.u.shape),
        eta=x[..., :n],
        mu=x[..., n + c + count :],
    )


def _extended(solution: Solution, values: np.ndarray) -> tuple[Iterate, Numbers]:
    """The iterate of a solution with more constants, which have no bounds."""
    at, numbers = jax.tree.map(lambda a: np.asarray(a, float)[None], (solution.iterate, solution.numbers))
    none, far = np.zeros((1, values.size)), np.full((1, values.size), np.inf)
    at = at._replace(
        theta=np.concatenate([at.theta, values[None]], axis=1),
        least=np.concatenate([at.least, none], axis=1),
        most=np.concatenate([at.most, none], axis=1),
    )
    return at, numbers._replace(
        least=np.concatenate([numbers.least, -far], axis=1), most=np.concatenate([numbers.most, far], axis=1)
    )
