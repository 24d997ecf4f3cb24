"""The path of a run in space: of the position where there is one, else of the body axes on a sphere."""

import functools
import re
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from naiad.viz.bodies import Body, bodies, body_names, positions, rotation_matrices, rotations, spoken
from naiad.viz.roles import Element
from naiad.viz.shapes import SMALLEST, Solid, fixed_solids, known_solids
from naiad.viz.solids import draw_ellipsoid, draw_mesh
from naiad.viz.space import draw_sphere, frame, on_sphere, set_stage
from naiad.viz.strings import string_names
from naiad.viz.style import FAINT, colours, dress, labelled
from naiad.viz.thinning import evenly
from naiad.viz.vertical import Vertical, vertical

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.axes import Axes
    from mpl_toolkits.mplot3d import Axes3D

MOST_CURVES, MOST_ON_SPHERE = 12, 3
MOST_POINTS = 6000


@dataclass(frozen=True)
class Path:
    """A panel and the kind of axes that it needs."""

    projection: str | None
    draw: Callable[[Any], object]


@dataclass(frozen=True)
class Scene:
    """What a path panel shows besides the paths: solids where bodies are at the end, and what rests at the origin."""

    solids: list[tuple[np.ndarray, np.ndarray, Solid, str]]
    fixed: dict[str, Solid]


def path_panel(dataset: "xr.Dataset", found: list[Element]) -> Path | None:
    """The panel that fits what was found: positions first, then three-dimensional rotations; else none."""
    places = positions(dataset, found)
    turns = [element for element in found if element.kind in ("rotation", "quaternion")]
    upright = vertical(dataset)
    moving = bodies(dataset.drop_vars(string_names(dataset)).isel(time=evenly(dataset.sizes["time"], MOST_POINTS)))
    named = dict(zip([body.name for body in moving], body_names(dataset, moving), strict=True))
    for dimension, projection, draw in ((3, "3d", _in_space), (2, None, _in_plane)):
        fitting = [place for place in places if place.values.shape[2] == dimension]
        if fitting:
            curves, units = _curves(fitting, named), "m" if fitting[0].units is None else fitting[0].units
            options = {"scene": _scene(dataset, moving, list(curves))} if dimension == 3 else {}
            drawn = functools.partial(draw, curves=curves, units=units, upright=upright, **options)
            return Path(projection, drawn)
    solid = [turn for turn in turns if turn.kind == "quaternion" or turn.values.shape[-1] == 3]
    return Path("3d", lambda ax: _on_sphere(ax, solid)) if solid else None


def _scene(dataset: "xr.Dataset", moving: list[Body], shown: list[str]) -> Scene:
    """The bodies whose shapes are known, where they are at the end; those of the paths that are shown have their
    colours."""
    given = known_solids(dataset, len(moving))
    palette, solids = colours(len(shown)), []
    for body, name, solid in zip(moving, body_names(dataset, moving), given, strict=True):
        place, turn = body.position, body.quaternion
        if solid is None or place is None or place.shape[1] != 3 or name not in shown:
            continue
        good = np.flatnonzero(np.isfinite(place).all(1) & (True if turn is None else np.isfinite(turn).all(1)))
        if len(good):
            R = np.eye(3) if turn is None else rotations(turn[good[-1]])
            solids.append((R, place[good[-1]] + R @ solid.centre, solid, palette[shown.index(name)]))
    return Scene(solids, fixed_solids(dataset.attrs.get("fixed")))


def _curves(places: list[Element], named: dict[str, str]) -> dict[str, np.ndarray]:
    """The paths of the bodies by name, a sample where there are many."""
    curves = {}
    for place in places:
        for k in range(place.values.shape[1]):
            own = f"{place.name}[{k}]" if place.values.shape[1] > 1 else place.name
            turn = re.sub(r"(?<![a-zA-Z])[xq](?=\d*(\[\d+\])?$)", "R", own)  # the body is called after its attitude
            curves[named.get(own, named.get(turn, spoken(own)))] = place.values[:, k]
    names = list(curves)
    return {names[k]: _sampled(curves[names[k]]) for k in evenly(len(names), MOST_CURVES)}


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


def _in_space(ax: "Axes3D", curves: dict[str, np.ndarray], units: str, upright: Vertical, scene: Scene) -> None:
    for (name, curve), colour in zip(curves.items(), colours(len(curves)), strict=True):
        ax.plot(*curve.T, color=colour, label=name)
        ax.plot(*curve[:1].T, "o", color=colour, markersize=4, label="_start")
    corners = [
        centre + side * (solid.reach - np.linalg.norm(solid.centre))
        for _, centre, solid, _ in scene.solids
        for side in (-1.0, 1.0)
    ]
    corners += [side * solid.axes for solid in scene.fixed.values() for side in (-1.0, 1.0)]
    points = np.concatenate([*curves.values(), *(corner[None] for corner in corners)])
    seen = 2.0 * SMALLEST * float(frame(points)[1].max())
    for R, centre, solid, colour in scene.solids:
        if solid.axes.max() <= seen:
            continue
        if solid.vertices is not None and solid.triangles is not None:
            draw_mesh(ax, (centre + solid.vertices @ R.T)[solid.triangles], colour, upright=upright)
        else:
            draw_ellipsoid(ax, R @ solid.tilt, centre, solid.axes, colour, upright=upright)
    for name, solid in scene.fixed.items():
        draw_ellipsoid(ax, solid.tilt, np.zeros(3), solid.axes, FAINT, upright=upright, strength=0.35)
        ax.plot([], [], "o", color=FAINT, label=name)
    set_stage(ax, points, units=units, upright=upright)
    ax.set_title("path", loc="left")
    _legend(ax, [*curves, *scene.fixed])


def _on_sphere(ax: "Axes3D", turns: list[Element]) -> None:
    """All three body axes of a single body; the third one of each of several."""
    draw_sphere(ax)
    bodies = [
        (spoken(f"{turn.name}[{k}]" if turn.values.shape[1] > 1 else turn.name), rotation_matrices(turn)[:, k])
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


def _legend(ax: "Axes", names: Collection[str]) -> None:
    if 1 < len(names) <= 6:
        ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.08), ncols=3)
