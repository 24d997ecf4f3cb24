"""Homogeneous ellipsoids in an ideal fluid: their inertias as connected bodies need them."""

from typing import Any

import numpy as np

from naiad.errors import InputError
from naiad.hydro import Ellipsoid
from naiad.numerics.checks import floats, positive


def semi_axes(value: Any, count: int) -> np.ndarray:
    """Three positive semi-axes for each body, or an `InputError`."""
    array = floats("The semi-axes", value)
    if array.shape == (3,) and count == 3 and np.ptp(array) > 0.0:
        raise InputError(
            f"The semi-axes {value!r} of three bodies can be read in two ways: as three numbers for all, or as one for "
            "each. Give [(a, b, c)] for all, or a row for each."
        )
    if array.shape in ((3,), (1, 3)):
        array = np.broadcast_to(array, (count, 3)).copy()
    if array.shape != (count, 3) or not np.all(np.isfinite(array) & (array > 0)):
        raise InputError(
            f"The semi-axes {value!r} are not those of {count} ellipsoids; expected three positive numbers for all "
            "bodies, or for each of them."
        )
    return array


def ellipsoid_inertias(
    axes: np.ndarray, fluid: float, density: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """J and M with the fluid's share, the masses and the displaced masses of ellipsoids of a density in a fluid."""
    rho, own = positive("fluid", fluid, zero=True), positive("density", density)
    bodies = [Ellipsoid(tuple(each)) for each in axes]
    whole = np.stack([body.inertia(own) for body in bodies])
    if rho:
        whole = whole + np.stack([body.added_inertia(rho) for body in bodies])
    volumes = np.array([body.volume for body in bodies])
    return whole[:, :3, :3], whole[:, 3:, 3:], own * volumes, rho * volumes
