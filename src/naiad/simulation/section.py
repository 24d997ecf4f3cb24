"""Sections: surfaces in phase space whose crossings are located on the way."""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from naiad.errors import InputError
from naiad.integrators import AbstractMethod
from naiad.mechanics import LagrangianSystem, Scalar, State
from naiad.numerics import Module, static


class Section(Module):
    """The surface function(state, t) = 0, crossed upwards (`direction` 1), downwards (-1) or both ways (0).

    A crossing is located by stepping again from the node before it with a fraction of h, at the method's own order. The
    run goes on, or stops there if `terminal`. Two crossings within one step are not seen.
    """

    function: Callable[[State, Scalar], Scalar]
    direction: int = static(default=1)
    terminal: bool = static(default=False)

    def __post_init__(self):
        if self.direction not in (-1, 0, 1):
            raise InputError(f"Section: direction = {self.direction!r}; expected 1 (rising), -1 (falling) or 0 (both).")

    def crossed(self, before: Float[Array, ""], after: Float[Array, ""]) -> Bool[Array, ""]:
        """Whether the sign changed in the wanted direction; zero belongs to the side it arrives at."""
        rising, falling = (before < 0) & (after >= 0), (before > 0) & (after <= 0)
        return {1: rising, -1: falling, 0: rising | falling}[self.direction]


class Crossing(NamedTuple):
    """A located crossing."""

    t: Scalar
    state: State


class _Bracket(NamedTuple):
    low: Float[Array, ""]
    high: Float[Array, ""]
    at_low: Float[Array, ""]
    at_high: Float[Array, ""]
    fraction: Float[Array, ""]
    iterations: Float[Array, ""]
    done: Bool[Array, ""]


class Step(NamedTuple):
    """A step that can be taken again in part, with the same inputs: noise is then linear within the step."""

    method: AbstractMethod
    system: LagrangianSystem
    carry: Any
    t: Scalar
    h: Scalar
    inputs: Any

    def part(self, fraction: Scalar) -> State:
        """The state after a fraction of the step."""
        carry = self.method.step(self.system, self.carry, self.t, fraction * self.h, self.inputs)
        return self.method.state(self.system, carry)


def locate(section: Section, step: Step, before: Float[Array, ""], after: Float[Array, ""]) -> Crossing:
    """The crossing inside a step: the fraction of h found by the Illinois method."""
    t, h = step.t, step.h

    def refine(b: _Bracket) -> _Bracket:
        fraction = (b.low * b.at_high - b.high * b.at_low) / (b.at_high - b.at_low)
        fraction = jnp.clip(fraction, b.low, b.high)
        value = jnp.asarray(section.function(step.part(fraction), t + fraction * h))
        right = jnp.sign(value) == jnp.sign(b.at_high)
        same = right == (b.fraction == b.high)  # the same end moved twice: halve the weight of the other
        done = (value == 0) | (jnp.abs(fraction - b.fraction) <= 2 * jnp.finfo(float).eps) | ~jnp.isfinite(value)
        return _Bracket(
            jnp.where(right, b.low, fraction),
            jnp.where(right, fraction, b.high),
            jnp.where(right, jnp.where(same, 0.5, 1.0) * b.at_low, value),
            jnp.where(right, value, jnp.where(same, 0.5, 1.0) * b.at_high),
            fraction,
            b.iterations + 1,
            done,
        )

    start = _Bracket(jnp.zeros(()), jnp.ones(()), before, after, jnp.ones(()), jnp.zeros(()), after == 0)
    found = jax.lax.while_loop(lambda b: ~b.done & (b.iterations < 100), refine, start)
    return Crossing(t + found.fraction * h, step.part(found.fraction))
