"""What is wrong with a motion that is no optimum: the worst of its equations and inequalities, by name."""

import jax.numpy as jnp
import numpy as np

from naiad.control.interior import Ended, Status
from naiad.control.iterate import Iterate, Numbers
from naiad.control.newton import NewtonTables, momenta_of, step_values
from naiad.control.problem import Problem

FAR = 1e-6  # what is missed by more is named
NO_COST = 1e15  # larger costs are those of a motion that has run away


def complaint(problem: Problem, outcome: Ended, numbers: Numbers) -> str:
    """A line on why an outcome is not solved, and what to do."""
    status, at = outcome.status, outcome.at
    worst, missed = _worst(problem, at, numbers)
    after = f"{status}: after {outcome.iterations} iterations"
    if not np.isfinite(outcome.cost + outcome.dual + missed):
        what = worst if not np.isfinite(missed) else "the cost" if not np.isfinite(outcome.cost) else "a derivative"
        return f"{after} {what} is no number; see that what the functions of the problem give is finite and smooth."
    if abs(outcome.cost) > NO_COST * problem.units.cost:
        return f"{after} the cost is {outcome.cost:.3g}: there may be no least one; give bounds, or another cost."
    if status is Status.INFEASIBLE:
        return f"{after} {worst} is missed by {missed:.3g}; {_remedy(problem, at, numbers)}"
    far = f" ({worst} is missed by {missed:.3g})" if missed > FAR else ""
    return (
        f"{after} there are errors of {outcome.primal:.1e} (equations){far} and {outcome.dual:.1e} (optimality); give "
        "more iterations, a guess, or a larger tolerance."
    )


def _worst(problem: Problem, at: Iterate, numbers: Numbers) -> tuple[str, float]:
    """The equation or inequality that misses most, in words, and by how much."""
    newton = NewtonTables.of(problem, at, numbers)
    newton.linearise(0.0, 0.0)
    steps, conditions = step_values(problem, at, numbers), newton.ends.miss.copy()
    conditions[momenta_of(problem)] *= problem.units.momentum
    N, count = at.steps, max(1, at.rho.shape[1] // problem.steps.stages)
    names = components(problem)
    found = []
    for k, value in enumerate(np.abs(conditions)):
        found.append((value, f"the goal's {names[k]}" if k < len(names) else f"ending[{k - len(names)}]"))
    path = np.maximum(steps.path, 0.0)
    if path.size:
        k, j = np.unravel_index(np.argmax(path), path.shape)
        found.append((path[k, j], f"path[{j % count}] in step {k} of {N}"))
    momentum, balance = (problem.units.momentum * each for each in (steps.momentum, steps.balance))
    for words, values in (("motion", steps.psi), ("balance of momentum", momentum), ("balance", balance)):
        k, j = np.unravel_index(np.argmax(np.abs(values)), values.shape)
        found.append((abs(values[k, j]), f"the {words} of step {k} of {N}"))
    found = [(np.inf if np.isnan(value) else value, words) for value, words in found]
    value, words = max(found, key=lambda each: each[0])
    return words, float(value)


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
