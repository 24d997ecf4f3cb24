"""`animate`: the motion as one web page that needs nothing else, not even a network, or as a film."""

import html
import json
import os
import re
from collections.abc import Sequence
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

from numpy.typing import ArrayLike

from naiad.errors import InputError
from naiad.files import whole_file
from naiad.numerics.arguments import checked_throughout
from naiad.viz.film import SIZES, Film
from naiad.viz.motion import describe_motion
from naiad.viz.titles import titles

if TYPE_CHECKING:
    import xarray as xr

PAGES = (".html", ".htm")
SCRIPTS = ("motion.js", "scene.js", "mesh.js", "flow.js", "strings.js", "links.js", "view.js", "player.js")


@checked_throughout
def animate(
    dataset: "xr.Dataset",
    path: str | os.PathLike[str],
    *,
    shapes: Sequence[ArrayLike] | None = None,
    title: str | None = None,
    subtitle: str | None = None,
    size: tuple[int, int] | None = None,
    fps: int | None = None,
    seconds: float | None = None,
) -> Path:
    """Write the motion of `dataset` to `path`, and return the path: an HTML page, which opens in any browser, or a film
    for talks, `x.gif` or `x.mp4` (which needs ffmpeg on the path).

    It says what it shows: `title` and `subtitle`, else the system, its method and step, as far as they are known.
    Every rotation is drawn as a shaded ellipsoid with its body axes, with a trail of its position, or of the tip of its
    third axis on a sphere where there is no position. `shapes` gives the semi-axes of each body [m], or of all at once
    (else the dataset's attribute `shapes`, and then bodies that are too small to be seen are enlarged, with a note);
    without positions only their proportions count. Other attributes, `bodies`, `centres`, `links`, `fixed` and `down`,
    are those of a `naiad.mechanics.Picture`. A variable `stream_function` on a grid that one body carries is drawn as
    streamlines (in the page). A variable `nodes` [time, node, 3] is a string, in the colours of its `elastic` energy
    [time, node] if there is one. A film has a `size` in pixels, `fps` images a second, and takes `seconds`. An existing
    file is replaced once the new one is whole.
    """
    path = Path(path)
    kind = path.suffix.lower()
    if not path.is_dir() and kind not in (*PAGES, *SIZES):
        raise InputError(
            f"{path}: a motion is written as a web page or a film; name it {path.with_suffix('.html')}, "
            f"{path.with_suffix('.gif').name} or {path.with_suffix('.mp4').name}."
        )
    if kind in SIZES:
        motion = describe_motion(dataset, shapes)
        words = titles(dataset).title if title is None else title
        film = Film(motion, path, title=words, size=size, fps=fps, seconds=seconds)
        with whole_file(path) as file:
            film.write(file)
        return path
    if (size, fps, seconds) != (None, None, None):
        raise InputError(f"{path}: size, fps and seconds are those of a film (.gif, .mp4); a page fits its window")
    with whole_file(path) as file:
        file.write_text(motion_page(dataset, shapes=shapes, title=title, subtitle=subtitle), encoding="utf-8")
    return path


def motion_page(
    dataset: "xr.Dataset",
    *,
    shapes: Sequence[ArrayLike] | None = None,
    title: str | None = None,
    subtitle: str | None = None,
) -> str:
    """The page as text."""
    shown = titles(dataset)
    motion = json.dumps(describe_motion(dataset, shapes), separators=(",", ":"), allow_nan=False)
    parts = {
        "title": html.escape(shown.title if title is None else title),
        "subtitle": html.escape(shown.subtitle if subtitle is None else subtitle),
        "style": resource("motion.css"),
        "script": "\n".join(resource(name) for name in SCRIPTS),
        "data": motion.replace("<", "\\u003c"),
    }
    return re.sub(r"\{\{(\w+)\}\}", lambda found: parts[found[1]], resource("motion.html"))


def resource(name: str) -> str:
    """A file of the pages."""
    return (resources.files("naiad.viz") / "page" / name).read_text(encoding="utf-8")
