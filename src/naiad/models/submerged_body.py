"""A body in water with weight, buoyancy, a current and external forces."""

from collections.abc import Callable
from typing import Any, Self

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from naiad.forces.force import AbstractForce, checked_forces, force_on_pose, relative_velocity
from naiad.forces.signals import AbstractSignal, signal
from naiad.groups import SE3, SO3, Pose
from naiad.hydro import AbstractShape, mass_properties
from naiad.mechanics import LagrangianSystem, Picture, Scalar, ellipsoid_of_inertia
from naiad.models.solid_shape import Solid, solid_of, solid_shape
from naiad.numerics import solve, vee
from naiad.numerics.checks import inertia_matrix, is_known, positive, semidefinite_inertia, vector

Twist = Float[Array, "6"]


class SubmergedBody(LagrangianSystem):
    """A rigid body in an ideal fluid on SE(3), xi = (Omega, v) in the body frame:

        ell = xi . K_dry xi / 2 + xi_r . K_added xi_r / 2 + m gravity . x_G - m_d (gravity - U') . x_B,

    with xi_r = (Omega, v - R^T U(t)) relative to water that moves at U(t) in space, x_G = x + R c_G where the mass m is
    and x_B = x + R c_B where the displaced mass m_d is. The momentum is K_dry xi + K_added xi_r. In still water it
    obeys Kirchhoff's equations with weight and buoyancy; a body that weighs what it displaces is carried along by the
    water, however this is accelerated (m_d U' is the pressure's work on it).

    `dry` is 6 x 6 (see `naiad.hydro.rigid_inertia`), and so is `added`, about the same point and axes, angular first.
    `displaced` is m_d and `buoyancy_centre` c_B. `current` is U: three numbers in space or a function of time. `forces`
    are external ones, such as `Drag` and `Thrusters`, or functions of a `Motion`. `solid` is what a picture shows where
    the shape is known.
    """

    dry: Float[Array | np.ndarray, "6 6"]
    added: Float[Array | np.ndarray, "6 6"]
    displaced: float
    buoyancy_centre: Float[Array | np.ndarray, "3"]
    gravity: Float[Array | np.ndarray, "3"]
    current: AbstractSignal | None
    forces: tuple[AbstractForce, ...]
    solid: Solid | None
    group = SE3()
    symmetry_dim = 4

    def __init__(
        self,
        dry: Any,
        added: Any,
        *,
        displaced: float,
        gravity: Any,
        buoyancy_centre: Any = (0.0, 0.0, 0.0),
        current: Any = None,
        forces: Any = (),
    ):
        self.dry = semidefinite_inertia("dry", dry, 6)
        if is_known(self.dry):
            mass_properties(self.dry)
        self.added = semidefinite_inertia("added", added, 6)
        inertia_matrix("The inertia dry + added", self.dry + self.added, 6)
        self.displaced = positive("displaced", displaced, zero=True)
        self.buoyancy_centre = vector("buoyancy_centre", buoyancy_centre)
        self.gravity = vector("gravity", gravity)
        self.current = None if current is None else signal("current", current, 3)
        self.forces = checked_forces(forces)
        self.solid = None

    @classmethod
    def from_shape(
        cls,
        shape: AbstractShape,
        density: float,
        dry: Any = None,
        *,
        gravity: Any,
        current: Any = None,
        forces: Any = (),
    ) -> Self:
        """A body of this shape in water of this density, with its own inertia `dry` about the origin of the shape's
        frame; without it homogeneous, of the water's density."""
        shape = solid_shape(shape)
        body = cls(
            shape.inertia(density) if dry is None else dry,
            shape.added_inertia(density),
            displaced=shape.displaced_mass(density),
            buoyancy_centre=shape.centre,
            gravity=gravity,
            current=current,
            forces=forces,
        )
        return body.replaced(solid=solid_of(shape))

    @property
    def picture(self) -> Picture:
        """The shape, or the ellipsoid with the dry inertia, under gravity."""
        down = self.gravity if np.any(self.gravity) else None
        if self.solid is not None:
            return Picture(down=down, shapes=[self.solid.drawn], centres=[self.solid.centre])
        mass, centre, inertia = mass_properties(np.asarray(self.dry))
        if not mass > 0:
            return Picture(down=down)
        return Picture(down=down, shapes=[ellipsoid_of_inertia(inertia, mass)], centres=[centre])

    def lagrangian(self, g: Pose, xi: Twist, t: Scalar) -> Float[Array, ""]:
        """Kinetic energies less the potential, and the work of the water's acceleration."""
        relative = jnp.concatenate([xi[:3], relative_velocity(self.current, g.R, xi[3:], t)])
        kinetic = 0.5 * (xi @ self.dry @ xi + relative @ self.added @ relative)
        return kinetic - self.potential_energy(g) + self._carrying(g, t)

    def potential_energy(self, g: Pose) -> Float[Array, ""]:
        """- gravity . (m x_G - m_d x_B): of weight and buoyancy."""
        dry, gravity = jnp.asarray(self.dry), jnp.asarray(self.gravity)
        net_mass = dry[3, 3] - self.displaced
        net_moment = vee(dry[:3, 3:]) - self.displaced * jnp.asarray(self.buoyancy_centre)
        return -(net_mass * g.x + g.R @ net_moment) @ gravity

    def velocity(self, g: Pose, mu: Twist, t: Scalar = 0.0) -> Twist:
        """(K_dry + K_added)^-1 (mu + K_added (0, R^T U))."""
        dry, added = jnp.asarray(self.dry), jnp.asarray(self.added)
        if self.current is not None:
            mu = mu + added[:, 3:] @ (self.current(t) @ g.R)
        return solve(dry + added, mu)

    def external_force(self, g: Pose, xi: Twist, t: Scalar = 0.0) -> Twist:
        """The sum of `forces`: torque about the body's origin and force, in the body frame."""
        return force_on_pose(self.forces, self.current, g, xi, t)

    @property
    def force(self) -> Callable[..., Any] | None:
        """`external_force`, if there are any."""
        return self.external_force if self.forces else None

    def level_motions(self, s: Float[Array, "4"], g: Pose) -> Pose:
        """Turns by s_0 about the vertical and shifts by the level part of (s_1, s_2, s_3)."""
        gravity = jnp.asarray(self.gravity)
        square = gravity @ gravity
        down = gravity / jnp.sqrt(jnp.where(square > 0.0, square, 1.0))
        turn, shift = SO3().exp(s[0] * down), s[1:] - (s[1:] @ down) * down
        return Pose(turn @ g.R, turn @ g.x + shift)

    @property
    def symmetry(self) -> Callable[..., Any] | None:
        """`level_motions`, in still water without forces."""
        return self.level_motions if self.current is None and not self.forces else None

    def _carrying(self, g: Pose, t: Scalar) -> Float[Array, ""]:
        """m_d U'(t) . x_B."""
        if self.current is None:
            return jnp.zeros(())
        _, acceleration = jax.jvp(self.current, (jnp.asarray(t, float),), (jnp.ones(()),))
        return self.displaced * acceleration @ (g.x + g.R @ jnp.asarray(self.buoyancy_centre))
