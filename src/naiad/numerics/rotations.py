"""Rotation matrices as users give them, checked."""

from typing import Any

import numpy as np
from jaxtyping import Float

from naiad.errors import InputError

OFF = 1e-8
"""How far R^T R may be from I, in the Frobenius norm."""


def check_rotations(name: str, R: Float[np.ndarray, "*rows n n"]) -> None:
    """Raise an `InputError` unless R^T R = I and det R = 1 for every one of these matrices: a reflection is none."""
    matrices: Any = R.reshape(-1, *R.shape[-2:])
    errors = np.linalg.norm(matrices.swapaxes(1, 2) @ matrices - np.eye(R.shape[-1]), axis=(1, 2))
    determinants = np.linalg.det(matrices)
    bad = np.flatnonzero(~((errors <= OFF) & (determinants > 0.0)))
    if bad.size:
        i = int(bad[0])
        which = name if R.ndim == 2 else f"{name}[{i}]"
        raise InputError(
            f"{which} is not a rotation: |R^T R - I| = {errors[i]:.3g}, det R = {determinants[i]:.6g}; expected 0 and "
            "1."
        )
