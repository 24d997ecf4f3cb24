"""What the studies of Kirchhoff's equations share: the ellipsoid that they begin with, and what its motion keeps."""

from typing import Any, Self

import jax.numpy as jnp
import numpy as np

import naiad as nd
from naiad.numerics import Module
from naiad.studies.parameters import as_matrix

INERTIA = (1.4726, 7.0306, 4.7969)
MASS = (4.7190, 5.8566, 10.5476)
"""With the fluid's: an ellipsoid of semi-axes 2, 1, 1/2 and the fluid's density. The thesis does not give its own."""


def vehicle(I: np.ndarray, M: np.ndarray, S: np.ndarray | None) -> nd.models.KirchhoffBody:  # noqa: E741
    """The body of these parameters."""
    return nd.models.KirchhoffBody(as_matrix(I), as_matrix(M), S)


class CasimirChange(Module):
    """The larger of the changes of Pi.p and |p|^2, relative to |Pi_0| |p_0| and |p_0|^2 (absolute where 0).

    Its numbers are fields, so that runs from many states share one program.
    """

    values: np.ndarray
    scales: np.ndarray

    @classmethod
    def since(cls, state: nd.State) -> Self:
        """The changes since a state."""
        Pi, p = np.asarray(state.mu[:3]), np.asarray(state.mu[3:])
        sizes = (float(np.linalg.norm(Pi) * np.linalg.norm(p)) or 1.0, float(p @ p) or 1.0)
        return cls(np.array([Pi @ p, p @ p]), np.array(sizes))

    def __call__(self, state: nd.State, t: Any) -> Any:
        Pi, p = state.mu[:3], state.mu[3:]
        return jnp.max(jnp.abs(jnp.stack([Pi @ p, p @ p]) - self.values) / self.scales)
