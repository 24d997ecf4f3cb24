"""The parts of swimmers as users give them, checked."""

from typing import Any

import numpy as np

from naiad.errors import InputError
from naiad.mechanics import LagrangianSystem
from naiad.mechanics.features import refuse_features
from naiad.numerics.checks import floats


def points(name: str, value: Any, count: int, dim: int) -> np.ndarray:
    """A point of the plane or of space for each link."""
    array = floats(name, value)
    if array.shape != (count, dim) or not np.all(np.isfinite(array)):
        row = "(x, y)" if dim == 2 else "(x, y, z)"
        raise InputError(f"{name} has shape {array.shape}; expected {count} rows {row} of finite numbers, one a link.")
    return array


def densities(value: Any, count: int) -> np.ndarray:
    """A density for each link, from one for all or one for each."""
    array = floats("density", value)
    if array.shape not in ((), (count,)) or not np.all(np.isfinite(array) & (array >= 0.0)):
        raise InputError(f"density = {value!r}; expected a number of at least 0, or one for each of {count} links.")
    return np.broadcast_to(array, count)


def check_free(swimmer: LagrangianSystem) -> None:
    """Raise an `InputError` if anything but the inertia of a swimmer moves it: its momentum is to be conserved."""
    honours = frozenset({"time", "linear"})  # which come with an overridden Lagrangian or a force only
    refuse_features("what moves by its shape alone", honours, swimmer, "Simulate it as a system of its own.")
