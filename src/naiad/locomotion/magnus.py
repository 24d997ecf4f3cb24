"""One step of g' = g xi(t), for a velocity that is known beforehand: explicit, symmetric in time, of sixth order."""

import jax.numpy as jnp
from jaxtyping import Array, Float

from naiad.groups import AbstractGroup
from naiad.mechanics import Scalar


def magnus(frame: AbstractGroup, h: Scalar, xi: Float[Array, "3 d"]) -> Float[Array, " d"]:
    """Theta with g(t + h) = g(t) exp(Theta) + O(h^7), from xi at the three points of Gauss [blanes2009].

    The brackets have the other sign than in print, where the velocity stands on the left.
    """
    first, middle, last = h * jnp.asarray(xi)
    slope, bend = jnp.sqrt(15.0) / 3.0 * (last - first), 10.0 / 3.0 * (last - 2.0 * middle + first)
    one = -frame.ad(middle, slope)
    two = frame.ad(middle, 2.0 * bend + one) / 60.0
    return middle + bend / 12.0 - frame.ad(-20.0 * middle - bend + one, slope + two) / 240.0
