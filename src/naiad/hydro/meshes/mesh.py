"""A body given by its surface."""

import functools
import os
from typing import Any

import numpy as np

from naiad.errors import InputError
from naiad.hydro.facets import Facets, thinned
from naiad.hydro.frames import Inertia, moved
from naiad.hydro.meshes.added import Added, added
from naiad.hydro.meshes.files import read
from naiad.hydro.meshes.report import MeshReport, report
from naiad.hydro.meshes.simplify import simplified
from naiad.hydro.meshes.soundness import Sound, closed, sound
from naiad.hydro.meshes.surface import Surface
from naiad.hydro.rigid import whole
from naiad.hydro.shape import AbstractShape
from naiad.numerics import static
from naiad.numerics.checks import floats, positive


class Mesh(AbstractShape):
    """A closed surface of triangles: `vertices` are rows of three numbers, `triangles` rows of three numbers of
    vertices, counted from 0.

    The surface is checked: closed, one way out, not through itself; cavities are left out, `notes` say so. Its added
    inertia is that of the given facets, solved on triangles that are cut as fine as `tolerance`, a relative error,
    needs; `added_error` is an estimate of the whole error, also of what flat facets leave out of a smooth body. Errors
    are relative to the largest energy of a unit motion, turns measured at the cube root of the volume.
    """

    vertices: np.ndarray
    triangles: np.ndarray
    tolerance: float = static(default=1e-2)

    def __init__(self, vertices: Any, triangles: Any, tolerance: float = 1e-2):
        self.vertices = _vertices(vertices)
        self.triangles = _triangles(triangles, len(self.vertices))
        self.tolerance = float(positive("tolerance", tolerance))
        if not 1e-4 <= self.tolerance <= 0.5:
            raise InputError(f"tolerance = {tolerance!r}; expected a relative error from 1e-4 to 0.5.")
        self._sound  # noqa: B018 - says it if the surface is none

    @classmethod
    def read(
        cls, path: str | os.PathLike[str], unit: str, tolerance: float = 1e-2, simplify: int | None = None
    ) -> "Mesh":
        """From a file (STL, OBJ, PLY, GLB), in the `unit` that its numbers are in: "m", "cm", "mm", "in", "ft"; with
        `simplify`, in so many triangles or fewer (see `simplified`)."""
        vertices, triangles = read(path, unit)
        try:
            if simplify is not None and len(triangles) > simplify:
                vertices, triangles = _fewer(_vertices(vertices), triangles, simplify)
            return cls(vertices, triangles, tolerance=tolerance)
        except InputError as error:
            raise InputError(f"{path}: {error}") from None

    def simplified(self, most: int) -> "Mesh":
        """The body in `most` triangles or fewer: of the same volume, and as near as can be to the planes of the given
        ones. Its vertices lie on both sides of the body: `added_error` says more than there is."""
        if len(self.surface.triangles) <= most:
            return self
        return Mesh(*_fewer(self.surface.vertices, self.surface.triangles, most), tolerance=self.tolerance)

    @functools.cached_property
    def _sound(self) -> Sound:
        at = self.vertices.mean(axis=0)
        found = sound(self.vertices - at, self.triangles)
        return Sound(Surface.given(found.surface.vertices + at, found.surface.triangles), found.notes)

    @property
    def surface(self) -> Surface:
        """The surface after the checks."""
        return self._sound.surface

    @functools.cached_property
    def _centred(self) -> Surface:
        return Surface.given(self.surface.vertices - self.centre, self.surface.triangles)

    @functools.cached_property
    def solution(self) -> Added:
        """The added inertia about the centre, in a fluid of unit density, with its errors."""
        return added(self._centred, self.tolerance)

    @property
    def notes(self) -> tuple[str, ...]:
        """What was left out or turned, and what is unusual."""
        return self._sound.notes

    @functools.cached_property
    def volume(self) -> float:
        surface = self._sound.surface
        return Surface.given(surface.vertices - surface.vertices.mean(axis=0), surface.triangles).volume

    @functools.cached_property
    def centre(self) -> np.ndarray:
        surface = self._sound.surface
        at = surface.vertices.mean(axis=0)
        return at + Surface.given(surface.vertices - at, surface.triangles).centre

    def added_inertia(self, density: float) -> Inertia:
        return positive("density", density) * moved(self.solution.inertia, x=self.centre)

    @property
    def added_error(self) -> float:
        """An estimate of the relative error of the added inertia."""
        return self.solution.error

    def facets(self, most: int) -> Facets:
        """The surface with `most` triangles or fewer."""
        return thinned(self.surface.vertices, self.surface.triangles, most)

    def report(self, density: float = 1000.0) -> MeshReport:
        """What is known of it, in a fluid of this density in kg/m^3; `print` shows a table."""
        density = float(positive("density", density))
        return report(self._centred, self.centre, self.solution, density, self.notes)

    def inertia(self, density: float) -> Inertia:
        second = self._centred.second_moment
        about = np.trace(second) * np.eye(3) - second
        return positive("density", density) * whole(self.volume, self.centre, about)


def _fewer(vertices: np.ndarray, triangles: np.ndarray, most: int) -> tuple[np.ndarray, np.ndarray]:
    at = vertices.mean(axis=0)
    found = simplified(closed(vertices - at, triangles)[0], most)
    return found.vertices + at, found.triangles


def _vertices(given: Any) -> np.ndarray:
    vertices = np.array(floats("vertices", given))
    if vertices.ndim != 2 or vertices.shape[1] != 3 or len(vertices) < 4:
        raise InputError(f"vertices of shape {vertices.shape}; expected rows of three finite numbers, four or more.")
    lost = np.flatnonzero(~np.isfinite(vertices).all(axis=1))
    if len(lost):
        raise InputError(
            f"{len(lost)} of {len(vertices)} vertices are not finite numbers, the first of them vertex {lost[0]} "
            "(counted from 0); expected finite numbers."
        )
    return vertices


def _triangles(given: Any, count: int) -> np.ndarray:
    try:
        triangles = np.array(given)
    except ValueError as error:
        raise InputError("triangles of unequal length; expected rows of three whole numbers.") from error
    if triangles.ndim != 2 or triangles.shape[1] != 3 or not np.issubdtype(triangles.dtype, np.integer):
        raise InputError(
            f"triangles of shape {triangles.shape} and type {triangles.dtype}; expected rows of three whole numbers."
        )
    if len(triangles) < 4 or triangles.min() < 0 or triangles.max() >= count:
        raise InputError(f"triangles: expected four or more rows of numbers of vertices, 0 to {count - 1}.")
    return triangles
