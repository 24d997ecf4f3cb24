"""Matrices of inertia and of friction as users give them, checked."""

from typing import Any

import numpy as np

from naiad.errors import InputError
from naiad.hydro import check_moments
from naiad.numerics import check_double
from naiad.numerics.arguments import checked_throughout


@checked_throughout
def inertia_matrix(name: str, value: Any, size: int) -> np.ndarray:
    """A symmetric positive definite matrix from its diagonal or its entries, or an `InputError`."""
    array = _symmetric_matrix(name, value, size)
    lowest = float(np.linalg.eigvalsh(array)[0])
    if lowest <= 0:
        raise InputError(
            f"{name} is not positive definite (smallest eigenvalue {lowest:.6g}); every direction must have inertia."
        )
    return array


@checked_throughout
def body_inertia(name: str, value: Any, *, unphysical: bool = False) -> np.ndarray:
    """The inertia of a rigid body without a fluid: positive definite, and such as a body can have unless `unphysical`;
    or an `InputError`."""
    array = inertia_matrix(name, value, 3)
    if not unphysical:
        check_moments(name, array, remedy=", or take them with unphysical=True")
    return array


def semidefinite_inertia(name: str, value: Any, size: int) -> np.ndarray:
    """A symmetric positive semidefinite matrix, where some directions may have no inertia, or an `InputError`."""
    return _semidefinite_matrix(name, value, size, "the kinetic energy is never negative")


@checked_throughout
def friction_matrix(name: str, value: Any, size: int) -> np.ndarray:
    """A symmetric positive semidefinite matrix from its diagonal or its entries, or an `InputError`."""
    return _semidefinite_matrix(name, value, size, "friction must not give energy")


def _semidefinite_matrix(name: str, value: Any, size: int, reason: str) -> np.ndarray:
    array = _symmetric_matrix(name, value, size)
    values = np.linalg.eigvalsh(array)
    if values[0] < -1e-12 * max(values[-1], 0.0):
        raise InputError(f"{name} has the eigenvalue {values[0]:.6g}; {reason}: expected none < 0.")
    return array


def _symmetric_matrix(name: str, value: Any, size: int) -> np.ndarray:
    check_double(name, value)
    try:
        array = np.asarray(value, dtype=float)
    except (TypeError, ValueError):
        raise InputError(
            f"{name} = {value!r} is not an array of numbers; expected {size} numbers or a {size} x {size} matrix."
        ) from None
    if array.shape == (size,):
        array = np.diag(array)
    if array.shape != (size, size):
        raise InputError(
            f"{name} has shape {array.shape}; expected {size} numbers (the diagonal) or a {size} x {size} matrix."
        )
    if not np.all(np.isfinite(array)):
        raise InputError(f"{name} holds NaN or infinite values; give finite numbers.")
    asymmetry = np.max(np.abs(array - array.T))
    if asymmetry > 1e-12 * np.max(np.abs(array)):
        raise InputError(f"{name} is not symmetric (largest difference {asymmetry:.3g}); give a symmetric matrix.")
    return array
