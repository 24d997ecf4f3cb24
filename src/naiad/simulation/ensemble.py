"""Many runs at once: trajectories side by side in the lanes of vector registers, and on all cores."""

import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import jax
import numpy as np
from numpy.typing import ArrayLike

from naiad import interrupts
from naiad.compiler import Engine, check_engine, execute_rows
from naiad.errors import InputError, RunWarning
from naiad.integrators import AbstractMethod, default_method
from naiad.interrupts import listening
from naiad.mechanics import LagrangianSystem, State, fitting_state
from naiad.mechanics.functions import explained
from naiad.mechanics.system import examine
from naiad.numerics import double
from naiad.numerics.arguments import checked
from naiad.simulation import loop
from naiad.simulation.bar import Bar
from naiad.simulation.checks import (
    check_cadence,
    check_memory,
    check_method,
    check_reconstruct,
    check_system,
    check_times,
)
from naiad.simulation.drive import FIRST_STEPS, every_step, next_budget, no_crossing
from naiad.simulation.noise import Inputs, Noise, Source, source
from naiad.simulation.outcome import Outcome
from naiad.simulation.plan import Cadence, Chunk, Observable, Plan, Routine, Standing
from naiad.simulation.record import Columns
from naiad.simulation.section import Section
from naiad.simulation.trajectory import Trajectory
from naiad.simulation.turn import angle, too_far

ROOM = 2**14  # saved nodes, and passages of a section, that a chunk holds for all trajectories together


@checked
@double
@explained
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
    output_every: int | None = None,
    monitors: Mapping[str, Observable] | None = None,
    sections: Mapping[str, Section] | None = None,
    progress: bool | Callable[[float], None] | None = None,
    engine: Engine = "auto",
    reconstruct: bool = True,
    noise: Sequence[Noise | ArrayLike] | None = None,
) -> list[Trajectory]:
    """The motions from many states, each as `simulate` gives it, bit for bit, in a fraction of the time.

    Options as for `simulate`; `noise` has one for each state. A trajectory that cannot go on ends early and says why in
    its `outcome`; the others go on.
    """
    method = default_method(system) if method is None else method
    system = check_system(system)
    check_method(method, system)
    start, h, steps, rest = check_times(t0, t1, dt)
    if len(states) == 0:
        raise InputError("simulate_many: no states were given; give a sequence of at least one.")
    if noise is not None and (isinstance(noise, Noise) or len(noise) != len(states)):
        raise InputError(f"simulate_many: noise = {noise!r:.60}; expected one for each of the {len(states)} states.")
    sources = [source(each, method, system, steps + (rest > 0.0)) for each in noise or [None] * len(states)]
    each = [fitting_state(system.group, State(*state)) for state in states]
    check_reconstruct(reconstruct, system, sections or {}, each[0], start)
    room = int(np.clip(ROOM // len(each), 64, 4096))
    parts = (dict(outputs or {}), dict(monitors or {}), dict(sections or {}))
    routine = Routine(system, method, *parts, reconstruct, output_every is not None, room)
    cadence = check_cadence(save_every, output_every, steps)
    plan = Plan(routine, start, h, 0, steps, rest, cadence, check_engine(engine), None)
    run = _run(plan, sources, jax.tree.map(lambda *leaves: np.stack(leaves), *each), progress)
    runs = [
        Trajectory(system, method, Columns(plan._replace(noise=noise), [chunk]))
        for noise, chunk in zip(sources, run, strict=True)
    ]
    warning = too_far(max((run.statistics["turn_max"] for run in runs if not run.outcome.failed), default=0.0), h)
    if warning is not None:
        warnings.warn(f"{type(system).__name__}: {warning}.", RunWarning, stacklevel=5)
    return runs


class _Leg(NamedTuple):
    """Steps of h from t0 to node `last`; `counted` nodes were taken before t0."""

    t0: float
    h: float
    last: int
    cadence: Cadence
    counted: int
    saves_last: bool


class _Part(NamedTuple):
    """Rows of many trajectories: whose each is, its time, and what there is at that time."""

    whose: np.ndarray
    times: np.ndarray
    values: Any

    @classmethod
    def joined(cls, parts: "Sequence[_Part]") -> "_Part":
        """The rows of all, those of each trajectory together."""
        order = np.argsort(np.concatenate([part.whose for part in parts]), kind="stable")
        return jax.tree.map(lambda *leaves: np.concatenate(leaves)[order], *parts)

    def of(self, k: int) -> tuple[np.ndarray, Any]:
        """The times and values of a trajectory."""
        own = slice(*np.searchsorted(self.whose, [k, k + 1]))
        return self.times[own], jax.tree.map(lambda leaf: leaf[own], self.values)


def _run(
    plan: Plan, sources: Sequence[Source | None], states: State, progress: bool | Callable[[float], None] | None
) -> Iterator[Chunk]:
    """The whole run of each."""
    size = len(states.mu)
    standing, frames, sound = _rows(plan, loop.start, states, plan.t0, plan.h)
    for k in np.flatnonzero(~sound):
        examine(plan.routine.system, jax.tree.map(lambda leaf, k=k: leaf[k], states), plan.t0)
    check_memory(plan, frames)
    whose, node, t = np.arange(size), np.zeros(size, int), np.full(size, plan.t0)
    saved, outputs = [_Part(whose, t, frames)], []
    if plan.routine.apart:
        saved, outputs = [_Part(whose, t, frames._replace(outputs={}))], [_Part(whose, t, frames.outputs)]
    nowhere = _Part(whose[:0], t[:0], no_crossing(plan, frames.state).state)
    crossed = {name: [nowhere] for name in plan.routine.sections}
    legs = [_Leg(plan.t0, plan.h, plan.last, plan.cadence, 0, saves_last=not plan.rest)]
    if plan.rest:
        legs.append(
            _Leg(plan.t0 + plan.last * plan.h, plan.rest, 1, every_step(plan.cadence), plan.last, saves_last=True)
        )
    with Bar(plan, shown=progress) as bar, listening() as ear:
        try:
            for leg in legs:
                going = standing.outcome == Outcome.COMPLETED
                for now, filled in _chunks(plan, leg, sources, standing._replace(node=np.zeros(size, int))):
                    saved.append(_saved(leg, filled.frames))
                    if filled.outputs is not None:
                        each = _saved(leg, filled.outputs)
                        outputs.append(each._replace(values=each.values.values))
                    if any(np.any(rows.count) for rows in filled.passages.values()):
                        for name, rows in _rows(plan, loop.locate, filled.passages, leg.h).items():
                            crossed[name].append(_crossed(rows))
                    standing = now
                    node = np.where(going, leg.counted + now.node, node)
                    t = np.where(going, leg.t0 + now.node * leg.h, t)
                    bar.update(leg.counted + int(np.min(now.node)))
        except KeyboardInterrupt:
            if ear.at_once:
                raise
            ear.forget()
            halfway = (node < legs[-1].counted + legs[-1].last) & (standing.outcome == Outcome.COMPLETED)
            standing = standing._replace(outcome=np.where(halfway, Outcome.INTERRUPTED, standing.outcome))
    everything, crossings = _Part.joined(saved), {name: _Part.joined(parts) for name, parts in crossed.items()}
    apart = _Part.joined(outputs) if outputs else None
    for k in range(size):
        own = jax.tree.map(lambda leaf, k=k: leaf[k], standing)
        (times, frames), met = everything.of(k), {name: part.of(k) for name, part in crossings.items()}
        yield Chunk(times, frames, apart and apart.of(k), met, int(node[k]), float(t[k]), own, angle(frames.versine))


def _saved(leg: _Leg, frames: loop.Rows) -> _Part:
    which = _filled(frames)
    rows = jax.tree.map(lambda leaf: leaf[which], frames.rows)
    return _Part(which[0], leg.t0 + rows.node * leg.h, rows)


def _crossed(crossings: loop.Rows) -> _Part:
    which = _filled(crossings)
    return _Part(which[0], *jax.tree.map(lambda leaf: leaf[which], crossings.rows))


def _filled(rows: loop.Rows) -> tuple[np.ndarray, ...]:
    """The trajectories and numbers of the rows that are filled."""
    room = jax.tree.leaves(rows.rows)[0].shape[1]
    return np.nonzero(np.arange(room) < rows.count[:, None])


def _rows(plan: Plan, function: Callable[..., Any], rows: Any, *others: Any) -> Any:
    """A function of the routine, rows, and others that are the same for all (numbers) or one for each (arrays)."""
    shared = [2 + i for i, other in enumerate(others) if not any(map(np.ndim, jax.tree.leaves(other)))]
    return execute_rows(function, plan.routine, rows, *others, parameters=(0,), shared=shared, engine=plan.engine)


def _chunks(
    plan: Plan, leg: _Leg, sources: Sequence[Source | None], standing: Standing
) -> Iterator[tuple[Standing, loop.Filled]]:
    """Pieces of bounded size, until every trajectory is at the end or cannot go on."""
    budget, last, inputs = FIRST_STEPS, leg.last if leg.saves_last else -1, None
    ends = np.zeros(len(sources), int)  # the nodes that the inputs reach to
    while np.any(active := (standing.node < leg.last) & (standing.outcome == Outcome.COMPLETED)):
        interrupts.check()
        before, started = standing.node, time.perf_counter()
        stop = np.where(active, np.minimum(leg.last, before + budget), before)
        if None not in sources:
            inputs, ends = _drawn(sources, inputs, ends, np.asarray(before), leg)
            stop = np.minimum(stop, ends)
        standing, filled = _rows(plan, loop.advance, standing, leg.t0, leg.h, stop, last, leg.cadence, inputs)
        taken = max(int(np.max(standing.node - before)), 1)
        budget = next_budget(budget, taken, time.perf_counter() - started)
        yield standing, filled


def _drawn(
    sources: Sequence[Any], inputs: Inputs | None, ends: np.ndarray, nodes: np.ndarray, leg: _Leg
) -> tuple[Inputs, np.ndarray]:
    """The blocks of inputs of the steps from these nodes: drawn anew where the old ones end."""
    blocks = [
        source.block(int(node), leg.h, counted=leg.counted)
        if inputs is None or node >= end
        else (Inputs(inputs.first[k], inputs.rows[k]), end)
        for k, (source, node, end) in enumerate(zip(sources, nodes, ends, strict=True))
    ]
    drawn, until = zip(*blocks, strict=True)
    return jax.tree.map(lambda *leaves: np.stack(leaves), *drawn), np.array(until)
