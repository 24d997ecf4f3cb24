"""What follows from a state of a system, as functions of system, state and time."""

from typing import Any

from naiad.mechanics import LagrangianSystem, State


def velocity(system: LagrangianSystem, state: State, t: Any) -> Any:
    """The velocity in the body frame, from the momentum."""
    return system.velocity(state.g, state.mu, t)


def energy(system: LagrangianSystem, state: State, t: Any) -> Any:
    """The energy, from the momentum."""
    return system.energy(state, t)


def noether(system: LagrangianSystem, state: State, t: Any) -> Any:
    """The momentum of the declared symmetry, or of left translations."""
    return system.noether(state)


def group_error(system: LagrangianSystem, state: State, t: Any) -> Any:
    """How far the configuration is off the group."""
    return system.group.error(state.g)
