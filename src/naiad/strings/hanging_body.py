"""What hangs at the end of a string: a rigid body attached off its mass centre, or a point mass."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from naiad.errors import InputError
from naiad.forces.force import AbstractForce, checked_forces
from naiad.numerics import Module, outer
from naiad.numerics.checks import check_moments, inertia_matrix, is_known, positive, vector


class HangingBody(Module):
    """A body of a `mass` [kg] whose `centre` [m] of mass and `inertia` J [kg m^2] are seen from the point where it is
    attached; without an inertia it is a point mass.

    T = M |v|^2/2 + M v . R' centre + tr(R' J_d R'^T)/2, J_d = tr(J)/2 I - J, v the velocity of the point of attachment
    [lee2010, eq. (4)]. `forces` on it, such as `Drag` and `Thrusters`, or functions of a `Motion`, hold about the same
    point.
    """

    mass: float
    centre: Float[Array | np.ndarray, "3"]
    inertia: Float[Array | np.ndarray, "3 3"] | None
    forces: tuple[AbstractForce, ...]

    def __init__(self, mass: float, centre: Any = (0.0, 0.0, 0.0), inertia: Any = None, *, forces: Any = ()):
        self.forces = checked_forces(forces)
        self.mass = positive("mass", mass)
        self.centre = vector("centre", centre)
        self.inertia = None if inertia is None else inertia_matrix("inertia", inertia, 3)
        if self.inertia is None:
            if is_known(self.centre) and np.any(self.centre):
                raise InputError("A body with a centre off its attachment turns: give its inertia about that point.")
            return
        offset = self.mass * (self.centre @ self.centre * np.eye(3) - self.centre[:, None] * self.centre)
        own = self.inertia - offset
        if is_known(own) and not (lowest := float(np.linalg.eigvalsh(own)[0])) > 0:
            raise InputError(
                f"The inertia about the mass centre, inertia - M(|c|^2 I - c c^T), is not positive definite (smallest "
                f"eigenvalue {lowest:.4g}); give the inertia about the point of attachment, not about the mass centre."
            )
        check_moments("The inertia about the mass centre", own)

    def kinetic(self, v: Float[Array, "3"], R_rate: Any, frame: Any = None) -> Float[Array, ""]:
        """T for the velocity v of the attachment and the rate R' of the attitude, a matrix, in space or in a frame."""
        moving = 0.5 * self.mass * jnp.dot(v, v)
        if self.inertia is None:
            return moving
        turning = 0.5 * jnp.sum((R_rate @ self.second_moments()) * R_rate)
        return moving + self.mass * jnp.dot(v if frame is None else v @ frame, R_rate @ self.centre) + turning

    def second_moments(self) -> Float[Array, "3 3"]:
        """J_d = int r r^T dm about the attachment."""
        J = jnp.asarray(self.inertia)
        return 0.5 * jnp.trace(J) * jnp.eye(3) - J

    def potential(self, phi: Callable[[Any], Any], q: Float[Array, "3"], R: Any) -> Float[Array, ""]:
        """The energy in a field phi per unit of mass, up to its second derivatives at the mass centre."""
        x = self.mass_centre(q, R)
        if self.inertia is None:
            return self.mass * phi(x)
        centre = jnp.asarray(self.centre)
        spread = R @ (self.second_moments() - self.mass * outer(centre, centre)) @ R.T
        return self.mass * phi(x) + 0.5 * jnp.sum(jax.hessian(phi)(x) * spread)

    def mass_centre(self, q: Float[Array, "3"], R: Any) -> Float[Array, "3"]:
        """Where the mass centre is."""
        return q if self.inertia is None else q + R @ jnp.asarray(self.centre)

    @property
    def semi_axes(self) -> Float[np.ndarray, "3"] | None:
        """Those of the homogeneous ellipsoid with the same second moments along the body axes, sqrt(5 int x_i^2 dm/M)
        about the mass centre, none below a hundredth of the largest; None for a point mass."""
        if self.inertia is None:
            return None
        J, c = np.asarray(self.inertia), np.asarray(self.centre)
        second = (0.5 * np.trace(J) - np.diag(J)) / self.mass - c**2
        return np.sqrt(5.0 * np.maximum(second, 1e-4 * np.max(second)))
