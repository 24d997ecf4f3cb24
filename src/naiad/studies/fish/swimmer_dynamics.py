"""The three-link fish as its hinges are driven: the motion that given torques make."""

import dataclasses
from typing import TYPE_CHECKING, Any

import numpy as np

import naiad as nd
from naiad.diagnostics import RelativeChange, limit_cycle
from naiad.errors import InputError, RunError
from naiad.hydro import Ellipse
from naiad.integrators import AbstractMethod
from naiad.locomotion import DrivenSwimmer, HarmonicTorque, InertiaTable, Swimmer, link_poses, tabulated
from naiad.numerics import Module
from naiad.studies.fish.motion import FishMotion, three_links
from naiad.studies.flow.links import HYDRO, MASS_TEXTS, LinkMass, Links
from naiad.studies.methods import CHOICES, method
from naiad.studies.parameters import NameOrNumber, Vector, parameter
from naiad.studies.progress import Progress
from naiad.studies.study import Findings, Study

if TYPE_CHECKING:
    import xarray as xr

NODES = 20_000
"""That are saved, at most about so many."""
DEGREE = 5
"""Of the spline through the power at the saved nodes, whose integral is the work."""
METHODS = {name: CHOICES[name] for name in ("midpoint", "cay", "exp", "compose4", "compose6", "rkmk4", "rk4")}


class SwimmerDynamics(Study, Links, LinkMass, name="swimmer-dynamics"):
    """The three-link fish with torques, springs and dampers at its hinges.

    tau = torque + amplitude sin(2 pi frequency t + phase) at the two hinges, until `release`, from when on they are
    free but for springs and dampers. All of it acts inside: the momentum of fish and fluid is that of the start to
    round-off, zero by default, and the fish swims all the same. The change of the energy is the work of the torques
    less the loss in the dampers, to the order of the method. With `momentum` the fish is carried along; with
    `amplitude=0,0` and `stiffness=0,0` a fish with free hinges tumbles. With `stability=yes` the periodic motion is
    found whose shape comes back after each period of the torques, with Floquet's multipliers of its neighbours, and
    those of the joints left to themselves.
    """

    paper = "E. Kanso, J. E. Marsden, C. W. Rowley, J. Melli-Huber, Locomotion of articulated bodies, 2005, eq. (5.4)"

    torque: Vector = parameter((0.0, 0.0), unit="N m/m", size=2, help="constant part of the torques")
    amplitude: Vector = parameter((1500.0, 1500.0), unit="N m/m", size=2, help="amplitudes of the torques")
    frequency: float = parameter(0.15, unit="Hz", at_least=0.0, help="frequency of the torques")
    phase: Vector = parameter((0.0, -np.pi / 2.0), unit="rad", size=2, help="phases of the torques")
    release: float | None = parameter(None, unit="s", at_least=0.0, help="when the torques end (never)")
    stiffness: Vector = parameter((3000.0, 3000.0), unit="N m/m", size=2, at_least=0.0, help="springs at the hinges")
    rest: Vector = parameter((0.0, 0.0), unit="rad", size=2, help="angles at which the springs are slack")
    damping: Vector = parameter((1000.0, 1000.0), unit="N m s/m", size=2, at_least=0.0, help="dampers at the hinges")
    theta0: Vector = parameter((0.0, 0.0), unit="rad", size=2, help="angles at the start")
    rates0: Vector = parameter((0.0, 0.0), unit="rad/s", size=2, help="their rates at the start")
    momentum: Vector = parameter((0.0, 0.0, 0.0), size=3, help="momentum of the whole in space: angular, then linear")
    stability: bool = parameter(False, help="find the periodic motion at zero momentum, and its multipliers")
    hydro: str = parameter("coupled", choices=HYDRO, help="model of the fluid")
    theta_max: float = parameter(1.5, unit="rad", above=0.0, help="the largest angle for which links are coupled")
    mass: NameOrNumber = parameter(
        "neutral", choices=MASS_TEXTS, at_least=0.0, help="mass of the links; or their density over the fluid's"
    )
    method: str = parameter("compose4", choices=METHODS, help="integrator")
    dt: float = parameter(0.02, unit="s", above=0.0, help="time step")
    t1: float = parameter(40.0, unit="s", above=0.0, help="duration")

    def validate(self) -> None:
        if self.hydro == "coupled" and np.max(np.abs(self.theta0)) >= self.theta_max:
            raise InputError(
                f"theta0={self.parameters['theta0'].write(self.theta0)}: expected angles below theta_max, "
                f"{self.theta_max:g}, in size; give a larger theta_max, or hydro=decoupled"
            )
        if self.stability and not self.frequency > 0.0:
            raise InputError("stability=yes needs torques with a period; expected a frequency above 0")

    def fish(self, progress: Progress) -> Swimmer:
        """The fish, as a table where the fluid couples its links."""
        return tabulated(three_links(self), -self.theta_max, self.theta_max, progress=progress)

    def run(self, progress: Progress) -> Findings:
        fish = self.fish(progress.part(0, 4, "inertia"))
        driven = np.any(self.torque) or np.any(self.amplitude)
        system = DrivenSwimmer(
            fish,
            torque=HarmonicTorque(self.torque, self.amplitude, self.frequency, self.phase) if driven else None,
            stiffness=self.stiffness if np.any(self.stiffness) else None,
            rest=self.rest,
            damping=self.damping if np.any(self.damping) else None,
        )
        motion = self._motion(system, progress)
        final, start = motion.fish.poses[-1], motion.fish.poses[0]
        results = {
            "beta": float(final[0]),
            "x": float(final[1]),
            "y": float(final[2]),
            "displacement": float(np.hypot(*(final - start)[1:])),
            "theta": motion.fish.theta[-1],
            "rates": motion.fish.rates[-1],
            "theta_max": float(np.max(np.abs(motion.fish.theta))),
            "momentum": motion.momentum[-1],
            "momentum_error_max": motion.momentum_error,
            "energy0": float(motion.energy[0]),
            "energy": float(motion.energy[-1]),
            "work": float(motion.work[-1]),
            "loss": float(motion.loss[-1]),
            "energy_balance_error": float(np.max(np.abs(motion.imbalance))) / motion.energy_scale,
            "inertia_error": fish.fluid.error if isinstance(fish.fluid, InertiaTable) else 0.0,
            "steps": motion.steps,
        }
        if self.stability:
            results |= self._stability(system)
        return Findings(
            results,
            lambda: motion.dataset(system, (self.a, self.b)),
            self._figures(fish, motion),
            notes=_NOTES,
            units=_UNITS | (_CYCLE_UNITS if self.stability else {}),
        )

    def _stability(self, system: DrivenSwimmer) -> dict[str, Any]:
        """The periodic motion and its multipliers, and those of the joints when torques stop."""
        period = 1.0 / self.frequency
        options: dict[str, Any] = {"steps": max(1, round(period / self.dt)), "method": method(self.method)}
        cycle = limit_cycle(system, period, **options)
        passive = limit_cycle(system.released(), period, **options)
        return {
            "multipliers": np.abs(cycle.multipliers),
            "multiplier_angles": np.angle(cycle.multipliers),
            "stable": cycle.stable,
            "cycle_net": np.array([float(cycle.net.beta), *cycle.net.x]),
            "cycle_theta": cycle.state.g.theta,
            "cycle_miss_error": cycle.miss,
            "passive_multipliers": np.abs(passive.multipliers),
        }

    def _motion(self, system: DrivenSwimmer, progress: Progress) -> "DrivenMotion":
        state = system.start(self.theta0, self.rates0, momentum=self.momentum)
        later = Progress(progress.report, progress.start + 0.25 * progress.span, 0.75 * progress.span, progress.label)
        times: dict[str, Any] = {"t1": self.t1, "dt": self.dt, "release": self.release}
        try:
            return driven_motion(system, state, method=method(self.method), progress=later, **times)
        except RunError as error:
            if self.hydro == "decoupled":
                raise
            raise RunError(
                f"{error} Or an angle went beyond theta_max = {self.theta_max:g} rad: give a larger one, weaker "
                "torques, or hydro=decoupled."
            ) from None

    def _figures(self, fish: Swimmer, motion: "DrivenMotion") -> dict:
        from naiad.studies.fish import swimmer_figures as figures
        from naiad.studies.fish.figures import fish_along

        return {
            "path": lambda: fish_along(fish, motion.fish, Ellipse(self.a, self.b), "The fish along its path"),
            "angles": lambda: figures.angles(motion),
            "energy": lambda: figures.energy(motion),
            "conservation": lambda: figures.conservation(motion),
        }


class TotalMomentum(Module):
    """The momentum of links and fluid in space."""

    system: DrivenSwimmer

    def __call__(self, state: nd.State, t: Any) -> Any:
        return self.system.noether(state)


class HingePower(Module):
    """What the torques put in, and what the dampers take out."""

    system: DrivenSwimmer

    def __call__(self, state: nd.State, t: Any) -> Any:
        return self.system.power(state, t)


@dataclasses.dataclass(frozen=True)
class DrivenMotion:
    """At the saved nodes: the fish, its energy (kinetic and of the springs), its momentum in space, the work of the
    torques and the loss in the dampers since the start; over every step the largest change of the momentum."""

    fish: FishMotion
    energy: np.ndarray
    momentum: np.ndarray
    work: np.ndarray
    loss: np.ndarray
    momentum_error: float
    steps: int

    @property
    def imbalance(self) -> np.ndarray:
        """The change of the energy less the work of the torques and the dampers."""
        return self.energy - self.energy[0] - self.work + self.loss

    @property
    def energy_scale(self) -> float:
        """The largest of energy, work and loss, 1 if there is none."""
        return float(np.max(np.abs([self.energy, self.work, self.loss]))) or 1.0

    def dataset(self, system: DrivenSwimmer, axes: tuple[float, float]) -> "xr.Dataset":
        """The poses of the links, ellipses with these semi-axes, in space, and all that is known of the motion."""
        import xarray as xr

        fish = self.fish
        poses = link_poses(system.swimmer, fish.theta, fish.poses)
        joule = {"units": "J/m"}
        return xr.Dataset(
            {
                "beta": (("time", "body"), poses[..., 0], {"units": "rad"}),
                "x": (("time", "body", "xy"), poses[..., 1:], {"units": "m"}),
                "theta": (("time", "hinge"), fish.theta, {"units": "rad"}),
                "rates": (("time", "hinge"), fish.rates, {"units": "rad/s"}),
                "total_energy": ("time", self.energy, joule),
                "work": ("time", self.work, joule),
                "loss": ("time", self.loss, joule),
                "total_momentum": (("time", "component"), self.momentum),
            },
            {"time": ("time", fish.times, {"units": "s"})},
            {"shapes": [[*axes]] * poses.shape[1], "bodies": [f"B{k + 1}" for k in range(poses.shape[1])]},
        )


def driven_motion(
    system: DrivenSwimmer,
    state: nd.State,
    *,
    t1: float,
    dt: float,
    method: AbstractMethod,
    release: float | None,
    progress: Progress,
) -> DrivenMotion:
    """The motion to t1; from `release` on the torques are gone."""
    first = t1 if release is None else min(release, t1)
    stages = [(system, 0.0, first), (system.released(), first, t1)]
    stages = [stage for stage in stages if stage[2] > stage[1]]
    change = RelativeChange.since(TotalMomentum(system), state)
    parts, errors, steps, done = [], [], 0, np.zeros(2)
    for k, (driven, start, end) in enumerate(stages):
        run = nd.simulate(
            driven,
            state,
            t0=start,
            t1=end,
            dt=dt,
            method=method,
            monitors={"momentum": change},
            save_every=1 + round((end - start) / dt) // NODES,
            progress=progress.part(k, len(stages)),
            throw=True,
        )
        part = _part(driven, run, done)
        state, done, steps = run.final, part["work"][-1], steps + int(run.statistics["steps"])
        errors.append(run.monitors["momentum"].largest)
        parts.append(part if k == 0 else {name: values[1:] for name, values in part.items()})
    whole = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    fish = FishMotion(*(whole[name] for name in ("times", "poses", "xi", "theta", "rates")))
    work, loss = whole["work"].T
    return DrivenMotion(fish, whole["energy"], whole["momentum"], work, loss, max(errors), steps)


def _part(system: DrivenSwimmer, run: nd.Trajectory, done: np.ndarray) -> dict[str, np.ndarray]:
    """The saved nodes of one stage; `done` are the work and the loss before it."""
    d, velocities, times = system.swimmer.frame.dim, run.xi.to_numpy(), run.t.to_numpy()
    return {
        "times": times,
        "poses": np.column_stack([run.g.g.beta, run.g.g.x]),
        "theta": run.g.theta,
        "xi": velocities[:, :d],
        "rates": velocities[:, d:],
        "energy": run.energy.to_numpy(),
        "momentum": run.momentum.to_numpy(),
        "work": done + _integral(times, run.evaluate(HingePower(system))),
    }


def _integral(times: np.ndarray, values: np.ndarray) -> np.ndarray:
    """The integral from the first time to each."""
    from scipy.interpolate import make_interp_spline

    return make_interp_spline(times, values, min(DEGREE, len(times) - 1)).antiderivative()(times)


_UNITS = {
    "beta": "rad",
    "x": "m",
    "y": "m",
    "displacement": "m",
    "theta": "rad",
    "rates": "rad/s",
    "theta_max": "rad",
    "energy0": "J",
    "energy": "J",
    "work": "J",
    "loss": "J",
}

_CYCLE_UNITS = {"multiplier_angles": "rad", "cycle_net": "rad, m, m", "cycle_theta": "rad"}

_NOTES = (
    "`beta`, `x`, `y` are the pose of B3 at `t1`, from (0, 0, 0), `displacement` the distance it went, `theta_max` the "
    "largest angle. `momentum` is that of links and fluid in space, angular, then linear; `momentum_error_max` its "
    "largest change over every step, relative to the start's, absolute if that is zero. `work` is what the torques put "
    "in, `loss` what the dampers took, both from 0 to `t1`, by a spline through the power at the saved nodes; "
    "`energy_balance_error` is the largest |E - E0 - work + loss|, relative to the largest of these; the energy "
    "counts the springs'. `inertia_error` is that of the series in the angles that stands for the coupled inertia, "
    "relative. Quantities are for each metre of depth. With `stability`, `multipliers` and `multiplier_angles` are "
    "sizes and angles of Floquet's multipliers of the shape about the periodic motion from rest, which goes "
    "`cycle_net` a period and has the angles `cycle_theta` when t is a whole number of periods; it is `stable` if all "
    "are below 1. "
    "`passive_multipliers` are those of the straight fish, without torques, over the same time."
)
