"""Lengths and densities as users give them, checked."""

from typing import Any

import numpy as np

from naiad.errors import InputError
from naiad.numerics import check_double


def positive_number(name: str, value: Any, *, zero: bool = False) -> float:
    """A finite number above zero (or zero, where allowed), or an `InputError`."""
    (number,) = positive_numbers(name, [value], 1, zeros=int(zero))
    return float(number)


def positive_numbers(name: str, value: Any, count: int, *, zeros: int = 0) -> np.ndarray:
    """`count` finite numbers above zero, of which at most `zeros` are zero, or an `InputError`."""
    check_double(name, value)
    try:
        array = np.asarray(value, dtype=float)
    except (TypeError, ValueError):
        array = np.zeros(0)
    if (
        array.shape != (count,)
        or not np.all(np.isfinite(array) & (array >= 0))
        or np.count_nonzero(array) < count - zeros
    ):
        given = value[0] if count == 1 else value
        numbers = "a finite number above 0" if count == 1 else f"{count} finite numbers above 0"
        some = "" if not zeros else " (or 0)" if count == zeros else f" ({zeros} of them may be 0)"
        raise InputError(f"{name} = {given!r}; expected {numbers}{some}.")
    return array


def vector(name: str, value: Any, size: int) -> np.ndarray:
    """`size` finite numbers, zeros if none are given, or an `InputError`."""
    check_double(name, value)
    try:
        array = np.zeros(size) if value is None else np.asarray(value, dtype=float)
    except (TypeError, ValueError):
        array = np.zeros(0)
    if array.shape != (size,) or not np.all(np.isfinite(array)):
        raise InputError(f"{name} = {value!r}; expected {size} finite numbers.")
    return array
