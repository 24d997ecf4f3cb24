"""The figures of a falling plate."""

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

import naiad as nd
from naiad.diagnostics import energy_error, relative_change

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from naiad.studies.vehicles.falling_plate import FallingPlate

SHOWN, SMALLEST = 36, 1e-17
ROUND = np.linspace(0.0, 2.0 * np.pi, 61)


class HalfTurns(NamedTuple):
    """The half-turns of plates by their initial angle (columns) and spin (rows)."""

    betas: np.ndarray
    spins: np.ndarray
    turns: np.ndarray


def figures(study: "FallingPlate", run: nd.Trajectory, peaks: np.ndarray, found: HalfTurns | None) -> dict[str, Any]:
    """The drops beside each other; half-turns over the starts; the swings; what is kept; the overview."""
    drawn = {
        "fall": lambda: fall(study),
        **({} if found is None else {"half-turns": lambda: half_turns(study, found)}),
        "swings": lambda: swings(study, run, peaks),
        "kept": lambda: kept(run),
        "overview": lambda: run.plot(),
    }
    return drawn


def fall(study: "FallingPlate") -> "Figure":
    """The plate at equal times, for a share of the initial spin each, side by side."""
    from naiad import viz
    from naiad.viz.style import FAINT, INK, dress

    plate = study.plate()
    runs = study.fan(plate)
    spins = [float(run.xi.to_numpy()[0, 0]) for run in runs]
    with viz.house():
        figure = viz.new_figure(9.0, 6.0)
        ax: Any = figure.add_subplot()
        edge, middles, margin = 0.0, [], 1.3 * study.a
        apart = 1.4 * max(float(np.ptp(run.g.x[:, 1])) for run in runs) / len(runs)
        for run, colour in zip(runs, viz.PALETTE * len(runs), strict=False):
            x, beta = np.asarray(run.g.x), np.asarray(run.g.beta)
            width = max(float(np.ptp(x[:, 0])) + 2.0 * margin, apart)
            shift = edge + 0.5 * (width - x[:, 0].max() - x[:, 0].min())
            edge += width
            middles.append(shift + x[0, 0])
            ax.plot(x[:, 0] + shift, x[:, 1], color=FAINT, linewidth=0.8, zorder=1)
            for k in np.linspace(0, len(beta) - 1, SHOWN).astype(int):
                outline = _outline(study, float(beta[k])) + x[k] + (shift, 0.0)
                ax.fill(*outline.T, facecolor=colour, edgecolor=INK, linewidth=0.4, alpha=0.75, zorder=2)
        ax.set_aspect("equal")
        ax.set_xticks(middles, [f"{spin:.3g} rad/s" for spin in spins])
        dress(ax, "spin at the start", "y [m]", f"A plate falls: at {SHOWN} equal times until {study.t1:g} s")
        return figure


def half_turns(study: "FallingPlate", found: HalfTurns) -> "Figure":
    """Their number, in colours, over angle and spin."""
    from naiad import viz
    from naiad.viz.style import INK, dress

    most = max(float(np.max(np.abs(found.turns))), 1.0)
    with viz.house():
        figure = viz.new_figure(6.6, 5.2)
        ax: Any = figure.add_subplot()
        shown = ax.pcolormesh(
            found.betas, found.spins, found.turns, cmap="RdBu_r", vmin=-most, vmax=most, shading="nearest"
        )
        figure.colorbar(shown, ax=ax, label="half-turns before it flutters")
        ax.plot(study.beta0, study.Omega0, marker="o", markersize=6, markerfacecolor="none", color=INK)
        dress(ax, "angle at the start [rad]", "spin at the start [rad/s]", "Half-turns of the plate")
        return figure


def swings(study: "FallingPlate", run: nd.Trajectory, peaks: np.ndarray) -> "Figure":
    """The angle from the horizontal over time, with t^(-1/2) through the last swing."""
    from naiad import viz
    from naiad.viz.style import FAINT, dress

    t, beta = run.t.to_numpy(), np.asarray(run.g.beta)
    with viz.house():
        figure = viz.new_figure(8.4, 4.0)
        ax: Any = figure.add_subplot()
        ax.plot(t, beta / np.pi, color=viz.PALETTE[0], linewidth=1.0, label="angle")
        if len(peaks):
            later = t[t >= peaks[0, 0]]
            envelope = peaks[-1, 1] * np.sqrt(peaks[-1, 0] / later) / np.pi
            middle = np.rint(beta[-1] / np.pi)
            ax.plot(later, middle + envelope, "--", color=FAINT, label="$\\sim t^{-1/2}$")
            ax.plot(later, middle - envelope, "--", color=FAINT)
        ax.legend(loc="best")
        dress(ax, "time [s]", "angle [half-turns]", "Tumbling, then fluttering")
        return figure


def kept(run: nd.Trajectory) -> "Figure":
    """The errors of the energy and of the level momentum."""
    from naiad import viz

    errors = {"energy": energy_error(run), "level momentum": relative_change(run.momentum)}
    shown = {name: np.maximum(np.abs(values), SMALLEST) for name, values in errors.items()}
    return viz.errors_over_time(run.t, shown, "relative error", log=True, title="What is kept")


def _outline(study: "FallingPlate", beta: float) -> np.ndarray:
    c, s = np.cos(beta), np.sin(beta)
    ellipse = np.column_stack([study.a * np.cos(ROUND), study.b * np.sin(ROUND)])
    return ellipse @ np.array([[c, s], [-s, c]])
