"""The house style: sober figures that read in print and on screen, for colour-blind eyes too, and no global state."""

import contextlib
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from naiad.numerics.arguments import checked_throughout

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#6B4C9A", "#4D4D4D")
"""Okabe and Ito's colours, in an order that keeps neighbours apart; yellow, too pale on white, gives way to violet."""

LINES = ("-", "--", ":", "-.")
INK, FAINT, GRID = "#333333", "#8A8A8A", "#E4E4E4"

_SETTINGS: dict[str, Any] = {
    "figure.facecolor": "white",
    "axes.facecolor": "white",
    "axes.edgecolor": FAINT,
    "axes.labelcolor": INK,
    "axes.labelsize": 9,
    "axes.linewidth": 0.7,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlesize": 10,
    "axes.titlecolor": INK,
    "axes.titlelocation": "left",
    "axes.axisbelow": True,
    "font.size": 9,
    "figure.titlesize": 12,
    "legend.fontsize": 8.5,
    "legend.frameon": False,
    "legend.handlelength": 1.6,
    "lines.linewidth": 1.2,
    "lines.solid_capstyle": "round",
    "text.color": INK,
}


@checked_throughout
@contextlib.contextmanager
def house() -> Iterator[None]:
    """Figures made inside have the house style; the settings outside stay as they were."""
    import matplotlib
    from cycler import cycler

    settings: Any = {**_SETTINGS, "axes.prop_cycle": cycler(color=PALETTE)}
    with matplotlib.rc_context(settings):
        yield


@checked_throughout
def new_figure(width: float = 6.4, height: float = 4.0, title: str | None = None) -> "Figure":
    """An empty figure that belongs to nobody: no window, no registry, ready for `savefig`."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    if title:
        figure.suptitle(title, x=0.01, ha="left", fontweight="bold", color=INK, parse_math=False)
    return figure


def dress(ax: "Axes", xlabel: str = "", ylabel: str = "", title: str | None = None) -> None:
    """Labels, a light grid and quiet ticks, set on the axes themselves: ticks are made only when a figure is drawn."""
    ax.set_xlabel(xlabel)
    ax.set_ylabel(ylabel)
    if title:
        ax.set_title(title, parse_math=False)
    ax.grid(True, color=GRID, linewidth=0.6)
    ax.tick_params(which="both", color=FAINT, labelcolor=INK, labelsize=8.5, width=0.7)
    ax.tick_params(which="major", length=3)
    ax.tick_params(which="minor", length=1.5)


def labelled(words: str, units: str | None) -> str:
    """What an axis shows, with its units if there are any."""
    return f"{words} [{units.replace('^2', '²').replace('^3', '³')}]" if units else words


def scientific(ax: "Axes") -> None:
    """Small numbers on the y axis as a mantissa under a common power of ten."""
    from matplotlib.ticker import ScalarFormatter

    formatter = ScalarFormatter(useMathText=True)
    formatter.set_powerlimits((-3, 4))
    ax.yaxis.set_major_formatter(formatter)
    ax.yaxis.get_offset_text().set(size=8.5, color=INK)


def colours(count: int) -> Sequence[str]:
    """`count` distinct colours: the palette, or an even scale where it is too short."""
    if count <= len(PALETTE):
        return PALETTE[:count]
    import matplotlib
    from matplotlib.colors import to_hex

    return [to_hex(matplotlib.colormaps["viridis"](level)) for level in np.linspace(0.0, 0.92, count)]


def marker(count: int) -> str:
    """Lines need two points: a lone one is shown as a dot."""
    return "o" if count == 1 else ""
