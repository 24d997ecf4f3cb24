"""A point satellite of an oblate planet: the longitude and the meridian plane."""

from typing import Any

import jax.numpy as jnp
from jaxtyping import Array, Float

from naiad.groups import SO2, Product, Rn
from naiad.mechanics import LagrangePoincareSystem, Picture, Scalar
from naiad.models.oblate_earth import oblate_field
from naiad.numerics.checks import positive


class OblateOrbit(LagrangePoincareSystem):
    """ell = m (rho^2 theta'^2 + rho'^2 + z'^2) / 2 - m Phi(rho, z) on SO(2) x R^2: the longitude theta is the symmetry,
    the place (rho, z) in the meridian plane the shape, and Phi the field of `OblateSatellite`.

    The locked inertia is m rho^2, zero on the axis, and the connection vanishes; `RouthSystem(orbit, mu)` moves the
    meridian plane alone under Phi + mu^2 / (2 m^2 rho^2) [bourabee2007, section 7.4; jalnapurkar2006].
    """

    m: float
    GM: float
    J2: float
    radius: float
    group = Product(theta=SO2(), place=Rn(2))

    def __init__(self, m: float = 1.0, GM: float = 1.0, J2: float = 1.08263e-3, radius: float = 1.0):
        self.m, self.GM = positive("m", m), positive("GM", GM)
        self.J2, self.radius = positive("J2", J2, zero=True), positive("radius", radius)

    def reduced_lagrangian(
        self, xi: Float[Array, "1"], s: Float[Array, "2"], v: Float[Array, "2"], t: Scalar
    ) -> Float[Array, ""]:
        """Kinetic less potential energy."""
        rho, z = s
        field = oblate_field(jnp.stack([rho, jnp.zeros_like(rho), z]), self.GM, self.J2, self.radius)
        return self.m * (0.5 * (rho**2 * xi[0] ** 2 + v @ v) - field)

    @property
    def picture(self) -> Picture:
        """The satellite in space, and the planet."""
        return Picture(seen=_seen, names=("satellite",), fixed={"planet": (self.radius, self.radius, self.radius)})


def _seen(g: Any, t: Scalar) -> dict[str, Any]:
    rho, z = g.place
    return {"x": jnp.stack([rho * jnp.cos(g.theta), rho * jnp.sin(g.theta), z])[None]}
