"""The picture of the README: a heavy top over a long run with large steps, variational against Runge-Kutta.

Run it from anywhere: python docs/images/make_readme.py
"""

from pathlib import Path

import jax
import matplotlib
import numpy as np

import naiad as nd
from naiad.viz import PALETTE, house, new_figure

matplotlib.use("Agg")

DT, T1, WINDOW = 0.1, 2000.0, 55.0
METHODS = {"variational": nd.Variational(), "RK4": nd.RK4()}
COLOURS = dict(zip(METHODS, PALETTE, strict=False))
INK, FAINT, LINE = "#333333", "#B9B9B9", "#DDDDDD"
ELEVATION, AZIMUTH = np.deg2rad([38.0, -60.0])


class HeavyTop(nd.LagrangianSystem):
    """The heavy top of the README."""

    J: jax.Array
    mgl: float
    group = nd.SO3()

    def lagrangian(self, R, Omega, t):
        return 0.5 * Omega @ self.J @ Omega - self.mgl * R[2, 2]


def runs():
    """A top let go at an angle of 0.9 rad with a spin of 5 rad/s: 12.6 steps a turn, every step saved."""
    top = HeavyTop(J=np.diag([1.0, 1.0, 0.5]), mgl=1.0)
    state = top.state(R=top.group.exp(np.array([0.9, 0.0, 0.0])), Omega=(0.0, 0.0, 5.0))
    return {
        name: nd.simulate(top, state, t1=T1, dt=DT, method=method, save_every=1) for name, method in METHODS.items()
    }


def energy_panel(ax, results):
    """The relative error of the energy: the band between its least and greatest values over 10 s."""
    for name, run in results.items():
        energy = run.energy.to_numpy()
        error = 100.0 * (energy[1:] - energy[0]) / abs(energy[0])
        buckets = error.reshape(-1, 100)
        time = DT * 100 * (np.arange(len(buckets)) + 0.5)
        low, high = buckets.min(axis=1), buckets.max(axis=1)
        ax.fill_between(time, low, high, color=COLOURS[name], alpha=0.35, linewidth=0)
        for edge in (low, high):
            ax.plot(time, edge, color=COLOURS[name], linewidth=0.8)
        ax.text(time[-1], high[-1] + 0.03, name, color=COLOURS[name], ha="right", va="bottom", fontsize=10)
    ax.axhline(0.0, color=FAINT, linewidth=0.6, zorder=0)
    ax.set(xlabel="time [s]", ylabel="relative energy error [%]", xlim=(0.0, T1))
    ax.tick_params(color=FAINT, labelcolor=INK)


def sphere_panel(ax, results, window, title):
    """The path of the top's axis in a window of time, seen from above at an angle; what is behind the ball is pale."""
    angle = np.linspace(0.0, 2.0 * np.pi, 361)
    circle = np.stack([np.cos(angle), np.sin(angle), 0.0 * angle], axis=1)
    for latitude in np.deg2rad([-30.0, 0.0, 30.0, 60.0]):
        _curve(ax, np.cos(latitude) * circle + [0.0, 0.0, np.sin(latitude)], LINE, 0.5, behind=0.0)
    for longitude in np.deg2rad(np.arange(0.0, 180.0, 30.0)):
        across = np.array([np.cos(longitude), np.sin(longitude), 0.0])
        meridian = np.outer(np.cos(angle), across) + np.outer(np.sin(angle), [0.0, 0.0, 1.0])
        _curve(ax, meridian, LINE, 0.5, behind=0.0)
    ax.plot(np.cos(angle), np.sin(angle), color=FAINT, linewidth=0.8)
    for name, run in results.items():
        chosen = (run.t >= window[0]) & (run.t <= window[1])
        _curve(ax, _smooth(run.g[chosen, :, 2]), COLOURS[name], 1.1, behind=0.25)
    ax.set(aspect="equal", xlim=(-1.05, 1.05), ylim=(-1.05, 1.05))
    ax.set_axis_off()
    ax.set_title(title, fontsize=10, color=INK, loc="center")


def _smooth(points):
    """The path between the nodes, by a cubic spline, for the eye."""
    from scipy.interpolate import CubicSpline

    at = np.arange(len(points))
    return CubicSpline(at, points)(np.linspace(0.0, at[-1], 8 * len(points)))


def _curve(ax, points, colour, width, *, behind):
    right = np.array([-np.sin(AZIMUTH), np.cos(AZIMUTH), 0.0])
    toward = np.array([np.cos(ELEVATION) * np.cos(AZIMUTH), np.cos(ELEVATION) * np.sin(AZIMUTH), np.sin(ELEVATION)])
    ahead = points @ toward >= 0.0
    screen = np.stack([points @ right, points @ np.cross(toward, right)], axis=1)
    for shown, strength in ((~ahead, behind), (ahead, 1.0)):
        ax.plot(*np.where(shown[:, None], screen, np.nan).T, color=colour, linewidth=width, alpha=strength)


def main(folder: Path = Path(__file__).parent) -> None:
    """Run both methods and draw."""
    results = runs()
    with house():
        figure = new_figure(10.5, 3.6)
        figure.get_layout_engine().set(w_pad=0.08, h_pad=0.08)
        left, first, last = figure.subplots(1, 3, width_ratios=[1.35, 1.0, 1.0])
        energy_panel(left, results)
        sphere_panel(first, results, (0.0, WINDOW), f"axis of the top, first {WINDOW:.0f} s")
        sphere_panel(last, results, (T1 - WINDOW, T1), f"last {WINDOW:.0f} s of {T1:.0f} s")
        figure.savefig(folder / "readme.png", dpi=160)


if __name__ == "__main__":
    main()
