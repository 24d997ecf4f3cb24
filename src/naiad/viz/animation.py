"""`animate`: the motion as one web page that needs nothing else, not even a network."""

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
from naiad.io.places import whole_file
from naiad.numerics.arguments import checked_throughout
from naiad.viz.motion import describe_motion
from naiad.viz.titles import titles

if TYPE_CHECKING:
    import xarray as xr

SCRIPTS = ("motion.js", "scene.js", "flow.js", "strings.js", "links.js", "player.js")


@checked_throughout
def animate(
    dataset: "xr.Dataset",
    path: str | os.PathLike[str],
    *,
    shapes: Sequence[ArrayLike] | None = None,
    title: str | None = None,
    subtitle: str | None = None,
) -> Path:
    """Write the motion of `dataset` to the HTML file `path`, which opens in any browser, and return the path.

    The page says what it shows: `title` and `subtitle`, else the system, its method and step, as far as they are known.

    Every rotation is drawn as a shaded ellipsoid with its body axes, with a trail of its position, or of the tip of its
    third axis on a sphere where there is no position. `shapes` gives the semi-axes of each body [m], or of all at once
    (else the dataset's attribute `shapes`, and then bodies that are too small to be seen are enlarged, with a note);
    without positions only their proportions count. Other attributes, `bodies`, `centres`, `links`, `fixed` and `down`,
    are those of a `naiad.mechanics.Picture`. A variable `stream_function` on a grid that one body carries is drawn as
    streamlines. A variable `nodes` [time, node, 3] is a string, in the colours of its `elastic` energy [time, node] if
    there is one. An existing file is replaced once the new one is whole.
    """
    path = Path(path)
    if not path.is_dir() and path.suffix.lower() not in (".html", ".htm"):
        raise InputError(f"{path}: a motion is written as one web page; name it {path.with_suffix('.html')}.")
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
        "style": _resource("motion.css"),
        "script": "\n".join(_resource(name) for name in SCRIPTS),
        "data": motion.replace("<", "\\u003c"),
    }
    return re.sub(r"\{\{(\w+)\}\}", lambda found: parts[found[1]], _resource("motion.html"))


def _resource(name: str) -> str:
    return (resources.files("naiad.viz") / "page" / name).read_text(encoding="utf-8")
