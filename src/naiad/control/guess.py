"""Where the iteration begins with a guess: at another solution."""

from typing import Any

import jax
import numpy as np

from naiad.compiler import execute_rows
from naiad.control.geodesic import SLACK, inside
from naiad.control.iterate import Iterate, Numbers, chosen
from naiad.control.newton import in_units, step_values
from naiad.control.problem import Problem
from naiad.control.solution import Solution, lagrange_weights
from naiad.errors import InputError
from naiad.mechanics import State


def centred(problem: Problem, numbers: Numbers, at: Iterate, barrier: float) -> Iterate:
    """The iterate with its controls strictly within their bounds, and slacks and multipliers that fit a barrier, which
    is in the units of the problem."""
    at, numbers = in_units(problem, at, numbers)
    U, low, high = inside(at.U, numbers.lower, numbers.upper, barrier)
    theta, least, most = inside(at.theta, numbers.least, numbers.most, barrier)
    at = at._replace(U=U, low=low, high=high, theta=theta, least=least, most=most)
    if at.rho.size:
        slack = np.maximum(-step_values(problem, at, numbers).path, SLACK)
        at = at._replace(slack=slack, rho=barrier / slack)
    return at if problem.units.plain else problem.units.out(at, problem.reaching)


def resampled(
    guess: Solution, problem: Problem, numbers: Numbers, start: State, N: int, sizes: tuple[int, int], barrier: float
) -> Iterate:
    """Another solution as an iterate with N steps, from a start of its own. Of a problem of another form, such as one
    of another order or without inequalities, only the motion and its controls are used."""
    old = guess.iterate
    if (
        old.theta.shape != (problem.constants,)
        or old.U.shape[2] != problem.controls
        or guess.problem.group != problem.group
    ):
        raise InputError(
            f"guess has {old.U.shape[2]} controls and {len(old.theta)} constants on {guess.problem.group!r}; expected "
            f"{problem.controls} and {problem.constants} on {problem.group!r}, those of the problem."
        )
    count = old.K.shape[0]
    place = np.arange(N + 1) * (count / N)
    k = np.minimum(place.astype(int), count - 1)
    part = place - k
    ends = (chosen(old.g, each) for each in (k, k + 1))
    g = execute_rows(_between, problem, *ends, part, parameters=())
    m = _mixed(old.m, k, part)
    for array, first in zip(jax.tree.leaves((g, m)), jax.tree.leaves(start), strict=True):
        array[0] = first
    nearest = np.minimum(((np.arange(N) + 0.5) * (count / N)).astype(int), count - 1)
    times = np.asarray(problem.steps.times)
    within = (np.arange(N)[:, None] + times) * (count / N) - nearest[:, None]
    given = np.asarray(guess.problem.steps.times)
    U = np.einsum("ksj,kju->ksu", lagrange_weights(given, within), old.U[nearest])
    if (problem.steps.inner, *sizes) != (old.K.shape[1], old.rho.shape[1], len(old.nu)):
        before, after = (chosen(g, slice(N)), chosen(g, slice(1, None)))
        ends = before, after, m[:-1], m[1:], np.full(N, guess.T / N)
        K = execute_rows(_led, problem, *ends, parameters=())
        return centred(problem, numbers, _afresh(problem, old.theta, sizes, g, m, K, U), barrier)
    costates = [np.concatenate([each[:1], each]) for each in (old.lam, old.gamma)]
    lam, gamma = (_mixed(each, k, part)[1:] for each in costates)
    at = Iterate(
        g=g,
        m=m,
        theta=old.theta,
        K=problem.steps.rescaled(old.K[nearest], count / N),
        U=U,
        sigma=old.sigma[nearest],
        lam=lam,
        gamma=gamma,
        rho=old.rho[nearest],
        slack=old.slack[nearest],
        low=old.low[nearest],
        high=old.high[nearest],
        least=old.least,
        most=old.most,
        nu=old.nu,
    )
    return centred(problem, numbers, at, barrier)


def _afresh(
    problem: Problem,
    theta: np.ndarray,
    sizes: tuple[int, int],
    g: Any,
    m: np.ndarray,
    K: np.ndarray,
    U: np.ndarray,
) -> Iterate:
    """The iterate of a motion and its controls, the multipliers of all equations zero."""
    inequalities, conditions = sizes
    none, paths = np.zeros((len(U), problem.group.dim)), np.zeros((len(U), inequalities))
    return Iterate(
        g=g,
        m=m,
        theta=theta,
        K=K,
        U=U,
        sigma=np.zeros_like(K),
        lam=none,
        gamma=none,
        rho=paths,
        slack=paths,
        low=np.zeros_like(U),
        high=np.zeros_like(U),
        least=np.zeros_like(theta),
        most=np.zeros_like(theta),
        nu=np.zeros(conditions),
    )


def _led(problem: Problem, g: Any, f: Any, m: Any, m_next: Any, h: Any) -> Any:
    """The inner unknowns of a step from g to f."""
    x = problem.steps.retraction.inverse(problem.group, problem.group.compose(problem.group.inverse(g), f))
    return problem.steps.guessed(x, 0.5 * (m + m_next), h)


def _mixed(rows: np.ndarray, k: np.ndarray, part: np.ndarray) -> np.ndarray:
    return rows[k] + part[:, None] * (rows[k + 1] - rows[k])


def _between(problem: Problem, g: Any, f: Any, part: Any) -> Any:
    return problem.moved(g, part * problem.difference(g, f))
