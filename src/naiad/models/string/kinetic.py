"""The kinetic energy of an element of string that runs over the guide way."""

from typing import Any

import jax.numpy as jnp
from jaxtyping import Array, Float

from naiad.mechanics import Scalar, Span

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

    The velocity is linear along it, from q_a' + (N - a) w to q_{a+1}' + (N - a - 1) w with
    w = (q_a - q_{a+1}) s'/(N l); T_a = mu l (|mean|^2 + |half the difference|^2/3)/2.
    """
    d, speed, half = at.near - at.far, rate.s / count, 0.5 * density * length
    w, middle = (speed / length) * d, count - 0.5 - index
    mean = 0.5 * (rate.near + rate.far) + middle * w
    difference = 0.5 * (rate.near - rate.far + w)
    if kind == "lumped":
        return half * (jnp.dot(mean, mean) + jnp.dot(difference, difference))
    T = half * (jnp.dot(mean, mean) + jnp.dot(difference, difference) / 3.0)
    if kind == "exact":
        return T
    return T + half * (middle**2 + 1.0 / 12.0) * (speed**2 - jnp.dot(w, w))
