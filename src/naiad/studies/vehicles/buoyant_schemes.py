"""The schemes of the study of a buoyant vehicle: how each starts, steps, and takes its energy and velocities."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

import naiad as nd
from naiad.compiler import execute
from naiad.diagnostics import Energy, KelvinNoether
from naiad.diagnostics.watching import Observable
from naiad.numerics import Module

MAPS = {"cay": "Cayley map", "exp": "exponential map"}
SCHEMES = {
    "paper": "one-sided discrete Lagrangian, first order, started with the velocities of the first step",
    "symmetric": "Lagrangian at the midpoint, second order, started with the momenta",
}


class StepVelocity(Module):
    """(omega, q') of the step that begins at the node."""

    system: nd.LagrangianSystem
    method: nd.Variational
    dt: float

    def __call__(self, state: nd.State, t: Any) -> Any:
        return self.method.step_velocity(self.system, state, t, self.dt)


class StepEnergy(Module):
    """The paper's E_k: the velocity of the step that begins at the node, and the potential at the node."""

    system: nd.LagrangianSystem
    method: nd.Variational
    dt: float

    def __call__(self, state: nd.State, t: Any) -> Any:
        return self.method.discrete_energy(self.system, state, t, self.dt)


class MidwayEnergy(Module):
    """As E_k, with the potential of the weight at (q_k + q_{k+1})/2."""

    system: nd.models.BuoyantVehicle
    method: nd.Variational
    dt: float

    def __call__(self, state: nd.State, t: Any) -> Any:
        xi = self.method.step_velocity(self.system, state, t, self.dt)
        g = state.g._replace(q=state.g.q + 0.5 * self.dt * xi[3:])
        return xi @ self.system.legendre(g, xi, t) - self.system.lagrangian(g, xi, t)


class NodeVelocity(Module):
    """(omega, q') of the momenta at the node."""

    system: nd.LagrangianSystem

    def __call__(self, state: nd.State, t: Any) -> Any:
        return self.system.velocity(state.g, state.mu, t)


@dataclass(frozen=True)
class Plan:
    """A vehicle, a method and where it starts, with its energy and velocities as the scheme defines them."""

    vehicle: nd.models.BuoyantVehicle
    method: nd.Variational
    state: nd.State
    energy: Observable
    velocity: Observable

    @property
    def invariants(self) -> Mapping[str, Observable]:
        """The energy, and the momentum of turns about the vertical [advected, eq. (77)]."""
        return {"energy": self.energy, "kelvin_noether": KelvinNoether(self.vehicle, self.vehicle.down)}


def plan(vehicle: nd.models.BuoyantVehicle, g: Any, xi: np.ndarray, *, map: str, scheme: str, dt: float) -> Plan:
    """A start at g with the velocities xi = (omega, q')."""
    tau = nd.Cayley() if map == "cay" else nd.Exponential()
    if scheme == "symmetric":
        method = nd.Variational(tau, nd.Midpoint())
        return Plan(vehicle, method, vehicle.state(g, xi), Energy(vehicle), NodeVelocity(vehicle))
    method = nd.Variational(tau, nd.Left())
    state = execute(_first_step, vehicle, method, g, xi, dt)
    return Plan(vehicle, method, state, StepEnergy(vehicle, method, dt), StepVelocity(vehicle, method, dt))


def _first_step(vehicle: nd.models.BuoyantVehicle, method: nd.Variational, g: Any, xi: Any, dt: Any) -> nd.State:
    return method.first_step(vehicle, g, xi, 0.0, dt)
