"""A block of runs, advanced side by side: in the lanes of vector registers and on all cores, or on GPUs."""

import time
import warnings
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from naiad import interrupts
from naiad.compiler import execute_rows
from naiad.ensembles.crossings import Crossings, Met
from naiad.ensembles.job import Job, Program
from naiad.errors import DeviceError, RunWarning
from naiad.interrupts import Ear
from naiad.mechanics import State
from naiad.mechanics.system import examine
from naiad.simulation import loop
from naiad.simulation.checks import check_levels
from naiad.simulation.drive import next_budget
from naiad.simulation.noise import BLOCK, Inputs, Noise
from naiad.simulation.outcome import Outcome
from naiad.simulation.philox import Shape, standard_normals
from naiad.simulation.plan import Cadence, Standing

FIRST_STEPS = 256  # of the first chunk of a block, which tells how long a step of all its runs takes


class Series(NamedTuple):
    """Rows along time: how many each run has, their times, and what there is then, NaN behind the last."""

    count: np.ndarray
    times: np.ndarray
    values: Any

    @classmethod
    def begun(cls, first: Any, times: np.ndarray, room: int) -> "Series":
        """With the first row of each run, and room for so many."""
        values = jax.tree.map(lambda leaf: _room(np.asarray(leaf, float), room), first)
        return cls(np.ones(len(times), int), _room(times, room), values)

    def append(self, rows: loop.Rows, leg: "_Leg", of: Callable[[Any], Any]) -> "Series":
        """More rows of each, which take their places behind those that there are."""
        before, more = self.count[0], rows.count[0]
        if np.all(self.count == before) and np.all(rows.count == more):  # of all alike: none has to be looked for
            taken, place = np.s_[:, :more], np.s_[:, before : before + more]
            t0, h = (value[:, None] if np.ndim(value) else value for value in (leg.t0, leg.h))
        else:
            taken = whose, which = _filled(rows)
            place = whose, self.count[whose] + which
            t0, h = (value[whose] if np.ndim(value) else value for value in (leg.t0, leg.h))
        given = jax.tree.map(lambda leaf: leaf[taken], rows.rows)
        self.times[place] = t0 + given.node * h

        def put(values: np.ndarray, leaf: np.ndarray) -> None:
            values[place] = leaf

        jax.tree.map(put, self.values, of(given))
        return self._replace(count=self.count + rows.count)


class Block(NamedTuple):
    """What came of the runs of a block: saved nodes, outputs that do not go with them, crossings, and where each run
    stands: its node, its time, and the largest `versine` of a step that was seen. Halfway, also the number of the leg
    that is under way, and which runs have begun it."""

    leg: np.ndarray
    going: np.ndarray
    saved: Series
    outputs: Series | None
    crossings: dict[str, Met]
    node: np.ndarray
    t: np.ndarray
    standing: Standing
    versine: np.ndarray


def begin_block(job: Job) -> Block:
    """The runs of a job at their first nodes."""
    schedule, t0 = job.schedule, np.array(job.each(job.schedule.t0), float)
    standing, frames, sound = _rows(job, _start, job.states, schedule.t0, schedule.h)
    for k in np.flatnonzero(~sound):
        examine(job.plan(int(k)).routine.system, jax.tree.map(lambda leaf, k=k: leaf[k], job.states), float(t0[k]))
    check_levels(standing.levels)
    apart = job.program.apart
    nowhere = frames.state if job.program.reconstruct else frames.state._replace(g=None)
    without = jax.tree.map(lambda leaf: np.asarray(leaf)[:0], nowhere)
    none = Met(Crossings(np.zeros(job.size, int), np.zeros(0), without))
    return Block(
        np.zeros((), int),
        np.ones(job.size, bool),
        Series.begun((frames.state, {} if apart else frames.outputs), t0, job.frames),
        Series.begun(frames.outputs, t0, job.rows) if apart else None,
        dict.fromkeys(job.program.sections, none),
        np.zeros(job.size, int),
        t0,
        standing,
        np.array(frames.versine),
    )


def run_block(job: Job, block: Block, ear: Ear, tell: Callable[[Block], None]) -> tuple[Block, bool]:
    """The runs of a job from where they stand to their ends, `tell` hearing on the way how far they have come; and
    whether Ctrl-C was heard, which ends them where they are."""
    try:
        return _run_block(job, block, ear, tell)
    except DeviceError as reason:
        if job.device != "auto":
            raise
        warnings.warn(f"{reason} The processor's cores begin the block anew.", RunWarning, stacklevel=2)
    job = job._replace(device="cpu")
    return _run_block(job, begin_block(job), ear, tell)


def _run_block(job: Job, block: Block, ear: Ear, tell: Callable[[Block], None]) -> tuple[Block, bool]:
    try:
        for number, leg in enumerate(_legs(job)):
            if number < block.leg:
                continue
            if number > block.leg:
                going, start = np.equal(block.standing.outcome, Outcome.COMPLETED), np.zeros(job.size, int)
                block = block._replace(
                    leg=np.asarray(number), going=going, standing=block.standing._replace(node=start)
                )
            for standing, filled in _chunks(job, leg, block.standing):
                block = _advanced(job, leg, block, standing, filled)
                tell(block)
    except KeyboardInterrupt:
        if ear.at_once:
            raise
        ear.forget()
        return interrupted(job, _here(block)), True
    return _here(block), False


def _here(block: Block) -> Block:
    """The block, with what lies elsewhere brought over."""
    return block._replace(standing=jax.tree.map(np.asarray, block.standing))


def interrupted(job: Job, block: Block) -> Block:
    """The block as it stands, its runs that are not at their ends being interrupted."""
    ends = job.each(job.schedule.last) + (job.each(job.schedule.rest) > 0.0)
    halfway = (block.node < ends) & (block.standing.outcome == Outcome.COMPLETED)
    outcome = np.where(halfway, Outcome.INTERRUPTED, block.standing.outcome)
    return block._replace(standing=block.standing._replace(outcome=outcome))


def _advanced(job: Job, leg: "_Leg", block: Block, standing: Standing, filled: loop.Filled) -> Block:
    """The block with what came of a chunk."""
    outputs, crossings, frames = block.outputs, block.crossings, _brought(filled.frames)
    if outputs is not None and filled.outputs is not None:
        outputs = outputs.append(_brought(filled.outputs), leg, lambda rows: rows.values)
    if any(np.any(rows.count) for rows in filled.passages.values()):
        located = _rows(job, _locate, filled.passages, leg.h)
        crossings = {name: met.joined(Crossings.of(_brought(located[name]))) for name, met in crossings.items()}
    return block._replace(
        saved=block.saved.append(frames, leg, lambda rows: (rows.state, rows.outputs)),
        outputs=outputs,
        crossings=crossings,
        node=np.where(block.going, leg.counted + standing.node, block.node),
        t=np.where(block.going, leg.t0 + standing.node * leg.h, block.t),
        standing=standing,
        versine=_largest(block.versine, frames),
    )


def _start(program: Program, own: Any, state: State, t0: Any, h: Any) -> Any:
    return loop.start(program.routine(own), state, t0, h)


def _advance(program: Program, own: Any, *given: Any) -> Any:
    return loop.advance(program.routine(own), *given)


def _locate(program: Program, own: Any, *given: Any) -> Any:
    return loop.locate(program.routine(own), *given)


def _rows(job: Job, function: Callable[..., Any], rows: Any, *others: Any) -> Any:
    """A function of the program, the runs' own numbers, rows, and others that are the same for all (numbers) or one for
    each (arrays)."""
    shared = [3 + i for i, other in enumerate(others) if not any(map(np.ndim, jax.tree.leaves(other)))]
    how: dict[str, Any] = {"parameters": (0,), "shared": shared, "engine": job.engine, "device": job.device}
    return execute_rows(function, job.program, job.own, rows, *others, **how, left=True)


class _Leg(NamedTuple):
    """Steps of h from t0 to node `last`; `counted` nodes were taken before t0. One number for all, or one for each."""

    t0: Any
    h: Any
    last: Any
    cadence: Cadence
    counted: Any
    saved_last: Any  # the node that is saved whatever the cadence, or -1


def _legs(job: Job) -> list[_Leg]:
    """The whole steps, and the rest of those runs that have one."""
    t0, h, last, rest, save, output = job.schedule
    legs = [_Leg(t0, h, last, Cadence(save, output), 0, np.where(np.greater(rest, 0.0), -1, last)[()])]
    if np.any(np.greater(rest, 0.0)):
        one, step = np.where(np.greater(rest, 0.0), 1, 0)[()], np.where(np.greater(rest, 0.0), rest, h)[()]
        legs.append(_Leg(t0 + last * h, step, one, Cadence(1, None if output is None else 1), last, 1))
    return legs


def _room(first: np.ndarray, room: int) -> np.ndarray:
    values = np.full((len(first), room, *first.shape[1:]), np.nan)
    values[:, 0] = first
    return values


def _brought(rows: loop.Rows) -> loop.Rows:
    """The rows that are filled in any run, which are all that comes over from where they were made."""
    count = np.asarray(rows.count)
    return rows._replace(count=count, rows=jax.tree.map(lambda leaf: leaf[:, : np.max(count, initial=0)], rows.rows))


def _filled(rows: loop.Rows) -> tuple[np.ndarray, ...]:
    """The runs and numbers of the rows that are filled."""
    room = jax.tree.leaves(rows.rows)[0].shape[1]
    return np.nonzero(np.arange(room) < rows.count[:, None])


def _largest(versine: np.ndarray, frames: loop.Rows) -> np.ndarray:
    """The largest of those that were seen, and of the frames."""
    room = frames.rows.versine.shape[1]
    filled = np.where(np.arange(room) < frames.count[:, None], frames.rows.versine, 0.0)
    return np.maximum(versine, filled.max(axis=1, initial=0.0))


def _chunks(job: Job, leg: _Leg, standing: Standing) -> Iterator[tuple[Standing, loop.Filled]]:
    """Pieces of bounded size, until every run is at the end or cannot go on: where the runs stand, and what came."""
    budget, inputs, ends = FIRST_STEPS, None, np.zeros(job.size, int)  # the nodes that the inputs reach to
    waiting = None  # on a GPU, what one chunk brings comes over while the next is computed
    most = int(np.max(leg.last))  # steps there: threads that go together wait for the one that takes the most
    while np.any(active := (standing.node < leg.last) & (standing.outcome == Outcome.COMPLETED)):
        interrupts.check()
        before, started = np.asarray(standing.node), time.perf_counter()
        stop = np.where(active, np.minimum(leg.last, before + budget), before)
        if job.sources is not None:
            inputs, ends = _drawn(job, inputs, ends, np.asarray(before), leg)
            stop = np.minimum(stop, ends)
        begun, given = standing, (leg.saved_last, leg.cadence, inputs)
        standing, filled = _rows(job, _advance, begun, leg.t0, leg.h, stop, *given)
        if waiting is not None:
            yield waiting
        ended = active & (standing.outcome != Outcome.COMPLETED)
        if np.any(ended):  # the step that ended a run is not taken
            stop = np.where(ended, np.asarray(standing.node) - 1, stop)
            again, _ = _rows(job, _advance, begun, leg.t0, leg.h, stop, *given)
            standing = again._replace(outcome=standing.outcome)
        taken = np.asarray(standing.node) - before
        budget = next_budget(budget, max(int(np.max(taken)), 1), time.perf_counter() - started)
        if job.device != "cpu":
            most = min(most, max(int(np.min(taken, where=standing.node < stop, initial=most)), FIRST_STEPS))
            budget = min(budget, most)
        waiting = (standing, filled) if job.device != "cpu" else None
        if waiting is None:
            yield standing, filled
    if waiting is not None:
        yield waiting


def _drawn(
    job: Job, inputs: Inputs | None, ends: np.ndarray, nodes: np.ndarray, leg: _Leg
) -> tuple[Inputs, np.ndarray]:
    """The blocks of inputs of the steps from these nodes: drawn anew where the old ones end."""
    if job.device != "cpu" and all(isinstance(source.noise, Noise) for source in job.sources or ()):
        return _drawn_there(job, inputs, ends, nodes, leg)
    h, counted = job.each(leg.h), job.each(leg.counted)
    blocks = [
        source.block(int(nodes[k]), float(h[k]), counted=int(counted[k]))
        if inputs is None or nodes[k] >= ends[k]
        else (Inputs(inputs.first[k], inputs.rows[k]), ends[k])
        for k, source in enumerate(job.sources or ())
    ]
    drawn, until = zip(*blocks, strict=True)
    return jax.tree.map(lambda *leaves: np.stack(leaves), *drawn), np.array(until)


def _drawn_there(
    job: Job, inputs: Inputs | None, ends: np.ndarray, nodes: np.ndarray, leg: _Leg
) -> tuple[Inputs, np.ndarray]:
    """The same numbers, drawn where the steps are taken."""
    if inputs is not None and np.all(nodes < ends):
        return inputs, ends
    sources = list(job.sources or ())
    row = np.array([source.used - source.start for source in sources]) + job.each(leg.counted) + nodes
    first, shape = nodes - row % BLOCK, Shape(BLOCK, sources[0].size)
    seeds: list[Any] = [source.noise for source in sources]
    keys = np.array([seed.key for seed in seeds])
    given = (keys, row // BLOCK, np.array(job.each(leg.h), float))
    rows = execute_rows(_increments, shape, *given, parameters=(0,), engine=job.engine, device=job.device)
    return Inputs(first, rows), first + BLOCK


def _increments(shape: Shape, key: Any, block: Any, h: Any) -> Any:
    return jnp.sqrt(h) * standard_normals(shape, key, block) / h
