"""How well a run kept what should be kept, from its own data."""

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import xarray as xr


def energy_error(dataset: "xr.Dataset") -> tuple[np.ndarray, str] | None:
    """(E - E_0)/|E_0|, or E - E_0 where E_0 = 0, with its label; None if the dataset has no energy."""
    if "energy" not in dataset or dataset["energy"].dims != ("time",):
        return None
    energy = dataset["energy"].to_numpy()
    if energy[0] == 0:
        return energy - energy[0], "energy error\n$E-E_0$ [J]"
    return (energy - energy[0]) / abs(energy[0]), "energy error\n$(E-E_0)/|E_0|$"


def momentum_error(dataset: "xr.Dataset") -> tuple[np.ndarray, str] | None:
    """|J - J_0|/|J_0| of the spatial momentum, or |J - J_0| where J_0 = 0; None if the dataset has no momentum."""
    if "momentum" not in dataset or "time" not in dataset["momentum"].dims:
        return None
    momentum = dataset["momentum"].transpose("time", ...).to_numpy()
    momentum = momentum.reshape(len(momentum), -1)
    if momentum.shape[1] == 0:
        return None
    moved = momentum - momentum[0]
    change = np.sqrt(np.einsum("ti,ti->t", moved, moved))
    size = np.linalg.norm(momentum[0])
    if size == 0:
        return change, "momentum error\n$|J-J_0|$ [SI]"
    return change / size, "momentum error\n$|J-J_0|/|J_0|$"
