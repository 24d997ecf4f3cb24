"""The front door: optimal control of a system from a state to a goal."""

import dataclasses
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np

from naiad.compiler import execute
from naiad.control.doors import end_states
from naiad.control.guess import resampled
from naiad.control.interior import Ended, Status, Tell, all_ended
from naiad.control.iterate import Numbers
from naiad.control.problem import Problem
from naiad.control.solution import Solution
from naiad.control.task import Task, pose, posed
from naiad.control.worst import complaint
from naiad.errors import InputError
from naiad.groups import AbstractGroup
from naiad.integrators import AbstractMethod
from naiad.mechanics import LagrangianSystem, State
from naiad.numerics.arguments import checked
from naiad.numerics.checks import generator

WARM_BARRIER = 1e-4
ASIDE = 0.4  # how far other starts are moved off the geodesic, relative to its length
RUN_AWAY = 100.0  # times the duration that is given: one that is longer has run away
ANOTHER = 0.1  # costs of two grids that differ by more, relatively, may be those of different optima


@checked
def solve(
    system: LagrangianSystem,
    start: State | Callable[[Any], State],
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
    model: Callable[..., Any] | None = None,
    theta: Any = None,
    theta_bounds: Any = None,
    order: int = 4,
    method: AbstractMethod | None = None,
    guess: Solution | None = None,
    starts: int = 1,
    seed: int = 0,
    estimate: bool = False,
    tolerance: float = 1e-8,
    iterations: int = 200,
    progress: bool | Callable[[int, dict[str, Any]], None] = False,
) -> Solution:
    """The motion of least cost from a state at t = 0 to a goal at T, in N steps, with the controls that make it.

    - `actuation`: the force map, by which controls enter as any force does: a matrix B for the force B u in the body
      frame (a column for each control; the identity if not given), or a function (g, u, t) of as many `controls`.
    - `cost(g, xi, u, t)`: the cost rate, `effort` if not given; `end_cost(state, t)` is added.
    - `bounds`: of the controls: b (for -b to b) or a pair, a number each or one for each control.
    - `path(g, xi, u, t)`: a vector that must not be positive, at the stages of all steps.
    - `goal`: the state at the end, None if there is none; `ending(state, t)`: a vector that must vanish there.
    - `free_time`: T is unknown, and the one given where to begin; `times` are its bounds.
    - `theta`: unknown parameters, and where to begin with them, within `theta_bounds` (as `bounds`): the system is
      `model(system, theta)`, `start` may be a function of theta (a start that is free, or the same as the end), and
      `end_cost` and `ending` are called with (state, t, theta).
    - `order`: 2 (`Variational`, controls constant over a step), 4 or 6 (`VPRK` with two and three stages of Gauss,
      controls linear and quadratic over a step); or a `method` of these.
    - `guess`: a solution to begin with, of any N and order; else the geodesic from the start to the goal, and with
      several `starts`, which run together, also paths that are bent aside at random (`seed`): the best is the result.
    - `estimate`: solve with N/4 and N/2 steps first (where that fails, or finds another optimum, afterwards from the
      solution), and estimate the error of the cost from all three; where these grids are too coarse, with 2 N steps.
      Where no grid tells, there is no estimate, and `message` says so.
    - `tolerance`: of all errors; `iterations`: at most so many, and again where that ends in no optimum, from the same
      beginning with more care; `progress`: show them, or a function that is told.

    The result says how it ended in `status`. What was compiled for a problem is used again for other goals, bounds,
    masses and numbers of steps.
    """
    task = pose(
        system,
        start if callable(start) else None,
        goal is not None,
        T,
        N,
        actuation=actuation,
        controls=controls,
        cost=cost,
        bounds=bounds,
        path=path,
        end_cost=end_cost,
        ending=ending,
        free_time=free_time,
        times=times,
        model=model,
        theta=theta,
        theta_bounds=theta_bounds,
        order=order,
        method=method,
        tolerance=tolerance,
        iterations=iterations,
    )
    if starts < 1:
        raise InputError(f"starts = {starts!r}; expected at least 1.")
    first: Any = start(jnp.asarray(task.theta)) if callable(start) else start
    fits = guess is not None and guess.problem.group == system.group
    task, start, target = task.between(first, goal, N, guess.states.g if fits else None)
    tell = progress if callable(progress) else _shown if progress else None
    counts = [count for count in (N // 4, N // 2) if estimate and count >= 2]
    coarse: list[Solution] = []
    for count in counts:
        tried = _best(task, start, target, count, coarse[-1] if coarse else guess, starts, seed, tell)
        if not tried.solved:
            break
        coarse.append(tried)
    found = _best(task, start, target, N, coarse[-1] if coarse else guess, starts, seed, tell)
    if coarse and not found.solved:  # they were too coarse: it begins as if they had not been
        coarse, found = [], _best(task, start, target, N, guess, starts, seed, tell)
    if not estimate:
        return found
    if not found.solved:
        return found
    if len(coarse) < len(counts) or any(_apart(each, found) for each in coarse[-1:]):
        again = [_best(task, start, target, count, found, starts, seed, tell) for count in counts]
        coarse = [each for each in again if each.solved and not _apart(each, found)]
    if coarse:
        return dataclasses.replace(
            found, error_estimate=richardson([each.cost for each in (*coarse, found)], found.order)
        )
    fine = _best(task, start, target, 2 * N, found, starts, seed, tell)
    if not fine.solved or _apart(fine, found):
        return dataclasses.replace(found, message=_NO_ESTIMATE.format(N // 4, N // 2, 2 * N))
    whole = 2.0**found.order / (2.0**found.order - 1.0)
    return dataclasses.replace(found, error_estimate=whole * abs(fine.cost - found.cost))


_NO_ESTIMATE = (
    "there is no estimate of the error: with {}, {} and {} steps no optimum is found near this one; take more steps."
)


@checked
def solve_many(
    system: LagrangianSystem, starts: Sequence[State], goals: Sequence[State], T: float, N: int, **options: Any
) -> list[Solution]:
    """The motions of least cost from many states to as many goals: `solve`, for problems that run together, on all
    cores.

    `options` are those of `solve` that say what the problem is, and `tolerance` and `iterations`.
    """
    if len(starts) != len(goals) or not len(starts):
        raise InputError(f"{len(starts)} starts but {len(goals)} goals; expected as many of each, and at least one.")
    task = posed(system, None, True, T, N, **options)
    ends = [
        end_states(system, **{f"{name}[{k}]": state for k, state in enumerate(states)})
        for name, states in (("starts", starts), ("goals", goals))
    ]
    began = time.perf_counter()
    first, *_ = task.between(ends[0][0], ends[1][0], N)
    begun = []
    for start, goal in zip(*ends, strict=True):
        own = first if first.fits(start, goal) else task.between(start, goal, N)[0]
        numbers = task.numbers._replace(goal=goal, step=task.step(N))
        begun.append((own.problem, own.beginning(numbers, start, N), numbers))
    outcomes = all_ended(begun, task.rules)
    seconds = (time.perf_counter() - began) / len(begun)
    return [_solution(task, each[2], outcome, seconds) for each, outcome in zip(begun, outcomes, strict=True)]


def _apart(one: Solution, other: Solution) -> bool:
    """Whether two grids may have found different optima."""
    return abs(one.cost - other.cost) > ANOTHER * abs(other.cost)


def richardson(costs: list[float], order: int) -> float:
    """The error of the last of two or three costs with 4, 2 and 1 times the step: by the order, or by the observed one
    if the three say that it is lower."""
    last = abs(costs[-1] - costs[-2])
    ratio = 2.0**order
    if len(costs) > 2 and last > 0.0:
        ratio = min(ratio, max(abs(costs[-2] - costs[-3]) / last, 1.5))
    return last / (ratio - 1.0)


def _best(
    task: Task,
    start: State,
    goal: State,
    N: int,
    guess: Solution | None,
    starts: int,
    seed: int,
    tell: Tell | None,
) -> Solution:
    """The solution from a guess, or the best from several starts."""
    began = time.perf_counter()
    numbers, rules = task.numbers._replace(goal=goal, step=task.step(N)), task.rules
    if guess is not None:
        rules = rules._replace(barrier=WARM_BARRIER)
        at = [resampled(guess, task.problem, numbers, task.started(start, guess.theta), N, task.sizes, WARM_BARRIER)]
    else:
        at = [task.beginning(numbers, start, N, bends) for bends in _bends(task.problem, start, goal, starts, seed)]
    outcomes = all_ended([(task.problem, each, numbers) for each in at], rules, tell)
    best = min(outcomes, key=lambda each: (each.status is not Status.SOLVED, each.cost))
    return _solution(task, numbers, best, time.perf_counter() - began)


def _bends(problem: Problem, start: State, goal: State, count: int, seed: int) -> list[np.ndarray | None]:
    """None of the first path, and random ones of the others."""
    group = problem.group
    if count == 1 and seed >= 0:
        return [None]
    rng = generator(seed)
    way, place = execute(_way, group, start.g, goal.g, parameters=()), problem.units.place
    length = max(0.1, float(np.linalg.norm(way / place)))
    others = ASIDE * length * place * rng.standard_normal((count - 1, 2, group.dim)) / np.sqrt(group.dim)
    return [None, *others]


def _way(group: AbstractGroup, g: Any, f: Any) -> Any:
    return group.log(group.compose(group.inverse(g), f))


def _solution(task: Task, numbers: Numbers, outcome: Ended, seconds: float) -> Solution:
    """An outcome as a result."""
    problem, status = outcome.problem, outcome.status
    T = float(outcome.at.theta[0]) if problem.free_time else task.T
    if T > RUN_AWAY * task.T:
        message = (
            f"{status}: after {outcome.iterations} iterations T is {T:.3g} s where {task.T:.3g} s was given: the cost "
            "may fall with the duration for ever; bound it (times), or add nd.control.elapsed to the cost."
        )
    else:
        message = "" if status is Status.SOLVED else complaint(problem, outcome, numbers)
    return Solution(
        cost=outcome.cost,
        status=status,
        message=message,
        iterations=outcome.iterations,
        T=T,
        primal_error=outcome.primal,
        dual_error=outcome.dual,
        seconds=seconds,
        problem=problem,
        packed=outcome.packed,
        numbers=numbers,
        told=outcome.history,
    )


def _shown(iteration: int, errors: dict[str, float]) -> None:
    values = "  ".join(f"{key} {error:.3e}" for key, error in errors.items())
    print(f"iteration {iteration:3d}  {values}", file=sys.stderr)
