"""The figures of the eel: its shapes, its path, its energy, and what a step costs."""

from typing import TYPE_CHECKING

import numpy as np

import naiad as nd
from naiad.diagnostics import timed_run
from naiad.studies.trees.invariants import METHODS

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from naiad.studies.trees.eel import Eel

SHAPES = 9
STEPS = 200


def shapes(bodies: nd.models.ConnectedBodies, run: nd.Trajectory) -> "Figure":
    """The links seen along z at a few times, one below the other, to scale."""
    from naiad import viz
    from naiad.viz.style import dress

    assert bodies.shapes is not None
    times = run.t.to_numpy()
    frames = np.linspace(0, len(times) - 1, SHAPES).round().astype(int)
    R, centres = run.states.g.R[frames], bodies.places(run.states.g)[frames]
    half = R[..., :, 0] * np.asarray(bodies.shapes)[:, :1]
    ends = np.stack([centres + half, centres - half], axis=2)
    room = 1.1 * max(float(np.ptp(ends[..., 1], axis=(1, 2)).max()), 0.05 * float(np.ptp(ends[..., 0])))
    shifts = -room * np.arange(len(frames))
    with viz.house():
        figure = viz.new_figure(6.4, 4.8)
        ax = figure.add_subplot()
        for links, shift in zip(ends, shifts, strict=True):
            middle = links[..., 1].mean()
            for link in links:
                ax.plot(link[:, 0], link[:, 1] - middle + shift, color=viz.PALETTE[0], linewidth=2.2)
        dress(ax, "x [m]", "time [s]", "The eel from above, to scale")
        ax.set_aspect("equal", adjustable="datalim")
        ax.set_yticks(shifts, [f"{times[frame]:.3g}" for frame in frames])
        return figure


def path(bodies: nd.models.ConnectedBodies, run: nd.Trajectory) -> "Figure":
    """Where the middle of the eel goes."""
    from naiad import viz

    middle = bodies.places(run.states.g).mean(1)
    series = {name: middle[:, k] - middle[0, k] for k, name in enumerate("xyz")}
    return viz.errors_over_time(run.t, series, "displacement [m]", title="The middle of the eel")


def energy(run: nd.Trajectory) -> "Figure":
    """The energy over time, and the work of torques and dampers where they act."""
    from naiad import viz

    series = {"kinetic and elastic": run.energy.to_numpy()}
    if run.system.force is not None:
        series["work done since the start"] = run.work.to_numpy()
    figure = viz.errors_over_time(run.t, series, "energy [J]", title="Energy")
    for line in figure.axes[0].lines[1:]:
        line.set_linestyle("--")
    return figure


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
        ax.set_xticks(counts, [f"{count}" for count in counts])
        ax.set_xticks([], minor=True)
        ax.set_ylim(0.0, 1.25e6 * times.max())
        return figure


def link_cost(study: "Eel", count: int) -> float:
    """Seconds of CPU for a step, divided by the links."""
    bodies = study.bodies(count)
    run = timed_run(bodies, METHODS[study.scheme], study.start(bodies), dt=study.dt, steps=STEPS)
    return run.seconds / (STEPS * count)
