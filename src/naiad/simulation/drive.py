"""Drives the loop over steps through time, in chunks of bounded size."""

import time
from collections.abc import Iterator
from typing import Any

import jax
import numpy as np

from naiad import interrupts
from naiad.compiler import execute, execute_rows
from naiad.mechanics import State
from naiad.simulation.loop import Crossing, Filled, Frame, Rows, advance, crossings
from naiad.simulation.noise import Inputs
from naiad.simulation.plan import Cadence, Chunk, Plan, Standing
from naiad.simulation.turn import angle

FIRST_STEPS = 16  # of the first chunk of a kind of run, which tells how long a step takes
CHUNK_SECONDS = 0.5  # wall time of a chunk, so that progress shows and an interrupt is heard
KINDS = 256  # of runs that are remembered


class Budget:
    """How many steps a chunk may take, of runs of one kind: as many as the last one could have taken in the time."""

    def __init__(self) -> None:
        self.steps = FIRST_STEPS

    def learn(self, taken: int, seconds: float) -> None:
        """From the steps of a chunk; a short one tells only that there may be as many."""
        steps = next_budget(self.steps, taken, seconds)
        self.steps = steps if seconds > CHUNK_SECONDS else max(self.steps, steps)


BUDGETS: dict[Any, Budget] = {}  # by the kinds of runs that there were


def first_chunk(plan: Plan, standing: Standing, frame: Frame) -> Chunk:
    """The first node of a run."""
    leaves, structure = jax.tree_util.tree_flatten(frame)
    row = structure.unflatten([leaf[None] for leaf in leaves])
    t = plan.time(standing)
    times = np.array([t])
    outputs = (times, row.outputs) if plan.routine.apart else None
    row = row._replace(outputs={}) if plan.routine.apart else row
    crossings = {name: no_crossing(plan, row.state) for name in plan.routine.sections}
    return Chunk(times, row, outputs, crossings, int(standing.node), t, standing, angle(frame.versine))


def chunks(plan: Plan, at: Chunk) -> Iterator[Chunk]:
    """The run from where it stands on, in pieces of bounded size; it ends early after a failed step."""
    standing, turn = at.standing, at.turn
    budget, inputs, end = budget_of(_kind(plan, standing)), None, plan.first
    while _has_whole_steps(plan, standing) and standing.goes_on:
        interrupts.check()
        started, node = time.perf_counter(), int(standing.node)
        stop = node + budget.steps if plan.until is not None else min(plan.last, node + budget.steps)
        last = plan.last if plan.rest == 0.0 else -1
        if plan.noise is not None:
            if node >= end:
                inputs, end = plan.noise.block(node, plan.h)
            stop = min(stop, end)
        standing, filled = _advance(plan, standing, plan.t0, plan.h, stop, last, plan.cadence, inputs)
        seconds = time.perf_counter() - started
        chunk = _chunk(plan, standing, filled, plan.t0, plan.h, 0, turn)
        turn = chunk.turn
        yield chunk
        budget.learn(max(int(standing.node) - node, 1), seconds)
    if plan.rest and standing.goes_on and int(standing.node) == plan.last:
        before = plan.t0 + plan.last * plan.h
        if plan.noise is not None:
            inputs, _ = plan.noise.block(0, plan.rest, counted=plan.last)
        every = every_step(plan.cadence)
        standing, filled = _advance(plan, standing._replace(node=np.asarray(0)), before, plan.rest, 1, 1, every, inputs)
        yield _chunk(plan, standing, filled, before, plan.rest, plan.last, turn)


def _has_whole_steps(plan: Plan, standing: Standing) -> bool:
    """Whether steps of h, or of the method's choice, are left."""
    return int(standing.node) < plan.last if plan.until is None else plan.time(standing) < plan.until


def _kind(plan: Plan, standing: Standing) -> Any:
    """What tells how long a step takes."""
    leaves, structure = jax.tree_util.tree_flatten((plan.routine, standing.carry))
    return structure, sum([leaf.size for leaf in leaves if type(leaf) is np.ndarray]), plan.engine


def budget_of(kind: Any) -> Budget:
    """That of the runs before, if there were any of the kind."""
    budget = BUDGETS.get(kind)
    if budget is None:
        if len(BUDGETS) >= KINDS:
            BUDGETS.clear()
        budget = BUDGETS[kind] = Budget()
    return budget


def next_budget(budget: int, taken: int, seconds: float) -> int:
    """How many steps the next chunk may take, after one of so many."""
    return max(1, min(int(taken * CHUNK_SECONDS / max(seconds, 1e-6)), 256 * budget))


def every_step(cadence: Cadence) -> Cadence:
    """The same things at every step."""
    return Cadence(1, None if cadence.output is None else 1)


def _advance(
    plan: Plan, standing: Standing, t0: float, h: float, stop: int, last: int, cadence: Cadence, inputs: Inputs | None
) -> Any:
    def to(node: int) -> Any:
        given = (standing, t0, h, node, last, cadence, inputs, plan.until)
        return execute(advance, plan.routine, *given, parameters=(0,), engine=plan.engine)

    end, filled = to(stop)
    if not end.goes_on:  # the step that ended the run is not taken
        end = to(int(end.node) - 1)[0]._replace(outcome=end.outcome)
    return end, filled


def no_crossing(plan: Plan, states: State) -> Crossing:
    """None of the crossings of a run with states like these."""
    nowhere = states if plan.routine.reconstruct else states._replace(g=None)
    return jax.tree.map(lambda leaf: leaf[:0], Crossing(np.zeros(0), nowhere))


def _chunk(plan: Plan, standing: Standing, filled: Filled, t0: float, h: float, counted: int, turn: float) -> Chunk:
    """`counted` nodes were taken before t0, and a step was seen to turn by `turn`."""
    node = int(standing.node)
    frames, apart = _rows(filled.frames), None if filled.outputs is None else _rows(filled.outputs)
    outputs = None if apart is None else (_times(apart, t0, h), apart.values)
    crossed = {name: _crossings(plan, name, met, filled, h) for name, met in filled.passages.items()}
    turn = max(turn, angle(frames.versine))
    t = t0 + node * h if plan.until is None else plan.time(standing)
    return Chunk(_times(frames, t0, h), frames, outputs, crossed, counted + node, t, standing, turn)


def _times(rows: Any, t0: float, h: float) -> np.ndarray:
    """When rows of nodes are."""
    return t0 + rows.node * h if rows.t is None else rows.t


def _crossings(plan: Plan, name: str, met: Rows, filled: Filled, h: float) -> Crossing:
    """The crossings of a section in the steps in which it was met, in their order. They are looked for side by side."""
    if not met.count:
        return no_crossing(plan, filled.frames.rows.state)
    before, after = (level.value[: met.count] for level in (met.rows.before, met.rows.after))
    turned = before * after > 0  # go last: lanes that look for a turning point would keep those that do not waiting
    passages = _rows(met, np.argsort(turned, kind="stable") if np.any(turned) else None)
    where = (plan.routine, name)
    found = execute_rows(crossings, where, passages, h, shared=(2,), parameters=(0,), engine=plan.engine)
    t = found.t.reshape(-1)
    there = np.flatnonzero(~np.isnan(t))
    places = there[np.argsort(t[there], kind="stable")]
    return jax.tree.map(lambda leaf: leaf.reshape(-1, *leaf.shape[2:]).take(places, 0), found)


def _rows(filled: Rows, order: np.ndarray | None = None) -> Any:
    """The rows that are filled, or in another order."""
    count = int(filled.count)
    buffers, structure = jax.tree_util.tree_flatten(filled.rows)
    return structure.unflatten(
        [buffer[:count].copy() if order is None else buffer.take(order, 0) for buffer in buffers]
    )
