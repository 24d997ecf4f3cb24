"""What changes of an energy are divided by where the energy itself is round-off."""

import numpy as np
from jaxtyping import Float

ROUND_OFF = 1e-13  # an energy below this part of the scale is rounding
SEEN = 1e-6  # a change below this part of the energy is no sign that the energy is rounding


def sum_of_parts(
    energy: Float[np.ndarray, " nodes"], mu: Float[np.ndarray, "nodes n"], xi: Float[np.ndarray, "nodes n"]
) -> float:
    """Return max |T| + max V - min V with T = <mu, xi>/2 and V = E - T, whatever constant V contains."""
    kinetic = 0.5 * np.sum(mu * xi, axis=1)
    finite = np.isfinite(kinetic) & np.isfinite(energy)
    if not finite.any():
        return 0.0
    return float(np.max(np.abs(kinetic[finite])) + np.ptp((energy - kinetic)[finite]))


def energy_scale(
    energy: Float[np.ndarray, " nodes"], mu: Float[np.ndarray, "nodes n"], xi: Float[np.ndarray, "nodes n"]
) -> float | None:
    """Return the largest kinetic energy plus the range of the potential, where the first energy is round-off of that;
    else None."""
    scale = sum_of_parts(energy, mu, xi)
    return scale if abs(energy[0]) < ROUND_OFF * scale else None


def may_be_rounding(energy: Float[np.ndarray, " nodes"]) -> bool:
    """Whether an energy changes so much, relative to its first value, that this may be round-off."""
    return bool(np.nanmax(np.abs(energy - energy[0]), initial=0.0) > SEEN * abs(energy[0]))
