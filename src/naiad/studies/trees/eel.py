"""A chain of ellipsoids that swims in an ideal fluid by waves of torque, or swings on its springs."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import naiad as nd
from naiad.diagnostics import Energy, WorkRate
from naiad.errors import InputError
from naiad.numerics import Module
from naiad.simulation.work import integral_over_time
from naiad.studies.live import LivePage
from naiad.studies.parameters import Vector, parameter
from naiad.studies.progress import Progress
from naiad.studies.study import Findings, Study
from naiad.studies.trees.invariants import METHODS, largest_changes, watched
from naiad.trees.joint_springs import relative_velocities

UP = np.array([0.0, 0.0, 1.0])
CHOICES = {
    "lgvi": "one-sided, first order",
    "trapezoid": "masses at both ends, second order",
    "midpoint": "masses half-way, second order",
}
JOINTS = {"ball": "free in all directions", "hinge": "about the third axis only: the eel stays in a plane"}


class JointPower(Module):
    """The power that the torques of the joints put in: sum_i tau_i . w_i, w_i relative angular velocities."""

    bodies: nd.models.ConnectedBodies

    def __call__(self, state: nd.State, t: Any) -> Any:
        if self.bodies.torque is None:
            return jnp.zeros(())
        xi = self.bodies.velocity(state.g, state.mu, t)
        return jnp.sum(self.bodies.torque(state.g, xi, t)[1:] * relative_velocities(self.bodies.tree, state.g, xi)[1:])


class Eel(Study, name="eel"):
    """An eel: a chain of ellipsoids in an ideal fluid, driven by waves of torque or by its springs.

    A wave of torque runs along the joints, or (`amplitude=0`) springs let go from a bent start (`bend`). The water has
    no friction and the torques act inside, so the total momenta stay zero to round-off, and yet the eel moves: what a
    link pushes aside depends on how it lies. Without torques and damping the energy swings without drift. The step
    costs O(N); with `cost`, a figure measures it for the chains of `lengths`, which takes longer than the run.
    """

    paper = "Ours; the bodies are those of T. Lee, M. Leok, N. H. McClamroch, ACC 2009, in a chain of any length"

    N: int = parameter(8, at_least=2, at_most=100_000, help="number of links")
    axes: Vector = parameter((0.5, 0.08, 0.2), unit="m", size=3, above=0.0, help="semi-axes of each link, along first")
    gap: float = parameter(0.05, at_least=0.0, help="room between links, as a fraction of the first semi-axis")
    density: float = parameter(1000.0, unit="kg/m^3", above=0.0, help="density of the water and of the eel")
    joints: str = parameter("ball", choices=JOINTS, help="kind of the joints")
    amplitude: float = parameter(30.0, unit="N m", at_least=0.0, help="amplitude of the torques; 0 for none")
    frequency: float = parameter(0.3, unit="Hz", at_least=0.0, help="frequency of the wave of torque")
    wavelength: float = parameter(8.0, above=0.0, help="length of the wave, in links")
    stiffness: float = parameter(20.0, unit="N m/rad", at_least=0.0, help="stiffness of the joints")
    damping: float = parameter(2.0, unit="N m s/rad", at_least=0.0, help="damping of the joints")
    bend: float = parameter(0.0, unit="rad", help="angle of every joint at the start")
    scheme: str = parameter("midpoint", choices=CHOICES, help="discrete Lagrangian")
    cost: bool = parameter(False, help="measure the cost of a step by the number of links")
    lengths: Vector = parameter(
        (2.0, 8.0, 32.0, 128.0), at_least=2.0, help="numbers of links for the figure of the cost"
    )
    dt: float = parameter(0.01, unit="s", above=0.0, help="time step")
    t1: float = parameter(20.0, unit="s", above=0.0, help="duration")

    def validate(self) -> None:
        if np.any(self.lengths != np.round(self.lengths)):
            raise InputError(f"lengths={self.lengths.tolist()}: expected whole numbers of links, for example 2,8,32")

    def bodies(self, count: int) -> nd.models.ConnectedBodies:
        """The eel of these parameters with so many links."""
        arm = np.array([self.axes[0] * (1.0 + 0.5 * self.gap), 0.0, 0.0])
        own, other = np.tile(arm, (count, 1)), np.tile(-arm, (count, 1))
        own[0] = other[0] = 0.0
        amplitude = np.full(count, self.amplitude)
        amplitude[0] = 0.0
        return nd.models.ConnectedBodies.ellipsoids(
            [self.axes],
            range(-1, count - 1),
            own=own,
            other=other,
            fluid=self.density,
            joints=self.joints,
            axis=UP if self.joints == "hinge" else None,
            stiffness=self.stiffness or None,
            damping=self.damping or None,
            torque=nd.models.TravellingWave(amplitude, self.frequency, self.wavelength, UP) if self.amplitude else None,
            overlap=True,
        )

    def start(self, bodies: nd.models.ConnectedBodies) -> nd.State:
        """At rest, every joint turned by `bend`."""
        turns = np.outer(np.arange(bodies.tree.count) > 0, self.bend * UP)
        return bodies.joint_state(turns)

    def live(self) -> LivePage:
        bodies = self.bodies(self.N)
        ranges = {"stiffness": (0.0, 100.0), "damping": (0.0, 10.0)}
        sliders = {name: each for name, each in ranges.items() if getattr(bodies, name) is not None}
        if bodies.torque is not None:
            sliders |= {"amplitude": (0.0, 100.0), "frequency": (0.05, 2.0), "wavelength": (2.0, 2.0 * self.N)}
        return LivePage(
            lambda study: self._moved(bodies, study),
            sliders | {"bend": (-0.6, 0.6)},
            {f"{self.scheme}: {CHOICES[self.scheme]}": METHODS[self.scheme]},
            self.dt,
            self.t1,
            outputs={"place of the middle": lambda system, state, t: jnp.mean(system.tree.centres(state.g), axis=0)},
            units={"place of the middle": "m"},
        )

    def _moved(self, bodies: nd.models.ConnectedBodies, study: "Eel") -> tuple[nd.models.ConnectedBodies, nd.State]:
        """This eel with the torques, springs and dampers of another, bent as that is at the start."""
        changes: dict[str, Any] = {}
        if bodies.stiffness is not None:
            changes["stiffness"] = study.stiffness / self.stiffness * bodies.stiffness
        if bodies.damping is not None:
            changes["damping"] = study.damping / self.damping * bodies.damping
        if isinstance(bodies.torque, nd.models.TravellingWave):
            amplitude = study.amplitude / self.amplitude * bodies.torque.amplitude
            wave = {"amplitude": amplitude, "frequency": study.frequency, "wavelength": study.wavelength}
            changes["torque"] = bodies.torque.replaced(**wave)
        turns = jnp.outer(
            jnp.arange(bodies.tree.count) * study.bend, jnp.asarray(UP)
        )  # all about one axis: they add up
        eel = bodies.replaced(**changes)
        return eel, eel.state(R=jax.vmap(nd.SO3().exp)(turns))

    def run(self, progress: Progress) -> Findings:
        bodies = self.bodies(self.N)
        state = self.start(bodies)
        power = JointPower(bodies)
        run = nd.simulate(
            bodies,
            state,
            t1=self.t1,
            dt=self.dt,
            method=METHODS[self.scheme],
            monitors=watched(bodies, state) | {"power": power},
            outputs={} if bodies.force is None else {"all_power": WorkRate(bodies), "every_energy": Energy(bodies)},
            output_every=None if bodies.force is None else 1,
            progress=progress,
            throw=True,
        )
        middle = bodies.places(run.states.g).mean(1)
        moved = middle[-1] - middle[0]
        results = {
            "x": run.final.g.x,
            "displacement": moved,
            "speed_mean": float(np.linalg.norm(moved)) / self.t1,
            "energy0": float(run.energy[0]),
            "energy": float(run.energy[-1]),
            "work": integral(run, "power", power),
            **self._energy_errors(run),
        }
        return Findings(results, lambda: run.dataset, self._figures(bodies, run), notes=_NOTES, units=_UNITS)

    def _energy_errors(self, run: nd.Trajectory) -> dict[str, float]:
        """The largest errors over every step; where torques or dampers act, that of the balance of energy."""
        errors = largest_changes(run)
        if "all_power" not in run.record:
            return errors
        times, energy = run.record["output_time"].to_numpy(), run.record["every_energy"].to_numpy()
        done = integral_over_time(times, run.record["all_power"].to_numpy(), times)
        del errors["energy_error_max"]
        return {"energy_balance_error_max": float(np.max(np.abs(energy - energy[0] - done))), **errors}

    def _figures(self, bodies: nd.models.ConnectedBodies, run: nd.Trajectory) -> dict:
        from naiad.studies.trees import eel_figures as figures

        drawn = {
            "shapes": lambda: figures.shapes(bodies, run),
            "path": lambda: figures.path(bodies, run),
            "energy": lambda: figures.energy(run),
        }
        return drawn | ({"cost": lambda: figures.cost(self)} if self.cost else {})


def integral(run: nd.Trajectory, name: str, observable: Any) -> float:
    """The integral of a monitored observable over all steps, by the trapezoid."""
    monitor, ends = run.monitors[name], run.evaluate(observable)[[0, -1]]
    times, steps = run.t.to_numpy(), monitor.count - 1
    return float((monitor.mean * monitor.count - ends.mean()) / steps * (times[-1] - times[0]))


_UNITS = {
    "x": "m",
    "displacement": "m",
    "speed_mean": "m/s",
    "energy0": "J",
    "energy": "J",
    "work": "J",
    "energy_error_max": "J",
    "energy_balance_error_max": "J",
    "linear_momentum_error_max": "kg m/s",
    "angular_momentum_error_max": "kg m^2/s",
}

_NOTES = (
    "`displacement` is that of the mean of the links' centres from 0 to `t1` [m], `speed_mean` its length over `t1`; "
    "`work` is what the torques put in [J] (the trapezoid over every step). Errors are absolute, the largest "
    "over every step: `energy_error_max` is |E - E_0|; where torques or dampers act, `energy_balance_error_max` "
    "is in its place, |E - E_0 - W| with the work W of both. Links may overlap when the eel bends: the model does not "
    "see contact."
)
