"""The free rigid body."""

from typing import Any

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from naiad.groups import SO3, AbstractGroup
from naiad.mechanics import EulerPoincareSystem, Picture, Scalar, ellipsoid_of_inertia
from naiad.numerics import solve, static
from naiad.numerics.checks import body_inertia


class RigidBody(EulerPoincareSystem):
    """A free rigid body, ell = Omega . J Omega / 2; Euler's equations Pi' = Pi x Omega, Pi = J Omega.

    `J` is three principal moments or a symmetric positive definite matrix; `group` is SO(3) (rotation matrices) or S^3
    (quaternions). Moments that no body has, such as (1, 1, 5), are taken if `unphysical`.
    """

    J: Float[Array | np.ndarray, "3 3"]
    group: AbstractGroup = static()

    def __init__(self, J: Any, group: AbstractGroup | None = None, *, unphysical: bool = False):
        self.J = body_inertia("J", J, unphysical=unphysical)
        self.group = SO3() if group is None else group

    def reduced_lagrangian(self, xi: Float[Array, "3"]) -> Float[Array, ""]:
        """Omega . J Omega / 2."""
        return 0.5 * xi @ self.J @ xi

    def velocity(self, g: Any, mu: Float[Array, "3"], t: Scalar = 0.0) -> Float[Array, "3"]:
        """J^-1 Pi."""
        return solve(jnp.asarray(self.J), mu)

    @property
    def picture(self) -> Picture:
        """The ellipsoid with its inertia."""
        return Picture(shapes=[ellipsoid_of_inertia(self.J)])
