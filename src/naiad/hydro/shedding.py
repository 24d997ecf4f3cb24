"""A plate or an ellipse that moves as it is told and sheds vortices from its trailing edge: Kutta's condition.

This is no Hamiltonian system: every step adds a vortex, and energy goes with it. The impulse of body and wake gives the
force: what the fluid gains the body loses.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float

from naiad.errors import InputError
from naiad.hydro.elliptic_cylinder import EllipticCylinder
from naiad.hydro.shedding_flow import SheddingFlow, moved, placed, seen
from naiad.numerics.arguments import checked_throughout
from naiad.numerics.checks import positive, vector


class Wake(NamedTuple):
    """What was shed: times, poses (beta, x, y) of the body, forces on it in space between the times, and strengths and
    places of the vortices in the end, the oldest first."""

    t: Float[np.ndarray, " k"]
    poses: Float[np.ndarray, "k 3"]
    forces: Float[np.ndarray, "k-1 2"]
    gamma: Float[np.ndarray, " n"]
    places: Float[np.ndarray, "n 2"]


@checked_throughout
def shed_wake(
    body: EllipticCylinder,
    velocity: Callable[[float], Any],
    *,
    t1: float,
    dt: float,
    density: float = 1.0,
    pose: Any = (0.0, 0.0, 0.0),
) -> Wake:
    """The wake of a body that has the velocity (Omega, v_x, v_y) = `velocity(t)` in its frame and starts from rest.

    At each time a vortex leaves the edge at -e_1, as strong as it takes for the fluid to leave there smoothly: without
    a velocity relative to the body at the edge of an ellipse, with a finite one at that of a plate (b = 0). The
    circulation around the body is what the wake lacks, and all vortices go with the flow, by Heun's method.
    """
    steps = round(positive("t1", t1) / positive("dt", dt))
    if steps < 1:
        raise InputError(f"t1 = {t1!r} is less than a step of dt = {dt!r}.")
    flow = SheddingFlow.of(body, positive("density", density))
    here, z, gamma = vector("pose", pose), np.zeros(0, complex), np.zeros(0)
    poses, impulses = [here], []
    for k in range(steps + 1):
        xi = vector("velocity(t)", velocity(k * dt))
        z = np.append(z, placed(flow, z, here, xi, dt))
        X = seen(z, here)
        gamma = np.append(gamma, -flow.slip(X[:-1], gamma, xi) / flow.slip_of_vortex(X[-1]))
        impulses.append(flow.impulse(z, gamma, here, xi))
        if k == steps:
            break
        rate = flow.rates(z, gamma, here, xi)
        next_pose = moved(here, 0.5 * (xi + vector("velocity(t)", velocity((k + 1) * dt))), dt)
        after = flow.rates(z + dt * rate, gamma, next_pose, vector("velocity(t)", velocity((k + 1) * dt)))
        z, here = z + 0.5 * dt * (rate + after), next_pose
        poses.append(here)
    gained = np.array([[each.real, each.imag] for each in impulses])
    places = np.stack([np.real(z), np.imag(z)], axis=1)
    return Wake(dt * np.arange(steps + 1), np.array(poses), -np.diff(gained, axis=0) / dt, gamma, places)
