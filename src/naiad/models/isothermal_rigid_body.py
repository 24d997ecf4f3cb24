"""A rigid body in a heat bath."""

from typing import Any

import numpy as np
from jaxtyping import Array, Float

from naiad.groups import SO3
from naiad.mechanics import LagrangianSystem, Picture, Scalar, ellipsoid_of_inertia
from naiad.numerics.checks import body_inertia, friction_matrix, number, positive


class IsothermalRigidBody(LagrangianSystem):
    """A rigid body with a fixed point and friction - C Omega at the temperature kT, in a field that turns its third
    axis up: ell = Omega . J Omega / 2 + kappa e_3 . R e_3.

    dPi = (Pi x Omega + kappa R^T e_3 x e_3 - C Omega) dt + Sigma dW, Sigma Sigma^T = 2 kT C. In equilibrium the density
    is that of Gibbs: Pi is normal with covariance kT J, and u = e_3 . R e_3 has the density exp(kappa u/kT) on [-1, 1].
    `J` and `C` are three numbers or symmetric matrices; a J that no body has is taken if `unphysical`.
    """

    J: Float[Array | np.ndarray, "3 3"]
    dissipation: Float[Array | np.ndarray, "3 3"]
    temperature: float
    kappa: float
    group = SO3()

    def __init__(self, J: Any, C: Any, temperature: float, kappa: float = 0.0, *, unphysical: bool = False):
        self.J = body_inertia("J", J, unphysical=unphysical)
        self.dissipation = friction_matrix("C", C, 3)
        self.temperature = positive("temperature", temperature, zero=True)
        self.kappa = number("kappa", kappa)

    def lagrangian(self, g: Float[Array, "3 3"], xi: Float[Array, "3"], t: Scalar) -> Float[Array, ""]:
        """Omega . J Omega / 2 + kappa e_3 . R e_3."""
        return 0.5 * xi @ self.J @ xi + self.kappa * g[2, 2]

    @property
    def picture(self) -> Picture:
        """The ellipsoid with its inertia."""
        return Picture(shapes=[ellipsoid_of_inertia(self.J)])
