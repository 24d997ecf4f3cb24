"""Figures of a study as files, and as images that a page can hold within itself."""

import base64
import io
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from naiad import interrupts
from naiad.errors import RunError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LARGEST_SVG = 600_000
"""Bytes; a figure with more points than this is embedded as PNG, which browsers draw at once."""


@dataclass(frozen=True)
class Image:
    """A drawn figure: its name, and its image as a data URL."""

    name: str
    url: str

    @property
    def title(self) -> str:
        """The name in words."""
        return in_words(self.name)


def in_words(name: str) -> str:
    """A name as a title."""
    words = re.sub(r"[_-]+", " ", name).strip()
    return words[:1].upper() + words[1:]


def draw(
    figures: "Mapping[str, Callable[[], Figure]]", folder: Path, told: Callable[[str], None] = lambda _: None
) -> list[Image]:
    """Draw every figure, write it to `folder` as PNG, and return what a page needs; `told` hears which is drawn.

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
        pyplot.close(figure)
        (folder / f"{_file_stem(name)}.png").write_bytes(png)
        small = len(svg) <= LARGEST_SVG
        pictures.append(Image(name, _data_url("image/svg+xml", svg) if small else _data_url("image/png", png)))
    return pictures


def _remark(text: str) -> "Figure":
    from naiad import viz

    with viz.house():
        figure = viz.new_figure(6.0, 1.5)
        figure.text(0.5, 0.5, f"not drawn: {text}", ha="center", va="center", wrap=True)
        return figure


def _rendered(figure: "Figure", form: str) -> bytes:
    buffer = io.BytesIO()
    metadata = {"Date": None} if form == "svg" else None
    figure.savefig(buffer, format=form, dpi=200, bbox_inches="tight", facecolor="white", metadata=metadata)
    return buffer.getvalue()


def _data_url(media_type: str, content: bytes) -> str:
    return f"data:{media_type};base64,{base64.b64encode(content).decode('ascii')}"


def _file_stem(name: str) -> str:
    return re.sub(r"[^\w-]+", "-", name).strip("-") or "figure"
