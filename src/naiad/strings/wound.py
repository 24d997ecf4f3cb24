"""The energies of a reel with the string inside."""

from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from naiad.mechanics import Scalar
from naiad.strings.fields import AbstractField
from naiad.strings.inside import inner_first_moment, inner_kinetic
from naiad.strings.parts import Tip
from naiad.strings.reel import Reel

Vector = Float[Array, "3"]


def wound_kinetic(reel: Reel, density: Any, axis: Vector, at: Tip, rate: Tip, *, lumped: bool) -> Any:
    """(mu s + kappa) s'^2/2 [lee2010, eq. (2)], if nothing stretches inside; on a guide way with the velocity V there
    is mu s |V|^2/2 + mu F' V . a as well, F the first moment of the string inside along the `axis` a of gravity."""
    if at.w is None:
        T = 0.5 * (density * at.s + reel.inertia) * rate.s**2
    else:
        T = inner_kinetic(reel, density, at, rate, lumped=lumped)
    if rate.start is None:
        return T
    sinking = jax.jvp(lambda s, w: _first_moment(reel, at._replace(s=s, w=w)), (at.s, at.w), (rate.s, rate.w))[1]
    T = T + 0.5 * density * at.s * jnp.dot(rate.start, rate.start)
    return T + density * sinking * jnp.dot(rate.start, axis)


def wound_potential(
    reel: Reel, density: Any, gravity: Vector, field: AbstractField | None, at: Tip, t: Scalar
) -> Float[Array, ""]:
    """The weight of the string inside [lee2010, eq. (5), corrected], and its energy in a field, taken at the guide
    way."""
    V = -density * jnp.sqrt(jnp.dot(gravity, gravity)) * _first_moment(reel, at)
    if at.start is not None:
        V = V - density * at.s * jnp.dot(gravity, at.start)
    if field is None:
        return V
    return V + density * at.s * field(jnp.zeros(3) if at.start is None else at.start, t)


def _first_moment(reel: Reel, at: Tip) -> Any:
    """That of the string inside, over its mass per length."""
    return reel.first_moment(at.s) if at.w is None else inner_first_moment(reel, at)
