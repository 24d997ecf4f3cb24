"""Optimal control and estimation on groups: discrete equations of motion as constraints of an optimisation."""

from naiad.control.actuation import Directions, effort, elapsed
from naiad.control.estimation import Estimate, MovingHorizon, Prior, estimate
from naiad.control.implicit import Sensitivity, sensitivity
from naiad.control.interior import Status
from naiad.control.linear import (
    LinearStep,
    Orbit,
    Reach,
    Regulator,
    controllability,
    floquet,
    linear_step,
    lqr,
    observability,
)
from naiad.control.motion_regulator import Tracking, tracking
from naiad.control.mpc import MPC, Sampled
from naiad.control.orbits import PeriodicOrbit, orbit_family, periodic_orbit
from naiad.control.plant import Actuated
from naiad.control.solution import Solution
from naiad.control.solving import solve, solve_many
from naiad.control.steering import Steered, steered

__all__ = [
    "MPC",
    "Actuated",
    "Directions",
    "Estimate",
    "LinearStep",
    "MovingHorizon",
    "Orbit",
    "PeriodicOrbit",
    "Prior",
    "Reach",
    "Regulator",
    "Sampled",
    "Sensitivity",
    "Solution",
    "Status",
    "Steered",
    "Tracking",
    "controllability",
    "effort",
    "elapsed",
    "estimate",
    "floquet",
    "linear_step",
    "lqr",
    "observability",
    "orbit_family",
    "periodic_orbit",
    "sensitivity",
    "solve",
    "solve_many",
    "steered",
    "tracking",
]
