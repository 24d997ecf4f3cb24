"""The labelled form of a run: one dataset with the saved nodes along `time` and the crossings along `crossing`."""

from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np

from naiad.groups import AbstractGroup
from naiad.mechanics import State
from naiad.numerics import double
from naiad.simulation.monitor import Monitor
from naiad.simulation.plan import Chunk, Plan, Program

if TYPE_CHECKING:
    import xarray as xr

STATISTICS = ("newton_iterations_mean", "newton_iterations_max", "residual_max", "correction_max")


def record_chunk(plan: Plan, chunk: Chunk) -> "xr.Dataset":
    """The rows of a chunk, and in the attributes where the run stands after it."""
    import xarray as xr

    program = plan.program
    group = program.system.group
    nodes = state_variables(group, chunk.frames["state"], "time")
    nodes |= {name: variable("time", name, values) for name, values in chunk.frames["outputs"].items()}
    dataset = xr.Dataset(nodes, {"time": ("time", chunk.times, {"units": "s"})}, _standing(plan, chunk))
    return dataset.assign(_crossing_variables(group, program, chunk)) if program.sections else dataset


def state_variables(group: AbstractGroup, states: State, dim: str, prefix: str = "") -> dict[str, Any]:
    """The components of stacked states, by the names of the group."""
    elements = zip(group.names.element, jax.tree.leaves(states.g), strict=True)
    momenta = zip(group.names.momentum, _split_rows(group, states.mu), strict=True)
    return {prefix + name: variable(dim, name, values) for name, values in (*elements, *momenta)}


def stacked_states(group: AbstractGroup, dataset: "xr.Dataset", prefix: str = "") -> State:
    """The inverse of `state_variables`."""
    leaves = [dataset[prefix + name].to_numpy() for name in group.names.element]
    g = jax.tree.unflatten(jax.tree.structure(group.identity()), leaves)
    return State(g, _join_rows(group, [dataset[prefix + name].to_numpy() for name in group.names.momentum]))


def variable(dim: str, name: str, values: Any) -> tuple[tuple[str, ...], np.ndarray]:
    """An array whose first axis is `dim`; the others are named after the variable."""
    return (dim, *(f"{name}_{axis}" for axis in range(np.ndim(values) - 1))), np.asarray(values)


def algebra_variables(names: tuple[str, ...], group: AbstractGroup, rows: np.ndarray) -> dict[str, Any]:
    """The named components of stacked vectors of the algebra or its dual."""
    return {name: variable("time", name, values) for name, values in zip(names, _split_rows(group, rows), strict=True)}


@double
def _split_rows(group: AbstractGroup, rows: Any) -> list[np.ndarray]:
    return [np.asarray(part) for part in jax.vmap(group.split)(rows)]


@double
def _join_rows(group: AbstractGroup, parts: list[np.ndarray]) -> Any:
    zero = jnp.zeros(group.dim)
    join = jax.vmap(lambda *pieces: jax.linear_transpose(group.split, zero)(tuple(pieces))[0])
    return np.asarray(join(*parts))


def _standing(plan: Plan, chunk: Chunk) -> dict[str, Any]:
    steps, figures = chunk.node - plan.first, chunk.statistics
    mean = float(figures.iterations) / steps if steps else 0.0
    numbers = (mean, int(figures.iterations_max), float(figures.residual_max), float(figures.correction_max))
    return {
        "system": type(plan.program.system).__qualname__,
        "method": repr(plan.program.method),
        "outcome": chunk.outcome.name,
        "t0": plan.t0,
        "dt": plan.h,
        "t": chunk.t,
        "node": chunk.node,
        "steps": steps,
        "statistics": dict(zip(STATISTICS, numbers, strict=True)),
        "monitors": {name: [float(value) for value in monitor] for name, monitor in chunk.monitors.items()},
        "sections": list(plan.program.sections),
        "carry": [np.asarray(leaf).tolist() for leaf in jax.tree.leaves(chunk.carry)],
    }


def _crossing_variables(group: AbstractGroup, program: Program, chunk: Chunk) -> dict[str, Any]:
    indices, times, states = [], [], []
    for index, name in enumerate(program.sections):
        when, where = chunk.crossings[name]
        indices.append(np.full(len(when), index))
        times.append(when)
        states.append(where)
    at = np.concatenate(times)
    order = np.argsort(at, kind="stable")
    together = jax.tree.map(lambda *leaves: np.concatenate(leaves)[order], *states)
    columns = {
        "crossing_section": ("crossing", np.concatenate(indices)[order]),
        "crossing_time": ("crossing", at[order]),
    }
    return columns | state_variables(group, together, "crossing", "crossing_")


def monitor_of(numbers: list[float]) -> Monitor:
    """A monitor from its stored numbers."""
    return Monitor(*numbers)
