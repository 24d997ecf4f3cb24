"""A heavy plate that moves in a plane through an ideal fluid: an Euler-Poincare system with advected parameters on
SE(2)."""

from typing import Any, Self

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from naiad.errors import InputError
from naiad.groups import SE2
from naiad.groups.se2 import PlanarPose
from naiad.groups.so2 import rotation
from naiad.hydro import AbstractShape, EllipticCylinder
from naiad.mechanics import AdvectedSystem, Picture, ReducedState, Scalar
from naiad.numerics import solve
from naiad.numerics.checks import inertia_matrix, is_known, positive, semidefinite_inertia, vector

Twist = Float[Array, "3"]


class HeavyPlate(AdvectedSystem):
    """A plate, or any cylinder across its axis, with weight and buoyancy in an ideal fluid, on SE(2).

    The potential of a uniform field gamma is a function c + gamma . x of the place, and SE(2) carries such functions
    along: seen from the body it is a = (Gamma, eta), Gamma = R^T gamma and eta = gamma . x. With xi = (Omega, v) in the
    body and K = dry + added

        ell = xi . K xi / 2 + (m - m_d) eta + (m c_G - m_d c_B) . Gamma,

    so that Pi' = p x v + (m c_G - m_d c_B) x Gamma, p' = -Omega J p + (m - m_d) Gamma, Gamma' = -Omega J Gamma and
    eta' = Gamma . v, J being the quarter turn: Lie-Poisson equations on the dual of se(2) with R^3. |Gamma|^2 and
    p x Gamma, the horizontal momentum, are its Casimirs. In space p grows by (m - m_d) gamma t.

    `dry` is the 3 x 3 inertia of the plate itself about the body's origin, (I, m, m) where that is its mass centre,
    `added` that of the fluid, per unit of length both. `displaced` is m_d and `buoyancy_centre` c_B. `gravity` is the
    vector gamma in space. `axes` are those of the ellipse in a picture.
    """

    dry: Float[Array | np.ndarray, "3 3"]
    added: Float[Array | np.ndarray, "3 3"]
    displaced: float
    buoyancy_centre: Float[Array | np.ndarray, "2"]
    a0: Float[Array | np.ndarray, "3"]
    axes: tuple[float, float] | None
    base = SE2()
    symmetry_dim = 2

    def __init__(
        self,
        dry: Any,
        added: Any,
        *,
        displaced: float = 0.0,
        buoyancy_centre: Any = (0.0, 0.0),
        gravity: Any = (0.0, -9.81),
    ):
        self.dry, self.added = semidefinite_inertia("dry", dry, 3), semidefinite_inertia("added", added, 3)
        _check_rigid(self.dry)
        inertia_matrix("The inertia dry + added", self.dry + self.added, 3)
        self.displaced = positive("displaced", displaced, zero=True)
        self.buoyancy_centre = vector("buoyancy_centre", buoyancy_centre, 2)
        gravity = vector("gravity", gravity, 2)
        self.a0 = np.append(gravity, 0.0) if is_known(gravity) else jnp.append(gravity, 0.0)
        self.axes = None

    @classmethod
    def from_shape(cls, shape: AbstractShape, density: float, dry: Any, *, gravity: Any = (0.0, -9.81)) -> Self:
        """A plate of this shape of the plane, such as `naiad.hydro.EllipticCylinder(0.1, 0.01)`, in a fluid of this
        density, with its own inertia `dry` about the origin of the shape's frame."""
        if not isinstance(shape, AbstractShape) or len(shape.centre) != 2:
            raise InputError(
                f"shape = {shape!r}; expected a shape of the plane such as naiad.hydro.EllipticCylinder(0.1, 0.01)."
            )
        plate = cls(
            dry,
            shape.added_inertia(density),
            displaced=shape.displaced_mass(density),
            buoyancy_centre=shape.centre,
            gravity=gravity,
        )
        return plate.replaced(axes=(shape.a, shape.b)) if isinstance(shape, EllipticCylinder) else plate

    @property
    def gravity(self) -> Any:
        """gamma, in space."""
        return self.a0[:2]

    @property
    def surplus(self) -> Any:
        """m - m_d in kg: the mass that buoyancy leaves."""
        return self.dry[1, 1] - self.displaced

    @property
    def moment(self) -> Any:
        """m c_G - m_d c_B in kg m, in the body."""
        first = jnp.stack([jnp.asarray(self.dry)[0, 2], -jnp.asarray(self.dry)[0, 1]])
        return first - self.displaced * jnp.asarray(self.buoyancy_centre)

    @property
    def picture(self) -> Picture | None:
        """The ellipse, where it is known."""
        return None if self.axes is None else Picture(shapes=[self.axes], names=("plate",))

    def act_on_a(self, g: PlanarPose, a: Float[Array, "3"]) -> Float[Array, "3"]:
        """The function eta + Gamma . x, moved by g: its value at x is what it was at g^-1 x."""
        turned = rotation(g.beta) @ a[:2]
        return jnp.append(turned, a[2] - turned @ g.x)

    def reduced_lagrangian(self, xi, n, nu, a, t):
        """Kinetic energy of plate and fluid, less the potentials of weight and buoyancy."""
        return 0.5 * xi @ (self.dry + self.added) @ xi + self.surplus * a[2] + self.moment @ a[:2]

    def symmetry(self, s: Float[Array, "2"], g: PlanarPose) -> PlanarPose:
        """Translations across gravity: the level part of s."""
        gravity = jnp.asarray(self.gravity)
        square = gravity @ gravity
        return g._replace(x=g.x + s - (s @ gravity) / jnp.where(square > 0.0, square, 1.0) * gravity)

    def velocity(self, g: PlanarPose, mu: Twist, t: Scalar = 0.0) -> Twist:
        """(dry + added)^-1 mu."""
        return solve(jnp.asarray(self.dry + self.added), mu)

    def reduced_velocity(self, reduced: ReducedState, t: Scalar = 0.0) -> tuple[Twist, Float[Array, "0"]]:
        """(dry + added)^-1 mu; there are no additional dynamics."""
        return solve(jnp.asarray(self.dry + self.added), reduced.mu), jnp.zeros(0)


def _check_rigid(dry: Any) -> None:
    """Refuse a matrix that no rigid body has: its mass is the same in all directions."""
    if is_known(dry) and (abs(dry[1, 1] - dry[2, 2]) > 1e-10 * dry[1, 1] or abs(dry[1, 2]) > 1e-10 * dry[1, 1]):
        raise InputError(
            f"dry: a mass of {dry[1:, 1:].tolist()} is not that of a rigid body, m times the identity; keep added "
            "inertia apart."
        )
