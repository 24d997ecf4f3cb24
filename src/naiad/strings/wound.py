"""The energies of a reel with the string on its drum."""

from typing import Any

import jax.numpy as jnp
from jaxtyping import Array, Float

from naiad.mechanics import Scalar
from naiad.strings.fields import AbstractField
from naiad.strings.parts import Tip
from naiad.strings.reel import Reel

Vector = Float[Array, "3"]


def wound_kinetic(reel: Reel, density: Any, axis: Vector, at: Tip, rate: Tip) -> Any:
    """(mu s + kappa) s'^2/2 [lee2010, eq. (2)]; on a guide way with the velocity V there is mu s |V|^2/2 + s' V . D as
    well, D the slope of the first moment of the string on the drum, along the `axis` of gravity."""
    T = 0.5 * (density * at.s + reel.inertia) * rate.s**2
    if rate.start is None:
        return T
    across = jnp.dot(rate.start, axis) * density * reel.depth(at.s)
    return T + 0.5 * density * at.s * jnp.dot(rate.start, rate.start) + rate.s * across


def wound_potential(
    reel: Reel, density: Any, gravity: Vector, field: AbstractField | None, at: Tip, t: Scalar
) -> Float[Array, ""]:
    """The weight of the string on the drum [lee2010, eq. (5), corrected], and its energy in a field, taken at the guide
    way."""
    V = -density * jnp.sqrt(jnp.dot(gravity, gravity)) * reel.first_moment(at.s)
    if at.start is not None:
        V = V - density * at.s * jnp.dot(gravity, at.start)
    if field is None:
        return V
    return V + density * at.s * field(jnp.zeros(3) if at.start is None else at.start, t)
