"""The figures of the eel: its shapes, its path, its energy, and what a step costs."""

from typing import TYPE_CHECKING

import numpy as np

import naiad as nd
from naiad.studies.connected_motion import Motion, tree_method
from naiad.studies.timing import timed_run

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from naiad.studies.eel import Eel

SHAPES = 9
STEPS = 200


def shapes(bodies: nd.models.ConnectedBodies, motion: Motion) -> "Figure":
    """The line of the links' centres and ends, seen along z, at a few times."""
    from naiad import viz
    from naiad.viz.style import colours, dress

    frames = np.linspace(0, len(motion.times) - 1, SHAPES).round().astype(int)
    R, centres = motion.states.g.R[frames], bodies.places(motion.states.g)[frames]
    assert bodies.shapes is not None
    half = R[..., :, 0] * np.asarray(bodies.shapes)[:, :1]
    ends = np.stack([centres + half, centres - half], axis=2).reshape(len(frames), -1, 3)
    with viz.house():
        figure = viz.new_figure(6.4, 4.4)
        ax = figure.add_subplot()
        for colour, line, frame in zip(colours(len(frames)), ends, frames, strict=True):
            ax.plot(line[:, 0], line[:, 1], color=colour, label=f"{motion.times[frame]:.3g} s", linewidth=1.6)
        dress(ax, "x [m]", "y [m]", "The eel from above")
        ax.set_aspect("equal", adjustable="datalim")
        ax.legend(title="time", loc="upper left", bbox_to_anchor=(1.0, 1.02))
        return figure


def path(bodies: nd.models.ConnectedBodies, motion: Motion) -> "Figure":
    """Where the middle of the eel goes."""
    from naiad import viz

    middle = bodies.places(motion.states.g).mean(1)
    series = {name: middle[:, k] - middle[0, k] for k, name in enumerate("xyz")}
    return viz.errors_over_time(motion.times, series, "displacement [m]", title="The middle of the eel")


def energy(motion: Motion) -> "Figure":
    """The energy over time."""
    from naiad import viz

    return viz.errors_over_time(
        motion.times, {"energy": motion.energy}, "energy [J]", title="Kinetic and elastic energy"
    )


def cost(study: "Eel") -> "Figure":
    """CPU time of a step and link against the number of links, measured here."""
    from naiad import viz
    from naiad.viz.style import dress

    counts = np.unique(study.lengths.astype(int))
    times = np.array([link_cost(study, int(count)) for count in counts])
    with viz.house():
        figure = viz.new_figure(5.6, 3.8)
        ax = figure.add_subplot()
        ax.plot(counts, 1e6 * times, marker="o")
        dress(ax, "number of links", "CPU time of a step and link [µs]", "Cost of a step")
        ax.set_xscale("log")
        ax.set_ylim(0.0, 1.25e6 * times.max())
        return figure


def link_cost(study: "Eel", count: int) -> float:
    """Seconds of CPU for a step, divided by the links."""
    bodies = study.bodies(count)
    steps = max(4, STEPS // count)
    run = timed_run(bodies, tree_method(bodies), study.start(bodies), dt=study.dt, steps=steps)
    return run.seconds / (steps * count)
