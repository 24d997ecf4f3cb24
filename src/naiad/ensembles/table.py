"""The arrays of an ensemble by name: saved nodes along `run` and `time`, crossings along `crossing`, and where each run
stands along `run`."""

from typing import Any, NamedTuple

import jax
import numpy as np

from naiad.ensembles.block import Block
from naiad.ensembles.job import Job
from naiad.mechanics import State, row_views
from naiad.mechanics.labels import Label, labels
from naiad.simulation.monitor import Monitor
from naiad.simulation.outcome import Outcome
from naiad.simulation.plan import Standing, Statistics
from naiad.simulation.record import variable
from naiad.simulation.section import Level
from naiad.simulation.turn import angles

Arrays = dict[str, tuple[tuple[str, ...], Any]]
"""Dimensions and values, by name."""

STANDING = {
    "outcome": Label((), "how the run ended: " + ", ".join(f"{each.value} {each.name}" for each in Outcome)),
    "saved": Label((), "nodes that were saved"),
    "outputs_saved": Label((), "rows of outputs that were recorded"),
    "node": Label((), "steps that were taken"),
    "t_end": Label((), "time at the end", "s"),
    "turn_max": Label((), "largest turn of a step", "rad"),
    "newton_iterations": Label((), "iterations of Newton's method, over all steps"),
    "newton_iterations_max": Label((), "most iterations of a step"),
    "residual_max": Label((), "largest residual of a step"),
    "correction_max": Label((), "largest round-off correction of a step"),
}
"""What is known of every run."""


def table(job: Job, block: Block) -> Arrays:
    """The arrays of the runs of a block."""
    states, outputs = block.saved.values
    arrays: Arrays = {}
    if not job.schedule.uniform:
        arrays["t"] = ("run", "time"), block.saved.times
    arrays |= _states(job, states, ("run", "time"))
    arrays |= {name: _along(("run", "time"), name, values) for name, values in outputs.items()}
    if block.outputs is not None:
        if not job.schedule.uniform:
            arrays["output_t"] = ("run", "output_time"), block.outputs.times
        arrays |= {name: _along(("run", "output_time"), name, values) for name, values in block.outputs.values.items()}
    standing = block.standing
    of_runs = {
        "outcome": np.asarray(standing.outcome, np.int8),
        "saved": block.saved.count,
        "node": block.node,
        "t_end": block.t,
        "turn_max": angles(block.versine),
        "newton_iterations": standing.statistics.iterations,
        "newton_iterations_max": standing.statistics.iterations_max,
        "residual_max": standing.statistics.residual_max,
        "correction_max": standing.statistics.correction_max,
    }
    if block.outputs is not None:
        of_runs["outputs_saved"] = block.outputs.count
    arrays |= {name: (("run",), np.asarray(values)) for name, values in of_runs.items()}
    for name, monitor in standing.monitors.items():
        arrays[f"monitor_{name}"] = ("run", "monitor"), np.stack(monitor, axis=-1)
    for name, level in standing.levels.items():
        arrays[f"level_{name}"] = ("run", "level"), np.stack(level, axis=-1)
    for number, leaf in enumerate(jax.tree.leaves(standing.carry)):
        arrays[f"carry_{number}"] = variable("run", f"carry_{number}", leaf)
    return arrays


def crossings(job: Job, block: Block, first: int) -> Arrays:
    """The crossings of the runs of a block whose first run has this number: whose each is, of which section, and when;
    in the order of the runs, and in that of time for each."""
    if not job.program.sections:
        return {}
    parts = [block.crossings[name].whole() for name in job.program.sections]
    whose, times, states = parts[0].whose, parts[0].times, parts[0].states
    index = np.zeros(len(whose), int)
    if len(parts) > 1:  # those of one section are in order
        rows = [(part.whose, part.times, part.states) for part in parts]
        whose, times, states = jax.tree.map(lambda *leaves: np.concatenate(leaves), *rows)
        order = np.lexsort((times, whose))
        index = np.repeat(np.arange(len(parts)), [len(part.times) for part in parts])[order]
        whose, times, states = jax.tree.map(lambda leaf: leaf[order], (whose, times, states))
    whose += first
    columns = {"crossing_run": whose, "crossing_section": index, "crossing_time": times}
    arrays: Arrays = {name: (("crossing",), values) for name, values in columns.items()}
    return arrays | _states(job, states, ("crossing",), "crossing_")


def series(arrays: Arrays) -> dict[str, Any]:
    """The arrays along time."""
    return {name: x for name, (dims, x) in arrays.items() if dims[1:2] in (("time",), ("output_time",))}


def _states(job: Job, states: State, dims: tuple[str, ...], prefix: str = "") -> Arrays:
    """The components of stacked states by the names of the group; configurations only where they were followed."""
    system = job.program.family.system
    group, known = system.group, labels(system)
    elements = zip(group.names.element, jax.tree.leaves(states.g), strict=True) if job.program.reconstruct else ()
    momenta = zip(group.names.momentum, row_views(group, states.mu), strict=True)
    return {prefix + name: ((*dims, *known[name].dims), np.asarray(x)) for name, x in (*elements, *momenta)}


def _along(dims: tuple[str, ...], name: str, values: np.ndarray) -> tuple[tuple[str, ...], np.ndarray]:
    return (*dims, *(f"{name}_{axis}" for axis in range(values.ndim - len(dims)))), values


class Ending(NamedTuple):
    """Where one run stands, as a `Chunk` has it."""

    standing: Standing
    node: int
    t: float
    turn: float


def ending(arrays: Arrays, k: int) -> Ending:
    """Where run k stands, from the arrays of its ensemble."""

    def of(name: str) -> Any:
        return arrays[name][1][k]

    def named(prefix: str, kind: Any) -> dict[str, Any]:
        return {name.removeprefix(prefix): kind(*of(name).tolist()) for name in arrays if name.startswith(prefix)}

    carry = [of(f"carry_{i}") for i in range(sum(name.startswith("carry_") for name in arrays))]
    figures = ("newton_iterations", "newton_iterations_max", "residual_max", "correction_max")
    standing = Standing(
        of("node"),
        carry,
        named("monitor_", Monitor),
        Statistics(*map(of, figures)),
        named("level_", Level),
        of("outcome"),
    )
    return Ending(standing, int(of("node")), float(of("t_end")), float(of("turn_max")))
