"""The figures of a tethered satellite."""

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from naiad.studies.strings.tethered_satellite import Flight


def deployment(flight: "Flight", lean: float) -> "Figure":
    """Length outside, and the angles in and across the plane of the orbit."""
    from naiad import viz
    from naiad.viz.style import dress
    from naiad.viz.thinning import thin

    orbits = flight.times * flight.rate / (2.0 * np.pi)
    with viz.house():
        figure = viz.new_figure(7.2, 5.2)
        above, below = figure.subplots(2, 1, sharex=True)
        above.plot(*thin(orbits, flight.observed[:, 0] / 1e3))
        for angle, name in zip(flight.angles.T, ("in the plane", "across"), strict=True):
            below.plot(*thin(orbits, angle), label=name)
        until = flight.until * flight.rate / (2.0 * np.pi)
        below.plot([0.0, until], [np.degrees(lean)] * 2, "k--", linewidth=1.0, label="sin(2 angle) = 4c/3n")
        dress(above, "", "tether outside [km]")
        dress(below, "time [orbits]", "angle [degrees]")
        below.legend(loc="upper left", bbox_to_anchor=(1.0, 1.02))
        return figure


def path(flight: "Flight") -> "Figure":
    """The subsatellite and some shapes of the tether, seen in axes that turn with the orbit."""
    from naiad import viz
    from naiad.viz.style import dress

    nodes = flight.nodes / 1e3
    with viz.house():
        figure = viz.new_figure(7.2, 5.6)
        ax = figure.subplots()
        for shape in nodes[np.linspace(0, len(nodes) - 1, 30).astype(int)]:
            ax.plot(np.append(0.0, shape[:, 1]), np.append(0.0, shape[:, 0]), color="#999999", linewidth=0.8)
        ax.plot(nodes[:, -1, 1], nodes[:, -1, 0], linewidth=1.4)
        ax.plot(0.0, 0.0, "s", color="#333333", markersize=5)
        ax.set_aspect("equal", adjustable="datalim")
        ax.invert_yaxis()
        dress(ax, "ahead [km]", "towards the Earth [km]")
        return figure


def tension(flight: "Flight", mass: float, density: float) -> "Figure":
    """The tension at the spacecraft, beside that of a tether at rest, and the moment on the drum."""
    from naiad import viz
    from naiad.viz.style import dress
    from naiad.viz.thinning import thin

    orbits = flight.times * flight.rate / (2.0 * np.pi)
    length = flight.observed[:, 0]
    with viz.house():
        figure = viz.new_figure(7.2, 5.2)
        above, below = figure.subplots(2, 1, sharex=True)
        above.plot(*thin(orbits, flight.observed[:, 1]), label="elastic, at the spacecraft")
        steady = 3.0 * flight.rate**2 * (mass + 0.5 * density * length) * length
        above.plot(*thin(orbits, steady), "k--", linewidth=1.0, label="3 n² (m + μ l/2) l")
        below.plot(*thin(orbits, flight.moment()))
        dress(above, "", "tension [N]")
        dress(below, "time [orbits]", "moment on the drum [N m]")
        above.legend(loc="lower right")
        return figure
