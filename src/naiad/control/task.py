"""A problem as a user poses it, checked, without its start and its goal."""

from typing import Any, NamedTuple

import numpy as np

from naiad.control.actuation import effort
from naiad.control.doors import force_map, functions, limits, transcription
from naiad.control.guess import beginning
from naiad.control.interior import Rules
from naiad.control.iterate import Iterate, Numbers
from naiad.control.problem import Problem
from naiad.errors import InputError
from naiad.integrators import AbstractMethod
from naiad.mechanics import LagrangianSystem, State
from naiad.numerics.arguments import checked
from naiad.numerics.checks import positive

FIRST_BARRIER = 0.1


class Task(NamedTuple):
    """A problem without its start and its goal."""

    problem: Problem
    numbers: Numbers
    rules: Rules
    sizes: tuple[int, int]
    T: float

    def step(self, N: int) -> np.ndarray:
        """h, or the part of a free duration."""
        return np.asarray(1.0 / N if self.problem.free_time else self.T / N)

    def beginning(self, numbers: Numbers, start: State, N: int, bends: np.ndarray | None = None) -> Iterate:
        """The first iterate."""
        return beginning(self.problem, numbers, start, self.T, N, self.sizes, self.rules.barrier, bends)


@checked
def posed(
    system: LagrangianSystem,
    reaching: bool,
    T: float,
    N: int,
    *,
    actuation: Any = None,
    controls: int | None = None,
    cost: Any = None,
    bounds: Any = None,
    path: Any = None,
    end_cost: Any = None,
    ending: Any = None,
    free_time: bool = False,
    times: Any = None,
    order: int = 4,
    method: AbstractMethod | None = None,
    tolerance: float = 1e-8,
    iterations: int = 200,
) -> Task:
    """What is given, checked."""
    if not 1 <= N <= 10**6:
        raise InputError(f"N = {N!r}; expected a number of steps from 1 to a million.")
    T, tolerance = positive("T", T), positive("tolerance", tolerance)
    if iterations < 1:
        raise InputError(f"iterations = {iterations!r}; expected at least 1.")
    push, nu = force_map(system, actuation, controls)
    steps = transcription(system, order, method)
    sizes = functions(system, nu, cost, path, end_cost, ending)
    least, most = _times(times, T) if free_time else (np.zeros(0), np.zeros(0))
    problem = Problem(
        system=system,
        steps=steps,
        push=push,
        cost=effort if cost is None else cost,
        path=path,
        end_cost=end_cost,
        ending=ending,
        model=None,
        controls=nu,
        constants=int(free_time),
        free_time=free_time,
        reaching=reaching,
    )
    numbers = Numbers(0.0, None, *limits("bounds", bounds, nu), least, most)
    return Task(problem, numbers, Rules(tolerance, iterations, FIRST_BARRIER), sizes, T)


def _times(times: Any, T: float) -> tuple[np.ndarray, np.ndarray]:
    if times is None:
        return np.zeros(1), np.full(1, np.inf)
    least, most = limits("times", times, 1)
    if not (least[0] < T < most[0] and least[0] >= 0.0):
        raise InputError(f"T = {T:g} is not between the times {least[0]:g} and {most[0]:g}, both at least 0.")
    return least, most
