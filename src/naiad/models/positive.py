"""Positive numbers as users give them, checked."""

from typing import Any

import numpy as np

from naiad.errors import InputError
from naiad.numerics import check_double


def positive(name: str, value: Any, *, zero: bool = False) -> float:
    """A finite number above zero (or zero, where allowed), or an `InputError`."""
    check_double(name, value)
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = float("nan")
    if not (np.isfinite(number) and (number > 0 or (zero and number == 0))):
        raise InputError(f"{name} = {value!r}; expected a finite number {'of at least' if zero else 'above'} 0.")
    return number
