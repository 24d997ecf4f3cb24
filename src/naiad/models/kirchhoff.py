"""A neutrally buoyant body in an ideal fluid: the Kirchhoff equations."""

from typing import Any, Self

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from naiad.errors import InputError
from naiad.groups import SE3
from naiad.hydro import AbstractShape, Ellipsoid, mass_properties
from naiad.mechanics import EulerPoincareSystem, Picture, Scalar, ellipsoid_of_inertia
from naiad.models.solid_shape import Solid, solid_of, solid_shape
from naiad.numerics import solve
from naiad.numerics.checks import floats, inertia_matrix, namespace


class KirchhoffBody(EulerPoincareSystem):
    """ell = xi . K xi / 2 on SE(3) with xi = (Omega, v) in the body frame and K = [[I, S^T], [S, M]], added inertia
    included.

    Pi' = Pi x Omega + p x v, p' = p x Omega [bourabee2007, eqs. (6.2.1)-(6.2.5)]. `I` and `M` are three numbers or
    symmetric matrices, `S` couples translation to rotation (p = S Omega + M v).
    `solid` is what a picture shows where the shape is known.
    """

    K: Float[Array | np.ndarray, "6 6"]
    solid: Solid | None
    group = SE3()

    def __init__(self, I: Any, M: Any, S: Any = None):  # noqa: E741  (the symbol of the papers)
        turning, moving = inertia_matrix("I", I, 3), inertia_matrix("M", M, 3)
        coupling = np.zeros((3, 3)) if S is None else floats("S", S)
        whole = namespace(turning, moving, coupling).block([[turning, coupling.T], [coupling, moving]])
        self.K = inertia_matrix("The inertia [[I, S^T], [S, M]]", whole, 6)
        self.solid = None

    @classmethod
    def from_matrix(cls, K: Any) -> Self:
        """The body with this 6 x 6 inertia, angular first, added inertia included."""
        K = inertia_matrix("K", K, 6)
        return cls(K[:3, :3], K[3:, 3:], K[3:, :3])

    @classmethod
    def from_shape(cls, shape: AbstractShape, density: float, dry: Any = None) -> Self:
        """A neutrally buoyant body of this shape in a fluid of this density, about the origin of the shape's frame.

        `dry` is its own inertia (see `naiad.hydro.rigid_inertia`), with the mass of the displaced fluid and the same
        centre; without it the body is homogeneous, of the fluid's density.
        """
        shape = solid_shape(shape)
        own = shape.inertia(density) if dry is None else floats("dry", dry)
        _check_neutral(shape, density, own)
        return cls.from_matrix(own + shape.added_inertia(density)).replaced(solid=solid_of(shape))

    @classmethod
    def ellipsoid(cls, axes: Any, density: float) -> Self:
        """A homogeneous, neutrally buoyant ellipsoid with these semi-axes in a fluid of this density."""
        return cls.from_shape(Ellipsoid(axes), density)

    def reduced_lagrangian(self, xi: Float[Array, "6"]) -> Float[Array, ""]:
        """(Omega, v) . K (Omega, v) / 2."""
        return 0.5 * xi @ self.K @ xi

    @property
    def picture(self) -> Picture:
        """The shape, or the ellipsoid with the inertia."""
        if self.solid is not None:
            return Picture(shapes=[self.solid.drawn], centres=[self.solid.centre])
        K = np.asarray(self.K)
        own = K[:3, :3] - K[:3, 3:] @ np.linalg.solve(K[3:, 3:], K[3:, :3])
        return Picture(shapes=[ellipsoid_of_inertia(own, float(np.trace(K[3:, 3:])) / 3.0)])

    def velocity(self, g: Any, mu: Float[Array, "6"], t: Scalar = 0.0) -> Float[Array, "6"]:
        """K^-1 mu."""
        return solve(jnp.asarray(self.K), mu)


def _check_neutral(shape: AbstractShape, density: float, dry: np.ndarray) -> None:
    mass, centre, _ = mass_properties(dry)
    displaced, size = shape.displaced_mass(density), np.cbrt(shape.volume)
    if abs(mass - displaced) > 1e-9 * displaced or np.linalg.norm(centre - shape.centre) > 1e-9 * size:
        raise InputError(
            f"A mass of {mass:.10g} at {centre.tolist()} displaces {displaced:.10g} of fluid at "
            f"{shape.centre.tolist()}: weight and buoyancy do not cancel. Take SubmergedBody, which has both, or "
            "KirchhoffBody.from_matrix(dry + added) where there is no gravity."
        )
