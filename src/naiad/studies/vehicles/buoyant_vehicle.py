"""An underwater vehicle with weight, buoyancy and added mass."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import jax
import numpy as np

import naiad as nd
from naiad.compiler import execute
from naiad.diagnostics import Energy, KelvinNoether, watched_run
from naiad.diagnostics.watching import Observable
from naiad.numerics import Module
from naiad.numerics.checks import is_known, namespace
from naiad.studies.live import LivePage
from naiad.studies.parameters import Friction, Inertia, Vector, as_matrix, parameter
from naiad.studies.progress import Progress
from naiad.studies.study import Findings, Study
from naiad.viz.live import Slider

MAPS = {"cay": "Cayley map", "exp": "exponential map"}
SCHEMES = {
    "paper": "one-sided discrete Lagrangian, first order, started with the velocities of the first step",
    "symmetric": "Lagrangian at the midpoint, second order, started with the momenta",
}


class BuoyantVehicle(Study, name="buoyant-vehicle"):
    """Underwater vehicle with weight and buoyancy: discrete Euler-Poincare equations with advected parameters.

    (J omega)' = J omega x omega - B r x a + p x nu, p' = p x omega + (m g - B) a, with nu = R^T q', p = (m + M_A) nu
    and a = R^T e_z, e_z downwards. The vehicle dives, turns round and rises, for it is 1.3 N too light. The
    Kelvin-Noether quantity, the momentum of turns about the vertical, stays at round-off. With scheme=paper position
    and attitude are first order, and the energy E_k grows with time: not the solver's doing, as the paper has it, but
    that of a potential at q_k beside a velocity at k + 1/2 (figure `energy-growth`). With scheme=symmetric both are
    gone.
    """

    paper = "Y. Ono, S. Fiori, L. Peng, arXiv:2501.12940, 2025, (73)-(77), Tables 1 and 2, Figs. 1-3"

    map: str = parameter("cay", choices=MAPS, help="the map from velocities to rotations")
    scheme: str = parameter("paper", choices=SCHEMES, help="the discrete Lagrangian")
    m: float = parameter(123.8, unit="kg", above=0.0, help="mass")
    added_mass: Friction = parameter(
        (65.0, 70.0, 75.0), unit="kg", size=3, help="added mass: three numbers or a matrix"
    )
    J: Inertia = parameter((5.46, 5.29, 5.72), unit="kg m^2", size=3, help="inertia: three moments or a matrix")
    buoyancy: float = parameter(1215.8, unit="N", at_least=0.0, help="weight of the displaced water")
    r: Vector = parameter((0.0, 0.0, -0.007), unit="m", size=3, help="centre of buoyancy from the centre of gravity")
    q0: Vector = parameter((0.0, 0.0, 1.0), unit="m", size=3, help="initial position, z downwards")
    v0: Vector = parameter((0.1, 0.1, 0.8), unit="m/s", size=3, help="initial velocity")
    omega0: Vector = parameter(
        (0.174532925199433, 0.0, 0.349065850398866), unit="rad/s", size=3, help="initial angular velocity in the body"
    )
    dt: float = parameter(0.01, unit="s", above=0.0, help="time step")
    t1: float = parameter(500.0, unit="s", above=0.0, help="duration")

    def run(self, progress: Progress) -> Findings:
        from naiad.studies.vehicles.buoyant_figures import figures

        chosen = self.plan(self.map, self.scheme)
        run, errors = watched_run(
            chosen.vehicle,
            chosen.state,
            t1=self.t1,
            dt=self.dt,
            method=chosen.method,
            progress=progress,
            invariants=chosen.invariants,
        )
        values = {name: run.evaluate(observable) for name, observable in chosen.invariants.items()}
        velocity = run.evaluate(chosen.velocity)[-1]
        results = {
            "q": run.final.g.q,
            "R": run.final.g.R,
            "omega": velocity[:3],
            "v": velocity[3:],
            **{name: float(along[0]) for name, along in values.items()},
            **errors,
            "newton_iterations_mean": run.statistics["newton_iterations_mean"],
            "steps": run.statistics["steps"],
        }
        return Findings(results, lambda: run.dataset, figures(self, run), notes=_NOTES, units=_UNITS)

    def live(self) -> LivePage:
        return LivePage(
            BuoyantVehicle.start,
            {
                "v0": (-1.0, 1.0),
                "omega0": (-1.0, 1.0),
                "buoyancy": (1205.0, 1225.0),
                "r": (-0.02, 0.02),
                "m": (120.0, 128.0),
                "J": (2.0, 12.0),
                "added_mass": Slider(0.0, 150.0, label="added mass"),
            },
            {f"{MAPS[self.map]}, {self.scheme} scheme": self.plan(self.map, self.scheme).method},
            self.dt,
            min(self.t1, 100.0),
            outputs={"depth": lambda state, t: state.g.q[2]},
        )

    def start(self) -> tuple[nd.models.BuoyantVehicle, nd.State]:
        """The vehicle of these parameters, and its initial state."""
        chosen = self.plan(self.map, self.scheme)
        return chosen.vehicle, chosen.state

    def plan(self, map: str, scheme: str) -> "Plan":
        """The vehicle of these parameters with a map and a scheme."""
        vehicle = nd.models.BuoyantVehicle(self.m, as_matrix(self.added_mass), as_matrix(self.J), self.buoyancy, self.r)
        g = vehicle.state(q=self.q0).g
        xi = namespace(self.omega0, self.v0).concatenate([self.omega0, self.v0])
        return plan(vehicle, g, xi, map=map, scheme=scheme, dt=self.dt)


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
    if all(is_known(leaf) for leaf in jax.tree.leaves((vehicle, g, xi, dt))):
        state = execute(_first_step, vehicle, method, g, xi, dt, parameters=(0,))
    else:
        state = _first_step(vehicle, method, g, xi, dt)
    return Plan(vehicle, method, state, StepEnergy(vehicle, method, dt), StepVelocity(vehicle, method, dt))


def _first_step(vehicle: nd.models.BuoyantVehicle, method: nd.Variational, g: Any, xi: Any, dt: Any) -> nd.State:
    return method.first_step(vehicle, g, xi, 0.0, dt)


_UNITS = {"q": "m", "omega": "rad/s", "v": "m/s", "energy": "J", "kelvin_noether": "kg m^2/s"}

_NOTES = (
    "`energy` and `kelvin_noether` are the first values. Errors are relative to them (absolute where they are zero), "
    "and the largest over every step; `orthogonality_error_max` is the Frobenius norm of R^T R - I. With scheme=paper "
    "`omega` and `v` at t1 are the velocities of the step that begins there, and the energy is the paper's E_k, of "
    "these velocities and the potential at the node; with scheme=symmetric both follow from the momenta at the node. "
    "The overview and the dataset have the energy of the momenta at the nodes with either scheme."
)
