"""A rigid satellite of the oblate Earth."""

import math

import jax.numpy as jnp
import numpy as np

import naiad as nd
from naiad.diagnostics import watched_run
from naiad.numerics import double
from naiad.studies.methods import GENERAL, VARIABLE_CHOICES, method
from naiad.studies.parameters import Inertia, Vector, as_matrix, parameter
from naiad.studies.progress import Progress
from naiad.studies.study import Findings, Study


class OblateEarth(Study, name="oblate-earth"):
    """Satellite of the oblate Earth: orbit and attitude in a field with a circle of symmetry.

    The plane of the orbit turns about the Earth's axis at the rate -3/2 J2 (a_E/a)^2 n cos(i) of the textbooks, and the
    gravity gradient swings the satellite about the local vertical. A variational method keeps the momentum about the
    axis, orbit and spin together, to round-off; the energy error swings without drift.
    """

    paper = "N. Bou-Rabee, Hamilton-Pontryagin Integrators on Lie Groups, Caltech 2007, section 7.4"

    method: str = parameter("compose4", choices=GENERAL | VARIABLE_CHOICES, help="integrator")
    m: float = parameter(1000.0, unit="kg", above=0.0, help="mass of the satellite")
    J: Inertia = parameter((3000.0, 2800.0, 500.0), unit="kg m^2", size=3, help="its inertia: moments or a matrix")
    GM: float = parameter(3.986004418e14, unit="m^3/s^2", above=0.0, help="gravity of the planet")
    J2: float = parameter(1.08263e-3, at_least=0.0, help="oblateness of the planet")
    radius: float = parameter(6378137.0, unit="m", above=0.0, help="equatorial radius of the planet")
    altitude: float = parameter(700e3, unit="m", above=0.0, help="altitude of the initially circular orbit")
    inclination: float = parameter(0.9, unit="rad", at_least=0.0, at_most=math.pi, help="inclination of the orbit")
    tilt: Vector = parameter(
        (0.1, 0.2, 0.0), unit="rad", size=3, help="initial rotation vector from the local frame (along, across, up)"
    )
    dt: float = parameter(30.0, unit="s", above=0.0, help="time step")
    t1: float = parameter(86400.0, unit="s", above=0.0, help="duration")

    def run(self, progress: Progress) -> Findings:
        satellite, state = self.start()
        invariants = {"energy": satellite.energy, "axial_momentum": lambda state, t: satellite.noether(state)}
        run, errors = watched_run(
            satellite,
            state,
            t1=self.t1,
            dt=self.dt,
            method=method(self.method),
            progress=progress,
            invariants=invariants,
            observables={"swing": _uprightness},
        )
        node = node_angle(run)
        distance = self.radius + self.altitude
        rate = math.sqrt(self.GM / distance**3)
        secular = -1.5 * self.J2 * (self.radius / distance) ** 2 * rate * math.cos(self.inclination)
        results = {
            "x": run.final.g.x,
            "R": run.final.g.R,
            "node_rate": float(np.polyfit(run.t.to_numpy(), node, 1)[0]),
            "node_rate_textbook": secular,
            "swing_max": float(np.arccos(np.clip(run.monitors["swing"].min, -1.0, 1.0))),
            **errors,
            "steps": run.statistics["steps"],
        }

        def dataset():
            return run.dataset.assign_attrs(fixed={"Earth": [self.radius] * 3})

        overview = {"overview": lambda: nd.viz.plot(dataset())}
        return Findings(results, dataset, _figures(run) | overview, notes=_NOTES, units=_UNITS)

    @double
    def start(self) -> tuple[nd.models.OblateSatellite, nd.State]:
        """The satellite, at the ascending node, on a circular orbit, turning with the local frame."""
        satellite = nd.models.OblateSatellite(self.m, as_matrix(self.J), self.GM, self.J2, self.radius)
        distance = self.radius + self.altitude
        speed = math.sqrt(self.GM / distance)
        up = np.array([1.0, 0.0, 0.0])
        along = np.array([0.0, math.cos(self.inclination), math.sin(self.inclination)])
        R = np.stack([along, np.cross(up, along), up], axis=1) @ np.asarray(nd.SO3().exp(jnp.asarray(self.tilt)))
        turning = speed / distance * np.cross(up, along)
        return satellite, satellite.state(R=R, x=distance * up, R_Omega=R.T @ turning, x_v=speed * along)


def node_angle(run: nd.Trajectory) -> np.ndarray:
    """The longitude of the ascending node over time, from the orbit's own angular momentum, not wrapped."""
    normal = np.cross(run.g.x, run.xi.to_numpy()[:, 3:])
    return np.unwrap(np.arctan2(normal[:, 0], -normal[:, 1]))


def _uprightness(state: nd.State, t) -> jnp.ndarray:
    """The cosine of the angle between the body's third axis and the local vertical."""
    return jnp.abs(state.g.R[:, 2] @ state.g.x) / jnp.sqrt(state.g.x @ state.g.x)


def _figures(run: nd.Trajectory) -> dict:
    from naiad import viz

    hours = run.t.to_numpy() / 3600.0

    def plane():
        figure = viz.errors_over_time(run.t, {"node": np.degrees(node_angle(run))}, "ascending node [deg]")
        return _in_hours(figure, hours)

    def swing():
        up = run.g.x / np.linalg.norm(run.g.x, axis=1, keepdims=True)
        angle = np.degrees(np.arccos(np.clip(np.abs(np.sum(run.g.R[:, :, 2] * up, axis=1)), -1, 1)))
        figure = viz.errors_over_time(run.t, {"angle": angle}, "axis from the vertical [deg]")
        return _in_hours(figure, hours)

    return {"node": plane, "swing": swing}


def _in_hours(figure, hours):
    (ax,) = figure.axes
    for line in ax.lines:
        line.set_xdata(np.asarray(line.get_xdata()) / 3600.0)
    ax.set_xlim(hours[0], hours[-1])
    ax.set_xlabel("time [h]")
    return figure


_UNITS = {"x": "m", "node_rate": "rad/s", "node_rate_textbook": "rad/s", "swing_max": "rad"}

_NOTES = (
    "`node_rate` is the slope of the longitude of the ascending node, `node_rate_textbook` its secular rate to first "
    "order in J2, both in rad/s. `swing_max` is the largest angle between the body's third axis and the vertical. "
    "Errors are relative and the largest over every step; `axial_momentum` is that of turns about the planet's axis."
)
