"""What the studies of Kirchhoff's equations share: the ellipsoid that they begin with, and what its motion keeps."""

from typing import Any, Self

import jax.numpy as jnp
import numpy as np

import naiad as nd
from naiad.numerics import Module
from naiad.studies.parameters import Block, Inertia, Matrix, as_matrix, parameter

INERTIA = (1.4726, 7.0306, 4.7969)
MASS = (4.7190, 5.8566, 10.5476)
"""With the fluid's: an ellipsoid of semi-axes 2, 1, 1/2 and the fluid's density. The thesis does not give its own."""


class Inertias(Block):
    """Parameters of a body in an ideal fluid."""

    I: Inertia = parameter(  # noqa: E741  (the symbol of the papers)
        INERTIA, unit="kg m^2", size=3, help="inertia with the fluid's: three moments or a matrix"
    )
    M: Inertia = parameter(MASS, unit="kg", size=3, help="mass with the fluid's: three numbers or a matrix")
    S: Matrix | None = parameter(
        None, unit="kg m", size=(3, 3), help="coupling of translation to rotation, p = S Omega + M v"
    )


def vehicle(I: np.ndarray, M: np.ndarray, S: np.ndarray | None) -> nd.models.KirchhoffBody:  # noqa: E741
    """The body of these parameters."""
    return nd.models.KirchhoffBody(as_matrix(I), as_matrix(M), S)


CASIMIRS: dict[str, Any] = {
    "Pi.p": lambda state, t: state.mu[:3] @ state.mu[3:],
    "|p|^2": lambda state, t: state.mu[3:] @ state.mu[3:],
}


def casimir_sizes(mu: np.ndarray) -> tuple[float, float]:
    """What changes of the Casimirs are relative to: |Pi| |p| and |p|^2, 1 where they vanish."""
    Pi, p = np.linalg.norm(mu[:3]), np.linalg.norm(mu[3:])
    return float(Pi * p) or 1.0, float(p * p) or 1.0


class CasimirChange(Module):
    """The larger of the changes of Pi.p and |p|^2, relative to |Pi_0| |p_0| and |p_0|^2 (absolute where 0).

    Its numbers are fields, so that runs from many states share one program.
    """

    values: np.ndarray
    scales: np.ndarray

    @classmethod
    def since(cls, state: nd.State) -> Self:
        """The changes since a state."""
        values = [float(casimir(state, 0.0)) for casimir in CASIMIRS.values()]
        return cls(np.array(values), np.array(casimir_sizes(np.asarray(state.mu))))

    def __call__(self, state: nd.State, t: Any) -> Any:
        now = jnp.stack([casimir(state, t) for casimir in CASIMIRS.values()])
        return jnp.max(jnp.abs(now - self.values) / self.scales)
