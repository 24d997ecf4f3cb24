"""The figures of the three-link fish: its path, itself along it, its torques, and the paper's figures together."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal

import numpy as np

from naiad.hydro import Ellipse
from naiad.locomotion import GaitTorques, Swimmer, link_poses
from naiad.studies.fish.motion import FishMotion

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from naiad.studies.fish.three_link_fish import Cases

LINES = {"decoupled": "--", "coupled": "-"}
FILLS: dict[str, Literal["none", "full"]] = {"decoupled": "none", "coupled": "full"}
POSTURES = 7


def path(motions: Mapping[str, FishMotion], title: str) -> "Figure":
    """The path of B3 and its angle, decoupled dashed and coupled solid."""
    from naiad import viz

    with viz.house():
        figure = viz.new_figure(8.4, 3.6, title)
        left, right = figure.subplots(1, 2)
        draw_motions(left, right, motions)
        left.legend(loc="best")
    return figure


def paper(cases: "Cases") -> "Figure":
    """Figs. 8, 9, 11 and 12 of the paper, one below the other."""
    from naiad import viz
    from naiad.studies.fish.three_link_fish import FIGURES, MASS_TITLES

    with viz.house():
        figure = viz.new_figure(8.4, 11.6, "Figs. 8, 9, 11 and 12 of the paper")
        for (case, motions), (left, right) in zip(cases.items(), figure.subplots(len(cases), 2), strict=True):
            draw_motions(left, right, motions)
            left.set_title(f"Fig. {FIGURES[case]}: {MASS_TITLES[case[0]].lower()}, {case[1]} gait")
        figure.axes[0].legend(loc="best")
    return figure


def draw_motions(left: "Axes", right: "Axes", motions: Mapping[str, FishMotion]) -> None:
    """Paths to scale on the left, the angles on the right."""
    from naiad.viz.style import PALETTE, dress
    from naiad.viz.thinning import thin

    for name, line in LINES.items():
        motion, (beta, x, y) = motions[name], motions[name].poses.T
        left.plot(x, y, color=PALETTE[0], linestyle=line, label=name)
        left.plot(x[-1], y[-1], "o", color=PALETTE[0], markersize=3.5, fillstyle=FILLS[name])
        right.plot(*thin(motion.times, beta), color=PALETTE[0], linestyle=line)
    dress(left, "x [m]", "y [m]")
    left.set_aspect("equal", adjustable="datalim")
    left.margins(0.08)
    dress(right, "time [s]", "β [rad]")


def fish_along(fish: Swimmer, motion: FishMotion, ellipse: Ellipse, title: str) -> "Figure":
    """The fish at some times, in true proportion, one below the other so that none hides another, with the path of B3
    so far; Fig. 10 of the paper."""
    from naiad import viz
    from naiad.viz.style import FAINT, dress

    shown = np.linspace(0, len(motion.times) - 1, POSTURES).round().astype(int)
    poses = link_poses(fish, motion.theta[shown], motion.poses[shown])
    z = ellipse.sample(160).z
    outlines = np.exp(1j * poses[..., :1]) * z + (poses[..., 1:2] + 1j * poses[..., 2:])
    middle = motion.poses[:, 2]
    heights = [np.concatenate([each.imag.ravel(), middle[: k + 1]]) for each, k in zip(outlines, shown, strict=True)]
    lowest, highest = [float(each.min()) for each in heights], [float(each.max()) for each in heights]
    gap = 0.4 * ellipse.a
    rows = np.cumsum([0.0] + [lowest[k] - highest[k + 1] - gap for k in range(POSTURES - 1)])
    width, height = np.ptp(outlines.real), highest[0] - lowest[-1] - rows[-1]
    with viz.house():
        figure = viz.new_figure(7.0, float(np.clip(5.6 * height / width, 2.5, 10.0)) + 0.9, title)
        ax = figure.add_subplot()
        for links, row, k in zip(outlines, rows, shown, strict=True):
            ax.plot(motion.poses[: k + 1, 1], middle[: k + 1] + row, color=FAINT, linewidth=0.9, zorder=1)
            for link, colour in zip(links, viz.PALETTE, strict=False):
                ax.fill(link.real, link.imag + row, facecolor=colour, edgecolor="white", linewidth=0.5, alpha=0.85)
        dress(ax, "x [m]", "time [s]; y to the scale of x")
        ax.set_yticks(motion.poses[shown, 2] + rows, [f"{t:.2f}" for t in motion.times[shown]])
        ax.set_aspect("equal")
    return figure


def torques(found: GaitTorques, title: str) -> "Figure":
    """The torques, and the balance of energy: the work on top of the first kinetic energy is the kinetic energy."""
    from naiad import viz
    from naiad.viz.style import FAINT, PALETTE, dress
    from naiad.viz.thinning import thin

    with viz.house():
        figure = viz.new_figure(7.0, 6.4, title)
        top, middle, bottom = figure.subplots(3, 1, sharex=True)
        for k, values in enumerate(found.torques.T):
            top.plot(*thin(found.times, values), color=PALETTE[k], label=f"τ{k + 1}")
        middle.plot(*thin(found.times, found.power), color=PALETTE[2])
        change = found.kinetic_energy - found.kinetic_energy[0]
        bottom.plot(
            *thin(found.times, change), color=PALETTE[0], linewidth=3.0, alpha=0.45, label="change of kinetic energy"
        )
        bottom.plot(*thin(found.times, found.work), color=PALETTE[1], linestyle="--", label="work of the torques")
        labels = ("torque [N m/m]", "power [W/m]", "energy [J/m]")
        for ax, label in zip((top, middle, bottom), labels, strict=True):
            dress(ax, "", label)
            ax.axhline(0.0, color=FAINT, linewidth=0.6, zorder=1)
        bottom.set_xlabel("time [s]")
        top.legend(loc="upper left", bbox_to_anchor=(1.0, 1.02))
        bottom.legend(loc="upper left", bbox_to_anchor=(1.0, 1.02))
        bottom.set_title(f"largest difference {np.max(np.abs(found.work - change)):.1e} J/m", fontsize=8.5)
    return figure
