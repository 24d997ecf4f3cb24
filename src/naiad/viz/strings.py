"""Strings for a page: lines through nodes, in the colours of their elastic energy, and the bodies that hang on them."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from naiad.viz.packing import packed
from naiad.viz.thinning import evenly

if TYPE_CHECKING:
    import xarray as xr

MOST_NODES = 250
RIGID = 1e-6
HIGH = 99.0  # per cent of the energies are told apart by colours: a short peak would leave none for the rest


@dataclass(frozen=True)
class String:
    """A line through points[time, node, 3], and the `elastic` energy [time, node - 1] of its pieces if it is known."""

    name: str
    points: np.ndarray
    elastic: np.ndarray | None

    def thinned(self, frames: np.ndarray) -> "String":
        """The string at some frames, by some of its nodes; a piece has the mean energy of the elements in it."""
        keep = evenly(self.points.shape[1], MOST_NODES)
        points = self.points[np.ix_(frames, keep)]
        if self.elastic is None:
            return String(self.name, points, None)
        return String(self.name, points, np.add.reduceat(self.elastic[frames], keep[:-1], axis=1) / np.diff(keep))

    def holds(self, position: np.ndarray) -> bool:
        """Whether a thing hangs on its end: its distance from there is always the same, and less than the string."""
        apart = np.linalg.norm(position - self.points[:, -1], axis=1)
        length = np.linalg.norm(np.diff(self.points, axis=1), axis=2).sum(1)
        return bool(np.ptp(apart) <= RIGID * max(apart[0], length.max()) and (apart < length).all())


def strings(dataset: "xr.Dataset") -> list[String]:
    """The strings of a dataset.

    Nodes [time, node, 3] are a variable `nodes`, or `q` beside a variable `guide` [time, 3]. A string begins at the
    guide way, the origin if there is no `guide`; `elastic` [time, node] is the energy of the element before each node.
    With several strings all these names have the same prefix, as in `tow_nodes`, `tow_guide`.
    """
    found = []
    for name in string_names(dataset):
        prefix = name.rpartition("_")[0] + "_" if "_" in name else ""
        nodes = _along_time(dataset, name)
        guide = _along_time(dataset, prefix + "guide") if prefix + "guide" in dataset else np.zeros((len(nodes), 3))
        elastic = _along_time(dataset, prefix + "elastic") if prefix + "elastic" in dataset else None
        if elastic is not None and elastic.shape != nodes.shape[:2]:
            elastic = None
        found.append(String(name, np.concatenate([guide[:, None], nodes], axis=1), elastic))
    return found


def string_names(dataset: "xr.Dataset") -> list[str]:
    """The variables that hold nodes."""
    found = []
    for name, variable in dataset.data_vars.items():
        prefix, _, symbol = str(name).rpartition("_")
        begun = (f"{prefix}_guide" if prefix else "guide") in dataset
        nodes = "time" in variable.dims and variable.ndim == 3 and variable.shape[-1] == 3
        if nodes and (symbol == "nodes" or (symbol == "q" and begun)):
            found.append(str(name))
    return found


def describe_strings(found: list[String], positions: list[np.ndarray | None]) -> dict[str, Any]:
    """Strings as {"strings": ...}: numbers in 16 bits, from the middle of the box they move in; each with the number of
    the body that it holds, if there is one. `positions` are those of the bodies, where they have one."""
    described = []
    for string in found:
        middle = (string.points.min((0, 1)) + string.points.max((0, 1))) / 2
        one: dict[str, Any] = {"name": string.name, "nodes": string.points.shape[1], "middle": middle.tolist()}
        one |= packed(string.points - middle, "points")
        if string.elastic is not None:
            high = np.percentile(string.elastic, HIGH) or np.max(string.elastic)
            one["elastic"] = packed(np.minimum(string.elastic, high), "energy")
        held = [k for k, x in enumerate(positions) if x is not None and x.shape[1] == 3 and string.holds(x)]
        described.append(one | ({"body": held[0]} if held else {}))
    return {"strings": described} if described else {}


def _along_time(dataset: "xr.Dataset", name: str) -> np.ndarray:
    return dataset[name].transpose("time", ...).to_numpy()
