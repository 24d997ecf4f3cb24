"""`plot`: one figure that shows what a run did, with the panels that its data allow."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from naiad.errors import InputError
from naiad.numerics.arguments import checked_throughout
from naiad.viz import paths
from naiad.viz.conservation import energy_error, momentum_error
from naiad.viz.pieces import errors_over_time
from naiad.viz.roles import Component, Element, components, elements, turned_over
from naiad.viz.style import FAINT, LINES, colours, dress, house, marker, new_figure
from naiad.viz.thinning import evenly, thin

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_BODIES = 12
Panel = Callable[["Axes"], object]

_QUANTITIES = {
    "Omega": ("angular velocity", r"$\Omega$", r"\Omega", "rad/s"),
    "v": ("velocity", r"$v$", "v", "m/s"),
    "Pi": ("angular momentum", r"$\Pi$", r"\Pi", "kg m²/s"),
    "p": ("momentum", r"$p$", "p", "kg m/s"),
}


@checked_throughout
def plot(dataset: "xr.Dataset", *, title: str | None = None) -> "Figure":
    """An overview of a trajectory: velocities (or momenta), energy and momentum errors, and the path that it took.

    The dataset has the coordinate `time` and variables named as the groups name them; there may be any number of bodies
    and of frames. Relative errors are (E - E_0)/|E_0| and |J - J_0|/|J_0|; absolute where the initial value is zero.
    """
    if "time" not in dataset.coords or dataset.sizes.get("time", 0) == 0:
        raise InputError("there is nothing to plot: expected a dataset with a coordinate 'time' and at least one frame")
    time = dataset["time"].to_numpy().astype(float)
    found = elements(dataset)
    series = _series_panels(dataset, time, found)
    path = paths.path_panel(found, over=turned_over(dataset))
    if not series and path is None:
        raise InputError(
            "there is nothing to plot: expected variables such as R, x, Omega, v or energy along time, found "
            + (", ".join(map(str, dataset.data_vars)) or "none")
        )
    with house():
        return _assemble(series, path, title)


def _assemble(series: list[Panel], path: "paths.Path | None", title: str | None) -> "Figure":
    """Time series on the left, the path on the right; only series: one or two columns."""
    columns = 0 if not series else 1 if path is not None or len(series) <= 3 else 2
    widths = [1.35] * columns + [1.0] * (path is not None)
    rows = -(-len(series) // columns) if series else 1
    figure = new_figure(11.0 if len(widths) > 1 else 7.0, max(3.6, 2.0 * rows), title)
    grid = figure.add_gridspec(rows, len(widths), width_ratios=widths)
    first: Axes | None = None
    for index, panel in enumerate(series):
        ax = figure.add_subplot(grid[divmod(index, columns)], sharex=first)
        first = first or ax
        panel(ax)
        if index + columns < len(series):
            ax.set_xlabel("")
            ax.tick_params(labelbottom=False)
    if path is not None:
        path.draw(figure.add_subplot(grid[:, -1], projection=path.projection))
    return figure


def _series_panels(dataset: "xr.Dataset", time: np.ndarray, found: list[Element]) -> list[Panel]:
    panels: list[Panel] = []
    moving = components(dataset)
    for symbol in dict.fromkeys(motion.symbol for motion in moving):
        group = [motion for motion in moving if motion.symbol == symbol]
        panels.append(lambda ax, group=group: _motion_panel(ax, time, group))
    for element in found:
        if element.kind == "angle" or (element.kind == "position" and element.values.shape[2] not in (2, 3)):
            panels.append(lambda ax, element=element: _element_panel(ax, time, element))
    for error in (energy_error(dataset), momentum_error(dataset)):
        if error is not None:
            values, label = error
            panels.append(lambda ax, values=values, label=label: errors_over_time(time, {"": values}, label, ax=ax))
    return panels


def _motion_panel(ax: "Axes", time: np.ndarray, group: list[Component]) -> None:
    words, symbol, letter, units = _QUANTITIES[group[0].symbol]
    names = [motion.name.rpartition("_")[0] for motion in group]
    _lines(ax, time, letter, {name: motion.values for name, motion in zip(names, group, strict=True)})
    dress(ax, "time [s]", f"{words}\n{symbol} [{(group[0].units or units).replace('^2', '²')}]")


def _element_panel(ax: "Axes", time: np.ndarray, element: Element) -> None:
    values = element.values if element.kind == "position" else element.values[:, :, None]
    angle = element.kind == "angle"
    letter = {"beta": r"\beta"}.get(element.name, rf"\mathrm{{{element.name.replace('_', '~')}}}")
    _lines(ax, time, letter, {"": values})
    dress(ax, "time [s]", f"angle ${letter}$ [rad]" if angle else f"${letter}$")


def _lines(ax: "Axes", time: np.ndarray, letter: str, groups: dict[str, np.ndarray]) -> None:
    """Components by colour, bodies by dashes; one component: bodies by colour. Many bodies: a sample, thin."""
    bodies = [
        ((f"{name}[{k}]" if name else f"body {k}") if values.shape[1] > 1 else name, values[:, k])
        for name, values in groups.items()
        for k in range(values.shape[1])
    ]
    shown = [bodies[k] for k in evenly(len(bodies), MOST_BODIES)]
    components = max(values.shape[1] for _, values in shown)
    few = len(shown) <= len(LINES)
    options: dict[str, Any] = {"marker": marker(len(time))} | ({} if few else {"linewidth": 0.7, "alpha": 0.7})
    if components == 1:
        for (name, values), colour in zip(shown, colours(len(shown)), strict=True):
            ax.plot(*thin(time, values[:, 0]), color=colour, label=name or "_line", **options)
    else:
        palette = colours(components)
        for b, (_, values) in enumerate(shown):
            for i in range(values.shape[1]):
                label = f"${letter}_{{{i + 1}}}$" if b == 0 else "_line"
                dashes = LINES[b] if few else "-"
                ax.plot(*thin(time, values[:, i]), color=palette[i], linestyle=dashes, label=label, **options)
        if few and len(shown) > 1:
            for (name, _), dashes in zip(shown, LINES, strict=False):
                ax.plot([], [], color=FAINT, linestyle=dashes, label=name)
    _legend(ax, len(shown), len(bodies))


def _legend(ax: "Axes", shown: int, count: int) -> None:
    handles, _ = ax.get_legend_handles_labels()
    if handles:
        ax.legend(
            loc="upper left",
            bbox_to_anchor=(1.0, 1.04),
            ncols=2 if len(handles) > 7 else 1,
            title=f"{shown} of {count} bodies" if shown < count else None,
            title_fontsize=8,
            labelspacing=0.3,
            columnspacing=1.0,
        )
