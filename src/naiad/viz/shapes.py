"""The ellipsoids and meshes that stand for bodies: as they were given, or as large as can be seen."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from naiad.errors import InputError
from naiad.viz.bodies import Body

if TYPE_CHECKING:
    import xarray as xr

PROPORTIONS = np.array([1.0, 0.66, 0.38])
SIZE, SMALLEST, SHOWN = 0.13, 0.02, 0.06
"""Of the extent of the motion: what has no shape, what is too small to be seen, and as large as it is drawn then."""


@dataclass(frozen=True)
class Solid:
    """An ellipsoid: its semi-axes, how they lie in the body's frame (as columns), and where its middle is there; and
    the mesh that is drawn in its place, if there is one: vertices about the middle, in the body's frame."""

    axes: np.ndarray
    tilt: np.ndarray
    centre: np.ndarray
    vertices: np.ndarray | None = None
    triangles: np.ndarray | None = None

    @property
    def reach(self) -> float:
        """How far it reaches from the body's origin, at most."""
        own = self.axes.max() if self.vertices is None else np.linalg.norm(self.vertices, axis=1).max()
        return float(own + np.linalg.norm(self.centre))

    def scaled(self, factor: float) -> "Solid":
        """A larger one."""
        vertices = None if self.vertices is None else factor * self.vertices
        return replace(self, axes=factor * self.axes, centre=factor * self.centre, vertices=vertices)

    @property
    def depths(self) -> np.ndarray:
        """How far its surface is from its middle along the axes of the body."""
        if self.vertices is not None:
            return np.abs(self.vertices).max(axis=0)
        return 1.0 / np.linalg.norm(self.tilt.T / self.axes[:, None], axis=0)


def ball(size: float) -> Solid:
    """What does not turn."""
    return Solid(np.full(3, size), np.eye(3), np.zeros(3))


def given_solids(count: int, shapes: Sequence[Any] | None, centres: Sequence[Any] | None) -> list[Solid | None]:
    """What was given for each body, checked; one shape serves all bodies."""
    if shapes is None:
        return [None] * count
    if len(shapes) not in (1, count):
        raise InputError(f"shapes has {len(shapes)} entries; give one for each of {count} bodies, or one for all")
    found = [None if shape is None else _solid(shape) for shape in shapes]
    found = found * count if len(found) == 1 else found
    if centres is None:
        return found
    places = np.asarray(centres, float)
    if places.shape != (count, 3) or not np.isfinite(places).all():
        raise InputError(f"centres has shape {places.shape}; expected three numbers for each of {count} bodies")
    return [None if solid is None else replace(solid, centre=place) for solid, place in zip(found, places, strict=True)]


def known_solids(dataset: "xr.Dataset", count: int) -> list[Solid | None]:
    """What the attributes `shapes` and `centres` of a dataset say of its bodies; those that turn come first, and of
    others, such as places that were recorded as outputs, nothing need be said."""
    shapes, centres = (list(dataset.attrs.get(name) or ()) for name in ("shapes", "centres"))
    if not shapes:
        return [None] * count
    rest = count - len(shapes)
    return given_solids(count, shapes + [None] * rest, centres + [[0.0] * 3] * rest if centres else None)


def fixed_solids(fixed: Mapping[str, Any] | None) -> dict[str, Solid]:
    """What rests at the origin of space."""
    return {name: _solid(shape) for name, shape in (fixed or {}).items()}


def visible_solids(found: Sequence[Body], given: Sequence[Solid | None], extent: float) -> tuple[list[Solid], float]:
    """A solid for each body that can be seen beside a motion of this extent, and how often larger than they are those
    are drawn that are too small.

    A body without a shape is an ellipsoid that can be told from every side, a ball if it does not turn; one without a
    position has the size of these.
    """
    usual = SIZE * extent * min(1.0, 5.0 / np.sqrt(max(len(found), 1)))
    placed = [
        solid for body, solid in zip(found, given, strict=True) if solid is not None and body.position is not None
    ]
    small = [solid.axes.max() for solid in placed if solid.axes.max() < SMALLEST * extent]
    factor = SHOWN * extent / max(small) if small else 1.0
    made = []
    for body, solid in zip(found, given, strict=True):
        if solid is None:
            turning = body.quaternion is not None or body.angle is not None
            made.append(replace(ball(0.0), axes=usual * PROPORTIONS) if turning else ball(0.4 * usual))
        elif body.position is None:
            made.append(solid.scaled(usual / solid.axes.max()))
        else:
            made.append(solid.scaled(factor) if solid.axes.max() < SMALLEST * extent else solid)
    return made, factor


def _solid(shape: Any) -> Solid:
    """From three semi-axes, two in the plane, or three vectors in rows; or a mapping with these as `axes`, and with the
    `vertices` and `triangles` of a mesh."""
    if isinstance(shape, Mapping):
        return _mesh(shape)
    array = np.atleast_1d(np.asarray(shape, float))
    if array.shape == (3, 3) and np.isfinite(array).all() and np.abs(np.linalg.det(array)) > 0:
        lengths = np.linalg.norm(array, axis=1)
        tilt = (array / lengths[:, None]).T
        tilt[:, 2] *= np.sign(np.linalg.det(tilt))
        if np.allclose(tilt.T @ tilt, np.eye(3), atol=1e-6):
            return Solid(lengths, tilt, np.zeros(3))
    if array.shape not in ((2,), (3,)) or not np.isfinite(array).all() or (array <= 0).any():
        raise InputError(
            f"shapes has {array.tolist()}; a shape is three positive semi-axes (two in the plane), or three vectors "
            "across each other"
        )
    full = array if len(array) == 3 else np.array([*array, 0.5 * array.min()])
    return Solid(full, np.eye(3), np.zeros(3))


def _mesh(shape: Mapping[str, Any]) -> Solid:
    try:
        vertices, triangles = np.array(shape["vertices"], float), np.array(shape["triangles"])
        whole = vertices.shape[1:] == triangles.shape[1:] == (3,) and np.isfinite(vertices).all()
        whole = whole and triangles.dtype.kind == "i" and triangles.min() >= 0 and triangles.max() < len(vertices)
    except (KeyError, TypeError, ValueError):
        whole = False
    if not whole or "axes" not in shape:
        raise InputError(
            "shapes has a mesh that is none; expected axes (see Picture), vertices as rows of three numbers and "
            "triangles as rows of three numbers of vertices"
        )
    return replace(_solid(shape["axes"]), vertices=vertices, triangles=triangles)
