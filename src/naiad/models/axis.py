"""Axes as users give them, checked."""

from typing import Any

import numpy as np

from naiad.errors import InputError
from naiad.numerics import check_double


def unit_axis(name: str, value: Any) -> np.ndarray:
    """A direction in R^3 of length one, or an `InputError`."""
    check_double(name, value)
    try:
        array = np.asarray(value, dtype=float)
    except (TypeError, ValueError):
        raise InputError(f"{name} = {value!r} is not an array of numbers; expected three numbers.") from None
    length = float(np.linalg.norm(array)) if array.shape == (3,) else float("nan")
    if not (np.isfinite(length) and length > 0):
        raise InputError(f"{name} = {value!r} is not a direction; expected three finite numbers, not all zero.")
    return array / length
