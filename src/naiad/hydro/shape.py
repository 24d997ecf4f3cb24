"""What a shape is to the water around it, shapes in other places, and several of them as one body."""

import abc
from typing import Any

import numpy as np

from naiad.errors import InputError
from naiad.hydro.facets import Facets, ellipsoid_facets, joined
from naiad.hydro.frames import Inertia, congruence, motion_there
from naiad.hydro.rigid import mass_properties
from naiad.numerics import Module
from naiad.numerics.checks import positive


class AbstractShape(Module):
    """A shape in its own frame: volume, centre of the volume, and inertias about the origin, angular first.

    A shape of the plane stands for a cylinder of unit length: its volume is an area, its inertias are 3 x 3.
    """

    @property
    @abc.abstractmethod
    def volume(self) -> float:
        """The volume, or in the plane the area."""

    @property
    @abc.abstractmethod
    def centre(self) -> np.ndarray:
        """The centre of the volume, where buoyancy acts."""

    @abc.abstractmethod
    def added_inertia(self, density: float) -> Inertia:
        """The inertia of an ideal fluid of this density around the shape: xi . K xi / 2 is the fluid's energy."""

    @abc.abstractmethod
    def inertia(self, density: float) -> Inertia:
        """The inertia of a homogeneous body of this shape and density."""

    def displaced_mass(self, density: float) -> float:
        """The mass of the fluid of this density that the shape displaces."""
        return positive("density", density) * self.volume

    def facets(self, most: int) -> Facets | None:
        """What to draw in about `most` triangles; None where an ellipsoid with the inertia of the volume will do."""
        return None

    def placed(self, x: Any = None, R: Any = None) -> "Placed":
        """The shape at x, turned by R (in the plane: an angle), as a part of a body."""
        return Placed(self, x, R)


class Placed(AbstractShape):
    """A shape whose frame lies at x in the body's, turned by R."""

    shape: AbstractShape
    x: Any = None
    R: Any = None

    def __post_init__(self):
        self._motion_there()  # says it if x or R do not fit

    def _motion_there(self) -> np.ndarray:
        return motion_there(3 * len(self.shape.centre) - 3, self.x, self.R)

    @property
    def volume(self) -> float:
        return self.shape.volume

    @property
    def centre(self) -> np.ndarray:
        there = self.shape.centre
        x = np.zeros(len(there)) if self.x is None else np.asarray(self.x, dtype=float)
        if self.R is None:
            return x + there
        if len(there) == 2:
            c, s = np.cos(self.R), np.sin(self.R)
            return x + np.array([[c, -s], [s, c]]) @ there
        return x + np.asarray(self.R) @ there

    def facets(self, most: int) -> Facets | None:
        own = self.shape.facets(most)
        return None if own is None else own.moved(np.zeros(3) if self.x is None else np.asarray(self.x, float), self.R)

    def added_inertia(self, density: float) -> Inertia:
        return congruence(self.shape.added_inertia(density), self._motion_there())

    def inertia(self, density: float) -> Inertia:
        return congruence(self.shape.inertia(density), self._motion_there())


class Assembly(AbstractShape):
    """Several shapes that move as one body: their inertias are summed, as if each were alone in the water.

    What the flow around one does to another is left out, and volume that overlaps is counted twice.
    """

    parts: tuple[AbstractShape, ...]

    def __init__(self, *parts: AbstractShape):
        if not parts or any(not isinstance(part, AbstractShape) for part in parts):
            raise InputError("An Assembly needs shapes, such as Assembly(hull, fin.placed(x=(0.0, 0.4, 0.0))).")
        if len({len(part.centre) for part in parts}) > 1:
            raise InputError("An Assembly holds shapes of the plane and of space; expected all of one kind.")
        self.parts = parts

    @property
    def volume(self) -> float:
        return sum(part.volume for part in self.parts)

    @property
    def centre(self) -> np.ndarray:
        if not self.volume:
            return np.zeros(len(self.parts[0].centre))
        return sum((part.volume * part.centre for part in self.parts), start=np.zeros(())) / self.volume

    def facets(self, most: int) -> Facets | None:
        solid = [part for part in self.parts if part.volume > 0]
        if len(self.centre) != 3 or not solid or len(self.parts) == 1:
            return self.parts[0].facets(most)
        each = max(most // len(solid), 24)
        return joined([part.facets(each) or _like_an_ellipsoid(part, each) for part in solid])

    def added_inertia(self, density: float) -> Inertia:
        return sum((part.added_inertia(density) for part in self.parts), start=np.zeros(()))

    def inertia(self, density: float) -> Inertia:
        return sum((part.inertia(density) for part in self.parts), start=np.zeros(()))


def _like_an_ellipsoid(shape: AbstractShape, most: int) -> Facets:
    """The ellipsoid with the inertia of the volume: J_1 = m (a_2^2 + a_3^2)/5."""
    mass, centre, inertia = mass_properties(shape.inertia(1.0))
    moments, axes = np.linalg.eigh(inertia)
    lengths = np.sqrt(np.maximum(5.0 * (0.5 * moments.sum() - moments) / mass, 0.0))
    return ellipsoid_facets(lengths[:, None] * axes.T, centre, most)
