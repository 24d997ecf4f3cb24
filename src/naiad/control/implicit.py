"""How an optimum changes with parameters of its system: implicit derivatives, by one more sweep."""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

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
    newton = NewtonTables.of(wider, at, numbers)
    barrier = float(solution.history["barrier"][-1])
    newton.measure()
    newton.errors(barrier)
    newton.linearise(barrier)
    cost = newton.gradient.by_theta[c:] + newton.ends.dual[n + c : n + c + count]
    start: Start = jax.tree.map(lambda a: np.array(a[0]), newton.start.rows(1))
    plain, slope = newton.closing.memory.copy(), newton.values.rows(newton.N + 1).V[-1, :, wider.state_size]
    x0, u0 = _changed(newton, barrier, start.miss, start.slopes[:c])
    stiffness = problem.units.shares(problem.reaching, len(at.nu)) / CONDITION_SLACK
    found = []
    for moved in start.slopes[c:]:
        newton.closing.memory[...] = plain
        for _ in range(ROUNDS):
            x, u = _changed(newton, barrier, start.miss + moved, start.slopes[:c])
            slope += newton.ends.slopes @ (stiffness * ((x[-1] - x0[-1]) @ newton.ends.slopes))
        found.append((x - x0, u - u0))
    newton.release()
    x, u = (np.stack(each) for each in zip(*found, strict=True))
    constants = x[:, 0, n : n + c]
    free = int(problem.free_time)
    return Sensitivity(
        cost=problem.units.cost * cost,
        T=constants[:, 0] if free else np.zeros(count),
        theta=constants[:, free:],
        u=problem.units.control * u.reshape(count, *solution.u.shape),
        eta=problem.units.place * x[..., :n],
        mu=problem.units.momentum * x[..., n + c + count :],
    )


def _extended(solution: Solution, values: np.ndarray) -> tuple[Iterate, Numbers]:
    """The iterate of a solution with more constants, which have no bounds."""
    at, numbers = solution.iterate, solution.numbers
    none, far = np.zeros(values.size), np.full(values.size, np.inf)
    at = at._replace(
        theta=np.concatenate([at.theta, values]),
        least=np.concatenate([at.least, none]),
        most=np.concatenate([at.most, none]),
    )
    return at, numbers._replace(least=np.concatenate([numbers.least, -far]), most=np.concatenate([numbers.most, far]))


def _changed(
    newton: NewtonTables, barrier: float, miss: np.ndarray, slopes: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Increments of all nodes and of the controls, from those of the first node, and the best constants in these
    directions."""
    nx, to_go = miss.size, newton.values.rows(newton.N + 1).V
    newton.back(barrier, 0.0)
    V, v = to_go[0, :, :nx], to_go[0, :, nx]
    best = np.linalg.solve(slopes @ V @ slopes.T, slopes @ (v + V @ miss))
    newton.x.memory[0, :, 0] = miss - best @ slopes
    newton.on()
    return newton.x.memory[:, :, 0].copy(), newton.changes().U.copy()
