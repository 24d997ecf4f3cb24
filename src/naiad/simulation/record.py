"""The rows of a run: the saved nodes along `time`, the crossings along `crossing`, and outputs with a cadence of their
own along `output_time`."""

import functools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Self

import jax
import numpy as np

from naiad.groups import AbstractGroup
from naiad.mechanics import LagrangianSystem, State, identity, join_rows, split_rows, units_of
from naiad.mechanics.labels import TIME, coordinates, labels
from naiad.simulation.checkpoint import origin
from naiad.simulation.monitor import Monitor
from naiad.simulation.outcome import Outcome
from naiad.simulation.plan import Chunk, Plan, Routine

if TYPE_CHECKING:
    import xarray as xr

TIMES = ("time", "output_time", "crossing_time")
STATISTICS = ("newton_iterations_mean", "newton_iterations_max", "residual_max", "correction_max", "turn_max")


class Columns:
    """The rows of a run or of pieces of it: arrays by name with their dimensions, and where the run stands after them.

    They are made when somebody looks at them, and become a labelled dataset when somebody asks for one, so that a run
    takes no longer than it must and need not load xarray.
    """

    def __init__(self, plan: Plan, chunks: Sequence[Chunk]):
        self._plan = plan
        self._chunks = chunks

    @classmethod
    def read(cls, plan: Plan, first: Chunk, record: "xr.Dataset") -> Self:
        """The rows of a run with this first node that were written, as if they had never been elsewhere."""
        columns = cls(plan, [first])
        arrays = {name: (dims, record[name].to_numpy()) for name, (dims, _) in columns.arrays.items()}
        vars(columns).update(arrays=arrays, attrs={name: record.attrs[name] for name in columns.attrs})
        return columns

    def __getstate__(self) -> dict[str, Any]:
        """For pickle: what was made, which needs none of the functions of the run."""
        return {"arrays": self.arrays, "attrs": self.attrs, "about": self.about, "bodies": self.bodies}

    @functools.cached_property
    def arrays(self) -> dict[str, tuple[tuple[str, ...], np.ndarray]]:
        """Dimensions and values, by name."""
        routine, chunk = self._plan.routine, Chunk.joined(self._chunks)
        arrays = {"time": (("time",), chunk.times)} | state_variables(routine, chunk.frames.state, "time")
        arrays |= {name: variable("time", name, values) for name, values in chunk.frames.outputs.items()}
        if chunk.outputs is not None:
            times, outputs = chunk.outputs
            arrays["output_time"] = ("output_time",), times
            arrays |= {name: variable("output_time", name, values) for name, values in outputs.items()}
        if routine.sections:
            arrays |= _crossing_variables(routine, chunk)
        return arrays

    @functools.cached_property
    def attrs(self) -> dict[str, Any]:
        """Where the run stands."""
        return standing_attributes(self._plan, self._chunks[-1])

    @property
    def origin(self) -> dict[str, Any]:
        """By what the run is known again; what was pickled has lost it."""
        return origin(self._plan) if "_plan" in vars(self) else {}

    @functools.cached_property
    def about(self) -> dict[str, dict[str, str]]:
        """Words and units, by name."""
        system = self._plan.routine.system
        known = {name: label.attributes for name, label in labels(system).items()}
        time = TIME.renamed(units_of(system)).attributes
        crossed = {f"crossing_{name}": attributes for name, attributes in known.items()}
        return known | crossed | {name: time for name in TIMES}

    @functools.cached_property
    def bodies(self) -> Sequence[str] | None:
        """The names of the bodies."""
        return bodies_of(self._plan.routine.system)

    def dataset(self) -> "xr.Dataset":
        """The same, labelled."""
        import xarray as xr

        arrays = {name: (*each, self.about.get(name, {})) for name, each in self.arrays.items()}
        times = {name: arrays.pop(name) for name in ("time", "output_time") if name in arrays}
        made = xr.Dataset(arrays, times, self.attrs)
        return made.assign_coords(coordinates(made.sizes, self.bodies))

    def values(self, name: str) -> np.ndarray:
        """An array."""
        return self.arrays[name][1]


def state_variables(routine: Routine, states: State, dim: str, prefix: str = "") -> dict[str, Any]:
    """The components of stacked states, by the names of the group; configurations only where they were followed."""
    group, known = routine.system.group, labels(routine.system)
    elements = zip(group.names.element, jax.tree.leaves(states.g), strict=True) if routine.reconstruct else ()
    momenta = zip(group.names.momentum, split_rows(group, states.mu), strict=True)
    return {prefix + name: ((dim, *known[name].dims), np.asarray(values)) for name, values in (*elements, *momenta)}


def bodies_of(system: LagrangianSystem) -> Sequence[str] | None:
    """The names that a system gives its bodies."""
    return None if system.picture is None else system.picture.names


def stacked_states(group: AbstractGroup, values: Callable[[str], np.ndarray], *, followed: bool = True) -> State:
    """The inverse of `state_variables`; g is the identity where configurations were not followed."""
    mu = join_rows(group, [values(name) for name in group.names.momentum])
    if not followed:
        return State(jax.tree.map(lambda e: np.broadcast_to(e, (*mu.shape[:-1], *e.shape)), identity(group)), mu)
    g = jax.tree.unflatten(jax.tree.structure(identity(group)), [values(name) for name in group.names.element])
    return State(g, mu)


def variable(dim: str, name: str, values: Any) -> tuple[tuple[str, ...], np.ndarray]:
    """An array whose first axis is `dim`; the others are named after the variable."""
    return (dim, *(f"{name}_{axis}" for axis in range(np.ndim(values) - 1))), np.asarray(values)


def standing_attributes(plan: Plan, chunk: Any) -> dict[str, Any]:
    """What a file holds of where a run stands after a chunk."""
    standing = chunk.standing
    steps, figures = chunk.node - plan.first, standing.statistics
    halfway = standing.goes_on and not plan.over(chunk.node, chunk.t)
    mean = float(figures.iterations) / steps if steps else 0.0
    largest = (int(figures.iterations_max), float(figures.residual_max), float(figures.correction_max))
    numbers = (mean, *largest, chunk.turn)
    own = {name: np.asarray(value).item() for name, value in plan.routine.method.figures(standing.carry).items()}
    return {
        "system": type(plan.routine.system).__qualname__,
        "method": repr(plan.routine.method),
        "outcome": (Outcome.UNFINISHED if halfway else Outcome(int(standing.outcome))).name,
        "t0": plan.t0,
        "dt": plan.h,
        "t": chunk.t,
        "t1": plan.t1,
        "node": chunk.node,
        "steps": steps,
        "statistics": dict(zip(STATISTICS, numbers, strict=True)) | own,
        "monitors": {name: [float(value) for value in monitor] for name, monitor in standing.monitors.items()},
        "sections": list(plan.routine.sections),
        "reconstruct": plan.routine.reconstruct,
        "noise": None if plan.noise is None else plan.noise.described(chunk.node),
        "carry": [np.asarray(leaf).tolist() for leaf in jax.tree.leaves(standing.carry)],
        "checkpoint": {
            "last": plan.last,
            "rest": plan.rest,
            "save_every": plan.cadence.save,
            "output_every": plan.cadence.output,
            "outputs": list(plan.routine.outputs),
            "engine": plan.engine,
            "iterations": int(figures.iterations),
            "levels": {name: [float(value) for value in level] for name, level in standing.levels.items()},
        },
    }


def _crossing_variables(routine: Routine, chunk: Chunk) -> dict[str, Any]:
    each = [chunk.crossings[name] for name in routine.sections]
    rows = [(np.full(len(met.t), index), met) for index, met in enumerate(each)]
    numbers, met = rows[0]
    if len(rows) > 1:
        order = np.argsort(np.concatenate([met.t for _, met in rows]), kind="stable")
        numbers, met = jax.tree.map(lambda *leaves: np.concatenate(leaves)[order], *rows)
    columns = {"crossing_section": (("crossing",), numbers), "crossing_time": (("crossing",), met.t)}
    return columns | state_variables(routine, met.state, "crossing", "crossing_")


def monitor_of(numbers: list[float]) -> Monitor:
    """A monitor from its stored numbers."""
    return Monitor(*numbers)
