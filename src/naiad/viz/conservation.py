"""How well a run kept what should be kept, from its own data."""

from typing import TYPE_CHECKING

import numpy as np

from naiad.viz.roles import units_of
from naiad.viz.style import labelled

if TYPE_CHECKING:
    import xarray as xr


def energy_error(dataset: "xr.Dataset") -> tuple[np.ndarray, str] | None:
    """(E - E_0)/|E_0| with its label; None if the dataset has no energy, or one that a heat bath changes.

    Where E_0 is round-off, the `scale` of the energy takes its place: the largest kinetic energy plus the range of the
    potential. It is E - E_0 where there is no scale and E_0 = 0. Where work is done, as the variable `work_done` says,
    it is E - E_0 - W, relative to the largest of both.
    """
    if not has_energy(dataset) or dataset["energy"].attrs.get("changes"):
        return None
    energy = dataset["energy"].to_numpy()
    if "work_done" in dataset:
        work = dataset["work_done"]
        scale = float(np.nanmax(np.abs([energy, work.to_numpy()]), initial=0.0)) or 1.0
        missing = (energy - energy[0] - work.to_numpy()) / scale
        coarse = work.attrs.get("quadrature_error", 0.0) > 0.3 * scale * np.nanmax(np.abs(missing), initial=0.0)
        remark = "\nmostly of the quadrature:\nsave more often" if coarse and np.nanmax(np.abs(missing)) > 1e-9 else ""
        return missing, f"energy balance\n$E-E_0-W$, relative{remark}"
    scale = dataset["energy"].attrs.get("scale")
    if scale is not None:
        label = "energy error\n$E-E_0$, of the largest kinetic\nenergy + range of potential"
        return (energy - energy[0]) / scale, label
    if energy[0] == 0:
        units = units_of(dataset["energy"])
        return energy - energy[0], labelled("energy error\n$E-E_0$", "J" if units is None else units)
    return (energy - energy[0]) / abs(energy[0]), "energy error\n$(E-E_0)/|E_0|$"


def has_energy(dataset: "xr.Dataset") -> bool:
    """Whether there is an energy along time."""
    return "energy" in dataset and dataset["energy"].dims == ("time",)


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
        return change, "momentum error\n$|J-J_0|$, absolute"
    return change / size, "momentum error\n$|J-J_0|/|J_0|$"
