"""The loop over steps, as pure functions: what `simulate` compiles."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from naiad.integrators import RKMK, StepInfo
from naiad.mechanics import State
from naiad.mechanics.functions import check_functions
from naiad.mechanics.system import is_sound
from naiad.simulation.monitor import Monitor
from naiad.simulation.noise import Inputs
from naiad.simulation.outcome import Outcome
from naiad.simulation.plan import Cadence, Routine, Standing, Statistics
from naiad.simulation.section import Level, Passage, Stretch
from naiad.simulation.turn import versine

BUFFER_BYTES = 2**22  # of the saved nodes, and of the passages of each section, that one chunk can hold


class Rows(NamedTuple):
    """The rows that a chunk has filled so far: the first `count` of the buffers."""

    count: Int[Array | np.ndarray, ""]
    rows: Any

    @classmethod
    def empty(cls, example: Any, room: int) -> "Rows":
        """Room for so many rows like the example."""
        buffers = jax.tree.map(lambda leaf: jax.lax.empty((room, *jnp.shape(leaf)), jnp.result_type(leaf)), example)
        return cls(jnp.zeros((), int), buffers)

    @property
    def room(self) -> int:
        """How many rows there can be."""
        return jax.tree.leaves(self.rows)[0].shape[0]

    @property
    def full(self) -> Any:
        """Whether there is no room for another."""
        return self.count >= self.room

    def append(self, row: Any) -> "Rows":
        """One row more, where there is room."""

        def put(buffer: Any, leaf: Any) -> Any:
            return buffer.at[self.count].set(leaf, mode="clip")

        return Rows(self.count + 1, jax.tree.map(put, self.rows, row))


class Frame(NamedTuple):
    """What is saved of a node; `versine` tells how far the step to it turned (see `turn`), and `t` when it is, where
    the method chooses its steps."""

    node: Int[Array | np.ndarray, ""]
    t: Float[Array, ""] | None
    state: State
    outputs: dict[str, Float[Array, "..."]]
    versine: Float[Array, ""]


class Outputs(NamedTuple):
    """The outputs at a node, where they do not go with the saved ones."""

    node: Int[Array | np.ndarray, ""]
    t: Float[Array, ""] | None
    values: dict[str, Float[Array, "..."]]


class Crossing(NamedTuple):
    """The time and the state at a crossing of a section; where only the momentum is followed, g is None."""

    t: Any
    state: State


class Filled(NamedTuple):
    """What a chunk brings: the saved nodes, the outputs that do not go with them, and the steps in which each section
    was met."""

    frames: Rows
    outputs: Rows | None
    passages: dict[str, Rows]


class _Loop(NamedTuple):
    standing: Standing
    due: Cadence  # the next nodes to be saved
    frames: Rows
    outputs: Rows | None
    passages: dict[str, Rows]


def capacity(example: Any, most: int) -> int:
    """How many rows like the example a chunk holds: `most` of small ones, fewer of large ones."""
    size = sum(8 * jnp.size(leaf) for leaf in jax.tree.leaves(example))
    return min(max(BUFFER_BYTES // size, 64), most)


def start(routine: Routine, state: State, t: Any, h: Any) -> tuple[Standing, Frame, Bool[Array, ""]]:
    """Where a run stands before its first step, its first frame, and whether it can start there."""
    begun = begin(routine, routine.method.init(routine.system, state, t, h), jnp.zeros((), int), t, h)
    return *begun, is_sound(routine.system, state, t)


def begin(routine: Routine, carry: Any, node: Any, t: Any, h: Any) -> tuple[Standing, Frame]:
    """Where a run that goes on from a carry stands, and its first frame."""
    check_functions(routine.system, vars(routine))
    state = routine.state(carry)
    standing = Standing(
        jnp.asarray(node),
        jax.tree.map(jnp.asarray, carry),
        {
            name: Monitor.empty().record(t, value)
            for name, value in routine.observed(routine.monitors, state, t).items()
        },
        Statistics(jnp.zeros((), int), jnp.zeros((), int), jnp.zeros(()), jnp.zeros(())),
        {name: section.level(routine.system, state, t) for name, section in routine.sections.items()},
        jnp.asarray(int(Outcome.COMPLETED)),
    )
    turn = h * routine.system.group.spin(routine.system.velocity(state.g, state.mu, t))
    return standing, Frame(jnp.asarray(node), _own_time(routine, t), state, _outputs(routine, state, t), versine(turn))


def advance(
    routine: Routine,
    standing: Standing,
    t0: Any,
    h: Any,
    stop: Any,
    last: Any,
    cadence: Cadence,
    inputs: Inputs | None = None,
    until: Any = None,
) -> tuple[Standing, Filled]:
    """The steps to node `stop`, saving at a cadence, and the last; it ends early when there is no more room, and after
    a step that fails or meets a terminal section, which is not to be taken: the steps to the node before it, once more,
    tell where the run stands. (No step has to keep what was before it for the one that may fail.) `inputs` reach to
    `stop`. A method that chooses its steps comes to its last node where that is not before `until`."""
    state = routine.state(standing.carry)
    given = None if inputs is None else inputs.at(standing.node)
    variable = routine.method.variable
    apart = Outputs(standing.node, _own_time(routine, t0), _outputs(routine, state, t0)) if routine.apart else None
    kept = routine.kept(standing.carry)
    step = jax.jit(lambda *given: routine.onward(*given))  # which is traced once

    def empty(example: Any) -> Rows:
        return Rows.empty(example, capacity(example, routine.room))

    rows = (
        empty(_frame(routine, standing.node, state, t0, jnp.zeros(()))),
        None if apart is None else empty(apart),
        {
            name: empty(Passage(t0, h if variable else None, kept, level.bare, level.bare, given))
            for name, level in standing.levels.items()
        },
    )

    def goes_on(loop: _Loop):
        kinds = (loop.frames, loop.outputs, *loop.passages.values())
        room = jnp.all(jnp.stack([~rows.full for rows in kinds if rows is not None]))
        ahead = (loop.standing.node < stop) & (loop.standing.outcome == Outcome.COMPLETED) & room
        return ahead & (loop.standing.carry.t < until) if variable else ahead

    def body(loop: _Loop) -> _Loop:
        before = loop.standing
        node = before.node + 1
        t = routine.time(before.carry, t0, before.node, h)
        given = None if inputs is None else inputs.at(before.node)
        carry = step(routine.method.bare(before.carry), before.node, t, h, given)
        t_next = routine.time(carry, t0, node, h)
        size = t_next - t if variable else h
        state, info = routine.state(carry), routine.method.info(carry)
        levels = {
            name: section.level(routine.system, state, t_next).after(before.levels[name])
            for name, section in routine.sections.items()
        }
        passages, event = _record_passages(routine, loop, levels, t, size, given)
        outcome = _outcome(routine, state, info, event, t_next, size)
        watched = routine.observed(routine.monitors, state, t_next)
        monitors = {name: before.monitors[name].record(t_next, value) for name, value in watched.items()}
        after = Standing(node, carry, monitors, _count(before.statistics, info), levels, outcome)
        frames, outputs = loop.frames, loop.outputs

        final = t_next >= until if variable else node == last

        def saved(due):
            return (outcome == Outcome.COMPLETED) & ((node == due) | final)

        def more():
            turned = routine.system.group.versine(routine.state(before.carry).g, state.g)
            return frames.append(_frame(routine, node, state, t_next, turned))

        frames = jax.lax.cond(saved(loop.due.save), more, lambda: frames)
        if outputs is not None:
            row = outputs
            own = _own_time(routine, t_next)
            outputs = jax.lax.cond(
                saved(loop.due.output),
                lambda: row.append(Outputs(node, own, _outputs(routine, state, t_next))),
                lambda: row,
            )
        due = jax.tree.map(lambda due, every: due + jnp.where(node == due, every, 0), loop.due, cadence)
        return _Loop(after, due, frames, outputs, passages)

    due = jax.tree.map(lambda every: (standing.node // every + 1) * every, cadence)
    end = jax.lax.while_loop(goes_on, body, _Loop(standing, due, *rows))
    return end.standing, Filled(end.frames, end.outputs, end.passages)


def locate(routine: Routine, passages: dict[str, Rows], h: Any) -> dict[str, Rows]:
    """The crossings of each section. They are looked for when the steps are done: until then nothing waits for them,
    lanes look for theirs side by side, and where nothing is met there is nothing to compile."""
    search = Search(routine)
    return {name: _crossings(search, name, h, rows) for name, rows in passages.items()}


def crossings(where: tuple[Routine, str], met: Passage, h: Any) -> Crossing:
    """The crossings of the section of this name in one step, as rows; t is NaN where there is none."""
    return Search(where[0]).crossings(where[1], met, h)


class Search:
    """Looks for crossings in the steps of a routine: of h, unless they have sizes of their own."""

    def __init__(self, routine: Routine):
        self.routine = routine
        self._within = jax.jit(lambda *given: routine.within(*given))  # which is traced once

    def crossings(self, name: str, met: Passage, h: Any) -> Crossing:
        """Those of a section in a step in which it is met, as rows; t is NaN where there is none."""
        found = self._stretch(met, h).crossings(self.routine.sections[name], met.before, met.after)
        return self.row(jnp.where(found.found, found.t, jnp.nan), found.state)

    def row(self, t: Any, state: State) -> Crossing:
        """What is kept of a crossing."""
        return Crossing(t, state if self.routine.reconstruct else state._replace(g=None))

    def _stretch(self, met: Passage, h: Any) -> Stretch:
        routine, h = self.routine, h if met.h is None else met.h
        carry = routine.restored(met.kept)
        start = routine.state(carry)

        def state_at(fraction: Any) -> State:
            return self._within(carry, met.t, fraction * h, met.inputs)

        def onward(state: State, t: Any, h: Any) -> State:
            moved = RKMK().advance(routine.system, state, (), t, h, None)[0]
            return moved if routine.reconstruct else moved._replace(g=start.g)

        return Stretch(routine.system, start, state_at, onward if met.inputs is None else None, met.t, h)


def _own_time(routine: Routine, t: Any) -> Any:
    return jnp.asarray(t, float) if routine.method.variable else None


def _frame(routine: Routine, node: Any, state: State, t: Any, versine: Any) -> Frame:
    return Frame(node, _own_time(routine, t), state, {} if routine.apart else _outputs(routine, state, t), versine)


def _outputs(routine: Routine, state: State, t: Any) -> dict[str, Float[Array, "..."]]:
    return {name: jnp.asarray(x, float) for name, x in routine.observed(routine.outputs, state, t).items()}


def _outcome(routine: Routine, state: State, info: StepInfo, event: Any, t: Any, h: Any) -> Int[Array, ""]:
    # one sum finds any NaN or infinity; a configuration that is not followed stays as it was
    moving = jax.tree.leaves(state if routine.reconstruct else state.mu)
    finite = jnp.isfinite(sum(jnp.sum(leaf) for leaf in moving))
    failure = jnp.where(finite, int(Outcome.NEWTON_FAILED), int(Outcome.NOT_FINITE))
    ended = jnp.where(event, int(Outcome.EVENT), int(Outcome.COMPLETED))
    outcome = jnp.where(finite & info.converged, ended, failure)
    if routine.system.limit is None:
        return outcome
    within = routine.system.limit(state.g, t, h) > 0.0
    return jnp.where(within | ~info.converged, outcome, int(Outcome.LIMIT))


def _count(statistics: Statistics, info: StepInfo) -> Statistics:
    return Statistics(
        statistics.iterations + info.iterations,
        jnp.maximum(statistics.iterations_max, info.iterations),
        jnp.maximum(statistics.residual_max, info.residual),
        jnp.maximum(statistics.correction_max, info.correction),
    )


def _record_passages(
    routine: Routine, loop: _Loop, levels: dict[str, Level], t: Any, h: Any, inputs: Any
) -> tuple[dict[str, Rows], Any]:
    """Write down the steps in which sections are met; whether a terminal one was."""
    passages, event = {}, jnp.zeros((), bool)
    for name, section in routine.sections.items():
        before, after, rows = loop.standing.levels[name], levels[name], loop.passages[name]
        own = h if routine.method.variable else None
        passage = Passage(t, own, routine.kept(loop.standing.carry), before.bare, after.bare, inputs)
        met = section.met(before, after, h)
        passages[name] = jax.lax.cond(met, lambda rows=rows, new=passage: rows.append(new), lambda rows=rows: rows)
        event = event | met if section.terminal else event
    return passages, event


def _crossings(search: Search, name: str, h: Any, passages: Rows) -> Rows:
    """The crossings in the steps in which a section was met, in their order."""

    def found_in(i: Any) -> Crossing:
        return search.crossings(name, jax.tree.map(lambda buffer: buffer[i], passages.rows), h)

    each = jax.eval_shape(found_in, 0)
    most, room = each.t.size, passages.room
    buffers = jax.tree.map(lambda leaf: jax.lax.empty((most * room, *leaf.shape[1:]), leaf.dtype), each)
    order = _turned_last(passages) if search.routine.sections[name].pairs else None

    def look(j: Any, rows: Crossing) -> Crossing:
        i = j if order is None else order[j]
        put = lambda buffer, new: jax.lax.dynamic_update_slice_in_dim(buffer, new, most * i, 0)  # noqa: E731
        return jax.tree.map(put, rows, found_in(i))

    rows = jax.lax.fori_loop(0, passages.count, look, buffers)
    if order is None:
        return Rows(passages.count, rows)

    def moved(i: Any, kept: Rows) -> Rows:
        row = jax.tree.map(lambda buffer: buffer[i], kept.rows)
        return jax.lax.cond(jnp.isnan(row.t), lambda: kept, lambda: kept.append(row))

    return jax.lax.fori_loop(0, most * passages.count, moved, Rows(jnp.zeros((), int), rows))


def _turned_last(passages: Rows) -> Int[Array, " room"]:
    """The numbers of the passages, those without a change of sign last: lanes that look for a turning point would keep
    those that do not waiting."""
    before, after = passages.rows.before.value, passages.rows.after.value

    def placed(i: Any, found: Any) -> Any:
        order, first, last = found
        turned = before[i] * after[i] > 0
        order = order.at[jnp.where(turned, last, first)].set(i)
        return order, first + ~turned, last - turned

    begin = jax.lax.empty((passages.room,), int), jnp.zeros((), int), passages.count - 1
    return jax.lax.fori_loop(0, passages.count, placed, begin)[0]
