"""Newton's equations of a problem, in tables: the blocks of all steps, the two sweeps, the step, and trials."""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import jax
import numpy as np

from naiad.compiler import execute_rows
from naiad.compiler.tables import Table, chained, numbers_of
from naiad.control.ending import EndBlocks, Errors
from naiad.control.geodesic import Route
from naiad.control.interval import Interval, Values
from naiad.control.iterate import Iterate, Numbers, Packed
from naiad.control.kernels import Kernels, kernels
from naiad.control.measures import Duals, Measured
from naiad.control.problem import Problem
from naiad.control.riccati import Change
from naiad.control.stages import values_of
from naiad.control.units import is_ordinary

LARGEST_SPARE = 2**25  # bytes of tables that are kept
MOST_SPARE = 4  # of the same size

Call = Callable[[], None]


class Plan(NamedTuple):
    """What is called at an iterate: to have the first one, its errors, its blocks, the step, and the trial there."""

    begin: Call
    errors: Call
    linearise: Call
    step: Call
    trial: Call


class NewtonTables:
    """The equations of a problem at an iterate, whose steps lie in lanes.

    What is computed stays in the tables: of the iterate in `at` and `end`, after `tried` the gradient at the trial in
    `duals`, after `linearise` the blocks of the iterate in `swept`, `kept` and `closing`, after `sweep` the changes in
    `change`, after `direct` the step.
    """

    problem: Problem

    @classmethod
    def of(cls, problem: Problem, at: Iterate | Route, numbers: Numbers) -> "NewtonTables":
        """The equations at an iterate: in tables that nobody uses any more, if there are such."""
        own = kernels(problem)
        try:
            found = own.spare[at.steps].pop()
        except LookupError:
            found = cls(own, at.steps)
        if isinstance(at, Route) and found.begun is at:
            return found
        found.problem = problem
        found.shared.share(problem, numbers_of(problem))
        if isinstance(at, Route):
            found.begin(at)
        else:
            found.begun = None
            steps, found.end.memory[0, :, 0] = own.rows.of(*in_units(problem, at, numbers))
            found.at.put(steps)
        return found

    def release(self) -> None:
        """The tables are not used any more: they are kept for the next problem of the same size, if they are small."""
        spare = self.kernels.spare
        if self.bytes > LARGEST_SPARE:
            return
        if self.N not in spare:
            spare.clear()
        if len(kept := spare.setdefault(self.N, [])) < MOST_SPARE:
            kept.append(self)

    def __init__(self, k: Kernels, N: int):
        self.kernels, self.N = k, N
        self.begun: Route | None = None  # the route whose first iterate is in the tables
        groups, forms, over = -(-N // k.width), k.forms, k.over
        room = groups * k.width

        def tables(lanes: int, count: int, *each: Any, same: bool = False) -> list[Table]:
            return [Table(form, count, lanes, same=same) for form in each]

        self.shared, self.barrier, self.alone, self.alone_lengths = tables(
            1, 1, forms.shared, forms.barrier, forms.weights, forms.lengths, same=True
        )
        self.sizes = Table.same(k.sizes)
        self.route = Table(forms.route, 1, k.width, same=True)
        self.index = Table(forms.index, groups, k.width)
        self.index.put(np.arange(N)[:, None])
        self.weights, self.lengths = tables(k.width, 1, forms.weights, forms.lengths, same=True)
        self.at, self.trial, self.step, self.kept = tables(k.width, groups, *[forms.at] * 2, forms.step, forms.kept)
        self.swept, self.bounded, self.duals, self.limits, self.change, self.measured = tables(
            1, room, forms.swept, forms.bounded, forms.duals, forms.lengths, forms.change, forms.measured
        )
        self.values, self.x, self.joined, self.summed = tables(
            1, N + 1, forms.value, forms.x, forms.duals, forms.measured
        )
        (self.gains,) = tables(1, N, forms.gains)
        self.end, self.end_trial, self.end_step, self.end_limits, self.total = tables(
            1, 1, *[forms.end] * 2, forms.end_step, forms.lengths, forms.measured
        )
        self.end_blocks, self.start, self.wrong, self.pivot = tables(
            1, 1, forms.end_blocks, forms.start, forms.errors, forms.pivot
        )
        self.closing = self.values.part(N, N + 1)
        self.bytes = sum(table.memory.nbytes for table in vars(self).values() if isinstance(table, Table))
        parts = forms.duals.parts
        self.joined.memory[0, parts["least"]], self.joined.memory[0, parts["most"]] = np.inf, -np.inf
        swept = (self.swept, self.bounded, self.barrier)
        self._back = over["backward"].scan(self.sizes, self.values, swept, [self.gains], reverse=True)
        first = [self.x.part(0, 1), self.pivot]
        begin = over["begun"].over(self.sizes, [self.values.part(0, 1), self.start, self.barrier], first)
        given = [self.swept, self.gains, self.values.part(1)]
        self._on = over["forward"].scan(self.sizes, self.x, given, [self.change])
        self._sweep = chained([self._back, begin, self._on])
        self.plan, self.other = self._bound(), self._bound(swapped=True)
        self._lengths = self.lengths.memory[0], self.alone_lengths.memory[0]
        self._weights = self.weights.memory[0], self.alone.memory[0]
        single = (self.total, self.wrong, self.end_limits)
        self._total, self._errors, self._end_limits = (table.memory[0, :, 0] for table in single)
        self._limits, self._pivot = self.limits.memory[:N, :, 0], self.pivot.memory[0]
        self._shift = self.barrier.memory[0]

    def _bound(self, swapped: bool = False) -> Plan:
        """The calls at the iterate, or at what is the trial now; the two change places."""
        over, shared, first = self.kernels.over, self.shared, [self.route, self.index]
        (at, trial), (end, end_trial) = (self.at, self.trial), (self.end, self.end_trial)
        if swapped:
            at, trial, end, end_trial = trial, at, end_trial, end
        N = self.N
        made = [over["blocks"].over(shared, [at, self.weights], [self.swept, self.kept, self.bounded])]
        tried = [over["tried"].over(shared, [at, self.step, self.lengths], [trial, self.measured, self.duals])]
        joined = over["joined"].scan(self.sizes, self.joined, [self.duals], [])
        given = [end, self.alone, self.joined.part(N, N + 1)]
        closed = over["end_blocks"].over(shared, given, [self.end_blocks, self.closing, self.start, self.wrong])
        given = [end, self.alone, self.end_blocks, self.x.part(0, 1), self.x.part(N, N + 1)]
        step = [
            over["stepped"].over(shared, [at, self.weights, self.kept, self.change], [self.step, self.limits]),
            over["end_stepped"].over(shared, given, [self.end_step, self.end_limits]),
        ]
        summed = over["summed"].scan(self.sizes, self.summed, [self.measured], [])
        given = [end, self.end_step, self.alone_lengths, self.summed.part(N, N + 1)]
        tried += [summed, over["end_tried"].over(shared, given, [end_trial, self.total])]
        begin = over["along"].over(shared, first, [at])
        return Plan(begin, chained([joined, closed]), chained([*made, closed]), chained(step), chained(tried))

    # -- the iterate

    def begin(self, route: Route) -> None:
        """The iterate is the first one along this route."""
        self.begun = route
        row = route.row()
        self.route.memory[0], self.end.memory[0, :, 0] = row[:, None], row[-self.end.fields.size :]
        self.plan.begin()

    def packed(self) -> Packed:
        """The iterate, with a memory of its own: tables are used again."""
        own = self.kernels.rows, self.at.copied(self.N), self.end.memory[0, :, 0].copy()
        units = self.problem.units
        return Packed(*own, None if units.plain else partial(units.out, reaching=self.problem.reaching))

    def momenta(self) -> np.ndarray:
        """The largest momentum at the nodes, of each component."""
        parts = self.kernels.forms.at.parts
        return np.max([np.abs(self.at.memory[:, parts[name]]).max(axis=(0, 2)) for name in ("m", "m_next")], axis=0)

    def cost_with(self, controls: Any) -> float:
        """The cost at the iterate with these controls at all stages."""
        self._stay()
        forms, stages = self.kernels.forms, self.problem.steps.stages
        wanted = np.tile(np.broadcast_to(controls, self.problem.controls), stages)
        self.step.memory[:, forms.step.parts["U"]] = wanted[:, None] - self.at.memory[:, forms.at.parts["U"]]
        return self.tried(1.0, 0.0).cost

    def inequalities(self) -> np.ndarray:
        """After `linearise`, the largest value of each of the user's inequalities along the iterate."""
        found = np.abs(self.kept.rows(self.N).path)
        return found.reshape(self.N * self.problem.steps.stages, -1).max(axis=0)

    def wish(self) -> np.ndarray:
        """After `linearise`, how far from the iterate the conditions and the cost of the end want the last place: no
        farther than one, as long as both are of the size of one."""
        n, nx = self.problem.group.dim, self.problem.state_size
        V = np.nan_to_num(self.values.rows(self.N + 1).V[-1])
        found = np.abs(np.linalg.pinv(V[:, :nx], rcond=1e-12) @ V[:, nx])[:n]
        return np.minimum(found, 1.0) if is_ordinary([*self.ends.miss, self.measure().cost], least=0.0) else found

    # -- equations

    def measure(self) -> Measured:
        """What is missed at the iterate, which is renormalised."""
        self._stay()
        found = self.tried(0.0, 0.0)
        self.take()
        return found

    def _stay(self) -> None:
        """A step to nowhere."""
        self.step.memory[...] = self.end_step.memory[...] = 0.0

    def tried(self, primal: float, dual: float) -> Measured:
        """The cost and what is missed at the end of so much of the step, which is the trial then."""
        for lengths in self._lengths:
            lengths[0], lengths[1] = primal, dual
        self.plan.trial()
        return Measured(*self._total.tolist())

    def take(self) -> None:
        """The trial is the iterate from now on."""
        self.begun = None
        self.at, self.trial, self.end, self.end_trial = self.trial, self.at, self.end_trial, self.end
        self.plan, self.other = self.other, self.plan

    def errors(self, barrier: float) -> Errors:
        """Those of the iterate, where it was the last trial."""
        self._weigh(barrier, 1.0)
        self.plan.errors()
        return Errors(*self._errors.tolist())

    def linearise(self, barrier: float, curvature: float = 1.0) -> None:
        """The blocks at the iterate."""
        self._weigh(barrier, curvature)
        self.plan.linearise()

    def _weigh(self, barrier: float, curvature: float) -> None:
        for weights in self._weights:
            weights[0], weights[1] = barrier, curvature

    @property
    def gradient(self) -> Duals:
        """What all steps together add to the dual errors."""
        return jax.tree.map(lambda a: a[-1], self.joined.rows(self.N + 1))

    @property
    def ends(self) -> EndBlocks:
        """The blocks of the end."""
        return jax.tree.map(lambda a: a[0], self.end_blocks.rows(1))

    # -- the step

    def sweep(self, barrier: float, shift: float) -> float:
        """Solve for the changes; the smallest pivot."""
        self._shift[:, 0] = barrier, shift
        self._sweep()
        return self._pivot.item()

    def back(self, barrier: float, shift: float) -> None:
        """The costs to go, from that at the end."""
        self._shift[:, 0] = barrier, shift
        self._back()

    def on(self) -> None:
        """The changes, from the increments of the first node."""
        self._on()

    def direct(self, bounded: bool = True) -> tuple[float, float]:
        """The step, and the multiples of it at which a slack or a bound is met, if there are any, and at which one of
        their multipliers vanishes."""
        self.plan.step()
        primal, dual = self._end_limits.tolist()
        if not bounded:
            return primal, dual
        steps = np.minimum.reduce(self._limits).tolist()
        return min(steps[0], primal), min(steps[1], dual)

    def forced(self) -> np.ndarray:
        """After `linearise`, how far inequalities that are not met want places to move: the least that meets each."""
        n, kept = self.problem.group.dim, self.kept.rows(self.N)
        slopes, missed = kept.paths[:, :n], np.maximum(kept.path, 0.0)[:, None]
        steepness = np.sum(slopes**2, axis=1, keepdims=True)
        moves = np.abs(slopes) * missed / np.where(steepness > 0.0, steepness, 1.0)
        return np.max(moves, axis=(0, 2), initial=0.0)

    def changes(self) -> Change:
        """The changes of all steps."""
        return self.change.rows(self.N)


def in_units(problem: Problem, at: Iterate, numbers: Numbers) -> tuple[Iterate, Numbers]:
    """An iterate and the numbers of a problem in its units."""
    units = problem.units
    return (at, numbers) if units.plain else (units.into(at, problem.reaching), units.numbers(numbers))


def step_values(problem: Problem, at: Iterate, numbers: Numbers) -> Values:
    """The equations of the steps of an iterate that is in the units of the problem, in rows; without the gradient."""
    return execute_rows(_equations, problem, at.intervals(numbers), parameters=())


def _equations(problem: Problem, at: Interval) -> Values:
    return values_of(problem, at)._replace(dual=None)
