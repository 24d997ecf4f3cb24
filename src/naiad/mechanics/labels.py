"""What the components of a state are called where people read them: shared dimensions, words and units."""

import functools
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import jax
import numpy as np

from naiad.groups import S3, SE2, SE3, SO2, SO3, AbstractGroup, Power, Product, Rn, SOn
from naiad.mechanics.components import identity, split_rows
from naiad.mechanics.units import Units, units_of

if TYPE_CHECKING:
    import xarray as xr

    from naiad.mechanics.system import LagrangianSystem

LETTERS = {"axis": "xyz", "body_axis": "xyz", "quaternion": "wxyz"}
"""The coordinates of dimensions that have names; others are counted."""


class Label(NamedTuple):
    """The dimensions of a variable beside time, what it is, and its unit ("" where only the system's author knows).

    `axis` are the axes of space and `body_axis` those of a body, so that R[axis, body_axis] Omega[body_axis] is a
    vector in space; `body` counts copies, and `component` the coordinates of R^n.
    """

    dims: tuple[str, ...]
    words: str
    units: str = ""

    @property
    def attributes(self) -> dict[str, str]:
        """Of a labelled array."""
        return {"long_name": self.words} | ({"units": self.units} if self.units else {})

    def renamed(self, units: Units) -> "Label":
        """The label with a unit of SI in the units of a system."""
        return self._replace(units=units.named(self.units))


TIME = Label((), "time", "s")
_ATTITUDE = Label(("axis", "body_axis"), "attitude", "1")
_TURN = Label(("body_axis",), "angular velocity in the body frame", "rad/s")
_SPIN = Label(("body_axis",), "angular momentum in the body frame", "kg m^2/s")
_PLACE = Label(("axis",), "position", "m")
_VELOCITY = Label(("body_axis",), "velocity in the body frame", "m/s")
_MOMENTUM = Label(("body_axis",), "momentum in the body frame", "kg m/s")
_ANGLE = Label((), "angle", "rad")
_RATE = Label((), "angular velocity", "rad/s")
_ROTARY = Label((), "angular momentum", "kg m^2/s")


def place(name: str, words: str = "position", dims: tuple[str, ...] = ("axis",)) -> dict[str, Label]:
    """The labels of a factor R^n that is a place in space: itself, its velocity and its momentum."""
    units = {name: ("", "m"), f"{name}_v": ("velocity of the ", "m/s"), f"{name}_p": ("momentum of the ", "kg m/s")}
    return {each: Label(dims, before + words, unit) for each, (before, unit) in units.items()}


def angles(name: str, words: str, dims: tuple[str, ...] = ("component",)) -> dict[str, Label]:
    """The labels of a factor R^n of angles: itself, its rates and its momentum."""
    units = {name: ("", "rad"), f"{name}_v": ("rates of the ", "rad/s"), f"{name}_p": ("momenta of the ", "kg m^2/s")}
    return {each: Label(dims, before + words, unit) for each, (before, unit) in units.items()}


def labels(system: "LagrangianSystem") -> dict[str, Label]:
    """Of each component of the element, the velocity and the momentum of a system: what the system says in `labels`, or
    what follows from its group, in the system's `units`. A dimension that would have two lengths is named after the
    variable instead."""
    own = tuple((name, label._replace(dims=tuple(label.dims))) for name, label in system.labels.items())
    return dict(_labels(system.group, own, units_of(system)))


@functools.lru_cache
def _labels(group: AbstractGroup, own: tuple[tuple[str, Label], ...], units: Units) -> dict[str, Label]:
    parts = split_rows(group, np.zeros(group.dim))
    shapes = [[leaf.shape for leaf in jax.tree.leaves(identity(group))], *[[part.shape for part in parts]] * 2]
    found: dict[str, Label] = {}
    sizes: dict[str, int] = {}
    for names, kind, known in zip(group.names, _kinds(group), shapes, strict=True):
        for name, label, shape in zip(names, kind, known, strict=True):
            found[name] = fitted(name, dict(own).get(name, label).renamed(units), shape, sizes)
    return found


def fitted(name: str, label: Label | None, shape: tuple[int, ...], sizes: dict[str, int]) -> Label:
    """The label of a variable of this shape in a dataset with dimensions of these sizes, to which its own are added."""
    if label is None or len(label.dims) != len(shape):
        label = Label(("",) * len(shape), "" if label is None else label.words, "" if label is None else label.units)
    dims = tuple(
        dim if dim and sizes.get(dim, n) == n else f"{name}_{k}"
        for k, (dim, n) in enumerate(zip(label.dims, shape, strict=True))
    )
    sizes |= dict(zip(dims, shape, strict=True))
    return label._replace(dims=dims, words=label.words or name)


def along_time(system: "LagrangianSystem", arrays: Mapping[str, Any]) -> dict[str, Any]:
    """Variables of a dataset, from components of states stacked along time, by name."""
    known = labels(system)
    return {name: (("time", *known[name].dims), rows, known[name].attributes) for name, rows in arrays.items()}


def coordinates(sizes: Mapping[Any, int], bodies: Sequence[str] | None = None) -> "xr.Coordinates":
    """The labels along the dimensions that have any: axes by their letters, bodies by the names that they have."""
    named = {dim: tuple(letters[: sizes[dim]]) for dim, letters in LETTERS.items() if sizes.get(dim, 9) <= len(letters)}
    if bodies is not None and len(bodies) == sizes.get("body"):
        named["body"] = tuple(bodies)
    return _indexed(tuple(named.items()))


@functools.lru_cache
def _indexed(named: tuple[tuple[str, tuple[str, ...]], ...]) -> "xr.Coordinates":
    """Labels with their indices, which take longer to make than all else of a small dataset."""
    import xarray as xr

    return xr.Coordinates({dim: list(labels) for dim, labels in named})


def _kinds(group: AbstractGroup) -> Sequence[Sequence[Label]]:
    """The labels of elements, velocities and momenta, in the order of the group's names."""
    match group:
        case Power():
            return [[label._replace(dims=("body", *label.dims)) for label in kind] for kind in _kinds(group.base)]
        case Product():
            each = [_kinds(factor) for factor in group.factors]
            return [[label for kinds in each for label in kinds[i]] for i in range(3)]
        case SO3():
            return [_ATTITUDE], [_TURN], [_SPIN]
        case SE3():
            return [_ATTITUDE, _PLACE], [_TURN, _VELOCITY], [_SPIN, _MOMENTUM]
        case S3():
            return [Label(("quaternion",), "attitude", "1")], [_TURN], [_SPIN]
        case SO2():
            return [_ANGLE], [_RATE], [_ROTARY]
        case SE2():
            return [_ANGLE, _PLACE], [_RATE, _VELOCITY], [_ROTARY, _MOMENTUM]
        case SOn():
            plane = ("component",)
            return [_ATTITUDE], [_TURN._replace(dims=plane)], [_SPIN._replace(dims=plane, units="")]
        case Rn():
            dims = ("axis",) if group.n == 3 else ("component",)
            return [Label(dims, "coordinates")], [Label(dims, "velocity")], [Label(dims, "momentum")]
        case _:
            return [[Label((), "")] * len(names) for names in group.names]
