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
