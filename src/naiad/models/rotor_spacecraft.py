"""A spacecraft with an internal rotor on a torsional spring: a group with a shape space beside it."""

from typing import Any

import numpy as np
from jaxtyping import Array, Float

from naiad.groups import SO3, Product, Rn
from naiad.mechanics import LagrangePoincareSystem, Picture, Scalar, ellipsoid_of_inertia
from naiad.mechanics.labels import angles
from naiad.numerics.checks import check_moments, inertia_matrix, positive, unit_axis


class RotorSpacecraft(LagrangePoincareSystem):
    """ell = Omega . I Omega / 2 + J_r (alpha' + n . Omega)^2 / 2 - kappa alpha^2 / 2 on SO(3) x R, alpha the angle of
    the rotor about the axis n of the body.

    Pi = I Omega + p n and p = J_r (alpha' + n . Omega), so that

        Omega = I^-1 (Pi - p n),   Pi' = Pi x Omega,   alpha' = p / J_r - n . Omega,   p' = -kappa alpha

    [bourabee2007, section 7.4]. `I` is the inertia of the whole craft less the rotor's own moment about its axis: with
    the rotor locked it is I + J_r n n^T. H, R Pi and |Pi| are conserved. State: `R`, `alpha`, `R_Pi`, `alpha_p`,
    the rotor's arrays of length one.
    """

    I: Float[Array | np.ndarray, "3 3"]  # noqa: E741  (the symbol of the papers)
    J_r: float
    kappa: float
    n: Float[Array | np.ndarray, "3"]
    group = Product(R=SO3(), alpha=Rn(1))
    labels = angles("alpha", "angle of the rotor")

    def __init__(self, I: Any, J_r: float, kappa: float, n: Any = (0.0, 0.0, 1.0)):  # noqa: E741
        self.I = inertia_matrix("I", I, 3)
        self.J_r = positive("J_r", J_r)
        self.kappa = positive("kappa", kappa, zero=True)
        self.n = unit_axis("n", n)
        check_moments("The inertia with the rotor locked", self.I + self.J_r * self.n[:, None] * self.n)

    def reduced_lagrangian(
        self, xi: Float[Array, "3"], s: Float[Array, "1"], v: Float[Array, "1"], t: Scalar
    ) -> Float[Array, ""]:
        """Body, rotor and spring."""
        spin = v[0] + self.n @ xi
        return 0.5 * xi @ self.I @ xi + 0.5 * self.J_r * spin**2 - 0.5 * self.kappa * s[0] ** 2

    @property
    def picture(self) -> Picture:
        """The ellipsoid with the inertia of the craft, its rotor locked."""
        return Picture(shapes=[ellipsoid_of_inertia(self.I + self.J_r * np.outer(self.n, self.n))], names=("craft",))
