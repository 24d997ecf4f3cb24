"""What a page needs to show a motion: bodies, sizes, places, and frames few enough for a browser."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from naiad.errors import InputError
from naiad.viz.bodies import Body, bodies, body_names
from naiad.viz.camera import fitting_view
from naiad.viz.conservation import energy_error
from naiad.viz.flow import describe_flow
from naiad.viz.links import describe_links
from naiad.viz.shapes import Solid, fixed_solids, given_solids, known_solids, visible_solids
from naiad.viz.strings import MOST_NODES, String, describe_strings, string_names, strings
from naiad.viz.thinning import evenly
from naiad.viz.titles import time_unit
from naiad.viz.vertical import Vertical, vertical

if TYPE_CHECKING:
    import xarray as xr

MOST_FRAMES, LEAST_FRAMES, MOST_POSES, MOST_BODIES, MOST_POINTS = 2000, 200, 60_000, 200, 300_000
GLOBE_FILL = 0.66
COARSE = np.deg2rad(100.0)


def describe_motion(dataset: "xr.Dataset", shapes: Sequence[ArrayLike] | None = None) -> dict[str, Any]:
    """The motion as plain lists and numbers, ready for JSON: six digits, at most 2000 frames; its third axis is up.

    Without `shapes` those of the dataset's attribute `shapes`, if it has one.
    """
    found, lines = _drawable(dataset)
    given, exact = _given(dataset, found, shapes), shapes is not None
    upright = vertical(dataset)
    if upright != Vertical():
        S = upright.upright
        found, lines = [_turned(each, S) for each in found], [_turned_string(each, S) for each in lines]
    chosen = evenly(len(found), MOST_BODIES) if found else np.zeros(0, int)
    keep = _frames(dataset, [found[k] for k in chosen], lines)
    time = dataset["time"].to_numpy()[keep]
    lines = [line.thinned(keep) for line in lines]
    paths = [_in_space(body.position, keep) for body in found if body.position is not None]
    fixed = fixed_solids(dataset.attrs.get("fixed"))
    places = paths + [line.points.reshape(-1, 3) for line in lines]
    solids, factor = visible_solids(found, given, _extent(places))
    if exact:
        solids, factor = [own or solid for own, solid in zip(given, solids, strict=True)], 1.0
    if not places:
        fill = GLOBE_FILL / max(solid.reach for solid in solids)
        solids = [solid.scaled(fill) for solid in solids]

    largest = max([solid.reach for solid in solids], default=0.0)
    planar = all(body.planar for body in found) and not lines
    found = [replace(body, name=name) for body, name in zip(found, body_names(dataset, found), strict=True)]
    described = [_body(found[k], solids[k], keep, globe=not places and not planar) for k in chosen]
    _lay_out(described, spacing=2.6 if not places else 3.0 * largest)
    described += [_rests(name, solid, upright.upright) for name, solid in fixed.items()]
    unit = time_unit(dataset)
    scene: dict[str, Any] = {"time": [float(f"{t:.12g}") for t in time], "bodies": described, "planar": planar}
    scene |= {"unit": unit} if unit != "s" else {}
    error = energy_error(dataset)
    if error is not None and np.isfinite(error[0][keep]).all():
        scene |= {"energy": _digits(error[0][keep]), "balance": "work_done" in dataset}
    if upright != Vertical():
        scene["compass"] = upright.upright.T.tolist()
    scene["wall"] = not places and len(described) > 1
    held = [found[k].position for k in chosen]
    scene |= describe_flow(dataset) | describe_strings(lines, [None if x is None else x[keep] for x in held])
    scene |= describe_links(dataset.attrs.get("links"), chosen.tolist(), len(found), upright.upright)
    unknown = bool(places) and any(solid is None for solid in given)
    notes = _notes(len(found), [found[k].name for k in chosen], unknown=unknown, factor=factor)
    turn = _largest_turn(described)
    if turn > COARSE:
        scene["coarse"] = True
        notes.append(
            f"Frames are {np.median(np.diff(time)):.3g} {unit} apart, and bodies turn by up to {np.rad2deg(turn):.0f}° "
            "from one to the next: what is seen between them is a guess."
        )
    scene |= {"note": " ".join(notes)} if notes else {}
    return scene | _stage(described, lines, moving=bool(places), planar=planar)


def _given(dataset: "xr.Dataset", found: list[Body], shapes: Sequence[ArrayLike] | None) -> list[Solid | None]:
    return known_solids(dataset, len(found)) if shapes is None else given_solids(len(found), shapes, None)


def _drawable(dataset: "xr.Dataset") -> tuple[list[Body], list[String]]:
    if "time" not in dataset.coords or dataset.sizes.get("time", 0) == 0:
        raise InputError("there is nothing to animate: expected a dataset with a coordinate 'time' and some frames")
    lines = strings(dataset)
    found = bodies(dataset.drop_vars(string_names(dataset)))
    if not found and not lines:
        names = ", ".join(f"{name} {variable.shape}" for name, variable in dataset.data_vars.items()) or "none"
        raise InputError(
            "there is nothing to animate: rotations in the plane or in space (R with 2x2 or 3x3 matrices, q with "
            "quaternions, beta), positions (x with 2 or 3 components) and strings (nodes) can be shown; the "
            f"dataset has {names}. Let the system say what is seen of it: "
            'picture = naiad.mechanics.Picture(seen=lambda g, t: {"x": ...})'
        )
    return found, lines


def _turned(body: Body, S: np.ndarray) -> Body:
    """A body in a space that is turned by S; what moves in a plane stays there."""
    if body.quaternion is not None:
        from scipy.spatial.transform import Rotation

        w, x, y, z = Rotation.from_matrix(S).as_quat(scalar_first=True)
        left = np.array([[w, -x, -y, -z], [x, w, -z, y], [y, z, w, -x], [z, -y, x, w]])
        body = replace(body, quaternion=body.quaternion @ left.T)
    if body.position is not None and body.position.shape[1] == 3:
        body = replace(body, position=body.position @ S.T)
    return body


def _turned_string(line: String, S: np.ndarray) -> String:
    return replace(line, points=line.points @ S.T)


def _frames(dataset: "xr.Dataset", found: list[Body], lines: list[String]) -> np.ndarray:
    """The indices of the frames that are shown: evenly spaced among those that hold finite numbers."""
    parts = [part for body in found for part in (body.quaternion, body.angle, body.position) if part is not None]
    parts += [part for line in lines for part in (line.points, line.elastic) if part is not None]
    finite = np.isfinite(dataset["time"].to_numpy())
    for part in parts:
        finite &= np.isfinite(part.reshape(len(part), -1)).all(1)
    good = np.flatnonzero(finite)
    if not len(good):
        raise InputError("there is nothing to animate: no frame of the dataset holds finite numbers only")
    points = sum(min(line.points.shape[1], MOST_NODES) for line in lines)
    most = min(MOST_POSES // max(len(found), 1), MOST_POINTS // max(points, 1))
    return good[evenly(len(good), int(np.clip(most, LEAST_FRAMES, MOST_FRAMES)))]


def _extent(places: list[np.ndarray]) -> float:
    """Half the largest side of the box that holds all paths and strings; one where nothing moves from its place."""
    if not places:
        return 1.0
    return float(np.ptp(np.concatenate(places), axis=0).max() / 2) or 1.0


def _in_space(position: np.ndarray, keep: np.ndarray) -> np.ndarray:
    x = position[keep]
    return x if x.shape[1] == 3 else np.column_stack([x, np.zeros(len(x))])


def _body(body: Body, solid: Solid, keep: np.ndarray, *, globe: bool) -> dict[str, Any]:
    described: dict[str, Any] = {"name": body.name, **_shape(solid), "offset": [0.0, 0.0, 0.0]}
    size = float(solid.axes.max() if solid.vertices is None else np.abs(solid.vertices).max())
    beyond = 1.6 if solid.vertices is None else 1.25
    reach = max(1.0 - np.linalg.norm(solid.centre), 1.15 * size) if globe else beyond * size
    described["reach"] = float(f"{reach:.6g}")
    if body.quaternion is not None:
        described["q"] = _digits(body.quaternion[keep])
    if body.angle is not None:
        described["beta"] = _digits(body.angle[keep])
    if body.position is not None:
        described["x"] = _digits(_in_space(body.position, keep))
    if body.quaternion is None and body.angle is None:
        described["point"] = True
    return described | ({"globe": True} if globe else {})


def _shape(solid: Solid) -> dict[str, Any]:
    """The semi-axes, how they lie in the frame of the body and where, if not along its axes about its origin; and a
    mesh."""
    shape: dict[str, Any] = {"axes": _digits(solid.axes)}
    if not np.array_equal(solid.tilt, np.eye(3)):
        shape |= {"tilt": _digits(solid.tilt.T)}
    if solid.vertices is not None and solid.triangles is not None:
        shape["mesh"] = {"vertices": _digits(solid.vertices), "triangles": np.ravel(solid.triangles).tolist()}
    if "tilt" in shape or "mesh" in shape:
        shape["depths"] = _digits(solid.depths)
    return shape | ({"centre": _digits(solid.centre)} if np.any(solid.centre) else {})


def _rests(name: str, solid: Solid, S: np.ndarray) -> dict[str, Any]:
    """What rests at the origin."""
    turned = replace(solid, tilt=S @ solid.tilt)
    shape = {"axes": _digits(solid.axes), "tilt": _digits(turned.tilt.T), "depths": _digits(turned.depths)}
    return {"name": name, **shape, "offset": [0.0, 0.0, 0.0], "reach": 0.0, "point": True, "fixed": True}


def _lay_out(described: list[dict[str, Any]], spacing: float) -> None:
    """Bodies without a position hang in rows on a wall: about the origin, or beside the first body that has one."""
    homeless = [body for body in described if "x" not in body]
    anchor = next((k for k, body in enumerate(described) if "x" in body), None)
    columns = len(homeless) if len(homeless) <= 5 else int(np.ceil(np.sqrt(len(homeless))))
    rows = -(-len(homeless) // columns) if homeless else 0
    for k, body in enumerate(homeless):
        row, column = divmod(k, columns)
        if anchor is None:
            body["offset"] = _digits(spacing * np.array([column - (columns - 1) / 2, 0.0, (rows - 1) / 2 - row]))
        else:
            body["offset"] = _digits(spacing * np.array([column + 1.0, 0.0, -float(row)]))
            body["beside"] = anchor


def _stage(described: list[dict[str, Any]], lines: list[String], *, moving: bool, planar: bool) -> dict[str, Any]:
    """Where to look: the centre and radius of the scene, the view in which all of it is seen, and for paths a floor
    with a grid of round steps."""
    points, sizes = _seen(described, lines)
    if not moving:
        low, high = points.min(0), points.max(0)
        return {"centre": _digits((low + high) / 2), "radius": float(f"{0.5 * (high - low).max() + 1.1:.6g}")}
    low, high = (points - sizes[:, None]).min(0), (points + sizes[:, None]).max(0)
    radius = float(np.linalg.norm(high - low) / 2)
    view = fitting_view(points, sizes, radius, planar=planar)
    step = 10.0 ** np.floor(np.log10(radius / 2))
    return {
        "centre": _digits(view.centre),
        "radius": float(f"{radius:.6g}"),
        "view": {"yaw": float(f"{view.yaw:.6g}"), "pitch": float(f"{view.pitch:.6g}"), "span": _digits(view.span)},
        "step": float(step * max(m for m in (1, 2, 5) if m * step <= radius / 2 or m == 1)),
        "floor": float(f"{low[2]:.6g}"),
    }


def _seen(described: list[dict[str, Any]], lines: list[String]) -> tuple[np.ndarray, np.ndarray]:
    """The places of bodies and strings in all frames, and how far each body reaches from there, with its axes."""
    points, sizes = [line.points.reshape(-1, 3) for line in lines], [0.0] * len(lines)
    home = next((np.reshape(body["x"], (-1, 3)) for body in described if "x" in body), np.zeros((1, 3)))
    for body in described:
        own = np.reshape(body["x"], (-1, 3)) if "x" in body else home if "beside" in body else np.zeros((1, 3))
        points.append(own + body["offset"])
        axes = max(body["axes"]) if "point" in body else max(body["reach"], max(body["axes"]))
        sizes.append(axes + float(np.linalg.norm(body.get("centre", 0.0))))
    return np.concatenate(points), np.repeat(sizes, [len(each) for each in points])


def _notes(count: int, names: list[str], *, unknown: bool, factor: float) -> list[str]:
    """What the viewer should know: bodies left out, or sizes that are not to scale."""
    notes = []
    if len(names) < count:
        notes.append(f"{len(names)} of {count} bodies are shown.")
    if unknown:
        notes.append("Sizes are not to scale.")
    elif factor != 1.0:
        alone = "The body" if names[0] in ("R", "q", "x", "beta") else names[0]
        notes.append(f"{alone if len(names) == 1 else 'Small bodies'}: drawn {factor:.2g} times larger than to scale.")
    return notes


def _largest_turn(described: list[dict[str, Any]]) -> float:
    """The largest angle by which a body turns from one frame to the next."""
    turn = 0.0
    for body in described:
        q = np.reshape(body.get("q", ()), (-1, 4))
        cosine = np.abs(np.einsum("ti,ti->t", q[1:], q[:-1])).clip(0.0, 1.0)
        turn = max(turn, float(2 * np.arccos(cosine.min(initial=1.0))))
    return turn


def _digits(values: np.ndarray) -> list[float]:
    """Six significant digits, as a flat list."""
    return [float(f"{value:.6g}") for value in np.ravel(values).tolist()]
