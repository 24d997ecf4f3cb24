"""The added mass of a body as Gazebo and others read it."""

from typing import TYPE_CHECKING

import numpy as np

from naiad.hydro.frames import linear_first, moved
from naiad.numerics.checks import positive

if TYPE_CHECKING:
    from naiad.hydro.shape import AbstractShape

AXES = "xyzpqr"


def inertial(shape: "AbstractShape", density: float, mass: float | None = None) -> str:
    """SDF's <inertial> with <fluid_added_mass>, of a homogeneous body that floats in balance if no `mass` is given.

    The inertia is about the centre of mass, which is that of the volume, and the added mass about the origin of the
    link, as SDF has them (inertial.sdf, since 1.10).
    """
    centre = np.asarray(shape.centre, dtype=float)
    body = shape.displaced_mass(density) if mass is None else float(positive("mass", mass))
    dry = moved(shape.inertia(body / shape.volume), x=-centre)[:3, :3]
    added = linear_first(shape.added_inertia(density))
    lines = ["<inertial>", f"  <pose>{_row(centre)} 0 0 0</pose>", f"  <mass>{body:.10g}</mass>", "  <inertia>"]
    lines += [
        f"    <i{a}{b}>{dry[i, j]:.10g}</i{a}{b}>" for i, a in enumerate("xyz") for j, b in enumerate("xyz") if j >= i
    ]
    lines += ["  </inertia>", "  <fluid_added_mass>"]
    lines += [
        f"    <{a}{b}>{added[i, j]:.10g}</{a}{b}>" for i, a in enumerate(AXES) for j, b in enumerate(AXES) if j >= i
    ]
    return "\n".join([*lines, "  </fluid_added_mass>", "</inertial>"])


def _row(values: np.ndarray) -> str:
    return " ".join(f"{value:.10g}" for value in values)
