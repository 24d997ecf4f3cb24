"""The reference engine: XLA, through `jax.jit`."""

import time
from collections.abc import Iterator
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from naiad.integrators import StepInfo
from naiad.mechanics import State
from naiad.simulation.monitor import Monitor
from naiad.simulation.outcome import Outcome
from naiad.simulation.plan import AbstractEngine, Chunk, Plan, Program, Statistics
from naiad.simulation.section import locate

BUFFER_BYTES = 2**22  # of the saved nodes, and of the crossings of each section, that one chunk can hold
CHUNK_SECONDS = 0.5  # wall time of a chunk, so that progress shows and an interrupt is heard


class _Loop(NamedTuple):
    """What goes round the loop over steps; `k` counts steps from the start of the run, buffers belong to the chunk."""

    k: Int[Array, ""]
    carry: Any
    monitors: dict[str, Monitor]
    statistics: Statistics
    values: dict[str, Float[Array, ""]]
    frames: Any
    crossings: dict[str, Any]
    counts: dict[str, Int[Array, ""]]
    outcome: Int[Array, ""]


class XLA(AbstractEngine):
    """Runs the loop over steps as one compiled XLA loop per chunk."""

    def chunks(self, plan: Plan, carry: Any) -> Iterator[Chunk]:
        program, every, done, start = plan.program, plan.save_every, plan.first, plan.t0 + plan.first * plan.h
        frame = _frame(program, carry, jnp.asarray(start))
        capacity = _capacity(frame)
        loop = _begin(program, carry, done, start, capacity)
        first = jax.tree.map(lambda leaf: np.asarray(leaf)[None], frame)
        yield _chunk(program, loop, np.array([start]), first, done, start)
        budget = 64
        while done < plan.last and int(loop.outcome) == Outcome.COMPLETED:
            room = capacity if program.sections else capacity * every - done % every
            size = min(plan.last - done, budget, room)
            started = time.perf_counter()
            loop = jax.block_until_ready(_advance(program, loop, plan.t0, plan.h, size, every))
            seconds = time.perf_counter() - started
            k = np.arange(done + 1, int(loop.k) + 1)
            saved = k[(k % every == 0) | ((k == plan.last) & (plan.rest == 0.0))]
            slots = _slot(saved, done, every)
            frames = jax.tree.map(lambda buffer, slots=slots: np.asarray(buffer)[slots], loop.frames)
            done = int(loop.k)
            yield _chunk(program, loop, plan.t0 + saved * plan.h, frames, done, plan.t0 + done * plan.h)
            budget = int(np.clip(budget * CHUNK_SECONDS / max(seconds, 1e-6), 1, 8 * budget))
        if plan.rest and int(loop.outcome) == Outcome.COMPLETED:
            start = plan.t0 + plan.last * plan.h
            loop = _advance(program, loop._replace(k=jnp.zeros_like(loop.k)), start, plan.rest, 1, 1)
            reached = int(loop.k)
            frames = jax.tree.map(lambda buffer: np.asarray(buffer)[:reached], loop.frames)
            times = np.full(reached, start + plan.rest)
            yield _chunk(program, loop, times, frames, done + reached, start + reached * plan.rest)


def _slot(k: Any, done: Any, save_every: Any) -> Any:
    """The place of node k in the chunk's buffer: shared with the nodes before the next saved one, which writes last."""
    return (k - 1) // save_every - done // save_every


def _capacity(frame: Any) -> int:
    """How many frames a chunk holds: some thousands of small ones, fewer of large ones."""
    size = sum(8 * jnp.size(leaf) for leaf in jax.tree.leaves(frame))
    return int(np.clip(BUFFER_BYTES // size, 16, 4096))


def _begin(program: Program, carry: Any, node: int, time: float, capacity: int) -> _Loop:
    state, t = program.method.state(program.system, carry), jnp.asarray(time)

    def buffer(example):
        return jax.tree.map(lambda leaf: jnp.zeros((capacity, *jnp.shape(leaf))), example)

    return _Loop(
        jnp.asarray(node),
        jax.tree.map(jnp.asarray, carry),
        {name: Monitor.empty().record(t, f(state, t)) for name, f in program.monitors.items()},
        Statistics(jnp.zeros((), int), jnp.zeros((), int), jnp.zeros(()), jnp.zeros(())),
        {name: jnp.asarray(section.function(state, t), float) for name, section in program.sections.items()},
        buffer(_frame(program, carry, t)),
        {name: buffer((t, state)) for name in program.sections},
        {name: jnp.zeros((), int) for name in program.sections},
        jnp.asarray(int(Outcome.COMPLETED)),
    )


def _frame(program: Program, carry: Any, t: Float[Array, ""]) -> dict[str, Any]:
    """What is saved of a node."""
    state = program.method.state(program.system, carry)
    return {"state": state, "outputs": {name: jnp.asarray(f(state, t), float) for name, f in program.outputs.items()}}


def _chunk(program: Program, loop: _Loop, times: np.ndarray, frames: Any, done: int, t: float) -> Chunk:
    crossings = {
        name: jax.tree.map(lambda b, n=int(loop.counts[name]): np.asarray(b)[:n], loop.crossings[name])
        for name in program.sections
    }
    carry, monitors, statistics = jax.tree.map(np.asarray, (loop.carry, loop.monitors, loop.statistics))
    return Chunk(times, frames, crossings, done, t, carry, monitors, statistics, Outcome(int(loop.outcome)))


def _advance(program: Program, loop: _Loop, t0: float, h: float, size: int, save_every: int) -> _Loop:
    """Up to `size` steps; it ends early after a step that fails or meets a terminal section."""
    return _compiled_advance(program, loop, *(jnp.asarray(value) for value in (t0, h, size, save_every)))


@eqx.filter_jit
def _compiled_advance(program: Program, loop: _Loop, t0: Any, h: Any, size: Any, save_every: Any) -> _Loop:
    method, system, done = program.method, program.system, loop.k
    loop = loop._replace(counts={name: jnp.zeros((), int) for name in program.sections})

    def body(before: _Loop) -> _Loop:
        t, k, t_next = t0 + before.k * h, before.k + 1, t0 + (before.k + 1) * h
        carry = method.step(system, before.carry, t, h)
        state, info = method.state(system, carry), method.info(carry)
        failure = _failure(state, info)
        loop = _record_crossings(program, before, state, t, t_next, h)
        outcome = jnp.where(failure != Outcome.COMPLETED, failure, loop.outcome)
        slot, frame = _slot(k, done, save_every), _frame(program, carry, t_next)
        frames = jax.tree.map(lambda buffer, leaf: buffer.at[slot].set(leaf), loop.frames, frame)
        monitors = {name: loop.monitors[name].record(t_next, f(state, t_next)) for name, f in program.monitors.items()}
        taken = (k, carry, monitors, _count(loop.statistics, info), loop.values)
        kept = (before.k, before.carry, before.monitors, before.statistics, before.values)
        goes_on = outcome == Outcome.COMPLETED  # a step that ends the run is not taken
        k, carry, monitors, statistics, values = jax.tree.map(
            lambda new, old: jnp.where(goes_on, new, old), taken, kept
        )
        return _Loop(k, carry, monitors, statistics, values, frames, loop.crossings, loop.counts, outcome)

    return jax.lax.while_loop(lambda loop: (loop.k < done + size) & (loop.outcome == Outcome.COMPLETED), body, loop)


def _failure(state: State, info: StepInfo) -> Int[Array, ""]:
    finite = jnp.all(jnp.stack([jnp.all(jnp.isfinite(leaf)) for leaf in jax.tree.leaves(state)]))
    return jnp.where(finite, jnp.where(info.converged, Outcome.COMPLETED, Outcome.NEWTON_FAILED), Outcome.NOT_FINITE)


def _count(statistics: Statistics, info: StepInfo) -> Statistics:
    return Statistics(
        statistics.iterations + info.iterations,
        jnp.maximum(statistics.iterations_max, info.iterations),
        jnp.maximum(statistics.residual_max, info.residual),
        jnp.maximum(statistics.correction_max, info.correction),
    )


def _record_crossings(program: Program, loop: _Loop, state: State, t, t_next, h) -> _Loop:
    """Locate the crossings within the step from loop.carry to `state`, and write them down."""
    values, crossings, counts, outcome = {}, {}, {}, loop.outcome
    for name, section in program.sections.items():
        before, after = loop.values[name], jnp.asarray(section.function(state, t_next), float)
        crossed = section.crossed(before, after)
        found = jax.lax.cond(
            crossed,
            lambda s=section, b=before, a=after: tuple(
                locate(s, program.method, program.system, loop.carry, t, h, b, a)
            ),
            lambda: (t_next, state),
        )
        crossings[name] = jax.tree.map(
            lambda b, leaf, n=loop.counts[name]: b.at[n].set(leaf), loop.crossings[name], found
        )
        counts[name], values[name] = loop.counts[name] + crossed, after
        if section.terminal:
            outcome = jnp.where(crossed, int(Outcome.EVENT), outcome)
    return loop._replace(values=values, crossings=crossings, counts=counts, outcome=outcome)
