"""An underwater vehicle with weight and buoyancy, as an Euler-Poincare system with advected parameters."""

from typing import Any, Self

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from naiad.errors import InputError
from naiad.forces.force import AbstractForce, checked_forces, force_on_product
from naiad.forces.signals import Constant
from naiad.groups import SO3, Product, Rn
from naiad.hydro import AbstractShape, Mesh, mass_properties
from naiad.mechanics import AdvectedSystem, Picture, ReducedState, Scalar, ellipsoid_of_inertia
from naiad.mechanics.labels import place
from naiad.models.solid_shape import Solid, solid_of, solid_shape
from naiad.numerics import solve
from naiad.numerics.checks import floats, inertia_matrix, namespace, positive, semidefinite_inertia, unit_axis, vector


class BuoyantVehicle(AdvectedSystem):
    """A rigid body in an ideal fluid with added mass, its centre of buoyancy at r from its centre of gravity.

    With n = R^T q, nu = R^T q', and the vertical e (downwards) and the current u seen from the body, a = R^T e and
    c = R^T u, both advected [advected, eq. (62), where u = 0]:

        ell = Omega . J Omega / 2 + m |nu|^2 / 2 + (nu - c) . M_A (nu - c) / 2 + (m g - B) n . a - B r . a,

    so that (J Omega)' = J Omega x Omega - B r x a + M_A (nu - c) x (nu - c) and p' = p x Omega + (m g - B) a with
    p = m nu + M_A (nu - c).
    `m` is the true mass, `added_mass` M_A and `J` (with the fluid's share) are three numbers or symmetric matrices,
    `buoyancy` B is the weight of the displaced water in N, `gravity` a vector in space, downwards, and `current` a
    uniform, steady velocity of the water in space: the fluid's kinetic energy is that of the motion relative to it.
    `forces` are such as `Drag` and `Thrusters`, which see the same current.
    """

    m: float
    added_mass: Float[Array | np.ndarray, "3 3"]
    J: Float[Array | np.ndarray, "3 3"]
    buoyancy: float
    r: Float[Array | np.ndarray, "3"]
    gravity: float
    a0: Float[Array | np.ndarray, "6"]
    forces: tuple[AbstractForce, ...]
    solid: Solid | None
    base = SO3()
    additional_dim = 3
    symmetry_dim = 3

    def __init__(
        self,
        m: float,
        added_mass: Any,
        J: Any,
        buoyancy: float,
        r: Any = (0.0, 0.0, 0.0),
        *,
        gravity: Any = (0.0, 0.0, 9.81),
        current: Any = (0.0, 0.0, 0.0),
        forces: Any = (),
    ):
        self.m, self.added_mass = positive("m", m), semidefinite_inertia("added_mass", added_mass, 3)
        self.J, self.buoyancy = inertia_matrix("J", J, 3), positive("buoyancy", buoyancy, zero=True)
        self.r = vector("r", r)
        down, flow = unit_axis("gravity", gravity), vector("current", current)
        self.gravity = floats("gravity", gravity) @ down
        self.a0 = namespace(down, flow).concatenate([down, flow])
        self.forces = checked_forces(forces)
        self.solid = None

    @classmethod
    def from_shape(
        cls,
        shape: AbstractShape,
        density: float,
        dry: Any = None,
        *,
        gravity: Any = (0.0, 0.0, 9.81),
        current: Any = (0.0, 0.0, 0.0),
        forces: Any = (),
    ) -> Self:
        """A vehicle of this shape in water of this density, with its own inertia `dry` about the origin of the shape's
        frame (see `naiad.hydro.rigid_inertia`); without it homogeneous, of the water's density.

        The body frame is moved to the centre of gravity. There the added inertia must not couple turn and motion, as
        that of a shape with three planes of symmetry does not about its middle; `SubmergedBody` takes any.
        """
        shape = solid_shape(shape)
        m, centre, J = mass_properties(shape.inertia(density) if dry is None else floats("dry", dry))
        shape = shape.placed(x=-centre)
        added = shape.added_inertia(density)
        _check_uncoupled(shape.shape, added)
        displaced, g = shape.displaced_mass(density), float(np.linalg.norm(floats("gravity", gravity)))
        vehicle = cls(
            positive("The mass of `dry`", m),
            added[3:, 3:],
            J + added[:3, :3],
            displaced * g,
            shape.centre,
            gravity=gravity,
            current=current,
            forces=forces,
        )
        return vehicle.replaced(solid=solid_of(shape))

    @property
    def group(self) -> Product:
        """Attitude and position."""
        return Product(R=SO3(), q=Rn(3))

    @property
    def down(self) -> Float[Array | np.ndarray, "3"]:
        """The direction of gravity, in space."""
        return self.a0[:3]

    labels = place("q", "position")

    @property
    def picture(self) -> Picture:
        """The shape, or the ellipsoid with its mass and inertia, and what is down."""
        if self.solid is not None:
            shapes, centres = [self.solid.drawn], [self.solid.centre]
            return Picture(down=self.down, names=("hull",), shapes=shapes, centres=centres)
        return Picture(down=self.down, shapes=[ellipsoid_of_inertia(self.J, self.m)], names=("hull",))

    @property
    def force(self) -> Any:
        """The sum of the forces, or None where there are none: then the motion is that of the Lagrangian alone."""
        return self._force if self.forces else None

    @property
    def surplus(self) -> Any:
        """m g - B in N: the weight that buoyancy leaves."""
        return self.m * self.gravity - self.buoyancy

    def act_on_a(self, g: Float[Array, "3 3"], a: Float[Array, "6"]) -> Float[Array, "6"]:
        """Both vectors, the vertical and the current, turn with g."""
        return jnp.concatenate([g @ a[:3], g @ a[3:]])

    def reduced_lagrangian(self, xi, n, nu, a, t):
        """Kinetic energy, the fluid's of the relative motion, less the potentials of weight and buoyancy."""
        relative = nu - a[3:]
        kinetic = xi @ self.J @ xi + self.m * nu @ nu + relative @ self.added_mass @ relative
        return 0.5 * kinetic + self.surplus * n @ a[:3] - self.buoyancy * self.r @ a[:3]

    def symmetry(self, s: Float[Array, "3"], g: Any) -> Any:
        """Translations across the vertical: the horizontal part of s."""
        return g._replace(q=g.q + s - (s @ self.down) * self.down)

    def velocity(self, g: Any, mu: Float[Array, "6"], t: Scalar = 0.0) -> Float[Array, "6"]:
        """Omega = J^-1 mu_R and q' = (R (m + M_A) R^T)^-1 (mu_q + R M_A R^T u)."""
        added = jnp.asarray(self.added_mass)
        mass = g.R @ (self.m * jnp.eye(3) + added) @ g.R.T
        current = g.R @ (added @ (self.a0[3:] @ g.R))
        return jnp.concatenate([solve(jnp.asarray(self.J), mu[:3]), solve(mass, mu[3:] + current)])

    def reduced_velocity(self, reduced: ReducedState, t: Scalar = 0.0) -> tuple[Float[Array, "3"], Float[Array, "3"]]:
        """Omega = J^-1 mu and nu = (m + M_A)^-1 (p + M_A c)."""
        added = jnp.asarray(self.added_mass)
        nu = solve(self.m * jnp.eye(3) + added, reduced.p + added @ reduced.a[3:])
        return solve(jnp.asarray(self.J), reduced.mu), nu

    def _force(self, g: Any, xi: Float[Array, "6"], t: Scalar) -> Float[Array, "6"]:
        current = Constant(self.a0[3:])
        return force_on_product(self.forces, current, g.R, g.q, xi[:3], xi[3:], t)


def _check_uncoupled(shape: AbstractShape, added: np.ndarray) -> None:
    """Refuse a coupling about the centre of gravity that is more than the error of the added inertia."""
    scale = np.sqrt(np.trace(added[:3, :3]) * np.trace(added[3:, 3:]))
    share = float(np.max(np.abs(added[:3, 3:]))) / scale if scale > 0 else 0.0
    error = shape.added_error if isinstance(shape, Mesh) else 1e-9
    if share > error:
        raise InputError(
            f"About the centre of gravity the added inertia couples turn and motion (by {share:.2g}, relative), and "
            "BuoyantVehicle has no such term. Take SubmergedBody.from_shape, which has the whole 6 x 6."
        )
