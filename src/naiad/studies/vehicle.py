"""What the studies of Kirchhoff's equations share: the ellipsoid that they begin with, and what its motion keeps."""

from typing import Any

import jax.numpy as jnp
import numpy as np

import naiad as nd
from naiad.studies.conservation import Observable
from naiad.studies.parameters import as_matrix

INERTIA = (1.4726, 7.0306, 4.7969)
MASS = (4.7190, 5.8566, 10.5476)
"""With the fluid's: an ellipsoid of semi-axes 2, 1, 1/2 and the fluid's density. The thesis does not give its own."""


def vehicle(I: np.ndarray, M: np.ndarray, S: np.ndarray | None) -> nd.models.KirchhoffBody:  # noqa: E741
    """The body of these parameters."""
    return nd.models.KirchhoffBody(as_matrix(I), as_matrix(M), S)


def casimir_change(state: nd.State) -> Observable:
    """The larger of the changes of Pi.p and |p|^2, relative to |Pi_0| |p_0| and |p_0|^2 (absolute where 0)."""
    Pi, p = np.asarray(state.mu[:3]), np.asarray(state.mu[3:])
    mixed, linear = float(Pi @ p), float(p @ p)
    scales = float(np.linalg.norm(Pi) * np.linalg.norm(p)) or 1.0, linear or 1.0

    def change(state: nd.State, t: Any) -> Any:
        Pi, p = state.mu[:3], state.mu[3:]
        return jnp.maximum(jnp.abs(Pi @ p - mixed) / scales[0], jnp.abs(p @ p - linear) / scales[1])

    return change
