"""Sections: surfaces in phase space whose crossings are located on the way."""

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from naiad.errors import InputError
from naiad.mechanics import LagrangianSystem, Scalar, State
from naiad.numerics import Module, static


class Section(Module):
    """The surface function(state, t) = 0, crossed upwards (`direction` 1), downwards (-1) or both ways (0).

    A crossing is located by stepping again from the node before it with a fraction of h, at the method's own order. The
    run goes on, or stops there if `terminal`. With `pairs`, two crossings within one step are found as well, where the
    function has its turning point between the nodes; that takes its rate of change at every step.
    """

    function: Callable[[State, Scalar], Scalar]
    direction: int = static(default=1)
    terminal: bool = static(default=False)
    pairs: bool = static(default=False)

    def __post_init__(self):
        if self.direction not in (-1, 0, 1):
            raise InputError(f"Section: direction = {self.direction!r}; expected 1 (rising), -1 (falling) or 0 (both).")

    def level(self, system: LagrangianSystem, state: State, t: Scalar) -> "Level":
        """The function, and its rate along the motion."""
        value = jnp.asarray(self.function(state, t), float)
        return Level(value, self.rate(system, state, t) if self.pairs else jnp.zeros(()))

    def rate(self, system: LagrangianSystem, state: State, t: Scalar) -> Float[Array, ""]:
        """d/dt of the function along the motion."""
        rates = system.equations(state, t)
        moving = State(system.group.tangent(state.g, rates.xi), rates.mu)
        return jax.jvp(self.function, (state, jnp.asarray(t, float)), (moving, jnp.ones(())))[1]

    def crossed(self, before: "Level", after: "Level") -> Bool[Array, ""]:
        """Whether the sign changed in the wanted direction; zero belongs to the side it arrives at."""
        rising = (before.value < 0) & (after.value >= 0)
        falling = (before.value > 0) & (after.value <= 0)
        return {1: rising, -1: falling, 0: rising | falling}[self.direction]

    def turned(self, before: "Level", after: "Level") -> Bool[Array, ""]:
        """Whether the function has come nearer to zero and gone away again, without a change of sign at the nodes."""
        same = before.value * after.value > 0
        return same & (before.value * before.rate < 0) & (after.value * after.rate > 0)


class Level(NamedTuple):
    """The value of a section's function at a node, and its rate of change (zero where nobody asks for it)."""

    value: Float[Array, ""]
    rate: Float[Array, ""]


class Crossing(NamedTuple):
    """A located crossing."""

    t: Scalar
    state: State


class Stretch(NamedTuple):
    """The motion within one step of h from t: its ends, and `state_at` a fraction of it."""

    system: LagrangianSystem
    start: State
    end: State
    state_at: Callable[[Scalar], State]
    t: Scalar
    h: Scalar


class _Search(NamedTuple):
    low: Scalar
    high: Scalar
    fraction: Scalar
    step: Scalar
    iterations: Scalar
    at: Scalar
    state: State
    found: Bool[Array, ""]


NEAR = 1e-12  # a step of this size ends at round-off: it is almost Newton's, the rate being that of the exact motion


def locate(
    section: Section,
    stretch: Stretch,
    low: Scalar,
    high: Scalar,
    guess: Scalar,
    rising: Bool[Array, ""],
    small: Scalar = 0.0,
) -> tuple[Scalar, Crossing]:
    """The crossing between two fractions of a step, and its fraction: by Newton's method, kept in a bracket that is
    halved where Newton's method leaves it, until the function is `small` or the fraction stands still."""
    system, start, _, state_at, t, h = stretch

    def refine(s: _Search) -> _Search:
        state, time = state_at(s.fraction), t + s.fraction * h
        value = section.function(state, time)
        beyond = (value >= 0) == rising
        low, high = jnp.where(beyond, s.low, s.fraction), jnp.where(beyond, s.fraction, s.high)
        newton = s.fraction - value / (h * section.rate(system, state, time))
        onward = jnp.where((newton >= low) & (newton <= high), newton, 0.5 * (low + high))
        found = (jnp.abs(s.step) <= NEAR) | (jnp.abs(value) <= small) | ~jnp.isfinite(value)
        return _Search(low, high, onward, onward - s.fraction, s.iterations + 1, s.fraction, state, found)

    bounds = (jnp.asarray(low, float), jnp.asarray(high, float))
    zero, one = jnp.zeros(()), jnp.ones(())
    begin = _Search(*bounds, guess, one, zero, zero, start, jnp.zeros((), bool))
    end = jax.lax.while_loop(lambda s: ~s.found & (s.iterations < 100), refine, begin)
    return end.at, Crossing(t + end.at * h, end.state)


def guess_crossing(section: Section, stretch: Stretch, before: Scalar, after: Scalar) -> Scalar:
    """The fraction of a step at which the cubic with the function's values and rates at both ends is zero."""
    system, start, end, _, t, h = stretch
    change = after - before
    first, last = h * section.rate(system, start, t), h * section.rate(system, end, t + h)
    square, cube = 3 * change - 2 * first - last, first + last - 2 * change
    s = -before / change
    for _ in range(3):
        value = before + s * (first + s * (square + s * cube))
        s = jnp.clip(s - value / (first + s * (2 * square + 3 * s * cube)), 0.0, 1.0)
    return jnp.where(jnp.isfinite(s), s, 0.5)


def turning_point(section: Section, stretch: Stretch, lowest: Bool[Array, ""]) -> tuple[Scalar, Crossing]:
    """Where within a step the function is lowest or highest, and the fraction of the step: a zero of its rate."""
    rate = Section(lambda state, t: section.rate(stretch.system, state, t))
    return locate(rate, stretch, 0.0, 1.0, jnp.full((), 0.5), lowest)
