"""How far the steps of a run turn a body, and when that is too far.

Two rotations tell the angle between them up to whole turns only, so that a body that turns by about 2 pi in every step
seems to stand. The angle h |Omega| at the start of a run is known as a whole; and a body that comes to turn so fast on
the way passes through angles that are seen, at the saved nodes, where they cost the steps nothing. Both are held as one
number, 1 - cos of the angle up to pi and a straight line beyond it.
"""

import math
from typing import Any

import jax.numpy as jnp
import numpy as np

LARGEST = 0.5 * math.pi


def versine(angle: Any) -> Any:
    """1 - cos of an angle up to pi, and beyond it a line that goes on rising."""
    return jnp.where(angle < math.pi, 1.0 - jnp.cos(angle), 2.0 + (angle - math.pi))


def angle(versines: Any) -> float:
    """The largest angle of some `versine`; 0 of none."""
    versines = np.asarray(versines)
    largest = float(np.maximum.reduce(versines, axis=None, initial=0.0))
    # NumPy's arcsine, as of many: that of `math` may differ by a bit
    return 2.0 * float(np.arcsin(math.sqrt(0.5 * largest))) if largest <= 2.0 else largest - 2.0 + math.pi


def angles(versines: Any) -> np.ndarray:
    """The angle of each `versine`, which round-off may have taken below zero."""
    whole = 2.0 * np.arcsin(np.sqrt(0.5 * np.clip(versines, 0.0, 2.0)))
    return np.where(np.greater(versines, 2.0), versines - 2.0 + math.pi, whole)


def too_far(turn: float, h: float | None, unit: str = "s") -> str | None:
    """A warning, if steps of h (None: of any size), in a unit of time, turn so far that the motion is lost."""
    if not turn > LARGEST:
        return None
    if h is None:
        step, remedy = "a step", "a smaller dt"
    else:
        step, remedy = f"a step of {h:g} {unit}".rstrip(), f"dt well below {h / turn:.2g} {unit}".rstrip()
    return (
        f"{step} turns by up to {turn:.3g} rad; beyond a quarter of a turn the motion is soon not that of the system, "
        f"and beyond half a turn even its direction is lost: take {remedy}"
    )
