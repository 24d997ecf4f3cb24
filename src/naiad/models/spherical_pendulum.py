"""The spherical pendulum in a potential with the symmetry of a regular polygon."""

from typing import Any

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from naiad.errors import InputError
from naiad.groups import SO3
from naiad.mechanics import LagrangianSystem, Picture, Scalar, State
from naiad.numerics import cross, static
from naiad.numerics.checks import number, positive


class SphericalPendulum(LagrangianSystem):
    """A mass m on a rod of length l, in gravity and a potential with the symmetry D_n of a regular n-gon.

    The direction of the rod is u = R e_3, and u' = R (Omega x e_3):

        ell = m l^2 |Omega|^2 / 2 - m l gravity u_z - epsilon Re (u_x + i u_y)^n,

    u_z upwards, hanging at u_z = -1. Turns about the rod carry a momentum Pi_3 that is conserved, so the motion with
    Pi_3 = 0 is that of the pendulum on the sphere, without the poles of angles. For epsilon = 0 the momentum about the
    vertical is conserved too; otherwise the turns by 2 pi / n remain [bourabee2007, figure 1.2.1], [chossat2005].
    """

    m: float
    l: float  # noqa: E741  (the symbol of the papers)
    gravity: float
    epsilon: float
    n: int = static()
    group = SO3()

    def __init__(self, m: float = 1.0, l: float = 1.0, gravity: float = 1.0, epsilon: float = 0.0, n: int = 4):  # noqa: E741
        self.m, self.l = positive("m", m), positive("l", l)
        self.gravity = positive("gravity", gravity, zero=True)
        self.epsilon = number("epsilon", epsilon)
        if n < 1:
            raise InputError(f"n = {n!r}; expected a whole number of at least 1, the corners of the polygon.")
        self.n = n

    def potential(self, u: Float[Array | np.ndarray, "3"]) -> Float[Array, ""]:
        """Gravity, and the harmonic polynomial of degree n that has the symmetry D_n."""
        real, imaginary = jnp.ones(()), jnp.zeros(())
        for _ in range(self.n):
            real, imaginary = real * u[0] - imaginary * u[1], real * u[1] + imaginary * u[0]
        return self.m * self.l * self.gravity * u[2] + self.epsilon * real

    def lagrangian(self, g: Float[Array, "3 3"], xi: Float[Array, "3"], t: Scalar) -> Float[Array, ""]:
        """m l^2 |Omega|^2 / 2 less the potential at R e_3."""
        return 0.5 * self.m * self.l**2 * xi @ xi - self.potential(g[:, 2])

    @property
    def picture(self) -> Picture:
        """A ball at the end of the rod, which hangs on the origin."""
        return Picture(shapes=[[0.12 * self.l] * 3], centres=[[0.0, 0.0, self.l]])

    def from_rod(self, u: Any, velocity: Any) -> State:
        """The state with the rod along u and its tip moving at u' = velocity, without spin about the rod."""
        u, velocity = jnp.asarray(u, float), jnp.asarray(velocity, float)
        u = u / jnp.sqrt(u @ u)
        helper = jnp.where(jnp.abs(u[0]) < 0.5, jnp.array([1.0, 0.0, 0.0]), jnp.array([0.0, 1.0, 0.0]))
        first = cross(helper, u)
        first = first / jnp.sqrt(first @ first)
        R = jnp.stack([first, cross(u, first), u], axis=1)
        return self.state(R=R, Omega=R.T @ cross(u, velocity - (u @ velocity) * u))
