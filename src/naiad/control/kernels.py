"""The compiled functions of a problem, over tables: of steps, which lie in lanes, and of what there is once."""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import numpy as np

from naiad.compiler.tables import SELDOM, Fields, OverTables, default_lanes, made_once
from naiad.compiler.together import together
from naiad.control.blocks import Kept, blocks
from naiad.control.ending import End, EndBlocks, EndStep, Errors, conditions, end_blocks, end_stepped, end_tried
from naiad.control.first_node import First, Start, begun
from naiad.control.geodesic import Route, along
from naiad.control.interval import Interval
from naiad.control.iterate import Rows
from naiad.control.measures import Duals, Measured, duals, joined, measured, summed
from naiad.control.problem import Problem
from naiad.control.riccati import Barrier, Bounded, Change, Gains, Sizes, Swept, Value, backward, forward
from naiad.control.stages import values_of
from naiad.control.step import Lengths, Step, Weights, bounded, stepped, taken
from naiad.mechanics import State

MOST_SCALARS, IN_STAGES = 128, 64  # larger arrays of a step live in memory: what is written out takes long to compile


class Forms(NamedTuple):
    """The forms of the rows of all tables."""

    shared: Fields
    route: Fields
    index: Fields
    at: Fields
    step: Fields
    end: Fields
    end_step: Fields
    end_blocks: Fields
    start: Fields
    pivot: Fields
    weights: Fields
    lengths: Fields
    swept: Fields
    kept: Fields
    bounded: Fields
    duals: Fields
    measured: Fields
    errors: Fields
    value: Fields
    x: Fields
    change: Fields
    gains: Fields
    barrier: Fields

    @classmethod
    def of(cls, problem: Problem) -> "Forms":
        """Of a problem."""
        route, at = examples(problem)
        end = route.end
        n, c, own, inner = problem.group.dim, problem.constants, problem.control_size, problem.inner_size
        nx, q, r = problem.state_size, np.size(at.rho), np.size(end.nu)
        ny, zeros, one = own + nx, np.zeros, np.zeros(())
        columns = Sizes.of(problem).columns
        multipliers = (at.sigma, at.lam, at.gamma, at.rho, at.slack, at.low, at.high)
        forms = (
            problem,
            route,
            one,
            at,
            Step(zeros(n), zeros(n), zeros(n), zeros(n), zeros(c), at.K, at.U, *multipliers),
            end,
            EndStep(
                zeros(n), zeros(n), zeros(c), zeros(r), zeros(c), zeros(c), (zeros(n), zeros(n)) if end.start else ()
            ),
            EndBlocks(zeros(r), zeros((nx, r)), zeros(nx)),
            Start(zeros(nx), zeros((c, nx))),
            First(one),
            Weights(one, one),
            Lengths(one, one),
            Swept(zeros((nx + 1, columns)), zeros((ny, columns))),
            Kept(
                zeros((ny + 1, 2 * inner)),
                zeros((ny + 1, q)),
                zeros((inner, inner)),
                zeros(inner),
                zeros((inner, 2 * n)),
                zeros(q),
            ),
            Bounded(zeros(own), zeros(own)),
            Duals(one, zeros(2 * n), zeros(2 * n), zeros(c), one, one, one, one),
            Measured(one, one, one, one),
            Errors(one, one, one),
            Value(zeros((nx, columns)), one),
            zeros(nx),
            Change(zeros(nx), zeros(nx), zeros(own), zeros(nx)),
            Gains(zeros((own, columns))),
            Barrier(one, one),
        )
        return cls(*map(Fields.of, forms))


class Kernels:
    """The functions by their names, `over` tables; `width` is how many steps lie side by side."""

    def __init__(self, problem: Problem):
        self.forms, self.width = (forms := Forms.of(problem)), default_lanes()
        self.spare: dict[int, list[Any]] = {}  # tables that nobody uses, for so many steps
        self.sizes, self.rows = Sizes.of(problem), Rows(forms.at, forms.end)
        f = forms

        def steps(function: Any, *fields: Fields, apart: tuple[str, ...] = ()) -> OverTables:
            most = IN_STAGES if problem.staged else MOST_SCALARS
            options: dict[str, Any] = {"lanes": self.width, "apart": apart, "most_scalars": most}
            return OverTables(function, problem, *fields, **options)

        def alone(function: Any, shared: Any, *fields: Fields, level: int = 0) -> OverTables:
            options: dict[str, Any] = {"most_scalars": self.sizes.most_scalars, "level": level}
            return OverTables(function, shared, *fields, lanes=1, **options)

        makers: dict[str, Callable[[], OverTables]] = {
            "blocks": lambda: steps(_blocks, f.at, f.weights, apart=("out0", "out2")),
            "tried": lambda: steps(_tried, f.at, f.step, f.lengths, apart=("out1", "out2")),
            "backward": lambda: alone(backward, self.sizes, f.value, f.swept, f.bounded, f.barrier, level=1),
            "stepped": lambda: steps(stepped, f.at, f.weights, f.kept, f.change, apart=("in4", "out1")),
            "forward": lambda: alone(forward, self.sizes, f.x, f.swept, f.gains, f.value),
            "begun": lambda: alone(begun, self.sizes, f.value, f.start, f.barrier, level=SELDOM),
            "joined": lambda: alone(joined, self.sizes, f.duals, f.duals),
            "summed": lambda: alone(summed, self.sizes, f.measured, f.measured),
            "end_stepped": lambda: alone(end_stepped, problem, f.end, f.weights, f.end_blocks, f.x, f.x, level=SELDOM),
            "end_tried": lambda: alone(end_tried, problem, f.end, f.end_step, f.lengths, f.measured, level=SELDOM),
        }
        makers["along"] = lambda: steps(along, f.route, f.index)
        makers["end_blocks"] = lambda: alone(end_blocks, problem, f.end, f.weights, f.duals, level=SELDOM)
        self.over = dict(zip(makers, together(list(makers.values())), strict=True))


def kernels(problem: Problem) -> Kernels:
    """The functions of problems: made once for all of a form."""
    return made_once(problem, Kernels, lambda: Kernels(problem))


def examples(problem: Problem) -> tuple[Route, Interval]:
    """Where the iteration of a problem begins, and a step there, of zeros."""
    zeros: Any = np.zeros
    group, steps, one = problem.group, problem.steps, zeros(())
    m, c, none = zeros(group.dim), zeros(problem.constants), zeros(problem.state_size)
    K, U, state = (
        zeros((steps.inner, m.size)),
        zeros((steps.stages, problem.controls)),
        State(_zeros(group.identity), m),
    )
    end = End(one, one, one, state, c, c, *state, c, c, c, c, () if problem.begin is None else state)
    end = end._replace(nu=_zeros(lambda: conditions(problem, end, none)))
    paths = _zeros(lambda: problem.path_values(state.g, K, U, one, one))
    multipliers = (K, m, m, paths, paths, U, U, U[0], U[0])
    route = Route(state, zeros((2, m.size)), one, *[U] * 3, *[U[0]] * 2, one, end)
    return route, Interval(one, one, one, *state, *state, c, K, U, *multipliers)


def _zeros(function: Callable[[], Any]) -> Any:
    """Zeros of the shapes of what a function gives."""
    return jax.tree.map(lambda a: np.zeros(a.shape), jax.eval_shape(function))


def _blocks(problem: Problem, at: Interval, weights: Weights) -> tuple[Swept, Kept, Bounded]:
    return *blocks(problem, at, weights.barrier, weights.curvature), bounded(problem, at)


def _tried(problem: Problem, at: Interval, step: Step, lengths: Lengths) -> tuple[Interval, Measured, Duals]:
    trial = taken(problem, at, step, lengths)
    missed = values_of(problem, trial)
    return trial, measured(problem, trial, missed), duals(problem, trial, missed.dual)
