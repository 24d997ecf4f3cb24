"""Shapes as users give them to a body in space, checked, and what a picture shows of them."""

from typing import Any

import numpy as np
from jaxtyping import Array, Float

from naiad.errors import InputError
from naiad.hydro import AbstractShape, Facets, mass_properties
from naiad.mechanics import ellipsoid_of_inertia
from naiad.numerics import Module, static

DRAWN = 1200
"""Triangles of a body in a picture, at most."""


class Solid(Module):
    """What a picture shows of a shape: the ellipsoid with the inertia of its volume, semi-axes as vectors in rows and
    its middle, and the facets of a mesh, about that middle, where the shape is one."""

    axes: Float[Array | np.ndarray, "3 3"]
    centre: Float[Array | np.ndarray, "3"]
    facets: Facets | None = static(default=None)

    @property
    def drawn(self) -> Any:
        """As a `Picture` takes it."""
        if self.facets is None:
            return self.axes
        return {"axes": self.axes, "vertices": self.facets.vertices, "triangles": self.facets.triangles}


def solid_shape(shape: Any) -> AbstractShape:
    """A shape of space, or an `InputError`."""
    if not isinstance(shape, AbstractShape) or len(shape.centre) != 3:
        raise InputError(
            f"shape = {shape!r}; expected a shape of space such as naiad.hydro.Ellipsoid((2.0, 1.0, 0.5))."
        )
    return shape


def solid_of(shape: AbstractShape, most: int = DRAWN) -> Solid | None:
    """What a picture shows of a shape, a mesh in `most` triangles or fewer; None for what has no volume."""
    mass, centre, inertia = mass_properties(shape.inertia(1.0))
    if not mass > 0:
        return None
    axes = ellipsoid_of_inertia(inertia, mass)
    facets = shape.facets(most)
    about = None if facets is None else facets.moved(-centre)
    return Solid.unchecked(axes=np.diag(axes) if axes.ndim == 1 else axes, centre=centre, facets=about)
