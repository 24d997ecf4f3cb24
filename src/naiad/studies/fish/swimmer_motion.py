"""The motion of a driven swimmer, torques first and free hinges afterwards, with the balance of its energy."""

import dataclasses
from typing import TYPE_CHECKING, Any

import numpy as np

import naiad as nd
from naiad.diagnostics import RelativeChange, watched_run
from naiad.integrators import AbstractMethod
from naiad.locomotion import DrivenSwimmer, link_poses
from naiad.numerics import Module
from naiad.studies.fish.motion import FishMotion
from naiad.studies.progress import Progress

if TYPE_CHECKING:
    import xarray as xr

NODES = 20_000
"""That are saved, at most about so many."""
DEGREE = 5
"""Of the spline through the power at the saved nodes, whose integral is the work."""


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
        run, _ = watched_run(
            driven,
            state,
            t0=start,
            t1=end,
            dt=dt,
            method=method,
            progress=progress.part(k, len(stages)),
            invariants={},
            observables={"momentum": change},
            save_every=1 + round((end - start) / dt) // NODES,
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
