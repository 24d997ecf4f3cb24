"""Drives the loop over steps through time, in chunks of bounded size."""

import time
from collections.abc import Iterator
from typing import Any

import jax
import numpy as np

from naiad import interrupts
from naiad.compiler import execute, execute_rows
from naiad.mechanics import State
from naiad.simulation.loop import Filled, Frame, Rows, advance, crossing_within, pair_within
from naiad.simulation.noise import Inputs
from naiad.simulation.plan import Cadence, Chunk, Plan, Standing
from naiad.simulation.section import Passage
from naiad.simulation.turn import angle

FIRST_STEPS = 256  # of the first chunk, which tells how long a step takes
CHUNK_SECONDS = 0.5  # wall time of a chunk, so that progress shows and an interrupt is heard


def chunks(plan: Plan, standing: Standing, frame: Frame) -> Iterator[Chunk]:
    """The run in pieces of bounded size, the first with the initial node; it ends early after a failed step."""
    first = _first(plan, standing, frame)
    yield first
    budget, inputs, end, turn = FIRST_STEPS, None, plan.first, first.turn
    while (node := int(standing.node)) < plan.last and standing.goes_on:
        interrupts.check()
        started = time.perf_counter()
        stop, last = min(plan.last, node + budget), plan.last if plan.rest == 0.0 else -1
        if plan.noise is not None:
            if node >= end:
                inputs, end = plan.noise.block(node, plan.h)
            stop = min(stop, end)
        standing, filled = _advance(plan, standing, plan.t0, plan.h, stop, last, plan.cadence, inputs)
        seconds = time.perf_counter() - started
        chunk = _chunk(plan, standing, filled, plan.t0, plan.h, 0, turn)
        turn = chunk.turn
        yield chunk
        taken = max(int(standing.node) - node, 1)
        budget = next_budget(budget, taken, seconds)
    if plan.rest and standing.goes_on:
        before = plan.t0 + plan.last * plan.h
        if plan.noise is not None:
            inputs, _ = plan.noise.block(0, plan.rest, counted=plan.last)
        every = every_step(plan.cadence)
        standing, filled = _advance(plan, standing._replace(node=np.asarray(0)), before, plan.rest, 1, 1, every, inputs)
        yield _chunk(plan, standing, filled, before, plan.rest, plan.last, turn)


def next_budget(budget: int, taken: int, seconds: float) -> int:
    """How many steps the next chunk may take, after one of so many."""
    return max(1, min(int(taken * CHUNK_SECONDS / max(seconds, 1e-6)), 256 * budget))


def every_step(cadence: Cadence) -> Cadence:
    """The same things at every step."""
    return Cadence(1, None if cadence.output is None else 1)


def _advance(
    plan: Plan, standing: Standing, t0: float, h: float, stop: int, last: int, cadence: Cadence, inputs: Inputs | None
) -> Any:
    return execute(
        advance, plan.routine, standing, t0, h, stop, last, cadence, inputs, parameters=(0,), engine=plan.engine
    )


def _first(plan: Plan, standing: Standing, frame: Frame) -> Chunk:
    row = jax.tree.map(lambda leaf: leaf[None], frame)
    t = plan.t0 + int(standing.node) * plan.h
    outputs = (np.array([t]), row.outputs) if plan.routine.apart else None
    row = row._replace(outputs={}) if plan.routine.apart else row
    none = {
        name: (np.zeros(0), jax.tree.map(lambda leaf: np.zeros((0, *np.shape(leaf))), frame.state))
        for name in plan.routine.sections
    }
    return Chunk(np.array([t]), row, outputs, none, int(standing.node), t, standing, angle(frame.versine))


def _chunk(plan: Plan, standing: Standing, filled: Filled, t0: float, h: float, counted: int, turn: float) -> Chunk:
    """`counted` nodes were taken before t0, and a step was seen to turn by `turn`."""
    node = int(standing.node)
    frames, apart = _rows(filled.frames), None if filled.outputs is None else _rows(filled.outputs)
    outputs = None if apart is None else (t0 + apart.node * h, apart.values)
    crossings = {
        name: located(plan, name, rows.rows, (np.arange(int(rows.count)),), h, _taken(frames.state, slice(0)))[:2]
        for name, rows in filled.passages.items()
    }
    turn = max(turn, angle(frames.versine))
    return Chunk(t0 + frames.node * h, frames, outputs, crossings, counted + node, t0 + node * h, standing, turn)


def located(
    plan: Plan, name: str, passages: Passage, which: tuple[np.ndarray, ...], h: float, none: State
) -> tuple[np.ndarray, State, np.ndarray]:
    """The times and states (`none`, if there are none) of the crossings in the steps `which`, an index of rows, in
    their order, and the number of the step of each."""
    section = plan.routine.sections[name]
    crossed = section.crossed(*_taken((passages.before, passages.after), which))
    steps, found = [np.zeros(0, int)], [(np.zeros(0), none)]
    for kind, search in ((crossed, crossing_within), (~crossed, pair_within)):
        number = np.flatnonzero(kind)
        if not len(number):
            continue
        rows = _taken(passages, tuple(index[number] for index in which))
        for each in execute_rows(search, (plan.routine, section, h), rows, parameters=(0,), engine=plan.engine):
            steps.append(number[each.found])
            found.append(_taken((each.t, each.state), each.found))
    order = np.argsort(np.concatenate(steps), kind="stable")
    times, states = jax.tree.map(lambda *leaves: np.concatenate(leaves)[order], *found)
    return times, states, np.concatenate(steps)[order]


def _rows(filled: Rows) -> Any:
    count = int(filled.count)
    return jax.tree.map(lambda buffer: buffer[:count].copy(), filled.rows)


def _taken(rows: Any, which: Any) -> Any:
    return jax.tree.map(lambda leaf: leaf[which], rows)
