"""A body that is lighter than the water that it displaces."""

from typing import Any

import numpy as np

import naiad as nd
from naiad import hydro
from naiad.diagnostics import Energy, watched_run
from naiad.errors import InputError
from naiad.numerics import double
from naiad.studies.methods import GENERAL, method
from naiad.studies.parameters import Vector, parameter
from naiad.studies.progress import Progress
from naiad.studies.study import Findings, Study

ENDLESS = 1e6
"""A velocity, in m/s or rad/s, beyond which a run is given up."""


class LightBody(Study, name="light-body"):
    """Light body: the added mass in the Lagrangian, beside a force from the last acceleration.

    An ellipsoid is thrown through the water and rises. Simulators that have no place for an added inertia feed it back
    as a force, -K_added times the acceleration of the last step. That multiplies an error of the acceleration by
    1 - filter (1 + K_added/K_dry) at every step, whatever the step is, and so grows without bound where the largest
    ratio exceeds 2/filter - 1: for a sphere without a filter where its mass is below half of what it displaces. With
    the 6 x 6 matrix in the Lagrangian there is nothing to be fed back. A filter, the share of the new acceleration
    that is taken, tames that (`filter=0.2` up to a ratio of 9), but the force then lags behind: as the body gets
    faster it turns too fast for it, unless the step is tiny.
    """

    method: str = parameter("cay", choices=GENERAL, help="integrator, for the body with its added inertia")
    axes: Vector = parameter((0.3, 0.2, 0.15), unit="m", size=3, above=0.0, help="semi-axes of the ellipsoid")
    mass: float = parameter(10.0, unit="kg", above=0.0, help="mass of the body, homogeneous")
    density: float = parameter(1000.0, unit="kg/m^3", above=0.0, help="density of the water")
    gravity: float = parameter(9.81, unit="m/s^2", at_least=0.0, help="acceleration of gravity, along -z")
    v0: Vector = parameter((2.0, 0.0, 0.0), unit="m/s", size=3, help="initial velocity in the body")
    Omega0: Vector = parameter((0.0, 0.5, 0.2), unit="rad/s", size=3, help="initial angular velocity in the body")
    filter: float = parameter(1.0, above=0.0, at_most=1.0, help="share of the new acceleration in the force fed back")
    dt: float = parameter(0.002, unit="s", above=0.0, help="time step")
    t1: float = parameter(2.0, unit="s", above=0.0, help="duration")

    def body(self) -> nd.models.SubmergedBody:
        """The ellipsoid with its weight, its buoyancy and its added inertia."""
        shape = hydro.Ellipsoid(self.axes)
        dry = shape.inertia(self.mass / shape.volume)
        return nd.models.SubmergedBody.from_shape(shape, self.density, dry, gravity=(0.0, 0.0, -self.gravity))

    def validate(self) -> None:
        if self.t1 < self.dt:
            raise InputError(f"t1 = {self.t1:g} is less than a step of dt = {self.dt:g}")

    def run(self, progress: Progress) -> Findings:
        body = self.body()
        state = body.state(Omega=self.Omega0, v=self.v0)
        run, errors = watched_run(
            body,
            state,
            t1=self.t1,
            dt=self.dt,
            method=method(self.method),
            save_every=1,
            progress=progress,
            invariants={"energy": Energy(body)},
        )
        fed = fed_back(body, np.concatenate([self.Omega0, self.v0]), run.t.to_numpy(), self.filter)
        ratio = float(np.max(np.linalg.eigvals(np.linalg.solve(body.dry, body.added)).real))
        last = len(fed["x"]) - 1
        apart = float(np.linalg.norm(fed["x"][last] - run.states.g.x[last]))
        results = {
            "added_over_dry": ratio,
            "factor": abs(1.0 - self.filter * (1.0 + ratio)),
            "fed_back_ends": float(run.t[last]),
            "fed_back": "reaches t1" if last == len(run.t) - 1 else "grows without bound",
            "fed_back_apart": apart,
            "x": run.final.g.x,
            "R": run.final.g.R,
            "v": run.xi.to_numpy()[-1, 3:],
            **errors,
            "steps": run.statistics["steps"],
        }
        return Findings(results, lambda: run.dataset, figures(run, fed), notes=_NOTES, units=_UNITS)


@double
def fed_back(body: nd.models.SubmergedBody, xi: np.ndarray, times: np.ndarray, share: float) -> dict[str, np.ndarray]:
    """Steps of symplectic Euler with the added inertia as a force from the last acceleration, of which `share` is new:
    the velocities and the positions, until they are beyond everything."""
    dry, added = np.asarray(body.dry), np.asarray(body.added)
    R, x, acceleration = np.eye(3), np.zeros(3), np.zeros(6)
    velocities, positions = [xi], [x]
    for h in np.diff(times):
        momentum = (dry + added) @ xi
        Omega, v = xi[:3], xi[3:]
        turning = np.concatenate(
            [np.cross(momentum[:3], Omega) + np.cross(momentum[3:], v), np.cross(momentum[3:], Omega)]
        )
        weight = (dry[3, 3] - body.displaced) * (R.T @ np.asarray(body.gravity))
        force = turning + np.concatenate([np.zeros(3), weight])
        new = np.linalg.solve(dry, force - added @ acceleration)
        acceleration = share * new + (1.0 - share) * acceleration
        xi = xi + h * acceleration
        if not np.max(np.abs(xi)) < ENDLESS:
            break
        turn = np.asarray(nd.SO3().exp(h * xi[:3]))
        x, R = x + h * R @ xi[3:], R @ turn
        velocities.append(xi)
        positions.append(x)
    return {"xi": np.array(velocities), "x": np.array(positions)}


def figures(run: nd.Trajectory, fed: dict[str, np.ndarray]) -> dict:
    """Both bodies' speeds at every step, and how high they are."""
    from naiad import viz

    def both(ours: np.ndarray, theirs: np.ndarray) -> dict[str, np.ndarray]:
        padded = np.full(len(ours), np.nan)
        padded[: len(theirs)] = theirs
        return {"in the Lagrangian": ours, "fed back as a force": padded}

    def speeds() -> Any:
        series = both(*(np.linalg.norm(xi[:, 3:], axis=1) for xi in (run.xi.to_numpy(), fed["xi"])))
        title = "The added inertia in the Lagrangian, and as a force from the last acceleration"
        return viz.errors_over_time(run.t, series, "speed [m/s]", log=True, title=title)

    def heights() -> Any:
        here, there = run.states.g.x[:, 2], fed["x"][:, 2]
        near = np.abs(there) < 3.0 * np.ptp(here) + 1.0
        return viz.errors_over_time(run.t, both(here, np.where(near, there, np.nan)), "height [m]", title="Rising")

    return {"speeds": speeds, "heights": heights, "overview": lambda: viz.plot(run.dataset)}


_UNITS = {"x": "m", "v": "m/s", "fed_back_ends": "s", "fed_back_apart": "m"}

_NOTES = (
    "`added_over_dry` is the largest eigenvalue of K_dry^-1 K_added, and `factor` what the force from the last "
    "acceleration multiplies an error by in a step: above 1 it grows. `fed_back_ends` is when that run was given up, "
    "or t1, and `fed_back_apart` how far apart the two bodies are then."
)
