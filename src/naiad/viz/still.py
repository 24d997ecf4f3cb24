"""One moment of a motion as an image: what the page draws, for films and notebooks, drawn by Pillow."""

import itertools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from naiad.viz.camera import DISTANCE, USUAL_PITCH, USUAL_YAW, screen_axes
from naiad.viz.packing import unpacked

if TYPE_CHECKING:
    from PIL.Image import Image

FINER = 2
"""Lines are drawn so many times larger, and the image is made smaller: edges are smooth."""
TINTS = np.array(
    [
        [59, 130, 196],
        [224, 123, 57],
        [47, 163, 124],
        [200, 120, 168],
        [217, 166, 46],
        [98, 182, 232],
        [135, 104, 184],
        [125, 133, 140],
    ],
    float,
)
AXES = np.array([[213, 94, 0], [0, 158, 115], [0, 114, 178]], float)
RAMP = np.array([[63, 102, 201], [47, 163, 160], [217, 166, 46], [213, 64, 30]], float)
PAPER, INK, GRID, SHADOW = (np.array(each, float) for each in ([250] * 3, [35, 39, 43], [221] * 3, [208, 212, 217]))
CROWD = 12
"""Bodies; more are drawn without their axes."""

Points = np.ndarray


class Body(NamedTuple):
    """A body at a moment: its frame (axes in columns) and place, and the ellipsoid that stands for it."""

    number: int
    frame: np.ndarray
    place: np.ndarray
    axes: np.ndarray
    tilt: np.ndarray
    middle: np.ndarray
    about: dict[str, Any]

    def depth(self, point: np.ndarray) -> float:
        """How far outside of the ellipsoid a point is: below one within."""
        return float(np.linalg.norm((point - self.middle) @ self.tilt / self.axes))


class Still:
    """Draws the moments of a motion as `describe_motion` describes it, in an image of some width and height."""

    def __init__(self, motion: dict[str, Any], size: tuple[int, int], title: str = ""):
        self.motion, self.size, self.title = motion, size, title
        self.times = np.array(motion["time"])
        usual: dict[str, Any] = {"yaw": USUAL_YAW, "pitch": USUAL_PITCH, "span": 2 * [1.02 * motion["radius"]]}
        view = motion.get("view") or usual
        if motion["planar"]:
            view |= {"yaw": -np.pi / 2, "pitch": np.pi / 2}
        self.toward, self.right, self.up = screen_axes(view["yaw"], view["pitch"])
        self.centre, self.far = np.array(motion["centre"]), DISTANCE * motion["radius"]
        self.top = 34 if title else 8
        room = np.array([size[0] - 24, size[1] - self.top - 12])
        self.scale = FINER * float(np.min(room / (2 * np.array(view["span"]))))
        light = 0.75 * self.toward + 0.7 * self.up - 0.45 * self.right
        self.light = light / np.linalg.norm(light)
        half = self.light + self.toward
        self.half = half / np.linalg.norm(half)
        self.ball = _ball(36 if len(motion["bodies"]) <= 3 else 20 if len(motion["bodies"]) <= CROWD else 10)
        self.strings = [_string(each, len(self.times)) for each in motion.get("strings", ())]

    def at(self, t: float) -> "Image":
        """The image of the moment t."""
        from PIL import Image, ImageDraw

        moment = _moment(self.times, t)
        image = Image.new("RGB", (FINER * self.size[0], FINER * self.size[1]), _css(PAPER))
        self.pen = ImageDraw.Draw(image)
        bodies = [self._body(k, about, moment) for k, about in enumerate(self.motion["bodies"])]
        self._floor(bodies)
        self._globes(moment, front=False)
        pieces: list[tuple[float, Callable[[], None]]] = []
        for body in bodies:
            pieces += self._trail(body, moment)
            pieces.append((float((body.middle - self.centre) @ self.toward), lambda body=body: self._draw_body(body)))
        pieces += self._strings(bodies, moment) + self._links(bodies)
        for _, draw in sorted(pieces, key=lambda piece: piece[0]):
            draw()
        self._globes(moment, front=True)
        image = image.reduce(FINER)
        self._words(ImageDraw.Draw(image), t)
        return image

    def _words(self, pen: Any, t: float) -> None:
        if not self.title:
            return
        from pathlib import Path

        import matplotlib
        from PIL import ImageFont

        font = ImageFont.truetype(str(Path(matplotlib.get_data_path()) / "fonts" / "ttf" / "DejaVuSans.ttf"), 14)
        pen.text((12, 10), self.title, fill=_css(INK), font=font)
        span = self.times[-1] - self.times[0]
        digits = int(np.clip(2 - np.floor(np.log10(span or 1.0)), 0, 6))
        clock = f"{t:.{digits}f} {self.motion.get('unit', 's')}"
        pen.text((self.size[0] - 12, 10), clock, fill=_css(INK), font=font, anchor="ra")

    def _screen(self, points: Points) -> np.ndarray:
        """Where points [n, 3] are in the image, and how near."""
        local = np.asarray(points) - self.centre
        depth = local @ self.toward
        scale = self.scale * self.far / np.maximum(self.far - depth, 0.05 * self.far)
        middle = FINER * np.array([self.size[0] / 2, (self.size[1] + self.top - 4) / 2])
        return np.stack([middle[0] + local @ self.right * scale, middle[1] - local @ self.up * scale, depth], axis=-1)

    def _line(self, points: Points, colour: np.ndarray, width: float = 1.0) -> None:
        shown = self._screen(points)[:, :2]
        if np.isfinite(shown).all() and np.abs(shown).max() < 1e5:
            flat = [tuple(point) for point in shown.tolist()]
            self.pen.line(flat, fill=_css(colour), width=max(1, round(FINER * width)), joint="curve")

    def _body(self, number: int, about: dict[str, Any], moment: tuple[int, int, float]) -> Body:
        frame, place = _frame(about, moment), _place(self.motion["bodies"], about, moment)
        tilt = frame @ np.reshape(about["tilt"], (3, 3)).T if "tilt" in about else frame
        return Body(number, frame, place, np.array(about["axes"]), tilt, place + frame @ _middle(about), about)

    def _tint(self, number: int) -> np.ndarray:
        return TINTS[(number + (7 if self.strings else 0)) % len(TINTS)]

    def _draw_body(self, body: Body) -> None:
        points, corners, normals, odd = self.ball
        if body.axes.max() * self.scale < 4 * FINER:
            x, y, _ = self._screen(body.middle)
            self.pen.circle((x, y), 4 * FINER, fill=_css(self._tint(body.number)))
            return
        if not body.about.get("point"):
            self._draw_axes(body, front=False)
        if "mesh" in body.about:
            points, corners, outward, surface, odd = _mesh(body)
        else:
            local = normals / body.axes
            outward = (local / np.linalg.norm(local, axis=1, keepdims=True)) @ body.tilt.T
            surface = body.middle + (normals * body.axes) @ body.tilt.T
            points = body.middle + (points * body.axes) @ body.tilt.T
        shown = self._screen(points)[:, :2]
        eye = self.centre + self.far * self.toward
        seen = np.einsum("ni,ni->n", outward, eye - surface) > 0
        lit = np.minimum(1.0, 0.3 + 0.16 * outward @ self.up + 0.74 * np.maximum(0.0, outward @ self.light))
        shine = 0.38 * np.maximum(0.0, outward @ self.half) ** 28
        tint = self._tint(body.number)
        pale = tint if body.about.get("point") else _blend(tint, np.full(3, 255.0), 0.7)
        deep = _blend(tint, np.array([10.0, 16.0, 40.0]), 0.62)
        base = np.where(
            odd[:, None], _blend(_blend(pale, deep, 0.62), pale, lit[:, None]), _blend(deep, tint, lit[:, None])
        )
        colours = _blend(base, np.full(3, 255.0), shine[:, None])
        order = np.flatnonzero(seen)
        for k in order[np.argsort(surface[order] @ self.toward)] if "mesh" in body.about else order:
            self.pen.polygon([tuple(shown[c]) for c in corners[k]], fill=_css(colours[k]), outline=_css(colours[k]))
        if not body.about.get("point"):
            self._draw_axes(body, front=True)

    def _draw_axes(self, body: Body, *, front: bool) -> None:
        if len(self.motion["bodies"]) > CROWD or self.motion.get("flow"):
            return
        eye = self.centre + self.far * self.toward
        depths = np.array(body.about.get("depths", body.about["axes"]))
        for k, axis in enumerate(body.frame.T):
            if (axis @ (eye - body.middle) > 0) != front or (self.motion["planar"] and k == 2):
                continue
            colour = AXES[k] if front else _blend(AXES[k], PAPER, 0.25)
            self._line(body.middle + np.outer([depths[k], body.about["reach"]], axis), colour, 1.8)

    def _trail(self, body: Body, moment: tuple[int, int, float]) -> list[tuple[float, Callable[[], None]]]:
        """The path so far, in pieces, and that to come, pale."""
        if "x" not in body.about or len(self.times) < 2:
            return []
        path = np.reshape(body.about["x"], (-1, 3)) + body.about["offset"]
        few = max(2, 2400 // len(self.motion["bodies"]))
        kept = np.unique(np.linspace(0, len(path) - 1, min(few, len(path))).round().astype(int))
        kept, tint = np.unique([*kept, moment[0]]), self._tint(body.number)
        pieces = []
        for a, b in itertools.pairwise(kept):
            age = (moment[0] - b) / len(path)
            fade = 0.12 + 0.5 * min(1.0, 3 * age) if age >= 0 else 0.78
            ends = path[[a, b]]
            if body.depth(ends.mean(0)) < 1 or (age < 0 and len(self.motion["bodies"]) > CROWD):
                continue
            depth = float((ends.mean(0) - self.centre) @ self.toward) - (2 * self.far if self.motion["planar"] else 0.0)
            colour, width = _blend(tint, PAPER, fade), 1.8 if age >= 0 else 1.0
            pieces.append((depth, lambda ends=ends, colour=colour, width=width: self._line(ends, colour, width)))
        return pieces

    def _floor(self, bodies: list[Body]) -> None:
        if "floor" not in self.motion:
            return
        step, z = self.motion["step"], self.motion["floor"]
        reach = int(np.ceil(1.5 * self.motion["radius"] / step))
        middle = np.round(self.centre[:2] / step) * step
        for k in range(-reach, reach + 1):
            colour = _blend(GRID, PAPER, 0.9 * (k / reach) ** 2)
            for across in (np.array([1.0, 0.0]), np.array([0.0, 1.0])):
                along, ends = across[::-1], reach * step
                line = [[*(middle + k * step * across + side * along), z] for side in (-ends, ends)]
                self._line(np.array(line), colour, 0.7)
        for body in bodies if not self.motion["planar"] else ():
            flat = (body.tilt * body.axes)[:2]
            wide, turned = np.linalg.eigh(flat @ flat.T)
            angle = np.linspace(0.0, 2 * np.pi, 40)
            outline = body.middle[:2] + np.stack([np.cos(angle), np.sin(angle)], 1) * np.sqrt(wide) @ turned.T
            shown = self._screen(np.column_stack([outline, np.full(40, z)]))[:, :2]
            self.pen.polygon([tuple(point) for point in shown.tolist()], fill=_css(SHADOW))

    def _globes(self, moment: tuple[int, int, float], *, front: bool) -> None:
        """The unit sphere about a body that only turns, and the path of the tip of its third axis."""
        globes = [body for body in self.motion["bodies"] if body.get("globe")]
        for number, body in enumerate(globes if len(globes) <= CROWD else ()):
            centre = np.array(body["offset"])
            for ring in _rings():
                self._side(centre + ring, centre, _blend(GRID, INK, 0.05 if front else 0.0), 0.7, front=front)
            if self.motion.get("coarse"):
                continue
            start = max(0, moment[0] - int(0.3 * len(self.times)))
            indices = range(start, moment[0] + 1)
            tips = np.array([centre + _frame(body, (k, k, 0.0))[:, 2] for k in indices])
            tint = AXES[2] if len(globes) == 1 else self._tint(number)
            self._side(tips, centre, tint if front else _blend(tint, PAPER, 0.6), 1.8, front=front)

    def _side(self, curve: Points, centre: np.ndarray, colour: np.ndarray, width: float, *, front: bool) -> None:
        """The parts of a curve on a unit sphere that are on the side of the eye, or on the other."""
        eye = self.centre + self.far * self.toward - centre
        near = (curve - centre) @ eye > 1.0
        cuts = np.flatnonzero(np.diff(near.astype(int))) + 1
        for part in np.split(np.arange(len(curve)), cuts):
            if len(part) > 1 and near[part[0]] == front:
                self._line(curve[part], colour, width)

    def _strings(self, bodies: list[Body], moment: tuple[int, int, float]) -> list[tuple[float, Callable[[], None]]]:
        pieces = []
        for string, (points, energies) in zip(self.motion.get("strings", ()), self.strings, strict=True):
            nodes = _mixed(points, moment)
            if "body" in string:
                nodes = np.concatenate([nodes, [bodies[string["body"]].middle]])
            heat = None if energies is None else np.sqrt(np.maximum(0.0, _mixed(energies, moment)))
            for k, ends in enumerate(itertools.pairwise(nodes)):
                known = heat is not None and k < len(heat)
                colour = _ramped(heat[k]) if known else INK
                depth = float((np.mean(ends, 0) - self.centre) @ self.toward)
                pieces.append((depth, lambda ends=ends, colour=colour: self._line(np.array(ends), colour, 2.4)))
        return pieces

    def _links(self, bodies: list[Body]) -> list[tuple[float, Callable[[], None]]]:
        pieces = []
        for link in self.motion.get("links", ()):
            first = bodies[link["first"]] if "first" in link else None
            joint, second = link.get("joint"), bodies[link["second"]]
            start = np.array(joint or [0.0] * 3) if first is None else first.middle
            middle = [] if joint is None or first is None else [first.place + first.frame @ joint]
            line = np.array([start, *middle, second.middle])
            depth = float((line.mean(0) - self.centre) @ self.toward) - 0.2 * self.motion["radius"]
            pieces.append((depth, lambda line=line: self._line(line, _blend(INK, PAPER, 0.25), 1.8)))
        return pieces


def _moment(times: np.ndarray, t: float) -> tuple[int, int, float]:
    """The frames before and after a time, and how far it is between them."""
    after = int(np.clip(np.searchsorted(times, t, side="right"), 1, max(len(times) - 1, 1)))
    if len(times) < 2:
        return 0, 0, 0.0
    step = times[after] - times[after - 1]
    return after - 1, after, float(np.clip((t - times[after - 1]) / step, 0.0, 1.0)) if step > 0 else 0.0


def _mixed(rows: np.ndarray, moment: tuple[int, int, float]) -> np.ndarray:
    i, j, s = moment
    return (1.0 - s) * rows[i] + s * rows[j]


def _frame(body: dict[str, Any], moment: tuple[int, int, float]) -> np.ndarray:
    """The axes of a body in space, in columns."""
    if "beta" in body:
        angle = _mixed(np.array(body["beta"]), moment)
        return np.array([[np.cos(angle), -np.sin(angle), 0], [np.sin(angle), np.cos(angle), 0], [0, 0, 1.0]])
    if "q" not in body:
        return np.eye(3)
    i, j, s = moment
    a, b = (np.array(body["q"][4 * k : 4 * k + 4]) for k in (i, j))
    w, x, y, z = (1.0 - s) * a + s * (b if a @ b >= 0 else -b)
    n = w * w + x * x + y * y + z * z
    return np.eye(3) + 2 / n * np.array(
        [
            [-y * y - z * z, x * y - w * z, x * z + w * y],
            [x * y + w * z, -x * x - z * z, y * z - w * x],
            [x * z - w * y, y * z + w * x, -x * x - y * y],
        ]
    )


def _place(bodies: list[dict[str, Any]], body: dict[str, Any], moment: tuple[int, int, float]) -> np.ndarray:
    path = body.get("x") or (bodies[body["beside"]].get("x") if "beside" in body else None)
    offset = np.array(body["offset"])
    if path is None:
        return offset
    i, j, s = moment
    a, b = (np.array(path[3 * k : 3 * k + 3]) for k in (i, j))
    return (1.0 - s) * a + s * b + offset


def _middle(about: dict[str, Any]) -> np.ndarray:
    return np.array(about.get("centre", (0.0, 0.0, 0.0)))


def _string(described: dict[str, Any], frames: int) -> tuple[np.ndarray, np.ndarray | None]:
    """The nodes [time, node, 3], and the elastic energies [time, element] relative to the top of the scale."""
    points = unpacked(described, "points").reshape(frames, described["nodes"], 3) + described["middle"]
    if "elastic" not in described:
        return points, None
    energy = unpacked(described["elastic"], "energy").reshape(frames, described["nodes"] - 1)
    return points, energy / (energy.max() or 1.0)


def _mesh(body: Body) -> tuple[np.ndarray, ...]:
    """Of the mesh of a body in space: vertices, corners, normals and centroids of its triangles, and which are pale."""
    local = np.reshape(body.about["mesh"]["vertices"], (-1, 3))
    corners = np.reshape(body.about["mesh"]["triangles"], (-1, 3))
    a, b, c = (local[corners[:, k]] for k in range(3))
    normals, middles = np.cross(b - a, c - a), (a + b + c) / 3.0
    length = np.linalg.norm(normals, axis=1, keepdims=True)
    outward = normals / np.where(length > 0, length, 1.0) @ body.frame.T
    odd = np.prod(np.reshape(middles, (-1, 3)), axis=1) < 0
    return body.middle + local @ body.frame.T, corners, outward, body.middle + middles @ body.frame.T, odd


def _ball(count: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Points of a unit sphere, the corners of its faces, their normals, and which are of the second colour."""
    around, upward = 2 * np.pi * np.arange(count) / count, np.pi * np.arange(count // 2 + 1) / (count // 2) - np.pi / 2
    v, u = np.meshgrid(np.arange(count // 2), np.arange(count), indexing="ij")
    v, u = v.ravel(), u.ravel()
    corners = np.stack(
        [v * count + u, v * count + (u + 1) % count, (v + 1) * count + (u + 1) % count, (v + 1) * count + u], 1
    )
    b, a = np.meshgrid(upward, around, indexing="ij")
    points = np.stack([np.cos(b) * np.cos(a), np.cos(b) * np.sin(a), np.sin(b)], -1).reshape(-1, 3)
    a, b = np.pi * (2 * u + 1) / count, np.pi * (v + 0.5) / (count // 2) - np.pi / 2
    normals = np.stack([np.cos(b) * np.cos(a), np.cos(b) * np.sin(a), np.sin(b)], -1)
    return points, corners, normals, np.prod(normals, axis=1) < 0


def _rings() -> list[np.ndarray]:
    """Circles of latitude and longitude on the unit sphere."""
    angle = np.linspace(0.0, 2 * np.pi, 73)
    c, s = np.cos(angle), np.sin(angle)
    rings = [np.stack([np.cos(b) * c, np.cos(b) * s, np.sin(b) + 0 * c], 1) for b in np.deg2rad([-60, -30, 0, 30, 60])]
    return rings + [np.stack([s * np.cos(b), s * np.sin(b), c], 1) for b in np.pi * np.arange(6) / 6]


def _ramped(part: float) -> np.ndarray:
    place = min(max(part, 0.0), 1.0) * (len(RAMP) - 1)
    k = min(len(RAMP) - 2, int(place))
    return _blend(RAMP[k], RAMP[k + 1], place - k)


def _blend(a: np.ndarray, b: np.ndarray, s: Any) -> np.ndarray:
    return a + (b - a) * s


def _css(colour: np.ndarray) -> tuple[int, int, int]:
    r, g, b = (int(value) for value in colour)
    return r, g, b
