"""What is wrong with a motion that is no optimum: the worst of its equations and inequalities, by name."""

import jax.numpy as jnp
import numpy as np

from naiad.control.interior import Ended, Status
from naiad.control.iterate import Iterate, Numbers
from naiad.control.newton import NewtonTables, in_units, step_values
from naiad.control.problem import Problem

ALIKE = 0.1  # of the most that is missed: what misses so much is as bad
FAR = 1e-6  # what is missed by more is named
NO_COST = 1e15  # larger costs are those of a motion that has run away


def complaint(problem: Problem, outcome: Ended, numbers: Numbers) -> str:
    """A line on why an outcome is not solved, and what to do."""
    status, at = outcome.status, outcome.at
    if status is Status.BEYOND:
        k = int(np.argmax(outcome.beyond(numbers)))
        return (
            f"{status}: node {k} of {at.steps} of the optimum is where {type(problem.system).__name__} cannot go. "
            f"{problem.system.limit_words} Keep the motion away from there by path(g, xi, u, t)."
        )
    worst, missed, unit = _worst(problem, at, numbers)
    after = f"{status}: after {outcome.iterations} iterations"
    if not np.isfinite(outcome.cost + outcome.dual + missed):
        what = worst if not np.isfinite(missed) else "the cost" if not np.isfinite(outcome.cost) else "a derivative"
        return f"{after} {what} is no number; see that what the functions of the problem give is finite and smooth."
    if abs(outcome.cost) > NO_COST * problem.units.cost:
        return f"{after} the cost is {outcome.cost:.3g}: there may be no least one; give bounds, or another cost."
    if status is Status.INFEASIBLE:
        return f"{after} {worst} is missed by {unit * missed:.3g}; {_remedy(problem, at, numbers)}"
    far = f" ({worst} is missed by {unit * missed:.3g})" if missed > FAR else ""
    return (
        f"{after} there are errors of {outcome.primal:.1e} (equations){far} and {outcome.dual:.1e} (optimality); give "
        "more iterations, a guess, or a larger tolerance."
    )


def _worst(problem: Problem, at: Iterate, numbers: Numbers) -> tuple[str, float, float]:
    """The equation or inequality that misses most, in words, by how much, and the unit of that; of several that miss
    about as much, the goal comes first, and places before momenta."""
    newton = NewtonTables.of(problem, at, numbers)
    newton.linearise(0.0, 0.0)
    steps, units = step_values(problem, *in_units(problem, at, numbers)), problem.units
    N, count, n = at.steps, max(1, at.rho.shape[1] // problem.steps.stages), problem.group.dim
    names = components(problem)
    found = []
    for k, (value, unit) in enumerate(zip(newton.ends.miss, units.conditions(problem.reaching), strict=True)):
        found.append((value, unit, f"the goal's {names[k]}" if k < len(names) else f"ending[{k - len(names)}]"))
    path = np.maximum(steps.path, 0.0)
    if path.size:
        k, j = np.unravel_index(np.argmax(path), path.shape)
        found.append((path[k, j], units.path[j % count], f"path[{j % count}] in step {k} of {N}"))
    balances = ("balance of momentum", steps.momentum, units.momentum), ("balance", steps.balance, units.momentum)
    for words, values, unit in (("motion", steps.psi, units.place), *balances):
        k, j = np.unravel_index(np.argmax(np.abs(values)), values.shape)
        found.append((values[k, j], unit[j % n], f"the {words} of step {k} of {N}"))
    found = [(np.inf if np.isnan(value) else abs(value), unit, words) for value, unit, words in found]
    worst = max(each[0] for each in found)
    value, unit, words = next(each for each in found if each[0] >= ALIKE * worst)
    return words, float(value), float(unit)


def components(problem: Problem) -> list[str]:
    """The names of the conditions of a goal: increments of the configuration, then momenta."""
    if not problem.reaching:
        return []
    group, names = problem.group, problem.group.names
    found = []
    for kind in (names.element, names.momentum):
        for name, part in zip(kind, group.split(jnp.zeros(group.dim)), strict=True):
            size = int(np.size(part))
            found += [name if size == 1 else f"{name}[{k}]" for k in range(size)]
    return found


def _remedy(problem: Problem, at: Iterate, numbers: Numbers) -> str:
    """What to do: the direction in which nothing acts, if there is one."""
    dead, few = unreachable(problem, at, numbers), at.U.size + len(at.theta)
    if few < len(at.nu):
        return f"{len(at.nu)} conditions are more than the {few} numbers that are free: take more steps."
    if dead is not None:
        return f"no control moves {dead} there: add actuation in that direction."
    bounded = np.isfinite(numbers.lower).any() or np.isfinite(numbers.upper).any() or at.rho.size
    longer = "more time" if not problem.free_time else "another guess"
    if problem.free_time and np.isfinite(numbers.most[0]):
        longer = "a longer time (times)"
    return f"give {longer}{', wider bounds' if bounded else ''} or another goal."


def unreachable(problem: Problem, at: Iterate, numbers: Numbers) -> str | None:
    """The condition of a goal that no control changes, to first order about the iterate, and that is missed most; None
    if there is none."""
    if not problem.reaching or not np.all(np.isfinite(at.m)):
        return None
    newton = NewtonTables.of(problem, at, numbers)
    newton.linearise(0.0, 0.0)
    nu, nx, n, c = problem.control_size, problem.state_size, problem.group.dim, problem.constants
    reached = np.zeros((problem.state_size, 0))
    leads = newton.swept.rows(newton.N).lead
    if not np.all(np.isfinite(leads)):  # the steps themselves are lost there
        return None
    if np.linalg.matrix_rank(leads[0, n + c : nx, -nu:]) == n:  # every momentum has a control
        return None
    for lead in leads:
        step, by_u = lead[:nx, :nx], lead[:nx, -nu:]
        reached = np.concatenate([step @ reached, by_u], axis=1)
        if reached.shape[1] > 4 * len(reached):
            left, sizes, _ = np.linalg.svd(reached, full_matrices=False)
            reached = left * sizes
    keep = np.r_[0:n, n + c : 2 * n + c]
    left, sizes, _ = np.linalg.svd(reached[keep])
    small = left[:, np.sum(sizes > 1e-9 * sizes[0]) :]
    if not small.shape[1]:
        return None
    names = components(problem)
    missed = np.abs(small @ (small.T @ newton.ends.miss[: len(keep)]))
    weights = missed if np.max(missed) > FAR else np.abs(small).max(axis=1)
    return names[int(np.argmax(weights))]
