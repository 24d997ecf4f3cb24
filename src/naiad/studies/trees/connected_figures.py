"""The figures of connected bodies: velocities and invariants side by side, and the bodies in space."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

import naiad as nd

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from naiad.studies.trees.connected_bodies import Motion

SMALLEST = 1e-17
SHOTS = 4


def velocities(motions: "Mapping[str, Motion]", remark: str = "") -> "Figure":
    """Angular velocities of all bodies in their frames and the velocity of body 0, a column for each method."""
    from naiad import viz

    count = next(iter(motions.values())).states.g.R.shape[1]
    names = [rf"$\Omega_{i}$ [rad/s]" for i in range(count)] + [r"$\dot x$ [m/s]"]
    with viz.house():
        figure = viz.new_figure(5.2 * len(motions), 1.8 * len(names), remark)
        axes = figure.subplots(len(names), len(motions), sharex=True, sharey="row", squeeze=False)
        for column, (method, motion) in enumerate(motions.items()):
            for row, name in enumerate(names):
                series = {str(k + 1): motion.xi[:, 3 * row + k] for k in range(3)}
                ax = axes[row, column]
                viz.errors_over_time(motion.times, series, name if not column else "", ax=ax)
                ax.ticklabel_format(axis="y", style="plain")
                ax.get_legend().remove()
                ax.set_title(method if not row else "")
                if row + 1 < len(names):
                    ax.set_xlabel("")
        axes[0, -1].legend(title="component", loc="upper left", bbox_to_anchor=(1.0, 1.02))
        return figure


def invariants(motions: "Mapping[str, Motion]", remark: str = "") -> "Figure":
    """Energy, changes of the momenta, and the distance from the rotations; a line for each method."""
    from naiad import viz

    with viz.house():
        figure = viz.new_figure(9.6, 6.0, remark)
        axes = figure.subplots(2, 2, sharex=True)
        panels = {
            "energy": "$E$ [J]",
            "linear_momentum": r"$|p - p_0|$ [kg m/s]",
            "angular_momentum": r"$|L - L_0|$ [kg m$^2$/s]",
            "orthogonality": r"$\max_i|R_i^T R_i - I|$",
        }
        for ax, (name, label) in zip(axes.flat, panels.items(), strict=True):
            log = name != "energy" and any(np.any(motion.changes[name]) for motion in motions.values())
            for method, motion in motions.items():
                values = motion.energy if name == "energy" else motion.changes[name]
                values = np.maximum(values, SMALLEST) if log else values
                viz.errors_over_time(motion.times, {method: values}, label, log=log, ax=ax)
            for line, (method, colour) in zip(ax.lines, zip(motions, viz.PALETTE, strict=False), strict=True):
                line.set(color=colour, label=method)
        axes[0, 0].ticklabel_format(axis="y", style="plain", useOffset=False)
        for ax in axes[0]:
            ax.set_xlabel("")
        axes[0, 1].legend(loc="upper left", bbox_to_anchor=(1.0, 1.02))
        return figure


def snapshots(bodies: nd.models.ConnectedBodies, motion: "Motion") -> "Figure":
    """The bodies at a few times, evenly spaced, each picture to the same scale."""
    from naiad import viz

    assert bodies.shapes is not None
    wanted = np.linspace(motion.times[0], motion.times[-1], SHOTS)
    frames = [int(np.argmin(np.abs(motion.times - t))) for t in wanted]
    R = motion.states.g.R[frames]
    centres = bodies.places(motion.states.g)[frames]
    return viz.ellipsoid_snapshots(
        R, centres, np.asarray(bodies.shapes), [f"t = {t:g} s" for t in motion.times[frames]]
    )
