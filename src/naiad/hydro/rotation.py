"""Rotations as users give them, checked."""

from typing import Any

import numpy as np

from naiad.errors import InputError
from naiad.numerics.arguments import checked_throughout
from naiad.numerics.checks import check_rotations, finite, floats


@checked_throughout
def rotation_matrix(name: str, value: Any) -> np.ndarray:
    """A 3 x 3 rotation matrix, or an `InputError`."""
    array = floats(name, value)
    if array.shape != (3, 3) or not finite(array):
        raise InputError(f"{name} = {value!r}; expected a 3 x 3 rotation matrix.")
    check_rotations(name, array)
    return array
