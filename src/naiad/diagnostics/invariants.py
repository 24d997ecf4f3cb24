"""How well a run keeps what it should keep."""

import warnings
from typing import Any

import numpy as np

from naiad.errors import InputError, RunWarning
from naiad.mechanics import has_symmetry, keeps_energy
from naiad.numerics.arguments import checked, checked_throughout
from naiad.simulation import Trajectory


@checked_throughout
def relative_change(values: Any) -> np.ndarray:
    """|y(t) - y(0)| / |y(0)| along the first axis (Euclidean norm over the others); absolute where y(0) = 0."""
    rows = np.asarray(values, dtype=float)
    rows = rows.reshape(len(rows), -1)
    scale = np.linalg.norm(rows[0])
    return np.linalg.norm(rows - rows[0], axis=1) / (scale if scale > 0 else 1.0)


@checked
def energy_error(run: Trajectory) -> np.ndarray:
    """|E - E_0| / |E_0| at the saved nodes.

    Where E_0 is round-off, the change is divided by the largest kinetic energy plus the range of the potential instead,
    `run.energy.attrs["scale"]`. Where a force, friction or time in the Lagrangian does work, the change is no error,
    and a `RunWarning` says so: see `energy_balance`.
    """
    if not keeps_energy(run.system):
        warnings.warn(
            f"energy_error: a force, friction or time in its Lagrangian does work on {type(run.system).__name__}, so "
            "its energy need not be constant; energy_balance(run) is what is missing from E - E_0 - W.",
            RunWarning,
            stacklevel=3,
        )
    scale = run.energy.attrs.get("scale")
    if scale is not None:
        energy = run.energy.to_numpy()
        return np.abs(energy - energy[0]) / scale
    return relative_change(run.energy)


@checked
def momentum_error(run: Trajectory) -> np.ndarray:
    """The relative change of the momentum of the system's symmetry at the saved nodes."""
    if not has_symmetry(run.system):
        raise InputError(
            f"{type(run.system).__name__} declares no symmetry, so no momentum need be conserved; define "
            "`symmetry(s, g)`, or evaluate `system.noether(state, action)` yourself."
        )
    return relative_change(run.momentum)
