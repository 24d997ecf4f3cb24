"""Vectors of space as users give them, checked."""

from typing import Any

import numpy as np

from naiad.errors import InputError
from naiad.numerics import check_double


def vector3(name: str, value: Any) -> np.ndarray:
    """Three finite numbers, or an `InputError`."""
    check_double(name, value)
    try:
        array = np.asarray(value, dtype=float)
    except (TypeError, ValueError):
        array = np.zeros(0)
    if array.shape != (3,) or not np.all(np.isfinite(array)):
        raise InputError(f"{name} = {value!r}; expected three finite numbers.")
    return array
