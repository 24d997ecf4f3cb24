"""A neutrally buoyant body in an ideal fluid: the Kirchhoff equations."""

from typing import Any

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from naiad.groups import SE3
from naiad.mechanics import EulerPoincareSystem, Scalar
from naiad.models.inertia import inertia_matrix
from naiad.numerics import solve


class KirchhoffBody(EulerPoincareSystem):
    """ell = xi . K xi / 2 on SE(3) with xi = (Omega, v) in the body frame and K = [[I, S^T], [S, M]], added inertia
    included.

    Pi' = Pi x Omega + p x v, p' = p x Omega [bourabee2007, chapter 6]. `I` and `M` are three numbers or symmetric
    matrices, `S` couples translation to rotation (p = S Omega + M v).
    """

    K: Float[Array | np.ndarray, "6 6"]
    group = SE3()

    def __init__(self, I: Any, M: Any, S: Any = None):  # noqa: E741  (the symbol of the papers)
        coupling = np.zeros((3, 3)) if S is None else np.asarray(S, dtype=float)
        blocks = [[inertia_matrix("I", I, 3), coupling.T], [coupling, inertia_matrix("M", M, 3)]]
        self.K = inertia_matrix("The inertia [[I, S^T], [S, M]]", np.block(blocks), 6)

    def reduced_lagrangian(self, xi: Float[Array, "6"]) -> Float[Array, ""]:
        """(Omega, v) . K (Omega, v) / 2."""
        return 0.5 * xi @ self.K @ xi

    def velocity(self, g: Any, mu: Float[Array, "6"], t: Scalar = 0.0) -> Float[Array, "6"]:
        """K^-1 mu."""
        return solve(jnp.asarray(self.K), mu)
