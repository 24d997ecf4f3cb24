"""Shapes as users give them to a body in space, checked."""

from typing import Any

from naiad.errors import InputError
from naiad.hydro import AbstractShape


def solid_shape(shape: Any) -> AbstractShape:
    """A shape of space, or an `InputError`."""
    if not isinstance(shape, AbstractShape) or len(shape.centre) != 3:
        raise InputError(
            f"shape = {shape!r}; expected a shape of space such as naiad.hydro.Ellipsoid((2.0, 1.0, 0.5))."
        )
    return shape
