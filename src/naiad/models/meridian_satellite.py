"""A satellite of an oblate planet in its meridian plane: the circle of symmetry told apart from the shape."""

from typing import Any

import jax.numpy as jnp
from jaxtyping import Array, Float

from naiad.groups import SO2, SO3, Product, Rn
from naiad.mechanics import SlicedSystem
from naiad.models.oblate_earth import OblateSatellite


class MeridianSatellite(SlicedSystem):
    """An `OblateSatellite` on SO(2) x (R^2 x SO(3)): its longitude theta, and as shape its place (rho, z) in the
    meridian plane and its attitude Q seen from there: x = R_3(theta) (rho, 0, z), R = R_3(theta) Q.

    The longitude has no influence: `RouthSystem(meridian, mu)` moves the shape alone, at the momentum mu about the
    axis, orbit and spin together [bourabee2007, section 7.4; jalnapurkar2006]. On the axis (rho = 0) there is no
    longitude.
    """

    whole: OblateSatellite
    group = Product(theta=SO2(), shape=Product(place=Rn(2), Q=SO3()))

    def act(self, g: Float[Array, ""], q: Any) -> Any:
        """The satellite turned about the planet's axis."""
        turn = SO3().exp(g * jnp.array([0.0, 0.0, 1.0]))
        return type(q)(turn @ q.R, turn @ q.x)

    def slice(self, s: Any) -> Any:
        """The satellite in the plane y = 0."""
        rho, z = s.place
        return self.whole.group.element((s.Q, jnp.stack([rho, jnp.zeros_like(rho), z])))

    def split(self, q: Any) -> tuple[Any, Any]:
        """The longitude, and what is seen from its meridian."""
        theta = jnp.arctan2(q.x[1], q.x[0])
        back = self.act(-theta, q)
        return theta, self.shape.element((jnp.stack([back.x[0], back.x[2]]), back.R))
