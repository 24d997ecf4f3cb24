"""Shapes as users give them to a body in space, checked."""

from typing import Any

import numpy as np

from naiad.errors import InputError
from naiad.hydro import AbstractShape, mass_properties
from naiad.mechanics import ellipsoid_of_inertia


def solid_shape(shape: Any) -> AbstractShape:
    """A shape of space, or an `InputError`."""
    if not isinstance(shape, AbstractShape) or len(shape.centre) != 3:
        raise InputError(
            f"shape = {shape!r}; expected a shape of space such as naiad.hydro.Ellipsoid((2.0, 1.0, 0.5))."
        )
    return shape


def solid_rows(shape: AbstractShape) -> np.ndarray | None:
    """What a picture shows of a shape: the semi-axes of the ellipsoid with the inertia of its volume, as vectors in
    rows, then where its middle is; None for what has no volume."""
    mass, centre, inertia = mass_properties(shape.inertia(1.0))
    if not mass > 0:
        return None
    axes = ellipsoid_of_inertia(inertia, mass)
    return np.concatenate([np.diag(axes) if axes.ndim == 1 else axes, centre[None]])
