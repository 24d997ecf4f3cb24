"""Figures of the study `variable-steps`."""

from collections.abc import Callable
from typing import Any

import numpy as np

import naiad as nd


def paths(runs: dict[str, nd.Trajectory], position: Callable[[Any], np.ndarray]) -> Any:
    """The path of each method side by side, its first nodes as dots."""
    from naiad import viz

    with viz.house():
        figure = viz.new_figure(3.2 * len(runs), 3.6)
        axes = np.atleast_1d(figure.subplots(1, len(runs), sharex=True, sharey=True))
        for ax, (name, run) in zip(axes, runs.items(), strict=True):
            x = position(run.g)
            ax.plot(x[:, 0], x[:, 1], color="#B8C4CC", linewidth=0.5)
            first = x[: max(2, len(x) // 20)]
            ax.plot(first[:, 0], first[:, 1], ".", color=viz.PALETTE[0], markersize=1.5)
            ax.plot(0, 0, "o", color="#222222", markersize=3)
            ended = "" if run.outcome is nd.Outcome.COMPLETED else f", ends at t = {run.attrs['t']:.3g}"
            ax.set(title=f"{name}{ended}", xlabel="x")
        axes[0].set_ylabel("y")
        start = position(runs[next(iter(runs))].g)[0]
        reach = 1.15 * float(np.linalg.norm(start))
        axes[0].set(xlim=(-reach, reach), ylim=(-reach, reach))
        for ax in axes:
            ax.set_aspect("equal")
        return figure


def energies(runs: dict[str, nd.Trajectory], t1: float) -> Any:
    """The energy error of each method over time."""
    from naiad.diagnostics import energy_error
    from naiad.viz.thinning import thin

    def curve(run: nd.Trajectory) -> Any:
        return thin(run.t.to_numpy(), np.maximum(np.asarray(energy_error(run)), 1e-17))

    return _over_time(runs, curve, xlim=(0.0, t1), ylim=(1e-13, None), ylabel="relative error of the energy")


def sizes(runs: dict[str, nd.Trajectory], period: float) -> Any:
    """The sizes of the steps in the first revolution."""

    def curve(run: nd.Trajectory) -> Any:
        t = run.t.to_numpy()
        t = t[t <= 1.05 * period]
        every = max(1, round(run.statistics["steps"] / max(len(run.t) - 1, 1)))
        return t[1:-1], np.diff(t)[:-1] / every

    return _over_time(runs, curve, ylabel="size of a step [s]")


def _over_time(runs: dict[str, nd.Trajectory], curve: Callable[[nd.Trajectory], Any], **axes: Any) -> Any:
    """A line for each run, on a logarithmic scale."""
    from naiad import viz

    with viz.house():
        figure = viz.new_figure(7.2, 4.0)
        ax = figure.add_subplot()
        for colour, (name, run) in zip(viz.PALETTE, runs.items(), strict=False):
            ax.plot(*curve(run), color=colour, linewidth=0.8, label=name)
        ax.set(yscale="log", xlabel="t [s]", **axes)
        ax.grid(True, color="#E4E4E4", linewidth=0.6)
        ax.legend(loc="upper left", bbox_to_anchor=(1.0, 1.02))
        return figure
