"""Rotations as users give them, checked."""

from typing import Any

import numpy as np

from naiad.errors import InputError
from naiad.numerics.arguments import checked_throughout


@checked_throughout
def rotation_matrix(name: str, value: Any) -> np.ndarray:
    """A 3 x 3 rotation matrix, or an `InputError`."""
    try:
        array = np.asarray(value, dtype=float)
    except (TypeError, ValueError):
        array = np.zeros(0)
    if array.shape != (3, 3) or not np.all(np.isfinite(array)):
        raise InputError(f"{name} = {value!r}; expected a 3 x 3 rotation matrix.")
    error = float(np.linalg.norm(array.T @ array - np.eye(3)))
    if error > 1e-8 or np.linalg.det(array) < 0:
        raise InputError(
            f"{name} is no rotation: |R^T R - I| = {error:.3g}, det R = {np.linalg.det(array):.6g}; expected 0 and 1."
        )
    return array
