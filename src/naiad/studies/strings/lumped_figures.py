"""The figures of lumped masses against finite elements."""

from typing import TYPE_CHECKING

import numpy as np

import naiad as nd

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SMALLEST = 1e-17


def conserved(found: "dict[str, nd.Trajectory]") -> "Figure":
    """How far energy, pi_3 and the rotation matrix are off, as in Fig. 2 (d)."""
    from naiad import viz

    labels = (r"$|\Delta E|$ [J]", r"$|\Delta\pi_3|$ [kg m$^2$/s]", r"$|R^T R - I|$")
    with viz.house():
        figure = viz.new_figure(8.4, 6.4)
        panels = figure.subplots(3, 1, sharex=True)
        for column, (ax, label) in enumerate(zip(panels, labels, strict=True)):
            series = {}
            for name, run in found.items():
                values = run.record["observed"].to_numpy()[:, column]
                series[name] = np.maximum(np.abs(values - values[0] * (column < 2)), SMALLEST)
            times = next(iter(found.values())).t.to_numpy()
            viz.errors_over_time(times, series, label, log=True, ax=ax)
            if column:
                _without_legend(ax)
            if ax is not panels[-1]:
                ax.set_xlabel("")
        return figure


def motion(found: "dict[str, nd.Trajectory]") -> "Figure":
    """Stretched length and second component of Omega, as in Fig. 2 (c)."""
    from naiad import viz
    from naiad.viz.style import colours, dress
    from naiad.viz.thinning import thin

    with viz.house():
        figure = viz.new_figure(7.6, 4.8)
        above, below = figure.subplots(2, 1, sharex=True)
        for (name, run), colour in zip(found.items(), colours(len(found)), strict=True):
            seen = run.record["observed"].to_numpy()
            above.plot(*thin(run.t, seen[:, 3]), color=colour, label=name)
            below.plot(*thin(run.t, seen[:, 5]), color=colour)
        dress(above, "", "stretched length [m]")
        dress(below, "time [s]", r"$\Omega_2$ [rad/s]")
        above.legend(loc="upper left")
        return figure


def _without_legend(ax: "Axes") -> None:
    legend = ax.get_legend()
    if legend is not None:
        legend.remove()
