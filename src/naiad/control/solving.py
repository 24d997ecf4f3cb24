"""The front door: optimal control of a system from a state to a goal."""

import sys
import time
from collections.abc import Callable
from typing import Any

import jax
import numpy as np

from naiad.control.actuation import effort
from naiad.control.doors import end_state, force_map, functions, limits, transcription
from naiad.control.guess import beginning, resampled
from naiad.control.interior import Method, Outcome, Rules, Status
from naiad.control.iterate import Iterate, Numbers, chosen
from naiad.control.problem import Problem
from naiad.control.solution import Solution
from naiad.control.worst import complaint
from naiad.errors import InputError
from naiad.integrators import AbstractMethod
from naiad.mechanics import LagrangianSystem, State
from naiad.numerics import double
from naiad.numerics.arguments import checked
from naiad.numerics.checks import positive

FIRST_BARRIER, WARM_BARRIER = 0.1, 1e-4


@checked
@double
def solve(
    system: LagrangianSystem,
    start: State,
    goal: State | None,
    T: float,
    N: int,
    *,
    actuation: Any = None,
    controls: int | None = None,
    cost: Callable[..., Any] | None = None,
    bounds: Any = None,
    path: Callable[..., Any] | None = None,
    end_cost: Callable[..., Any] | None = None,
    ending: Callable[..., Any] | None = None,
    free_time: bool = False,
    times: Any = None,
    order: int = 4,
    method: AbstractMethod | None = None,
    guess: Solution | None = None,
    estimate: bool = False,
    tolerance: float = 1e-8,
    iterations: int = 200,
    progress: bool | Callable[[int, dict[str, Any]], None] = False,
) -> Solution:
    """The motion of least cost from a state to a goal in the time T, in N steps, with the controls that make it.

    - `actuation`: the force map, by which controls enter as any force does: a matrix B for the force B u in the body
      frame (a column for each control; the identity if not given), or a function (g, u, t) of as many `controls`.
    - `cost(g, xi, u, t)`: the cost rate, `effort` if not given; `end_cost(state, t)` is added.
    - `bounds`: of the controls: b (for -b to b) or a pair, a number each or one for each control.
    - `path(g, xi, u, t)`: a vector that must not be positive, at the stages of all steps.
    - `goal`: the state at the end, None if there is none; `ending(state, t)`: a vector that must vanish there.
    - `free_time`: T is unknown, and the one given where to begin; `times` are its bounds.
    - `order`: 2 (`Variational`, controls constant over a step), 4 or 6 (`VPRK` with two and three stages of Gauss,
      controls linear and quadratic over a step); or a `method` of these.
    - `guess`: a solution to begin with, of any N; else the geodesic from the start to the goal.
    - `estimate`: solve with N/4 and N/2 steps first, and estimate the error of the cost from all three.
    - `tolerance`: of all errors; `iterations`: at most so many; `progress`: show them, or a function that is told.

    The result says how it ended in `status`. What was compiled for a problem is used again for other goals, bounds,
    masses and numbers of steps.
    """
    if N < 1:
        raise InputError(f"N = {N!r}; expected a number of steps of at least 1.")
    T, tolerance = positive("T", T), positive("tolerance", tolerance)
    if iterations < 1:
        raise InputError(f"iterations = {iterations!r}; expected at least 1.")
    push, nu = force_map(system, actuation, controls)
    steps = transcription(system, order, method)
    cost = effort if cost is None else cost
    inequalities, conditions = functions(system, nu, cost, path, end_cost, ending)
    start = end_state(system, "start", start)
    target = start if goal is None else end_state(system, "goal", goal)
    least, most = _times(times, T) if free_time else (np.zeros(0), np.zeros(0))
    problem = Problem(
        system=system,
        steps=steps,
        push=push,
        cost=cost,
        path=path,
        end_cost=end_cost,
        ending=ending,
        model=None,
        controls=nu,
        constants=int(free_time),
        free_time=free_time,
        reaching=goal is not None,
    )
    numbers = Numbers(0.0, target, *limits("bounds", bounds, nu), least, most)
    rules = Rules(tolerance, iterations, FIRST_BARRIER)
    sizes = (inequalities, conditions)
    coarse: list[Solution] = []
    for count in (N // 4, N // 2) if estimate else ():
        if count >= 2:
            guess = _solved(problem, numbers, start, T, count, sizes, rules, guess, progress)
            coarse.append(guess)
    found = _solved(problem, numbers, start, T, N, sizes, rules, guess, progress)
    if not estimate:
        return found
    return found._replace(error_estimate=richardson([each.cost for each in (*coarse, found)], found.order))


def richardson(costs: list[float], order: int) -> float:
    """The error of the last of costs with 4, 2 and 1 times the step: by the order, or by the observed one if the three
    say that it is lower."""
    if len(costs) < 2:
        return float("nan")
    last = abs(costs[-1] - costs[-2])
    ratio = 2.0**order
    if len(costs) > 2 and last > 0.0:
        ratio = min(ratio, max(abs(costs[-2] - costs[-3]) / last, 1.5))
    return last / (ratio - 1.0)


def _times(times: Any, T: float) -> tuple[np.ndarray, np.ndarray]:
    if times is None:
        return np.zeros(1), np.full(1, np.inf)
    least, most = limits("times", times, 1)
    if not (least[0] < T < most[0] and least[0] >= 0.0):
        raise InputError(f"T = {T:g} is not between the times {least[0]:g} and {most[0]:g}, both at least 0.")
    return least, most


def _solved(
    problem: Problem,
    numbers: Numbers,
    start: State,
    T: float,
    N: int,
    sizes: tuple[int, int],
    rules: Rules,
    guess: Solution | None,
    progress: bool | Callable[[int, dict[str, Any]], None],
) -> Solution:
    began = time.perf_counter()
    numbers = numbers._replace(step=np.asarray(1.0 / N if problem.free_time else T / N))
    if guess is not None:
        rules = rules._replace(barrier=WARM_BARRIER)
        at = resampled(guess, problem, numbers, start, N, WARM_BARRIER)
    else:
        at = beginning(problem, numbers, start, T, N, sizes, rules.barrier)
    one = jax.tree.map(lambda a: np.asarray(a, float)[None], (at, numbers))
    outcome = Method(problem, *one, rules).run(progress if callable(progress) else _shown if progress else None)
    return solution(problem, numbers, outcome, T, time.perf_counter() - began)


def solution(problem: Problem, numbers: Numbers, outcome: Outcome, T: float, seconds: float) -> Solution:
    """The first of the outcomes as a result."""
    at: Iterate = chosen(outcome.at, 0)
    N = at.K.shape[0]
    T = float(at.theta[0]) if problem.free_time else T
    h, status = T / N, outcome.status[0]
    history = {key: np.array([each[key][0] for each in outcome.history]) for key in ("cost", "primal", "dual", "barrier")}
    return Solution(
        cost=float(outcome.cost[0]),
        status=status,
        message="" if status is Status.SOLVED else complaint(problem, outcome, numbers),
        iterations=int(outcome.iterations[0]),
        T=T,
        t=h * np.arange(N + 1),
        states=State(at.g, at.m),
        t_u=h * (np.arange(N)[:, None] + np.asarray(problem.steps.times)),
        u=at.U,
        theta=at.theta[int(problem.free_time) :],
        costates=State(at.lam, at.gamma),
        bound_multipliers=(at.low, at.high),
        path_multipliers=at.rho,
        end_multipliers=at.nu,
        primal_error=float(outcome.primal[0]),
        dual_error=float(outcome.dual[0]),
        error_estimate=None,
        seconds=seconds,
        history=history,
        problem=problem,
        iterate=at,
        numbers=numbers,
    )


def _shown(iteration: int, errors: dict[str, np.ndarray]) -> None:
    values = "  ".join(f"{key} {errors[key][0]:.3e}" for key in ("cost", "primal", "dual", "barrier"))
    print(f"iteration {iteration:3d}  {values}", file=sys.stderr)
