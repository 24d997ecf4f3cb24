"""Small pieces for studies: each makes a figure, or draws into axes that are given."""

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from naiad.numerics.arguments import checked_throughout
from naiad.viz.space import draw_sphere, on_sphere
from naiad.viz.style import FAINT, colours, dress, house, marker, new_figure, scientific
from naiad.viz.thinning import thin

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from mpl_toolkits.mplot3d import Axes3D


@checked_throughout
def errors_over_time(
    time: ArrayLike,
    series: Mapping[str, ArrayLike],
    ylabel: str,
    *,
    log: bool = False,
    xlabel: str = "time [s]",
    title: str | None = None,
    ax: "Axes | None" = None,
) -> "Figure":
    """Errors against time, a line for each label; with `log` their sizes on a logarithmic scale."""
    time = np.asarray(time, float)
    with _axes(ax, 6.4, 3.4) as axes:
        for (label, values), colour in zip(series.items(), colours(len(series)), strict=True):
            sized = np.abs(np.asarray(values, float)) if log else np.asarray(values, float)
            axes.plot(*thin(time, sized), color=colour, label=label, marker=marker(len(time)))
        dress(axes, xlabel, ylabel, title)
        if log:
            axes.set_yscale("log", nonpositive="mask")
        else:
            scientific(axes)
        if len(series) > 1:
            axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.02))
        return axes.figure


@checked_throughout
def convergence(
    h: ArrayLike,
    errors: Mapping[str, ArrayLike],
    orders: Sequence[int] = (),
    *,
    xlabel: str = "time step h [s]",
    ylabel: str = "error",
    title: str | None = None,
    ax: "Axes | None" = None,
) -> "Figure":
    """Errors against the step, both logarithmic, with a dashed line of slope p for each p in `orders`."""
    h = np.asarray(h, float)
    series = {label: np.asarray(values, float) for label, values in errors.items()}
    with _axes(ax, 5.6, 4.2) as axes:
        for order in orders:
            line = reference_line(h, list(series.values()), order)
            if line is not None:
                axes.plot(h, line, color=FAINT, linestyle="--", linewidth=0.9, zorder=1, label=f"_order {order}")
                name_line(axes, f"order {order}", h, line)
        for index, (label, values) in enumerate(series.items()):
            colour, shape = colours(len(series))[index], "osD^vP*X"[index % 8]
            axes.plot(h, np.where(values > 0, values, np.nan), color=colour, marker=shape, markersize=4.5, label=label)
        dress(axes, xlabel, ylabel, title)
        axes.set_xscale("log")
        axes.set_yscale("log", nonpositive="mask")
        axes.margins(x=0.14 if len(orders) else 0.05)
        axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.02))
        return axes.figure


@checked_throughout
def sphere_curve(
    points: ArrayLike | Mapping[str, ArrayLike], *, title: str | None = None, ax: "Axes3D | None" = None
) -> "Figure":
    """A curve points[time, 3] on a sphere about the origin, or several with labels; what lies behind is pale."""
    curves = dict(points) if isinstance(points, Mapping) else {"": points}
    with _axes(ax, 5.0, 4.6, solid=True) as axes:
        given = {label: np.asarray(curve, float).reshape(-1, 3) for label, curve in curves.items()}
        norms = np.concatenate([np.linalg.norm(curve, axis=1) for curve in given.values()])
        draw_sphere(axes, float(np.nanmax(norms, initial=0.0)) or 1.0)
        for (label, curve), colour in zip(given.items(), colours(len(given)), strict=True):
            on_sphere(axes, curve, colour, label)
        if title:
            axes.set_title(title, parse_math=False)
        if any(given):
            axes.legend(loc="upper left")
        return axes.figure


@checked_throughout
def section_scatter(
    x: ArrayLike,
    y: ArrayLike,
    *,
    xlabel: str = "",
    ylabel: str = "",
    groups: ArrayLike | None = None,
    title: str | None = None,
    ax: "Axes | None" = None,
) -> "Figure":
    """The points of a section; `groups` numbers the orbit that each belongs to, and gives its colour."""
    x, y = np.ravel(np.asarray(x, float)), np.ravel(np.asarray(y, float))
    numbers = np.zeros(len(x), int) if groups is None else np.unique(np.ravel(groups), return_inverse=True)[1]
    palette = np.array(colours(int(numbers.max(initial=0)) + 1))
    with _axes(ax, 5.4, 4.6) as axes:
        size = float(np.clip(2e4 / max(len(x), 1), 0.8, 12.0))
        axes.scatter(x, y, s=size, c=palette[numbers].tolist(), linewidths=0, rasterized=True)
        dress(axes, xlabel, ylabel, title)
        return axes.figure


@contextlib.contextmanager
def _axes(ax: "Axes | None", width: float, height: float, *, solid: bool = False) -> Iterator[Any]:
    """The axes that were given, or those of a new figure, in the house style."""
    with house():
        yield ax if ax is not None else new_figure(width, height).add_subplot(projection="3d" if solid else None)


def name_line(ax: "Axes", name: str, h: np.ndarray, line: np.ndarray) -> None:
    """Put a name at the end of a line where h is least."""
    least = int(np.argmin(h))
    text = ax.annotate(name, (h[least], line[least]), (-4, 0), textcoords="offset points", fontsize=8, color=FAINT)
    text.set(ha="right", va="center")


def reference_line(h: np.ndarray, series: list[np.ndarray], order: int) -> np.ndarray | None:
    """A line C h^order just below the errors whose own slope is nearest to `order`, if there are any."""
    slopes, anchors = [], []
    for values in series:
        good = np.isfinite(values) & (values > 0)
        if np.count_nonzero(good) >= 2 and np.ptp(h[good]) > 0:
            slopes.append(np.polyfit(np.log(h[good]), np.log(values[good]), 1)[0])
            anchors.append(np.min(values[good] / h[good] ** order))
    if not slopes:
        return None
    return 0.6 * anchors[int(np.argmin(np.abs(np.array(slopes) - order)))] * h**order
