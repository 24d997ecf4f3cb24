"""`plot_ensemble`: how many runs spread, as lines of some of them under the quantiles of all."""

import itertools
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from naiad.errors import InputError
from naiad.numerics.arguments import checked_throughout
from naiad.viz.roles import clock_label
from naiad.viz.style import PALETTE, dress, house, labelled, new_figure

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

BANDS = {0.9: 0.16, 0.5: 0.3}  # the share of runs in a band, and how opaque it is
MOST_LINES = 40
MOST_PANELS = 24
COLUMNS = 3


@checked_throughout
def plot_ensemble(
    dataset: "xr.Dataset", *, variables: str | Sequence[str] | None = None, title: str | None = None
) -> "Figure":
    """A panel for every number of some variables along `run` and `time`: up to 40 runs as thin lines, the median of
    all, and bands that hold the middle 50 and 90 per cent of those that have come so far. Without names: all variables
    of at most three numbers."""
    known = {str(name): each for name, each in dataset.data_vars.items() if {"run", "time"} <= set(each.dims)}
    if variables is None:
        names = [
            name
            for name, each in known.items()
            if math.prod(each.shape) <= 3 * dataset.sizes["run"] * each.sizes["time"]
        ]
    else:
        names = [variables] if isinstance(variables, str) else list(variables)
    for name in names:
        if name not in known:
            raise InputError(f"variables: {name!r} is not there to draw; expected some of {', '.join(known)}.")
    panels = [panel for name in names for panel in _numbers(known[name])]
    if not panels:
        raise InputError("there is nothing to plot: name what is to be drawn in `variables`.")
    if len(panels) > MOST_PANELS:
        raise InputError(
            f"variables: {len(panels)} numbers are too many for a figure; name some of {', '.join(known)}."
        )
    with house():
        columns = min(COLUMNS, len(panels))
        rows = math.ceil(len(panels) / columns)
        figure = new_figure(4.2 * columns, 2.6 * rows + 0.4, title)
        for place, panel in enumerate(panels, 1):
            _draw(figure.add_subplot(rows, columns, place), panel)
        return figure


def _numbers(variable: "xr.DataArray") -> "list[xr.DataArray]":
    """Each of its numbers, along run and time."""
    others = [dim for dim in variable.dims if dim not in ("run", "time")]
    places = itertools.product(*(range(variable.sizes[dim]) for dim in others))
    return [variable.isel(dict(zip(others, place, strict=True))).transpose("run", "time") for place in places]


def _draw(ax: "Axes", number: "xr.DataArray") -> None:
    values = number.to_numpy()
    own = "t" in number.coords
    times = number["t"].transpose("run", "time").to_numpy() if own else np.broadcast_to(number["time"], values.shape)
    for k in np.unique(np.linspace(0, len(values) - 1, MOST_LINES).astype(int)):
        ax.plot(times[k], values[k], color=PALETTE[0], alpha=0.25, linewidth=0.6)
    if not own:
        _bands(ax, times[0], values)
    labels = [
        str(number[dim].item()) for dim in number.coords if not number[dim].dims and number[dim].dtype.kind == "U"
    ]
    words = " ".join([str(number.attrs.get("long_name", number.name)), *labels])
    dress(ax, clock_label(number["t" if own else "time"]), labelled(str(number.name), number.attrs.get("units")), words)


def _bands(ax: "Axes", times: np.ndarray, values: np.ndarray) -> None:
    """At the times to which some run has come."""
    some = np.isfinite(values).any(axis=0)
    times, values = times[some], values[:, some]
    for share, opacity in BANDS.items():
        low, high = np.nanquantile(values, [0.5 - 0.5 * share, 0.5 + 0.5 * share], axis=0)
        ax.fill_between(times, low, high, color=PALETTE[1], alpha=opacity, linewidth=0.0, label=f"{100 * share:.0f} %")
    ax.plot(times, np.nanmedian(values, axis=0), color=PALETTE[1], linewidth=1.4, label="median")
