"""Newton's equations of problems of one form, in tables: blocks of all steps, the two sweeps, the step, and trials."""

import functools
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax
import numpy as np

from naiad.compiler import execute_rows
from naiad.compiler.tables import Table, numbers_of
from naiad.control.constants import Bounds
from naiad.control.ending import CONDITION_SLACK, EndBlocks, EndValues
from naiad.control.first_node import Start, given, start_blocks, start_values
from naiad.control.interval import Interval, Values, values
from naiad.control.iterate import Iterate, Numbers, chosen, table_rows
from naiad.control.kernels import Kernels, kernels
from naiad.control.measures import Duals
from naiad.control.problem import Problem
from naiad.control.riccati import Change
from naiad.control.stages import staged_blocks, staged_values
from naiad.control.step import Kept, swept_of
from naiad.control.sweeps import Sweeps
from naiad.control.transcription import GaussSteps

LARGEST_SPARE = 2**25  # bytes of tables that are kept
BLOCKS = ("weights", "swept", "kept", "bounded", "duals")  # what `linearise` makes, in tables of steps


class Totals(NamedTuple):
    """The equations at an iterate, for each problem: the cost, what is missed (the sum and the largest), and the
    logarithms of slacks and gaps."""

    cost: np.ndarray
    missed: np.ndarray
    largest: np.ndarray
    logs: np.ndarray


class NewtonTables:
    """The equations of problems at an iterate, whose steps lie in lanes: those of all problems, one after the other.

    `nu` are the multipliers of the conditions of the end; after `linearise`, `starts` and `ends` are the blocks of the
    first and the last nodes; after `sweep`, `x_end` are the increments of the last nodes.
    """

    problem: Problem
    numbers: Numbers
    nu: np.ndarray
    starts: Start
    ends: EndBlocks
    x_end: np.ndarray
    at_end: Any  # the table whose ends are those in `end`, and their multipliers

    @classmethod
    def of(cls, problem: Problem, at: Iterate, numbers: Numbers) -> "NewtonTables":
        """The equations at an iterate of problems: in tables that nobody uses any more, if there are such."""
        own = kernels(problem, at, numbers)
        spare = own.spare.get((at.problems, at.steps))
        found = spare.pop() if spare else cls(own, at.problems, at.steps)
        found.problem, found.numbers, found.nu = problem, numbers, at.nu
        leaves = numbers_of(problem)
        found.shared.share(problem, leaves)
        found.shared_alone.share(problem, leaves)
        found.at.put(table_rows(at, numbers, own.forms.at))
        found.at_end = None
        goal = [leaf.reshape(at.problems, -1) for leaf in jax.tree.leaves(numbers.goal)]
        fixed = np.array([numbers.begin, np.full(at.problems, float(at.steps)), numbers.step]).T
        parts = own.forms.end.parts
        found.end.memory[:, : parts["g"].start] = found.sweeps.packed(fixed)
        found.end.memory[:, parts["goal"]] = found.sweeps.packed(np.concatenate(goal, axis=1))
        return found

    def release(self) -> None:
        """The tables are not used any more: they are kept for the next problem of the same size, if they are small."""
        spare, size = self.kernels.spare, (self.P, self.N)
        if self.bytes > LARGEST_SPARE:
            return
        if size not in spare:
            spare.clear()
        if len(kept := spare.setdefault(size, [])) < 2:
            kept.append(self)

    def __init__(self, k: Kernels, P: int, N: int):
        self.kernels, self.P, self.N = k, P, N
        groups, sets = -(-P * N // k.width), -(-P // k.lanes)
        room, forms = groups * k.width, k.forms
        self.owner = np.minimum(np.arange(room) // N, P - 1).reshape(groups, k.width)
        self.shared, self.shared_alone = (Table(forms.shared, 1, lanes, same=True) for lanes in (k.width, k.lanes))
        in_lanes = (forms.at, forms.weights, forms.lengths)
        self.at, self.weights, self.lengths = (Table(form, groups, k.width) for form in in_lanes)
        self.change = Table(forms.change, room, 1)
        self.step, self.limits = k.stepped.tables(groups)
        if k.staged:
            apart = (forms.swept, forms.dual, forms.values)
            self.swept, self.dual, self.values = (Table(form, room, 1) for form in apart)
            self.kept = Table(forms.kept, groups, k.width)
            self.bounded, self.duals = k.rest.tables(groups)
            (self.trial,), (self.measured,) = k.taken.tables(groups), k.measured.tables(groups)
        else:
            self.swept, self.kept, self.bounded, self.duals = k.blocks.tables(groups)
            self.trial, self.measured = k.tried.tables(groups)
        self.end, self.end_weights = (Table(form, sets, k.lanes) for form in (forms.end, forms.weights))
        (self.end_values,), (self.end_blocks,) = k.end_values.tables(sets), k.end_blocks.tables(sets)
        self.sweeps = Sweeps(k, P, N, self.swept, self.bounded, self.change)
        self.calls: dict[Any, Callable[[], None]] = {}
        self.bytes = sum(table.memory.nbytes for table in vars(self).values() if isinstance(table, Table))
        rows = self.matrix(self.duals)  # which lie apart, so that these are where they lie
        self._gradient = Duals(*(rows[..., part] for part in self.duals.fields.parts.values()))

    def _run(self, name: str, shared: Table, inputs: Sequence[Table], outputs: Sequence[Table]) -> None:
        """A compiled function; `at` and `trial` change places, all other tables stay."""
        key = (name, self.at.address)
        if key not in self.calls:
            self.calls[key] = getattr(self.kernels, name).over(shared, inputs, outputs)
        self.calls[key]()

    @functools.cached_property
    def _given(self) -> Start:
        """The blocks of first nodes that are given."""
        return given(self.problem, self.P)

    @property
    def places(self) -> slice:
        """Where the constants are in x."""
        n = self.problem.group.dim
        return slice(n, n + self.problem.constants)

    @property
    def has_path(self) -> bool:
        """Whether there are inequalities along the motion."""
        return self.problem.path is not None

    @functools.cached_property
    def multipliers(self) -> int:
        """How many a problem has, but those of balances and constants."""
        parts = self.at.fields.parts
        each = sum(parts[name].stop - parts[name].start for name in ("lam", "gamma", "rho", "low", "high"))
        return self.N * each + self.nu.shape[1]

    # -- the iterate

    def iterate(self, least: np.ndarray, most: np.ndarray) -> Iterate:
        """As arrays, with the multipliers of the bounds of constants."""
        return Iterate.of(jax.tree.map(np.array, self.rows(self.at)), least, most, self.nu)  # tables are used again

    def rows(self, table: Table) -> Any:
        """A table of steps as arrays; rows are problems and their steps."""
        matrix, shape = self.matrix(table), (self.P, self.N)
        return table.fields.tree.unflatten(
            [matrix[..., place.elements].reshape(*shape, *place.row[1:]) for place in table.fields.places]
        )

    def matrix(self, table: Table) -> np.ndarray:
        """A table of steps, of problems and their steps, all elements side by side."""
        return table.matrix(self.P * self.N).reshape(self.P, self.N, -1)

    @property
    def theta(self) -> np.ndarray:
        """The constants of each problem."""
        return self._picked(self.at, 0)[:, self.at.fields.parts["theta"]]

    def _picked(self, table: Table, step: int) -> np.ndarray:
        """A step of each problem."""
        if self.P == 1:
            return table.memory[None, step // table.lanes, :, step % table.lanes]
        rows = np.arange(step, self.P * self.N, self.N)
        return table.memory[rows // table.lanes, :, rows % table.lanes]

    def _to_steps(self, table: Table, *each: np.ndarray) -> None:
        """Numbers of problems to the rows of their steps."""
        for column, numbers in enumerate(each):
            table.memory[:, column] = numbers[0] if self.P == 1 else numbers[self.owner]

    def chosen(self, rows: np.ndarray) -> "NewtonTables":
        """Some of the problems, with their blocks."""
        none = np.zeros((self.P, 0))
        part = NewtonTables.of(self.problem, chosen(self.iterate(none, none), rows), chosen(self.numbers, rows))
        for name in BLOCKS:
            table = getattr(self, name)
            getattr(part, name).put(self.matrix(table)[rows].reshape(-1, table.fields.size))
        part.ends, part.starts = chosen((self.ends, self.starts), rows)
        return part

    def of_steps(self, each: np.ndarray, name: str) -> np.ndarray:
        """Something of each problem, for the memory of a table of steps."""
        spread = each[self.owner]
        return spread[:, None] if getattr(self, name).lanes > 1 else spread.reshape(-1, 1, 1)

    # -- equations

    def measure(self) -> Totals:
        """What is missed at the iterate."""
        self.step.memory[...] = 0.0
        none = np.zeros(self.P)
        found = self.tried(none, none, self.nu)
        self.take(np.ones(self.P, bool), self.nu)
        return found

    def tried(self, primal: np.ndarray, dual: np.ndarray, nu: np.ndarray) -> Totals:
        """The iterate at the end of so much of the step, and what is missed there."""
        self._to_steps(self.lengths, primal, dual)
        given = [self.at, self.step, self.lengths]
        if self.kernels.staged:
            self._run("taken", self.shared, given, [self.trial])
            self.values.fill(staged_values(self.problem, self.trial.rows(self.P * self.N)))
            self._run("measured", self.shared, [self.trial, self.values], [self.measured])
        else:
            self._run("tried", self.shared, given, [self.trial, self.measured])
        self._place_end(self.trial, nu)
        self._run("end_values", self.shared_alone, [self.end], [self.end_values])
        end: EndValues = self.end_values.rows(self.P)
        steps = self.matrix(self.measured)
        (cost, missed, _, logs), largest = steps.sum(axis=1).T, steps[..., 2].max(axis=1)
        parts = [end.miss]
        if self.problem.begin is not None:
            parts.append(execute_rows(start_values, self.problem, *self._first(self.trial), parameters=()))
        for part in parts:
            sizes = np.abs(part)
            missed, largest = missed + sizes.sum(axis=1), np.maximum(largest, sizes.max(axis=1, initial=0.0))
        return Totals(cost + end.cost, missed, largest, logs)

    def take(self, rows: np.ndarray, nu: np.ndarray) -> None:
        """The trials of these problems, with these multipliers of the end, are their iterates from now on."""
        if rows.all():
            self.at, self.trial, self.nu = self.trial, self.at, nu
        elif rows.any():
            self.nu = np.where(rows[:, None], nu, self.nu)
            np.copyto(self.at.memory, self.trial.memory, where=self.of_steps(rows, "at"))

    def _place_end(self, table: Table, nu: np.ndarray) -> None:
        """The last nodes of an iterate."""
        self.at_end = (table, nu)
        own, parts = self.end.fields.parts, table.fields.parts
        nodes = self._picked(table, self.N - 1)[:, parts["g_next"].start : parts["theta"].stop]
        self.end.memory[:, own["g"].start : own["nu"].stop] = self.sweeps.packed(np.concatenate([nodes, nu], axis=1))

    def _first(self, table: Table) -> tuple[Any, Any, Any]:
        """The first nodes of an iterate, and the constants."""
        first: Interval = chosen(self.rows(table), (slice(None), 0))
        return first.g, first.m, first.theta

    def weigh(self, barrier: np.ndarray, curvature: np.ndarray) -> None:
        """Another barrier, which blocks depend on where there are inequalities, and the curvature."""
        self._to_steps(self.weights, barrier, curvature)

    def linearise(self, barrier: np.ndarray, curvature: np.ndarray) -> None:
        """The blocks at the iterate."""
        self.weigh(barrier, curvature)
        if self.kernels.staged:
            self._staged()
        else:
            blocks = [self.swept, self.kept, self.bounded, self.duals]
            self._run("blocks", self.shared, [self.at, self.weights], blocks)
        if self.at_end is None or self.at_end[0] is not self.at or self.at_end[1] is not self.nu:
            self._place_end(self.at, self.nu)
        self.end_weights.memory[...] = self.sweeps.packed(np.array([barrier, curvature]).T)
        self._run("end_blocks", self.shared_alone, [self.end, self.end_weights], [self.end_blocks])
        self.ends = self.end_blocks.rows(self.P)
        self.starts = self._given
        if self.problem.begin is not None:
            self.starts = execute_rows(start_blocks, self.problem, *self._first(self.at), parameters=())

    def _staged(self) -> None:
        """The blocks of steps with several stages, which NumPy puts together."""
        weights = self.weights.rows(self.P * self.N)
        found = staged_blocks(self.problem, self.at.rows(self.P * self.N), *weights)
        self.swept.fill(execute_rows(swept_of, self.kernels.sizes, found, parameters=()))
        self.kept.fill(Kept(*(getattr(found, name) for name in Kept._fields)))
        self.dual.fill(found.dual)
        self._run("rest", self.shared, [self.at, self.dual], [self.bounded, self.duals])

    def gradient(self) -> Duals:
        """What steps add to the dual errors; rows are problems and their steps."""
        return self._gradient

    # -- the step

    def sweep(self, barrier: np.ndarray, shift: np.ndarray, bounds: Bounds | None) -> np.ndarray:
        """Solve for the changes; the smallest pivot of each problem. `bounds` are those of the constants."""
        n, c = self.problem.group.dim, self.problem.constants
        slopes = self.ends.slopes
        V = self.ends.second + slopes @ slopes.transpose(0, 2, 1) / CONDITION_SLACK
        V, v = 0.5 * (V + V.transpose(0, 2, 1)), self.ends.v
        if bounds is not None:
            places, v = np.arange(n, n + c), v.copy()
            V[:, places, places] += bounds.stiff
            v[:, places] += bounds.slope
        V, v, pivot = self.sweeps.back(V, v, np.array([barrier, shift]).T)
        first, pivot = _started(V, v, pivot, self.starts)
        self.x_end = self.sweeps.on(first)
        return pivot

    def direct(self) -> tuple[np.ndarray, np.ndarray]:
        """The step, and the multiples of it at which a slack or a bound is met, and at which one of their multipliers
        vanishes."""
        given = [self.at, self.weights, self.kept, self.change]
        self._run("stepped", self.shared, given, [self.step, self.limits])
        limits = self.matrix(self.limits).min(axis=1)
        return limits[:, 0], limits[:, 1]

    def conditions(self) -> np.ndarray:
        """The new multipliers of the conditions of the end."""
        return self.nu + (self.ends.miss + (self.x_end[:, None] @ self.ends.slopes)[:, 0]) / CONDITION_SLACK

    def changes(self) -> Change:
        """The changes of all steps; rows are problems and their steps."""
        return self.rows(self.change)


def step_values(problem: Problem, intervals: Interval) -> Values:
    """The equations of steps, in rows."""
    if isinstance(problem.steps, GaussSteps):
        return staged_values(problem, intervals)
    return execute_rows(values, problem, intervals, parameters=())


def _started(V: np.ndarray, v: np.ndarray, pivot: np.ndarray, starts: Start) -> tuple[np.ndarray, np.ndarray]:
    """The increments of the first node, with the best constants, and the smallest pivot with theirs."""
    x, by = starts.miss, starts.slopes
    if by.shape[1]:
        own = by @ V @ by.transpose(0, 2, 1)
        slope = by @ (v[..., None] + V @ x[..., None])
        pivot = np.minimum(pivot, np.linalg.eigvalsh(np.nan_to_num(own, nan=-1.0))[:, 0])
        safe = np.where((pivot > 0)[:, None, None], own, np.eye(by.shape[1]))
        x = x - (np.linalg.solve(safe, slope).transpose(0, 2, 1) @ by)[:, 0]
    return x, pivot
