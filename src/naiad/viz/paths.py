"""The path of a run in space: of the position where there is one, else of the body axes on a sphere."""

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from naiad.viz.bodies import rotation_matrices
from naiad.viz.roles import Element
from naiad.viz.space import draw_sphere, frame, on_sphere, set_stage
from naiad.viz.style import colours, dress, labelled
from naiad.viz.thinning import evenly
from naiad.viz.vertical import Vertical

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from mpl_toolkits.mplot3d import Axes3D

MOST_CURVES, MOST_ON_SPHERE = 12, 3
MOST_POINTS = 6000


@dataclass(frozen=True)
class Path:
    """A panel and the kind of axes that it needs."""

    projection: str | None
    draw: Callable[[Any], object]


def path_panel(found: list[Element], upright: Vertical) -> Path | None:
    """The panel that fits what was found: positions first, then three-dimensional rotations; else none."""
    places = [element for element in found if element.kind == "position"]
    turns = [element for element in found if element.kind in ("rotation", "quaternion")]
    for dimension, projection, draw in ((3, "3d", _in_space), (2, None, _in_plane)):
        fitting = [place for place in places if place.values.shape[2] == dimension]
        if fitting:
            curves, units = _curves(fitting), "m" if fitting[0].units is None else fitting[0].units
            return Path(projection, functools.partial(draw, curves=curves, units=units, upright=upright))
    solid = [turn for turn in turns if turn.kind == "quaternion" or turn.values.shape[-1] == 3]
    return Path("3d", lambda ax: _on_sphere(ax, solid)) if solid else None


def _curves(places: list[Element]) -> dict[str, np.ndarray]:
    """The paths of the bodies by name, a sample where there are many."""
    named = {
        f"{place.name}[{k}]" if place.values.shape[1] > 1 else place.name: place.values[:, k]
        for place in places
        for k in range(place.values.shape[1])
    }
    names = list(named)
    return {names[k]: _sampled(named[names[k]]) for k in evenly(len(names), MOST_CURVES)}


def _sampled(curve: np.ndarray) -> np.ndarray:
    return curve[evenly(len(curve), MOST_POINTS)]


def _in_plane(ax: "Axes", curves: dict[str, np.ndarray], units: str, upright: Vertical) -> None:
    for (name, curve), colour in zip(curves.items(), colours(len(curves)), strict=True):
        ax.plot(*curve.T, color=colour, label=name)
        ax.plot(*curve[0], "o", color=colour, markersize=4, label="_start")
    dress(ax, labelled("$x$", units), labelled("$y$", units), "path")
    centre, half = frame(np.concatenate(list(curves.values())))
    ax.set(xlim=(centre[0] - half[0], centre[0] + half[0]), ylim=(centre[1] - half[1], centre[1] + half[1]))
    ax.set_aspect("equal")
    _legend(ax, curves)


def _in_space(ax: "Axes3D", curves: dict[str, np.ndarray], units: str, upright: Vertical) -> None:
    for (name, curve), colour in zip(curves.items(), colours(len(curves)), strict=True):
        ax.plot(*curve.T, color=colour, label=name)
        ax.plot(*curve[:1].T, "o", color=colour, markersize=4, label="_start")
    set_stage(ax, np.concatenate(list(curves.values())), units=units, upright=upright)
    ax.set_title("path", loc="left")
    _legend(ax, curves)


def _on_sphere(ax: "Axes3D", turns: list[Element]) -> None:
    """All three body axes of a single body; the third one of each of several."""
    draw_sphere(ax)
    bodies = [
        (f"{turn.name}[{k}]" if turn.values.shape[1] > 1 else turn.name, rotation_matrices(turn)[:, k])
        for turn in turns
        for k in range(turn.values.shape[1])
    ]
    if len(bodies) == 1:
        R = _sampled(bodies[0][1])
        curves = {f"body axis {axis + 1}": R[:, :, axis] for axis in range(3)}
    else:
        chosen = evenly(len(bodies), MOST_ON_SPHERE)
        curves = {bodies[k][0]: _sampled(bodies[k][1])[:, :, 2] for k in chosen}
    for (name, curve), colour in zip(curves.items(), colours(len(curves)), strict=True):
        on_sphere(ax, curve, colour, name, width=1.2 if len(bodies) == 1 else 0.8)
    ax.set_title("body axes in space" if len(bodies) == 1 else "third body axis in space", loc="left")
    ax.legend(loc="upper center", bbox_to_anchor=(0.5, 0.02), ncols=3)


def _legend(ax: "Axes", curves: dict[str, np.ndarray]) -> None:
    if 1 < len(curves) <= 6:
        ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.08), ncols=3)
