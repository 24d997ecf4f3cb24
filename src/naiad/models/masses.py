"""Masses as users give them, checked."""

from typing import Any

import numpy as np

from naiad.errors import InputError
from naiad.numerics import check_double


def masses(value: Any) -> np.ndarray:
    """One or more positive masses, or an `InputError`."""
    check_double("m", value)
    try:
        array = np.asarray(value, dtype=float)
    except (TypeError, ValueError):
        array = np.zeros(0)
    if array.ndim != 1 or not array.size or not np.all(np.isfinite(array) & (array > 0)):
        raise InputError(f"m = {value!r}; expected one positive mass for each body.")
    return array
