"""Many runs at once: trajectories side by side in the lanes of vector registers, and on all cores."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import jax
import numpy as np

from naiad.compiler import Engine, check_engine, execute_rows
from naiad.errors import InputError
from naiad.integrators import AbstractMethod, Variational
from naiad.mechanics import LagrangianSystem, State, check_state
from naiad.numerics import double
from naiad.simulation import loop
from naiad.simulation.checks import (
    check_memory,
    check_method,
    check_reconstruct,
    check_save_every,
    check_system,
    check_times,
)
from naiad.simulation.drive import FIRST_STEPS, located, next_budget
from naiad.simulation.noise import check_increments
from naiad.simulation.outcome import Outcome
from naiad.simulation.plan import Chunk, Observable, Plan, Program, Standing
from naiad.simulation.progress import Progress
from naiad.simulation.record import Table, joined, record_chunk
from naiad.simulation.section import Section
from naiad.simulation.trajectory import Trajectory

ROOM = 2**16  # saved nodes, and passages of a section, that a chunk holds for all trajectories together


@double
def simulate_many(
    system: LagrangianSystem,
    states: Sequence[State],
    *,
    t1: float,
    dt: float,
    t0: float = 0.0,
    method: AbstractMethod | None = None,
    save_every: int | None = None,
    outputs: Mapping[str, Observable] | None = None,
    monitors: Mapping[str, Observable] | None = None,
    sections: Mapping[str, Section] | None = None,
    progress: bool | Callable[[float], None] | None = None,
    engine: Engine = "auto",
    reconstruct: bool = True,
) -> list[Trajectory]:
    """The motions from many states, each as `simulate` gives it, bit for bit, in a fraction of the time.

    Options as for `simulate`. A trajectory that cannot go on ends early and says why in its `outcome`; the others go
    on.
    """
    method = Variational() if method is None else method
    system = check_system(system)
    check_method(method, system)
    check_reconstruct(reconstruct, system)
    start, h, steps, rest = check_times(t0, t1, dt)
    if not states:
        raise InputError("simulate_many: no states were given; give a sequence of at least one.")
    check_increments(None, method, system, steps)
    each = [check_state(system, State(*state), start) for state in states]
    room = int(np.clip(ROOM // len(each), 64, 4096))
    parts = (dict(outputs or {}), dict(monitors or {}), dict(sections or {}))
    program = Program(system, method, *parts, reconstruct, room)
    plan = Plan(program, start, h, 0, steps, rest, check_save_every(save_every, steps), check_engine(engine), None)
    pieces = _run(plan, jax.tree.map(lambda *leaves: np.stack(leaves), *each), progress)
    return [Trajectory(system, method, joined(tables)) for tables in pieces]


class _Leg(NamedTuple):
    """Steps of h from t0 to node `last`; `counted` nodes were taken before t0."""

    t0: float
    h: float
    last: int
    save_every: int
    counted: int
    saves_last: bool


def _run(plan: Plan, states: State, progress: bool | Callable[[float], None] | None) -> list[list[Table]]:
    """The pieces of each run."""
    size = len(states.mu)
    standing, frames = _rows(plan, size, loop.start, states, plan.t0, plan.h)
    check_memory(plan, frames)
    pieces = [[record_chunk(plan, each)] for each in _first(plan, standing, frames)]
    legs = [_Leg(plan.t0, plan.h, plan.last, plan.save_every, 0, saves_last=not plan.rest)]
    if plan.rest:
        legs.append(_Leg(plan.t0 + plan.last * plan.h, plan.rest, 1, 1, plan.last, saves_last=True))
    with Progress(plan, shown=progress) as bar:
        try:
            for leg in legs:
                going = standing.outcome == Outcome.COMPLETED
                for now, filled in _chunks(plan, leg, standing._replace(node=np.zeros(size, int))):
                    standing = now
                    for k, chunk in enumerate(_split(plan, leg, now, filled)):
                        if going[k]:
                            pieces[k].append(record_chunk(plan, chunk))
                    bar.update(leg.counted + int(np.min(now.node)))
        except KeyboardInterrupt:
            for tables in pieces:
                if tables[-1].attrs["node"] < plan.last and tables[-1].attrs["outcome"] == Outcome.COMPLETED.name:
                    tables.append(tables[-1].ended(Outcome.INTERRUPTED))
    return pieces


def _rows(plan: Plan, size: int, function: Callable[..., Any], rows: Any, *numbers: Any) -> Any:
    """A function of the program, rows, and numbers that are the same for all or one for each."""
    each = [np.array(np.broadcast_to(number, (size,))) for number in numbers]
    return execute_rows(function, plan.program, rows, *each, engine=plan.engine)


def _chunks(plan: Plan, leg: _Leg, standing: Standing) -> Iterator[tuple[Standing, loop.Filled]]:
    """Pieces of bounded size, until every trajectory is at the end or cannot go on."""
    budget, last, size = FIRST_STEPS, leg.last if leg.saves_last else -1, len(standing.node)
    while np.any(active := (standing.node < leg.last) & (standing.outcome == Outcome.COMPLETED)):
        before, started = standing.node, time.perf_counter()
        stop = np.where(active, np.minimum(leg.last, before + budget), before)
        standing, filled = _rows(plan, size, loop.advance, standing, leg.t0, leg.h, stop, last, leg.save_every)
        taken = max(int(np.max(standing.node - before)), 1)
        budget = next_budget(budget, taken, time.perf_counter() - started)
        yield standing, filled


def _split(plan: Plan, leg: _Leg, standing: Standing, filled: loop.Filled) -> Iterator[Chunk]:
    """The chunk of each trajectory; the crossings of all are located together."""
    states, found = filled.frames.rows.state, {}
    none = jax.tree.map(lambda leaf: leaf[0, :0], states)
    for name, (counts, passages) in filled.passages.items():
        wanted = np.arange(passages.t.shape[1]) < counts[:, None]
        times, where, inside = located(plan, name, jax.tree.map(lambda leaf, w=wanted: leaf[w], passages), leg.h, none)
        ends = np.concatenate([[0], np.cumsum(inside)])[np.concatenate([[0], np.cumsum(counts)])]
        found[name] = times, where, ends
    for k in range(len(standing.node)):
        own = _of(standing, k)
        rows = jax.tree.map(lambda leaf, k=k: np.array(leaf[k, : int(filled.frames.count[k])]), filled.frames.rows)
        crossings = {
            name: (times[ends[k] : ends[k + 1]], jax.tree.map(lambda leaf, e=ends, k=k: leaf[e[k] : e[k + 1]], where))
            for name, (times, where, ends) in found.items()
        }
        node, at = int(own.node), leg.t0 + int(own.node) * leg.h
        yield Chunk(leg.t0 + rows.node * leg.h, rows, crossings, leg.counted + node, at, own)


def _first(plan: Plan, standing: Standing, frames: loop.Frame) -> Iterator[Chunk]:
    for k in range(len(standing.node)):
        row = jax.tree.map(lambda leaf, k=k: leaf[k : k + 1], frames)
        none = (np.zeros(0), jax.tree.map(lambda leaf: leaf[:0], row.state))
        yield Chunk(np.array([plan.t0]), row, dict.fromkeys(plan.program.sections, none), 0, plan.t0, _of(standing, k))


def _of(standing: Standing, k: int) -> Standing:
    return jax.tree.map(lambda leaf: leaf[k], standing)
