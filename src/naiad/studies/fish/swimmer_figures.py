"""The figures of a driven swimmer: its angles, its energy and the work done on it, and what is conserved."""

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from naiad.studies.fish.swimmer_dynamics import DrivenMotion


def angles(motion: "DrivenMotion") -> "Figure":
    """The angles of the hinges, and that of the middle link."""
    from naiad import viz

    fish = motion.fish
    series = {f"θ{k + 1}": values for k, values in enumerate(fish.theta.T)} | {"β of B3": fish.poses[:, 0]}
    return viz.errors_over_time(fish.times, series, "angle [rad]", title="Angles")


def energy(motion: "DrivenMotion") -> "Figure":
    """The energy, the work of the torques, and the loss in the dampers."""
    from naiad import viz

    series = {"energy": motion.energy, "work of the torques": motion.work}
    if np.any(motion.loss):
        series["loss in the dampers"] = motion.loss
    return viz.errors_over_time(motion.fish.times, series, "energy [J/m]", title="Energy and work")


def conservation(motion: "DrivenMotion") -> "Figure":
    """The change of the momentum, and what is missing in the balance of the energy, both relative."""
    from naiad import viz

    size = float(np.linalg.norm(motion.momentum[0])) or 1.0
    change = np.linalg.norm(motion.momentum - motion.momentum[0], axis=1) / size
    shown = {"momentum": change, "energy balance": np.abs(motion.imbalance) / motion.energy_scale}
    floor = {name: np.maximum(values, 1e-17) for name, values in shown.items()}
    return viz.errors_over_time(motion.fish.times, floor, "error", log=True, title="Momentum and energy balance")
