"""From shapes to sheets."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from naiad.errors import InputError
from naiad.hydro.ellipsoid import Ellipsoid, Sphere, Spheroid
from naiad.hydro.meshes.mesh import Mesh
from naiad.hydro.shape import AbstractShape, Placed
from naiad.hydro.spatial.facets import facet_sheet
from naiad.hydro.spatial.sheet import AbstractSheet
from naiad.hydro.spatial.smooth import smooth_sheet

FLATTEST = 1e-3
"""The smallest semi-axis over the largest."""


def sheets(shapes: Sequence[AbstractShape], degree: int, points: int) -> tuple[AbstractSheet, ...]:
    """The sheet of each shape, the same for shapes that are the same object."""
    made = {id(shape): _sheet(number, shape, degree, points) for number, shape in enumerate(shapes)}
    return tuple(made[id(shape)] for shape in shapes)


def _sheet(number: int, given: AbstractShape, degree: int, points: int) -> AbstractSheet:
    shape, x, R = unplaced(given)
    if isinstance(shape, Mesh):
        return facet_sheet(shape, x, R)
    axes = semi_axes(shape)
    if axes is None:
        raise InputError(
            f"shapes[{number}] = {given!r}; bodies coupled in space are a Sphere, a Spheroid, an Ellipsoid, a Mesh, "
            "or one of these `placed`."
        )
    if min(axes) < FLATTEST * max(axes):
        raise InputError(
            f"shapes[{number}] has the semi-axes {axes}; bodies coupled in space need a thickness, {FLATTEST:g} of "
            "their length or more."
        )
    return smooth_sheet(shape, axes, x, R, degree, points)


def semi_axes(shape: Any) -> tuple[float, float, float] | None:
    """Those of a smooth shape; None of another one."""
    if isinstance(shape, Sphere):
        r = float(shape.radius)
        return r, r, r
    if isinstance(shape, Spheroid):
        return float(shape.polar), float(shape.equatorial), float(shape.equatorial)
    if isinstance(shape, Ellipsoid):
        a, b, c = map(float, shape.axes)
        return a, b, c
    return None


def unplaced(shape: Any) -> tuple[Any, np.ndarray, np.ndarray]:
    """A shape in its own frame, and where that lies in the body's."""
    x, R = np.zeros(3), np.eye(3)
    while isinstance(shape, Placed):
        if shape.x is not None:
            x = x + R @ np.asarray(shape.x, float)
        if shape.R is not None:
            R = R @ np.asarray(shape.R, float)
        shape = shape.shape
    return shape, x, R
