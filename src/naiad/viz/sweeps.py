"""Figures of a sweep: its results against the swept parameters, as lines, maps or points."""

import itertools
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from naiad.viz.pieces import name_line, reference_line
from naiad.viz.style import FAINT, INK, colours, dress, house, labelled, new_figure, scientific

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SEED = "seed"
SIZES = {"error", "errors", "defect", "drift", "residual"}
"""A result with one of these words in its name is a size: what matters is its power of ten."""
ROUND_OFF = 1e-12
WIDE = 100.0  # the ratio of the largest to the least from which on a scale is logarithmic
PANELS, FIGURES = 9, 4  # panels of a figure, and figures
COMPONENTS = 4  # of a vector, which is drawn if nothing else can be
MAP = 3  # values of each of two numbers from which on they are the sides of a map
TICKS = 6  # of an axis, where they stand at values
MARKERS = "osD^vP*X"


def sweep_figures(table: "xr.Dataset") -> "dict[str, Callable[[], Figure]]":
    """Functions that draw the results which vary, by the name of the figure; sizes of errors come first.

    One swept number is the x axis, with a line for each combination of the others; two make maps; words alone are
    points. Of several seeds the mean is drawn, with a band from the least to the largest.
    """
    grid = [str(dim) for dim in table["error"].dims]
    panels = _panels(table, grid)
    pages = [panels[k : k + PANELS] for k in range(0, len(panels), PANELS)][:FIGURES]
    names = ["results", *(f"results-{k}" for k in range(2, FIGURES + 1))]
    return {name: partial(_page, page, _plan(table, grid)) for name, page in zip(names, pages, strict=False)}


class _Plan:
    """What the swept parameters are in a figure: `x`, `y` (of a map), and `others`, of which each has its own line."""

    def __init__(self, x: str, y: str | None, others: Sequence[str], kind: str):
        self.x, self.y, self.others, self.kind = x, y, list(others), kind


def _plan(table: "xr.Dataset", grid: Sequence[str]) -> _Plan:
    dims = [dim for dim in grid if dim != SEED] or [SEED]
    numbers = [dim for dim in dims if table[dim].dtype.kind in "if"]
    numbers.sort(key=lambda dim: -table.sizes[dim])
    if len(numbers) > 1 and table.sizes[numbers[1]] >= MAP:
        return _Plan(numbers[0], numbers[1], [dim for dim in dims if dim not in numbers[:2]], "map")
    if numbers:
        kind = "seeds" if numbers[0] == SEED else "lines"
        return _Plan(numbers[0], None, [dim for dim in dims if dim != numbers[0]], kind)
    x = max(dims, key=lambda dim: table.sizes[dim])
    return _Plan(x, None, [dim for dim in dims if dim != x], "points")


def _panels(table: "xr.Dataset", grid: Sequence[str]) -> "list[tuple[str, xr.DataArray]]":
    """The results that vary, what is worth most first; in maps, each for every combination of the other parameters."""
    scalars = {str(name): each for name, each in table.data_vars.items() if list(each.dims) == list(grid)}
    chosen = [(name, each) for name, each in scalars.items() if name != "seconds" and _varies(name, each)]
    if not chosen:
        chosen = [(name, each) for name, each in _components(table, grid) if _varies(name, each)]
    chosen.sort(key=lambda item: _rank(*item))
    plan = _plan(table, grid)
    if plan.kind != "map":
        return chosen
    return [
        (", ".join([name, *_labels(table, plan.others, index)]), each.isel(index))
        for name, each in chosen
        for index in _indices(table, plan.others)
        if _varies(name, each.isel(index), like=each)
    ]


def _components(table: "xr.Dataset", grid: Sequence[str]) -> "Iterator[tuple[str, xr.DataArray]]":
    for name, each in table.data_vars.items():
        own = [dim for dim in each.dims if dim not in grid]
        if own and int(np.prod([each.sizes[dim] for dim in own])) <= COMPONENTS:
            for index in np.ndindex(*(each.sizes[dim] for dim in own)):
                place = ", ".join(map(str, index))
                yield f"{name}[{place}]", each.isel(dict(zip(own, index, strict=True)))


def _is_size(name: str) -> bool:
    words = set(name.replace(".", "_").split("_"))
    return bool(SIZES & words) and "standard" not in words


def _finite(values: "xr.DataArray") -> np.ndarray:
    found = values.to_numpy().astype(float).ravel()
    return found[np.isfinite(found)]


def _varies(name: str, values: "xr.DataArray", like: "xr.DataArray | None" = None) -> bool:
    """Whether numbers differ by more than rounding, compared with their size or that of others like them."""
    if values.dtype.kind not in "biuf":
        return False
    found = _finite(values)
    largest = np.max(np.abs(found), initial=0.0)
    if found.size < 2 or (_is_size(name) and largest <= ROUND_OFF and np.ptp(found) <= 0.5 * largest):
        return False
    least = 0.0 if _is_size(name) else 1e-9 * np.max(np.abs(_finite(values if like is None else like)), initial=0.0)
    return bool(np.ptp(found) > least)


def _rank(name: str, values: "xr.DataArray") -> int:
    """Errors, other numbers, errors that are but round-off, counts."""
    if values.dtype.kind not in "f":
        return 3
    if not _is_size(name):
        return 1
    return 0 if np.max(np.abs(_finite(values))) > ROUND_OFF else 2


def _indices(table: "xr.Dataset | xr.DataArray", dims: Sequence[str]) -> list[dict[str, int]]:
    """Every combination of places along some dimensions."""
    return [
        dict(zip(dims, each, strict=True)) for each in itertools.product(*(range(table.sizes[dim]) for dim in dims))
    ]


def _labels(table: "xr.Dataset | xr.DataArray", dims: Sequence[str], index: dict[str, int]) -> list[str]:
    found = [(dim, table[dim].to_numpy()[index[dim]]) for dim in dims]
    return [value if isinstance(value, str) else f"{dim} = {float(value):g}" for dim, value in found]


def _page(panels: "list[tuple[str, xr.DataArray]]", plan: _Plan) -> "Figure":
    """A figure with a panel for each result."""
    columns = min(len(panels), 3 if len(panels) > 4 else 2)
    rows = -(-len(panels) // columns)
    categories = panels[0][1].sizes[plan.x] if plan.kind == "points" else 0
    tall = max(2.5, 0.22 * categories + 1.0)
    with house():
        figure = new_figure(max(3.3 * columns + (1.0 if plan.others else 0.0), 4.6), tall * rows + 0.3)
        axes = [figure.add_subplot(rows, columns, k + 1) for k in range(len(panels))]
        for ax, (name, values) in zip(axes, panels, strict=True):
            {"map": _map, "points": _points, "lines": _lines, "seeds": _lines}[plan.kind](ax, name, values, plan)
            ax.title.set_fontsize(min(10.0, 310.0 / len(name)))
        handles, labels = axes[0].get_legend_handles_labels()
        if plan.others and plan.kind != "map" and labels:
            figure.legend(handles, labels, loc="outside right upper", title=", ".join(plan.others), alignment="left")
        return figure


def _over_seeds(values: "xr.DataArray") -> tuple[Any, Any, Any]:
    """The mean, least and largest over the seeds, of those that did not fail; without seeds the values themselves."""
    if SEED not in values.dims or len(values.dims) == 1:
        return values, values, values
    return values.mean(SEED), values.min(SEED), values.max(SEED)


def _lines(ax: "Axes", name: str, values: "xr.DataArray", plan: _Plan) -> None:
    """Results against a number; where both axes are of powers, dashed lines show slopes that are whole numbers."""
    values = values.astype(float)
    x = values[plan.x].to_numpy()
    order = np.argsort(x)
    log_x, log_y = _evenly_in_log(x), _log_scale(name, values.to_numpy())
    indices, drawn = _indices(values, plan.others), []
    for number, (index, colour) in enumerate(zip(indices, colours(len(indices)), strict=True)):
        mean, least, largest = (each.to_numpy()[order] for each in _over_seeds(values.isel(index)))
        if log_y:
            mean, least, largest = (np.where(each > 0.0, each, np.nan) for each in (mean, least, largest))
        if least is not mean and np.any(largest > least):
            ax.fill_between(x[order], least, largest, color=colour, alpha=0.18, linewidth=0)
        ax.plot(
            x[order],
            mean,
            color=colour,
            marker=MARKERS[number % len(MARKERS)],
            markersize=4.0,
            linestyle="" if plan.kind == "seeds" else "-",
            label=", ".join(_labels(values, plan.others, index)),
        )
        drawn.append(mean)
    dress(ax, labelled(plan.x, values[plan.x].attrs.get("units")), _units(values), name)
    if log_x:
        _powers(ax.xaxis, x)
    if log_y:
        ax.set_yscale("log", nonpositive="mask")
    else:
        scientific(ax)
    if log_x and log_y:
        _slopes(ax, x[order], drawn)


def _slopes(ax: "Axes", x: np.ndarray, lines: list[np.ndarray]) -> None:
    lines = [np.where(line > ROUND_OFF, line, np.nan) for line in lines]
    found = {slope for slope in map(partial(_slope, x), lines) if slope}
    for slope in sorted(found):
        line = reference_line(x, lines, slope)
        if line is not None:
            ax.plot(x, line, color=FAINT, linestyle="--", linewidth=0.9, zorder=1, label=f"_slope {slope}")
            name_line(ax, f"slope {slope}", x, line)
    if found:
        ax.margins(x=0.3)


def _slope(x: np.ndarray, y: np.ndarray) -> int:
    """The whole number that the slope is near along most of a line of powers; 0 if there is none."""
    good = np.isfinite(y)
    if np.count_nonzero(good) < 3:
        return 0
    slope = float(np.median(np.diff(np.log(y[good])) / np.diff(np.log(x[good]))))
    return round(slope) if abs(slope - round(slope)) < 0.2 else 0


def _map(ax: "Axes", name: str, values: "xr.DataArray", plan: _Plan) -> None:
    """A colour for each pair of two numbers."""
    from matplotlib.colors import LogNorm

    assert plan.y is not None
    mean = _over_seeds(values.astype(float))[0].transpose(plan.y, plan.x)
    mean = mean.sortby([plan.x, plan.y])
    x, y, z = mean[plan.x].to_numpy(), mean[plan.y].to_numpy(), mean.to_numpy()
    log_z = _log_scale(name, z)
    shown = np.ma.masked_invalid(np.where(z > 0.0, z, np.nan) if log_z else z)
    mesh = ax.pcolormesh(
        _edges(x), _edges(y), shown, cmap="viridis", norm=LogNorm() if log_z else None, rasterized=True
    )
    dress(ax, *(labelled(dim, values[dim].attrs.get("units")) for dim in (plan.x, plan.y)), title=name)
    ax.grid(False)
    ax.set_facecolor("#EEEEEE")
    for axis, at in ((ax.xaxis, x), (ax.yaxis, y)):
        if _evenly_in_log(at):
            _powers(axis, at)
        elif len(at) <= TICKS:
            axis.set_ticks(at)
    bar = ax.figure.colorbar(mesh, ax=ax)
    bar.set_label(_units(values), color=INK)
    bar.ax.tick_params(labelsize=8, color=FAINT, labelcolor=INK)


def _points(ax: "Axes", name: str, values: "xr.DataArray", plan: _Plan) -> None:
    """Results beside the words that they belong to, with a bar from the least to the largest seed."""
    values = values.astype(float)
    words = [str(each) for each in values[plan.x].to_numpy()]
    log = _log_scale(name, values.to_numpy())
    indices = _indices(values, plan.others)
    shifts = (np.arange(len(indices)) - 0.5 * (len(indices) - 1)) * 0.6 / max(len(indices), 1)
    for number, (index, colour, shift) in enumerate(zip(indices, colours(len(indices)), shifts, strict=True)):
        mean, least, largest = (each.to_numpy() for each in _over_seeds(values.isel(index)))
        places = np.arange(len(words)) + shift
        ax.hlines(places, least, largest, color=colour, linewidth=1.2, alpha=0.5)
        ax.plot(
            mean,
            places,
            color=colour,
            marker=MARKERS[number % len(MARKERS)],
            markersize=4.5,
            linestyle="",
            label=", ".join(_labels(values, plan.others, index)),
        )
    dress(ax, _units(values), "", name)
    ax.set_yticks(range(len(words)), words)
    ax.set_ylim(len(words) - 0.4, -0.6)
    if log:
        ax.set_xscale("log", nonpositive="mask")


def _units(values: "xr.DataArray") -> str:
    return labelled("", values.attrs.get("units")).strip()


def _powers(axis: Any, values: np.ndarray) -> None:
    """A logarithmic axis: with ticks at powers of ten, or at some of the values where these are close together."""
    from matplotlib.ticker import FixedLocator, NullFormatter, NullLocator, StrMethodFormatter

    (axis.axes.set_xscale if axis.axis_name == "x" else axis.axes.set_yscale)("log")
    if values.max() < 10.0 * values.min():
        axis.set_major_locator(FixedLocator(np.sort(values)[:: -(-len(values) // TICKS)].tolist()))
        axis.set_major_formatter(StrMethodFormatter("{x:.3g}"))
        axis.set_minor_locator(NullLocator())
    axis.set_minor_formatter(NullFormatter())


def _evenly_in_log(x: np.ndarray) -> bool:
    """Whether positive numbers are spread more evenly by their ratios than by their differences."""
    x = np.unique(x.astype(float))
    if x[0] <= 0.0:
        return False
    if len(x) < 3:
        return bool(x[-1] >= 10.0 * x[0])
    plainly, in_log = (float(np.std(step) / np.mean(step)) for step in (np.diff(x), np.diff(np.log(x))))
    return in_log < plainly


def _log_scale(name: str, values: np.ndarray) -> bool:
    found = values[np.isfinite(values)].astype(float)
    positive = found[found > 0.0]
    if positive.size == 0 or np.any(found < 0.0):
        return False
    return positive.max() >= (3.0 if _is_size(name) else WIDE) * positive.min()


def _edges(x: np.ndarray) -> np.ndarray:
    """The sides of cells around numbers in order, half way to their neighbours."""
    x = x.astype(float)
    log = _evenly_in_log(x)
    at = np.log(x) if log else x
    middle = 0.5 * (at[1:] + at[:-1])
    edges = np.concatenate([[2 * at[0] - middle[0]], middle, [2 * at[-1] - middle[-1]]])
    return np.exp(edges) if log else edges
