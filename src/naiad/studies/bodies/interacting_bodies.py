"""Rigid bodies that act on each other in pairs."""

from typing import Any

import jax.numpy as jnp
import numpy as np

import naiad as nd
from naiad.diagnostics import watched_run
from naiad.studies.methods import GENERAL, method
from naiad.studies.parameters import Vector, parameter
from naiad.studies.progress import Progress
from naiad.studies.study import Findings, Study

POTENTIALS = {
    "aligned": "Lennard-Jones whose depth depends on the orientations (Gay-Berne-like)",
    "dipoles": "dipoles with a soft core",
    "gravity": "gravity of extended bodies, to second order in their size",
    "lennard-jones": "Lennard-Jones, of the distance alone",
}


class InteractingBodies(Study, name="interacting-bodies"):
    """Rigid bodies with pair potentials of position and orientation: SE(3)^N.

    The bodies start on a grid with random orientations and velocities. A variational method keeps the total linear and
    angular momentum to round-off while single bodies exchange both, and the energy error swings without drift; `rk4`
    and `rkmk4` lose all three.
    """

    paper = "N. Bou-Rabee, Hamilton-Pontryagin Integrators on Lie Groups, Caltech 2007, section 7.3"

    method: str = parameter("cay", choices=GENERAL, help="integrator")
    potential: str = parameter("aligned", choices=POTENTIALS, help="pair potential")
    N: int = parameter(4, at_least=1, at_most=64, help="number of bodies")
    m: float = parameter(1.0, unit="kg", above=0.0, help="mass of each body")
    J: Vector = parameter((0.1, 0.15, 0.2), unit="kg m^2", size=3, above=0.0, help="principal moments of each body")
    unphysical: bool = parameter(False, help="take moments of inertia that no body has")
    strength: float = parameter(1.0, above=0.0, help="depth of the well, strength of the dipoles, or constant G")
    radius: float = parameter(1.0, unit="m", above=0.0, help="radius of the core, where the potential has one")
    spacing: float = parameter(1.2, unit="m", above=0.0, help="spacing of the initial grid")
    speed: float = parameter(0.2, unit="m/s", at_least=0.0, help="standard deviation of the initial velocities")
    spin: float = parameter(0.5, unit="rad/s", at_least=0.0, help="standard deviation of the angular velocities")
    seed: int = parameter(1, at_least=0, help="seed of the initial orientations and velocities")
    dt: float = parameter(0.01, unit="s", above=0.0, help="time step")
    t1: float = parameter(50.0, unit="s", above=0.0, help="duration")

    def system(self) -> nd.models.InteractingBodies:
        """The bodies of these parameters."""
        models, depth, radius = nd.models, self.strength, self.radius
        potential = {
            "aligned": models.AlignedLennardJones(depth, radius),
            "dipoles": models.Dipoles(strength=depth, depth=depth, radius=radius),
            "gravity": models.Gravity(depth),
            "lennard-jones": models.LennardJones(depth, radius),
        }[self.potential]
        structure = nd.Dense() if self.method == "midpoint" else nd.Chain(6)  # the midpoint rule couples all bodies
        return models.InteractingBodies(
            np.full(self.N, self.m), self.J[None], potential, structure, unphysical=self.unphysical
        )

    def start(self, system: nd.models.InteractingBodies) -> nd.State:
        """A cubic grid about the origin, random orientations, normally distributed velocities."""
        rng = np.random.default_rng(self.seed)
        side = int(np.ceil(self.N ** (1 / 3)))
        cells = np.stack(np.meshgrid(*3 * [np.arange(side)], indexing="ij"), -1).reshape(-1, 3)[: self.N]
        x = self.spacing * (cells - cells.mean(0))
        R = np.stack([nd.SO3().random(rng) for _ in range(self.N)])
        Omega, v = self.spin * rng.standard_normal((self.N, 3)), self.speed * rng.standard_normal((self.N, 3))
        return system.state(R=R, x=x, Omega=Omega, v=v)

    def run(self, progress: Progress) -> Findings:
        system = self.system()
        state = self.start(system)
        invariants = {
            "energy": system.energy,
            "angular_momentum": lambda state, t: total_momentum(system, state)[:3],
            "linear_momentum": lambda state, t: total_momentum(system, state)[3:],
        }
        run, errors = watched_run(
            system,
            state,
            t1=self.t1,
            dt=self.dt,
            method=method(self.method),
            progress=progress,
            invariants=invariants,
            observables={"energy_value": system.energy},
        )
        energy = float(system.energy(state))
        results = {
            "x": run.final.g.x,
            "R": run.final.g.R,
            "energy": energy,
            "energy_drift": run.monitors["energy_value"].slope * self.t1 / (abs(energy) or 1.0),
            **errors,
            "newton_iterations_mean": run.statistics["newton_iterations_mean"],
            "steps": run.statistics["steps"],
        }
        return Findings(
            results,
            lambda: run.dataset.assign_attrs(bodies=_names(system)),
            _figures(system, run),
            notes=_NOTES,
            units=_UNITS,
        )


def total_momentum(system: nd.models.InteractingBodies, state: nd.State) -> Any:
    """The sum of the bodies' momenta in space, angular (about the origin) and linear: `noether` at less cost."""
    return jnp.sum(jnp.reshape(system.momentum(state), (-1, 6)), axis=0)


def _names(system: nd.models.InteractingBodies) -> list[str]:
    return [f"body {i + 1}" for i in range(len(system.m))]


def _figures(system: nd.models.InteractingBodies, run: nd.Trajectory) -> dict:
    from naiad import diagnostics, viz

    def kept() -> Any:
        total = run.momentum.to_numpy()
        errors = {
            "energy": diagnostics.energy_error(run),
            "angular momentum": diagnostics.relative_change(total[:, :3]),
            "linear momentum": diagnostics.relative_change(total[:, 3:]),
        }
        shown = {name: np.maximum(values, 1e-17) for name, values in errors.items()}
        return viz.errors_over_time(run.t, shown, "relative error", log=True, title="What the method keeps")

    def exchanged() -> Any:
        """The angular momentum of each body about the centre of mass, along z, and their sum."""
        g, mu, m = run.g, run.states.mu.reshape(len(run.t), -1, 6), np.asarray(system.m)[:, None]
        p = np.einsum("tnij,tnj->tni", g.R, mu[..., 3:])
        x = g.x - np.sum(m * g.x, axis=1, keepdims=True) / m.sum()
        L = np.einsum("tnij,tnj->tni", g.R, mu[..., :3]) + np.cross(x, p - m * p.sum(1, keepdims=True) / m.sum())
        series = {name: L[:, i, 2] for i, name in enumerate(_names(system)[:6])} | {"all": L[..., 2].sum(1)}
        return viz.errors_over_time(
            run.t, series, "$L_z$ about the mass centre [kg m$^2$/s]", title="What bodies exchange"
        )

    return {"exchange": exchanged, "invariants": kept, "overview": lambda: run.plot()}


_UNITS = {"x": "m", "energy": "J"}

_NOTES = (
    "Errors are relative to the initial value (absolute where that is zero), the largest over every step. "
    "`energy_drift` is the slope of the energy times `t1`, relative. `x` and `R` are positions and attitudes at `t1`."
)
