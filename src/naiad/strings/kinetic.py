"""The kinetic energy of an element of string that runs over the guide way."""

from typing import Any

import jax.numpy as jnp
from jaxtyping import Array, Float

from naiad.mechanics import Scalar
from naiad.strings.parts import Span

KINETIC = {
    "paper": "the paper's M^3, which takes the string for unstretched there",
    "exact": "the integral over each element",
    "lumped": "half of each element's mass at each of its nodes",
}
"""The energies by name."""


def element_kinetic(
    kind: str, density: Any, length: Any, count: int, index: Scalar, at: Span, rate: Span
) -> Float[Array, ""]:
    """T_a of the element a of N = `count`, from 0, of the unstretched `length` l [lee2010, eq. (30)].

    The velocity is linear along it, from q_a' + (N - a) w to q_{a+1}' + (N - a - 1) w, w = (q_a - q_{a+1}) s'/(N l).
    With the sum S and the difference D of the nodes' velocities, M = N - a - 1/2 and k = 1/3 (1 if lumped),
    T_a = mu l (|S|^2/4 + k |D|^2/4 + w . (M S + k D/2) + (M^2 + k/4) |w|^2)/2; "paper" has s'/N for |w| at its end.
    """
    way, total, difference = at.near - at.far, rate.near + rate.far, rate.near - rate.far
    speed, middle, share = rate.s / count, count - 0.5 - index, 1.0 if kind == "lumped" else 1.0 / 3.0
    own = 0.25 * length * (jnp.dot(total, total) + share * jnp.dot(difference, difference))
    shared = speed * jnp.dot(way, middle * total + 0.5 * share * difference)
    running = length if kind == "paper" else jnp.dot(way, way) * (1.0 / length)
    return 0.5 * density * (own + shared + (middle**2 + 0.25 * share) * running * speed**2)


def kinetic_slopes(
    kind: str, density: Any, length: Any, count: int, index: Scalar, at: Span, rate: Span
) -> tuple[Span, Span]:
    """The derivatives of T_a in the place and in the rates, l = (L - s)/N: in closed form, which takes half of the
    operations that autodiff takes."""
    way, total, difference = at.near - at.far, rate.near + rate.far, rate.near - rate.far
    speed, middle, share = rate.s / count, count - 0.5 - index, 1.0 if kind == "lumped" else 1.0 / 3.0
    mass, half = 0.25 * density * length, 0.5 * share
    arm, moved = 0.5 * density * speed * way, middle * total + half * difference
    by_total, by_difference = mass * total + middle * arm, share * mass * difference + half * arm
    by_way, running = 0.5 * density * speed * moved, 0.5 * density * (middle**2 + 0.25 * share)
    squares = jnp.dot(total, total) + share * jnp.dot(difference, difference)
    if kind == "paper":
        run, by_length = length, 0.125 * density * squares + running * speed**2
    else:
        run = jnp.dot(way, way) * (1.0 / length)
        by_length = 0.125 * density * squares - running * speed**2 * run * (1.0 / length)
        by_way = by_way + 2.0 * running * speed**2 * (1.0 / length) * way
    by_speed = 0.5 * density * jnp.dot(way, moved) + 2.0 * running * run * speed
    by_place = Span(by_way, -by_way, by_length * (-1.0 / count))
    return by_place, Span(by_total + by_difference, by_total - by_difference, by_speed * (1.0 / count))
