"""A rigid satellite of an oblate planet: gravity-gradient torque, and a circle of symmetry."""

from typing import Any

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from naiad.groups import SO3, Product, Rn
from naiad.mechanics import LagrangianSystem, Picture, Scalar, ellipsoid_of_inertia
from naiad.mechanics.labels import place
from naiad.numerics.checks import check_moments, inertia_matrix, positive


class OblateSatellite(LagrangianSystem):
    """A rigid body on SO(3) x R^3 in the field of a planet that is flat at its poles, the axis along e_3 of space:

        ell = (Omega . J Omega + m |v|^2) / 2 - m Phi(x) - tr(J_d R^T Phi''(x) R) / 2,   v = x' in space,
        Phi(x) = -GM / r + GM J2 a^2 / (2 r^3) (3 z^2 / r^2 - 1),

    with J_d = tr(J) / 2 - J the second moment of mass: the field is expanded to second order in the size of the body,
    so that it is pulled and turned by the same potential (gravity gradient, oblateness included). Turns about e_3 are a
    symmetry; their momentum, orbit and spin together, is conserved [bourabee2007, section 7.4].
    """

    m: float
    J: Float[Array | np.ndarray, "3 3"]
    GM: float
    J2: float
    radius: float
    group = Product(R=SO3(), x=Rn(3))
    labels = place("x")

    def __init__(self, m: float, J: Any, GM: float = 1.0, J2: float = 1.08263e-3, radius: float = 1.0):
        self.m, self.J = positive("m", m), inertia_matrix("J", J, 3)
        self.GM, self.J2 = positive("GM", GM), positive("J2", J2, zero=True)
        self.radius = positive("radius", radius)
        check_moments("J", self.J)

    def field(self, x: Float[Array, "3"]) -> Float[Array, ""]:
        """Phi(x), the potential of a unit mass."""
        return oblate_field(x, self.GM, self.J2, self.radius)

    def lagrangian(self, g: Any, xi: Float[Array, "6"], t: Scalar) -> Float[Array, ""]:
        """Kinetic energy less the potential of the body's mass in the field."""
        Omega, v = xi[:3], xi[3:]
        J = jnp.asarray(self.J)
        second_moment = 0.5 * jnp.trace(J) * jnp.eye(3) - J
        gradient = g.R.T @ self._curvature(g.x) @ g.R
        potential = self.m * self.field(g.x) + 0.5 * jnp.sum(second_moment * gradient)
        return 0.5 * (Omega @ J @ Omega + self.m * v @ v) - potential

    def symmetry(self, s: Float[Array, "1"], g: Any) -> Any:
        """Turns about the planet's axis."""
        turn = SO3().exp(s[0] * jnp.array([0.0, 0.0, 1.0]))
        return type(g)(turn @ g.R, turn @ g.x)

    @property
    def picture(self) -> Picture:
        """The satellite as the ellipsoid with its inertia, and the planet."""
        shapes = [ellipsoid_of_inertia(self.J, self.m)]
        return Picture(shapes=shapes, names=("satellite",), fixed={"planet": (self.radius, self.radius, self.radius)})

    def _curvature(self, x: Float[Array, "3"]) -> Float[Array, "3 3"]:
        """Phi''(x) in closed form: derivatives of GM (-1/r - b/(2 r^3) + 3 b z^2 / (2 r^5)), b = J2 a^2."""
        square = x @ x
        r, z, b = jnp.sqrt(square), x[2], self.J2 * self.radius**2
        e3, eye, outer = jnp.array([0.0, 0.0, 1.0]), jnp.eye(3), jnp.outer(x, x)
        mixed = jnp.outer(x, e3) + jnp.outer(e3, x)
        point = eye / r**3 - 3.0 * outer / r**5
        cubic = -0.5 * b * (15.0 * outer / r**7 - 3.0 * eye / r**5)
        tall = (
            1.5
            * b
            * (
                2.0 * jnp.outer(e3, e3) / r**5
                - 10.0 * z * mixed / r**7
                - 5.0 * z**2 * eye / r**7
                + 35.0 * z**2 * outer / r**9
            )
        )
        return self.GM * (point + cubic + tall)


def oblate_field(x: Float[Array, "3"], GM: Any, J2: Any, radius: Any) -> Float[Array, ""]:
    """Phi(x) = -GM / r + GM J2 a^2 / (2 r^3) (3 z^2 / r^2 - 1), the axis along e_3."""
    square = x @ x
    flat = 0.5 * J2 * radius**2 * (3.0 * x[2] ** 2 / square - 1.0) / square
    return GM * (flat - 1.0) / jnp.sqrt(square)
