"""What a live page computes: steps of a method from where its sliders say, as one function for WebAssembly."""

import inspect
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Int

from naiad.compiler import Compiled
from naiad.compiler.backends import WasmModule
from naiad.errors import InputError
from naiad.integrators import AbstractMethod
from naiad.mechanics import LagrangianSystem, State
from naiad.mechanics.functions import with_system
from naiad.numerics.double import double
from naiad.simulation import loop
from naiad.simulation.outcome import Outcome
from naiad.simulation.plan import Cadence, Routine
from naiad.viz.live.controls import Model
from naiad.viz.live.sections import SectionPlot

ROOM = 512  # rows that a call holds
GO_ON, AFRESH, AGAIN, AT_POINT, TOUCHED = range(5)
"""How a call begins: where the last one ended; where the sliders say; at the state where the last one ended, with other
values or the other way in time; at a point of the section; at that state, changed by a click at a point of the
plane."""


class Points(NamedTuple):
    """Crossings of the section, as they are drawn: the first `count` rows."""

    count: Int[Array | np.ndarray, ""]
    rows: Any


class Course(NamedTuple):
    """What a call gives: where it ended, the node that it began with (where it did not go on), the nodes that it kept,
    and the crossings."""

    end: Any
    first: Any
    frames: Any
    points: Points | None


class Recipe(NamedTuple):
    """A model with a method, and what is observed: functions of system, state and time."""

    model: Model
    method: AbstractMethod
    outputs: Mapping[str, Callable[..., Any]]
    section: SectionPlot | None
    touch: Callable[..., Any] | None = None

    def routine(self, system: LagrangianSystem) -> Routine:
        """What is done at every step of a system."""
        sections = {} if self.section is None else {"section": self.section.section}
        return Routine(system, self.method, dict(self.outputs), {}, sections, room=ROOM)

    def begun(self, values: dict[str, Any], begin: Any, at: Any, carry: Any, t0: Any, h: Any) -> Any:
        """Where a run stands that begins, and its first frame."""
        values = values | {"dt": jnp.abs(h)}
        system, state = self.model.build(values)
        routine = self.routine(system)
        state = jax.tree.map(lambda leaf: jnp.asarray(leaf, float), State(*state))
        if carry is not None:
            last = routine.state(carry)
            state = _chosen(begin == AGAIN, last, state)
            if self.touch is not None:
                touched = self.touch(system, last, at[0], at[1], **_wanted(self.touch, values))
                state = _chosen(begin == TOUCHED, State(*touched), state)
        if self.section is not None and self.section.start is not None:
            given = _wanted(self.section.start, values)
            state = _chosen(begin == AT_POINT, State(*self.section.start(system, at[0], at[1], **given)), state)
        return loop.begin(routine, self.method.init(system, state, t0, h), 0, t0, h)

    def course(
        self,
        values: dict[str, Any],
        begin: Any,
        at: Any,
        standing: Any,
        none: Any,
        t0: Any,
        h: Any,
        count: Any,
        every: Any,
    ) -> Course:
        """`count` steps of h, of which every `every`-th node is kept, and the last; `none` is like a first frame."""
        routine = self.routine(self.model.build(values | {"dt": jnp.abs(h)})[0])
        now, first = jax.lax.cond(
            begin == GO_ON,
            lambda: (standing, jax.tree.map(jnp.asarray, none)),
            lambda: self.begun(values, begin, at, standing.carry, t0, h),
        )
        stop = now.node + count
        end, filled = loop.advance(routine, now, t0, h, stop, stop, Cadence(every))
        ended = end.outcome != Outcome.COMPLETED
        end = jax.lax.cond(ended, lambda: now._replace(outcome=end.outcome), lambda: end)
        return Course(end, first, filled.frames, self._points(routine, filled, h))

    def _points(self, routine: Routine, filled: loop.Filled, h: Any) -> Points | None:
        if self.section is None:
            return None
        found = loop.locate(routine, filled.passages, h)["section"]
        x, y = (with_system(function, routine.system) for function in (self.section.x, self.section.y))

        def draw(i: Any, points: Any) -> Any:
            crossing = jax.tree.map(lambda buffer: buffer[i], found.rows)
            return points.at[i].set(jnp.stack([x(crossing.state, crossing.t), y(crossing.state, crossing.t)]))

        return Points(found.count, jax.lax.fori_loop(0, found.count, draw, jnp.zeros((found.room, 2))))

    @double
    def module(self, t0: float, h: float) -> WasmModule:
        """The function `course` in WebAssembly."""
        values = {str(k): value for k, value in enumerate(self.model.values.values())}
        names = list(self.model.values)

        def begun(values, at):
            return self.begun(_named(names, values), AFRESH, at, None, t0, h)

        try:
            example = jax.eval_shape(begun, values, np.zeros(2))
        except jax.errors.JAXTypeError as error:
            raise InputError(
                "live: the functions that make the system, the state or the outputs are traced by JAX, with the "
                "numbers of the sliders not known yet; compute with jax.numpy, and do not branch on them: "
                f"{str(error).strip().splitlines()[0]}"
            ) from None
        standing, none = jax.tree.map(lambda leaf: np.zeros(leaf.shape, leaf.dtype), example)

        def course(values, begin, at, standing, t0, h, count, every):
            return self.course(_named(names, values), begin, at, standing, none, t0, h, count, every)

        return Compiled(course).wasm(values, AFRESH, np.zeros(2), standing, t0, h, 0, 1)


def _named(names: list[str], values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: values[str(k)] for k, name in enumerate(names)}


def _wanted(function: Callable[..., Any], values: Mapping[str, Any]) -> dict[str, Any]:
    """The values that a function asks for by name."""
    return {name: values[name] for name in inspect.signature(function).parameters if name in values}


def _chosen(condition: Any, one: Any, other: Any) -> Any:
    return jax.tree.map(lambda a, b: jnp.where(condition, a, b), one, other)
