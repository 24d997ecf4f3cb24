"""The compiled functions of a problem, over tables: of steps, which lie in lanes, and of problems, one after the other
or in lanes too."""

from typing import Any, NamedTuple

import numpy as np

from naiad.compiler.tables import Current, Fields, OverTables, default_lanes, form_of
from naiad.control.ending import End, end_blocks, end_values
from naiad.control.interval import Interval, Values, blocks, values
from naiad.control.iterate import Iterate, Numbers, chosen
from naiad.control.measures import Duals, Measured, duals, measured
from naiad.control.problem import Problem
from naiad.control.riccati import (
    Barrier,
    Bounded,
    Change,
    Gains,
    Sizes,
    Swept,
    Value,
    backward,
    forward,
)
from naiad.control.step import Kept, Lengths, Step, Weights, bounded, kept_of, stepped, swept_of, taken
from naiad.control.transcription import GaussSteps


def sizes_of(problem: Problem) -> Sizes:
    """The sizes of the sweeps of a problem."""
    return Sizes(problem.state_size, problem.control_size)


class Forms(NamedTuple):
    """The forms of the rows of all tables."""

    shared: Fields
    at: Fields
    end: Fields
    weights: Fields
    lengths: Fields
    swept: Fields
    kept: Fields
    bounded: Fields
    value: Fields
    x: Fields
    change: Fields
    gains: Fields
    barrier: Fields
    dual: Fields
    values: Fields

    @classmethod
    def of(cls, problem: Problem, at: Interval, end: End) -> "Forms":
        """Of a problem with a step and an end like these."""
        n, c, own, inner = problem.group.dim, problem.constants, problem.control_size, problem.inner_size
        nx, q = problem.state_size, np.size(at.rho)
        ny, zeros, one = own + nx, np.zeros, np.zeros(())
        columns = sizes_of(problem).columns
        forms = (
            problem,
            at,
            end,
            Weights(one, one),
            Lengths(one, one),
            Swept(zeros((nx + 1, columns)), zeros((ny, columns))),
            Kept(
                zeros((ny + 1 + inner, inner)),
                zeros((ny + 1, inner)),
                zeros(inner),
                zeros((inner, 2 * n)),
                zeros((ny + 1, q)),
                zeros(q),
            ),
            Bounded(zeros(own), zeros(own)),
            Value(zeros((nx, columns)), one),
            zeros(nx),
            Change(zeros(nx), zeros(nx), zeros(own), zeros(nx)),
            Gains(zeros((own, columns))),
            Barrier(one, one),
            zeros(own + n + c + inner),
            Values(one, zeros(inner), zeros(n), zeros(n), zeros(q)),
        )
        return cls(*map(Fields.of, forms))


class Kernels:
    """The functions; `lanes` is how many problems lie side by side, `width` how many steps."""

    def __init__(self, problem: Problem, forms: Forms, lanes: int):
        self.forms, self.lanes, self.width = forms, lanes, default_lanes()
        self.spare: dict[tuple[int, int], list[Any]] = {}  # tables that nobody uses, for so many problems and steps
        self.sizes = sizes_of(problem)
        self.staged = isinstance(problem.steps, GaussSteps)
        f, width = forms, self.width
        self.stepped = OverTables(
            stepped, problem, f.at, f.weights, f.kept, f.change, lanes=width, apart=("in4", "out1")
        )
        step = self.stepped.results[0]
        if self.staged:
            self.rest = OverTables(_rest, problem, f.at, f.dual, lanes=width, apart=("in2", "out0", "out1"))
            self.taken = OverTables(_taken, problem, f.at, step, f.lengths, lanes=width)
            self.measured = OverTables(_measured, problem, f.at, f.values, lanes=width, apart=("in2", "out0"))
        else:
            self.blocks = OverTables(_blocks, problem, f.at, f.weights, lanes=width, apart=("out0", "out2", "out3"))
            self.tried = OverTables(_tried, problem, f.at, step, f.lengths, lanes=width, apart=("out1",))
        self.end_values = OverTables(end_values, problem, f.end, lanes=lanes)
        self.end_blocks = OverTables(end_blocks, problem, f.end, f.weights, lanes=lanes)
        scanned = (f.swept, f.bounded, f.barrier)
        self.backward = OverTables(
            backward, self.sizes, f.value, *scanned, lanes=lanes, most_scalars=self.sizes.most_scalars
        )
        self.forward = OverTables(
            forward, self.sizes, f.x, f.swept, f.gains, f.value, lanes=lanes, most_scalars=self.sizes.most_scalars
        )


def kernels(problem: Problem, at: Iterate, numbers: Numbers) -> Kernels:
    """The functions of problems, at iterates like these: made once for all of a form."""
    lanes = 1 if at.problems == 1 else default_lanes()
    form = (form_of(problem), at.rho.shape[2], at.nu.shape[1], lanes)
    made = _MADE.get(form)
    if made is None:
        made = _MADE[form] = (Current(problem), {})
    version = made[0].current()
    if version not in made[1]:
        made[1].clear()
        step, end = chosen(at.intervals(numbers), 0), chosen(at.ends(numbers), 0)
        made[1][version] = Kernels(problem, Forms.of(problem, step, end), lanes)
    return made[1][version]


_MADE: dict[Any, Any] = {}


def _blocks(problem: Problem, at: Interval, weights: Weights) -> tuple[Swept, Kept, Bounded, Duals]:
    found = blocks(problem, at, weights.barrier, weights.curvature)
    return swept_of(sizes_of(problem), found), kept_of(found), bounded(at), duals(problem, at, found.dual)


def _tried(problem: Problem, at: Interval, step: Step, lengths: Lengths) -> tuple[Interval, Measured]:
    trial = taken(problem, at, step, lengths)
    return trial, measured(trial, values(problem, trial))


def _rest(problem: Problem, at: Interval, dual: Any) -> tuple[Bounded, Duals]:
    return bounded(at), duals(problem, at, dual)


def _taken(problem: Problem, at: Interval, step: Step, lengths: Lengths) -> tuple[Interval]:
    return (taken(problem, at, step, lengths),)


def _measured(problem: Problem, at: Interval, missed: Values) -> tuple[Measured]:
    return (measured(at, missed),)
