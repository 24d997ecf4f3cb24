"""The generalised forces of an element of string: internal damping, and loads along it."""

from typing import TYPE_CHECKING

import jax
import jax.numpy as jnp

from naiad.mechanics import Scalar
from naiad.strings.loads import StringPoint
from naiad.strings.parts import Span

if TYPE_CHECKING:
    from naiad.strings.pendulum import StringPendulum


def viscous_force(system: "StringPendulum", at: Span, rate: Span) -> Span:
    """- l eta strain' d strain/d(near, far, s)."""
    slope = jax.grad(system.strain)(at)
    strain_rate = jnp.dot(slope.near, rate.near) + jnp.dot(slope.far, rate.far) + slope.s * rate.s
    viscous = system.damping * system.element_length(at.s) * strain_rate
    return jax.tree.map(lambda each: -viscous * each, slope)


def load_force(system: "StringPendulum", index: Scalar, at: Span, rate: Span, t: Scalar) -> Span:
    """The loads at the middle of the element, which moves at (q_a' + q_{a+1}')/2 + (N - a - 1/2) w (see
    `element_kinetic`)."""
    d = at.far - at.near
    stretched = jnp.sqrt(jnp.dot(d, d))
    by_s = -(system.elements - 0.5 - index) / (system.length - at.s) * d
    x, v = 0.5 * (at.near + at.far), 0.5 * (rate.near + rate.far) + rate.s * by_s
    through = v if system.current is None else v - system.current(x, t)
    point = StringPoint(x, v, through, d / stretched, stretched / system.element_length(at.s), t)
    total = stretched * sum((load(point) for load in system.loads), jnp.zeros(3))
    return Span(0.5 * total, 0.5 * total, jnp.dot(total, by_s))
