"""Figures of a study as files, with the points that they show, and as images that a page can hold within itself."""

import base64
import io
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from naiad import interrupts
from naiad.errors import RunError
from naiad.studies.points import points_csv
from naiad.viz.titles import in_words

if TYPE_CHECKING:
    from matplotlib.figure import Figure

DPI = 200
LARGEST_SVG = 600_000
"""Bytes; a figure with more points than this is embedded as PNG, which browsers draw at once."""


@dataclass(frozen=True)
class Image:
    """A drawn figure: its name, its image as a data URL, its width in pixels of a page, and the files of it that lie
    beside the page."""

    name: str
    url: str
    width: int = 640
    files: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        """The name in words."""
        return in_words(self.name)


def draw(
    figures: "Mapping[str, Callable[[], Figure]]", folder: Path, told: Callable[[str], None] = lambda _: None
) -> list[Image]:
    """Draw every figure, write it to `folder` as PNG and its points as CSV, and return what a page needs; `told` hears
    which is drawn.

    A figure that needs a run of its own which fails says so in its place: what the study found is kept.
    """
    if not figures:
        return []
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    pictures = []
    for name, make in figures.items():
        interrupts.check()
        told(in_words(name))
        try:
            figure = make()
        except RunError as error:
            figure = _remark(str(error))
        png = _rendered(figure, "png")
        svg = _rendered(figure, "svg")
        written = {"png": png, "csv": points_csv(figure).encode()}
        pyplot.close(figure)
        files = {f"{_file_stem(name)}.{suffix}": content for suffix, content in written.items() if content}
        for file, content in files.items():
            (folder / file).write_bytes(content)
        url = _data_url("image/svg+xml", svg) if len(svg) <= LARGEST_SVG else _data_url("image/png", png)
        pictures.append(Image(name, url, _width(png), tuple(files)))
    return pictures


def _remark(text: str) -> "Figure":
    from naiad import viz

    with viz.house():
        figure = viz.new_figure(6.0, 1.5)
        figure.text(0.5, 0.5, f"not drawn: {text}", ha="center", va="center", wrap=True)
        return figure


def small_image(name: str, make: "Callable[[], Figure]") -> Image:
    """A figure for a notebook: a PNG in few bytes."""
    png = _rendered(make(), "png", dpi=96)
    return Image(name, _data_url("image/png", png), int.from_bytes(png[16:20]))


def _rendered(figure: "Figure", form: str, dpi: int = DPI) -> bytes:
    buffer = io.BytesIO()
    metadata = {"Date": None} if form == "svg" else None
    figure.savefig(buffer, format=form, dpi=dpi, bbox_inches="tight", facecolor="white", metadata=metadata)
    return buffer.getvalue()


def _width(png: bytes) -> int:
    """As wide as it was drawn, at 96 pixels an inch; the second number after the signature is the width."""
    return round(int.from_bytes(png[16:20]) * 96 / DPI)


def _data_url(media_type: str, content: bytes) -> str:
    return f"data:{media_type};base64,{base64.b64encode(content).decode('ascii')}"


def _file_stem(name: str) -> str:
    return re.sub(r"[^\w-]+", "-", name).strip("-") or "figure"
