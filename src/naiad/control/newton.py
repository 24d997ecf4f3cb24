"""Newton's step of the discretised problem: blocks of all steps, the two sweeps, and the step's multipliers."""

from typing import Any, NamedTuple

import jax
import numpy as np

from naiad.compiler import execute, execute_rows
from naiad.control.ending import EndBlocks, end_blocks, end_values
from naiad.control.first_node import Start, given, start_blocks, start_values
from naiad.control.interval import Blocks, Values, blocks, values
from naiad.control.iterate import Iterate, Numbers, flat, folded
from naiad.control.problem import CHART, Problem
from naiad.control.riccati import PIECE, Change, Feedback, Sizes, Value, backward, forward
from naiad.control.stages import staged_blocks, staged_values
from naiad.control.transcription import GaussSteps

CONDITION_SLACK = 1e-6  # the conditions of the end stand as |r|^2 / (2 CONDITION_SLACK), besides their multipliers


class Linearised(NamedTuple):
    """The blocks of all problems, and those of their first nodes and their ends."""

    starts: Start
    steps: Blocks
    ends: EndBlocks


class Evaluated(NamedTuple):
    """The equations: what first nodes miss, the steps, the costs of the ends, and what their conditions miss."""

    starts: Any
    steps: Values
    end_cost: Any
    conditions: Any


class Barriers(NamedTuple):
    """What bounds add in the controls and in the constants: to the diagonal, and to the slope."""

    diagonal: Any
    slope: Any
    constants: Any
    constants_slope: Any


def evaluated(problem: Problem, at: Iterate, numbers: Numbers) -> Evaluated:
    """The equations at an iterate."""
    intervals = at.intervals(numbers)
    staged = isinstance(problem.steps, GaussSteps)
    steps = staged_values(problem, intervals) if staged else _rows(values, problem, intervals)
    starts = given(problem, at.problems).miss if problem.begin is None else _each(start_values, problem, *at.first)
    return Evaluated(starts, folded(steps, at.problems), *_each(end_values, problem, at.ends(numbers)))


def linearised(problem: Problem, at: Iterate, numbers: Numbers, barrier: Any, curvature: Any) -> Linearised:
    """The blocks; barrier and curvature are numbers, one for each problem."""
    each = [np.repeat(value, at.steps) for value in (barrier, curvature)]
    intervals = at.intervals(numbers)
    staged = isinstance(problem.steps, GaussSteps)
    steps = staged_blocks(problem, intervals, *each) if staged else _rows(blocks, problem, intervals, *each)
    steps = folded(steps, at.problems)
    slack = np.full(at.problems, CONDITION_SLACK)
    starts = given(problem, at.problems) if problem.begin is None else Start(*_each(start_blocks, problem, *at.first))
    return Linearised(starts, steps, EndBlocks(*_each(end_blocks, problem, at.ends(numbers), slack, curvature)))


def swept(problem: Problem, found: Linearised, barriers: Barriers) -> tuple[Change, Any, np.ndarray]:
    """The change of all steps, the increments x of the last nodes, and the smallest pivot of each problem."""
    n, c = problem.group.dim, problem.constants
    sizes = Sizes(problem.state_size, problem.control_size)
    P, N = barriers.diagonal.shape[:2]
    slopes = found.ends.slopes
    V = found.ends.second + slopes @ slopes.transpose(0, 2, 1) / CONDITION_SLACK
    V, v = 0.5 * (V + V.transpose(0, 2, 1)), found.ends.v.copy()
    places = np.arange(n, n + c)
    V[:, places, places] += barriers.constants
    v[:, places] += barriers.constants_slope
    value, feedbacks = Value(V, v, np.full(P, np.inf)), {}
    pieces = range(0, N, PIECE)
    for first in reversed(pieces):
        given = (found.steps.A, found.steps.H, found.steps.q, barriers.diagonal, barriers.slope)
        piece = [_piece(array, first) for array in given]
        value, feedbacks[first] = _each(backward, sizes, value, *piece, _count(N, first, P))
    x, pivot = _started(value, found.starts)
    changes = []
    for first in pieces:
        piece = jax.tree.map(lambda array, first=first: _piece(array, first), found.steps)
        x, change = _each(forward, sizes, x, Feedback(*feedbacks[first]), piece, _count(N, first, P))
        changes.append(jax.tree.map(lambda a, first=first: a[:, : min(PIECE, N - first)], change))
    return jax.tree.map(lambda *parts: np.concatenate(parts, axis=1), *changes), x, pivot


def _started(value: Value, starts: Start) -> tuple[np.ndarray, np.ndarray]:
    """The increments of the first node, with the best constants, and the smallest pivot with theirs."""
    x, pivot, by = starts.miss, value.pivot, starts.slopes
    if by.shape[1]:
        own = by @ value.V @ by.transpose(0, 2, 1)
        slope = by @ (value.v[..., None] + value.V @ x[..., None])
        pivot = np.minimum(pivot, np.linalg.eigvalsh(np.nan_to_num(own, nan=-1.0))[:, 0])
        safe = np.where((pivot > 0)[:, None, None], own, np.eye(by.shape[1]))
        x = x - (np.linalg.solve(safe, slope).transpose(0, 2, 1) @ by)[:, 0]
    return x, pivot


def _piece(array: np.ndarray, first: int) -> np.ndarray:
    """The steps of a piece, filled up with zeros."""
    part = array[:, first : first + PIECE]
    if part.shape[1] == PIECE:
        return part
    whole = np.zeros((part.shape[0], PIECE, *part.shape[2:]))
    whole[:, : part.shape[1]] = part
    return whole


def _count(N: int, first: int, P: int) -> np.ndarray:
    return np.full(P, min(PIECE, N - first))


def moved(problem: Problem, g: Any, eta: np.ndarray, lam: np.ndarray) -> tuple[Any, np.ndarray]:
    """Nodes and their multipliers, moved by increments: rows are problems and nodes."""
    given = jax.tree.map(flat, (g, eta, lam))
    return folded(_rows(_moved, problem, *given), eta.shape[0])


def _moved(problem: Problem, g: Any, eta: Any, lam: Any) -> tuple[Any, Any]:
    """g cay(eta), and the multiplier of increments from there: (dcay^-1_{-eta})* lam."""
    group = problem.group
    return group.renormalise(problem.moved(g, eta)), CHART.dtau_inv_dual(group, -eta, lam)


def _rows(function: Any, problem: Any, *args: Any) -> Any:
    """A function of the problem and rows, for every row."""
    return execute_rows(function, problem, *args, parameters=())


def _each(function: Any, shared: Any, *args: Any) -> Any:
    """A function of what all share and of what belongs to a problem, for each: in lanes, if there are several."""
    if jax.tree.leaves(args)[0].shape[0] > 1:
        return _rows(function, shared, *args)
    alone = execute(function, shared, *jax.tree.map(lambda a: a[0], args), parameters=())
    return jax.tree.map(lambda a: np.asarray(a)[None], alone)
