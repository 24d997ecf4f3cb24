"""The bodies of a trajectory: what turns, what moves, and which rotation belongs to which position."""

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from naiad.viz.roles import Element, Kind, elements

if TYPE_CHECKING:
    import xarray as xr


class Part(NamedTuple):
    """What a body is read from: a variable, what it is, and which of the bodies in it."""

    variable: str
    kind: Kind
    index: int


@dataclass(frozen=True)
class Body:
    """One thing that moves: a turn in space (quaternion[time, 4]) or in the plane (angle[time]), a position, both; and
    what they were read from."""

    name: str
    quaternion: np.ndarray | None = None
    angle: np.ndarray | None = None
    position: np.ndarray | None = None
    turn: Part | None = None
    place: Part | None = None

    @property
    def planar(self) -> bool:
        """Whether it stays in a plane."""
        return self.quaternion is None and (self.position is None or self.position.shape[1] == 2)


def bodies(dataset: "xr.Dataset") -> list[Body]:
    """Every rotation in the plane or in space, with its position where there is one, and every position left over."""
    found = elements(dataset)
    places = [e for e in positions(dataset, found) if e.values.shape[2] in (2, 3)]
    turns = [e for e in found if e.kind != "position" and not (e.kind == "rotation" and e.values.shape[-1] > 3)]
    result = []
    for turn in turns:
        place = _partner(turn, turns, places)
        if place is not None:
            places.remove(place)
        for k in range(turn.values.shape[1]):
            position = None if place is None else place.values[:, k]
            body = _body(_name(turn, k), turn, k, position)
            result.append(replace(body, turn=_part(turn, k), place=None if place is None else _part(place, k)))
    for place in places:
        result += [
            Body(_name(place, k), position=place.values[:, k], place=_part(place, k))
            for k in range(place.values.shape[1])
        ]
    return result


def positions(dataset: "xr.Dataset", found: list[Element]) -> list[Element]:
    """The positions among them. Mere coordinates (`q` along `component`) are a point only where nothing else is: two
    angles are none beside the two bobs that a system lets one see."""
    places = [element for element in found if element.kind == "position"]
    return [e for e in places if dataset[e.name].dims[-1] != "component" or e.name.rpartition("_")[2] != "q"] or places


def body_names(dataset: "xr.Dataset", found: list[Body]) -> list[str]:
    """What bodies are called where people read it: what the attribute `bodies` says, or the name of the factor."""
    given = [str(name) for name in dataset.attrs.get("bodies", ())]
    return [*given, *(spoken(body.name) for body in found[len(given) :])][: len(found)]


def spoken(name: str) -> str:
    """The name of what a component of the configuration is of: `hull_R` is the hull's, `x[2]` and `R2` body 2's."""
    found = re.fullmatch(r"(?:(.*)_)?(?:R|q|beta|x)(\d*)(?:\[(\d+)\])?", name, re.DOTALL)
    if found is None or not any(found.groups()):
        return name
    owner, *numbers = found.groups()
    return " ".join([owner or "body", *filter(None, numbers)])


def rotation_matrices(turn: Element) -> np.ndarray:
    """The rotations of an element as matrices [time, body, 3, 3]."""
    if turn.kind == "rotation":
        return turn.values
    from scipy.spatial.transform import Rotation

    q = turn.values.reshape(-1, 4)
    good = np.isfinite(q).all(1) & (np.linalg.norm(q, axis=1) > 0)
    R = np.full((len(q), 3, 3), np.nan)
    R[good] = Rotation.from_quat(q[good], scalar_first=True).as_matrix()
    return R.reshape(*turn.values.shape[:2], 3, 3)


def _partner(turn: Element, turns: list[Element], places: list[Element]) -> Element | None:
    """The position with the same owner; or, where only one is left for as many bodies, that one for the first turn."""
    fitting = [place for place in places if place.values.shape[1] == turn.values.shape[1]]
    named = [place for place in fitting if place.owner == turn.owner]
    if named:
        return named[0]
    owners = {other.owner for other in turns}
    free = [place for place in fitting if place.owner not in owners]
    return free[0] if len(free) == 1 and turn is turns[0] else None


def _name(element: Element, index: int) -> str:
    return f"{element.name}[{index}]" if element.values.shape[1] > 1 else element.name


def _part(element: Element, index: int) -> Part:
    return Part(element.name, element.kind, index)


def _body(name: str, turn: Element, index: int, position: np.ndarray | None) -> Body:
    values = turn.values[:, index]
    if turn.kind == "angle":
        return Body(name, angle=values, position=position)
    if turn.kind == "rotation" and values.shape[-1] == 2:
        return Body(name, angle=np.unwrap(np.arctan2(values[:, 1, 0], values[:, 0, 0])), position=position)
    q = values if turn.kind == "quaternion" else _quaternions(values)
    return Body(name, quaternion=_continuous(q), position=position)


def _quaternions(R: np.ndarray) -> np.ndarray:
    """Rotation matrices as quaternions, scalar first; NaN where a run has lost its rotation altogether."""
    from scipy.spatial.transform import Rotation

    good = np.asarray(np.isfinite(R).all((1, 2)))
    good[good] = np.linalg.det(R[good]) > 0
    q = np.full((len(R), 4), np.nan)
    q[good] = Rotation.from_matrix(R[good]).as_quat(scalar_first=True)
    return q


def rotations(q: np.ndarray) -> np.ndarray:
    """Quaternions, scalar first, as matrices."""
    from scipy.spatial.transform import Rotation

    return Rotation.from_quat(q, scalar_first=True).as_matrix()


def _continuous(q: np.ndarray) -> np.ndarray:
    """Unit quaternions, with signs such that neighbours are on the same side."""
    q = q / np.linalg.norm(q, axis=1, keepdims=True)
    flips = np.where(np.einsum("ti,ti->t", q[1:], q[:-1]) < 0, -1.0, 1.0)
    return q * np.cumprod(np.concatenate([[1.0], flips]))[:, None]
