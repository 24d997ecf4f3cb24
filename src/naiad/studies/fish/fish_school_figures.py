"""Figures of fish that swim side by side: the school, and what the others do to each fish."""

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import xarray
    from matplotlib.figure import Figure

SHOWN = 4


def school(seen: "xarray.Dataset") -> "Figure":
    """All links at some times."""
    from naiad import viz

    shown = np.unique(np.linspace(0, len(seen.time) - 1, SHOWN).astype(int))
    R, x = (seen[name].to_numpy()[shown] for name in ("R", "x"))
    titles = [f"t = {float(seen.time[k]):.3g} s" for k in shown]
    return viz.ellipsoid_snapshots(R, x, np.array(seen.attrs["shapes"]), titles)


def company(seen: "xarray.Dataset", difference: np.ndarray) -> "Figure":
    """How far each fish is from where it would be alone, along x, y and z."""
    from naiad import viz
    from naiad.viz.style import dress

    with viz.house():
        figure = viz.new_figure(9.6, 3.4)
        for ax, name, k in zip(figure.subplots(1, 3), "xyz", range(3), strict=True):
            for number in range(difference.shape[1]):
                colour = viz.PALETTE[number % len(viz.PALETTE)]
                dash = "-" if number < (difference.shape[1] + 1) // 2 else "--"
                ax.plot(seen.time, difference[:, number, k], dash, color=colour, label=f"fish {number + 1}")
            dress(ax, "time [s]", f"{name} beside that alone [m]", "")
        ax.legend(loc="upper left", bbox_to_anchor=(1.0, 1.02))
        return figure
