"""What the variables of a trajectory are: rotations, positions, velocities, momenta, found by name and shape.

The names are those of the groups: `R`, `q`, `beta`, `x` and `Omega`, `v`, `Pi`, `p`; in a product the factor's name
comes first (`arm_R`, `arm_Omega`) or stands alone for the element (`R0` with `R0_Omega`). Powers stack bodies.
"""

import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from naiad.viz.style import labelled

if TYPE_CHECKING:
    import xarray as xr

ANGULAR, LINEAR = ("Omega", "Pi"), ("v", "p")
Kind = Literal["rotation", "quaternion", "angle", "position"]
_AXES: dict[Kind, int] = {"rotation": 2, "quaternion": 1, "position": 1, "angle": 0}


@dataclass(frozen=True)
class Element:
    """One component of the configuration for all bodies that share it: values[time, body, ...]."""

    name: str
    kind: Kind
    values: np.ndarray
    units: str | None = None

    @property
    def owner(self) -> str:
        """What its partners have in common with it: `arm_R` and `arm_x` belong together, `R1` and `x1` too."""
        found = re.fullmatch(r"(.*_)?(?:R|q|beta|x)(\d*)", self.name)
        return f"{found[1] or ''}{found[2]}" if found else self.name


@dataclass(frozen=True)
class Component:
    """One component of velocity or momentum for all bodies that share it: values[time, body, component]."""

    name: str
    symbol: str
    values: np.ndarray
    units: str | None
    words: str


def units_of(variable: "xr.DataArray") -> str | None:
    """The units of a variable: "" where it has a description without any, None where nothing is known of it."""
    return variable.attrs.get("units", "" if "long_name" in variable.attrs else None)


def clock_label(time: "xr.DataArray") -> str:
    """The label of an axis of times, in s where nothing is known of them."""
    units = units_of(time)
    return labelled("time", "s" if units is None else units)


def _words(variable: "xr.DataArray") -> str:
    return str(variable.attrs.get("long_name", ""))


def elements(dataset: "xr.Dataset") -> list[Element]:
    """The components of the configuration, in the order of the dataset."""
    arrays = _arrays(dataset)
    found = []
    for name, values in arrays.items():
        kind = _kind(name, values, arrays.keys())
        if kind is not None:
            own = values.shape[values.ndim - _AXES[kind] :]
            found.append(Element(name, kind, values.reshape(len(values), -1, *own), units_of(dataset[name])))
    return found


def components(dataset: "xr.Dataset") -> list[Component]:
    """The velocities by component, or the momenta where no velocities were kept."""
    arrays = _arrays(dataset)
    angles = {element.name: element.values.shape for element in elements(dataset) if element.kind == "angle"}
    for symbols in (("Omega", "v"), ("Pi", "p")):
        found = []
        for symbol in symbols:
            for name, values in arrays.items():
                if _symbol(name) == symbol and not _own(name, arrays.keys()):
                    factor = name[: -len(symbol)]
                    planar = values.shape in (angles.get(factor.rstrip("_")), angles.get(factor + "beta"))
                    single = values.ndim == 1 or (planar and symbol in ANGULAR)
                    shaped = values.reshape(len(values), -1, 1 if single else values.shape[-1])
                    found.append(Component(name, symbol, shaped, units_of(dataset[name]), _words(dataset[name])))
        if found:
            return found
    return []


def _arrays(dataset: "xr.Dataset") -> dict[str, np.ndarray]:
    """The real variables along time, with time as the first axis; without the scalars that have their own panels."""
    return {
        str(name): variable.transpose("time", ...).to_numpy()
        for name, variable in dataset.data_vars.items()
        if "time" in variable.dims and variable.dtype.kind == "f" and name not in ("energy", "momentum", "work_done")
    }


def _symbol(name: str) -> str:
    return name.rpartition("_")[2]


def _own(name: str, names: Collection[str]) -> set[str]:
    """The velocities and momenta that belong to the factor `name` of a product."""
    return {symbol for symbol in ANGULAR + LINEAR if f"{name}_{symbol}" in names}


def _kind(name: str, values: np.ndarray, names: Collection[str]) -> Kind | None:
    """The role of a variable, or None if it is not a component of the configuration."""
    symbol, own = _symbol(name), _own(name, names)
    if symbol in ANGULAR + LINEAR and not own:
        return None
    family = {other for other in ANGULAR + LINEAR if name[: -len(symbol)] + other in names}
    letter = re.sub(r"\d+$", "", symbol)
    turns = bool(own & {*ANGULAR})
    if (letter == "R" or turns) and _is_rotation(values):
        return "rotation"
    if (turns or (letter == "q" and not (own or family) & {*LINEAR})) and _is_quaternion(values):
        return "quaternion"
    if (letter == "beta" or turns) and values.ndim <= 2:
        return "angle"
    if (letter in ("x", "q") or own & {*LINEAR}) and values.ndim >= 2:
        return "position"
    return None


def _is_rotation(values: np.ndarray) -> bool:
    if values.ndim < 3 or values.shape[-1] != values.shape[-2] or values.shape[-1] < 2 or not len(values):
        return False
    R = values[0]
    return bool(np.allclose(np.swapaxes(R, -1, -2) @ R, np.eye(R.shape[-1]), atol=1e-3))


def _is_quaternion(values: np.ndarray) -> bool:
    if values.ndim < 2 or values.shape[-1] != 4 or not len(values):
        return False
    return bool(np.allclose(np.linalg.norm(values[0], axis=-1), 1.0, atol=1e-3))
