"""A subsatellite on a tether, deployed from a spacecraft on a circular orbit."""

import dataclasses
from typing import TYPE_CHECKING, Any

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

import naiad as nd
from naiad.errors import InputError
from naiad.forces import AbstractSignal
from naiad.mechanics import Scalar
from naiad.numerics import Module
from naiad.strings import GravityGradient, HangingBody, Reel, Span, StringPendulum, StringVariational, TensionOnly
from naiad.studies.parameters import parameter
from naiad.studies.progress import Progress
from naiad.studies.strings.driven_string import DrivenString
from naiad.studies.study import Findings, Study

if TYPE_CHECKING:
    import xarray as xr

EARTH = 3.986004418e14  # m^3/s^2
RADIUS = 6.378137e6  # m
DRUM = 0.2  # m


class TetheredSatellite(Study, name="tethered-satellite"):
    """A subsatellite deployed on a tether from a spacecraft in orbit, under the gravity gradient.

    While the length grows as l' = c l the tether leans ahead by a constant angle, sin(2 angle) = 4 c/(3 n), by
    Coriolis's force; once the reel has stopped it swings about the vertical with sqrt(3) n in the plane of the orbit
    (n the orbital rate) and with 2 n across. The tension at the spacecraft is near 3 n^2 (m + mu l/2) l.
    """

    paper = "an example of what [lee2010, section 5] names as a use; the gravity gradient in axes that do not turn"

    altitude: float = parameter(3e5, unit="m", above=0.0, help="of the circular orbit above the Earth")
    l0: float = parameter(200.0, unit="m", above=0.0, help="length of tether outside, at first")
    l1: float = parameter(10000.0, unit="m", above=0.0, help="the same at the end")
    c: float = parameter(0.5, above=0.0, below=0.75, help="rate of deployment l'/l, in orbital rates n")
    fade: float = parameter(600.0, unit="s", above=0.0, help="how long the reel takes to stop")
    orbits: float = parameter(2.0, above=0.0, help="orbits to watch after the deployment")
    m: float = parameter(100.0, unit="kg", above=0.0, help="mass of the subsatellite")
    mu: float = parameter(0.002, unit="kg/m", above=0.0, help="mass of the tether per length")
    EA: float = parameter(2e4, unit="N", above=0.0, help="axial stiffness of the tether; it is slack in compression")
    eta: float = parameter(100.0, unit="N s", at_least=0.0, help="its internal damping")
    tilt: float = parameter(1.0, unit="degrees", help="initial angle out of the plane of the orbit")
    elements: int = parameter(10, at_least=1, help="number of finite elements")
    dt: float = parameter(1.0, unit="s", above=0.0, help="time step")

    def validate(self) -> None:
        if self.l1 <= self.l0:
            raise InputError(f"l1={self.l1:g}: expected more than l0 = {self.l0:g} m")
        if np.log(self.l1 / self.l0) < 0.5 * self.c * self.rate * self.fade:
            raise InputError(f"fade={self.fade:g}: the reel would stop before it has begun; give less")

    @property
    def rate(self) -> float:
        """n."""
        return float(np.sqrt(EARTH / (RADIUS + self.altitude) ** 3))

    @property
    def lean(self) -> float:
        """The angle by which the tether leans ahead while it is deployed."""
        return 0.5 * float(np.arcsin(4.0 * self.c / 3.0))

    def run(self, progress: Progress) -> Findings:
        n = self.rate
        reel = Deployment.to(self.l1 + 10.0, self.l0, self.l1, self.c * n, self.fade)
        field = GravityGradient(n, normal=(0.0, 1.0, 0.0), radial=(0.0, 0.0, -1.0))
        system = StringPendulum(
            length=self.l1 + 10.0,
            mass_per_length=self.mu,
            stiffness=TensionOnly(self.EA),
            elements=self.elements,
            gravity=(0.0, 0.0, 0.0),
            body=HangingBody(self.m),
            reel=Reel(radius=DRUM, guide=DRUM, drop=0.0, locked=True),
            wound=reel,
            damping=self.eta,
            field=field,
        )
        run = nd.simulate(
            system,
            self._start(system),
            t1=float(reel.end) + self.orbits * 2.0 * np.pi / n,
            dt=self.dt,
            method=StringVariational(nd.Implicit()),
            save_every=1,
            outputs={"observed": Observed(system)},
            progress=progress,
            throw=True,
        )
        flight = Flight(system, run, n, float(reel.until), float(reel.end))
        from naiad.studies.strings import tethered_figures as figures

        drawn = {
            "path": lambda: figures.path(flight),
            "deployment": lambda: figures.deployment(flight, self.lean),
            "tension": lambda: figures.tension(flight, self.m, self.mu),
        }
        return Findings(flight.results(self), lambda: flight.dataset, drawn, notes=_NOTES, units=_UNITS)

    def _start(self, system: StringPendulum) -> nd.State:
        """A straight tether towards the Earth that leans ahead and turns with the orbit, stretched by its tension."""
        n, tilt = self.rate, np.radians(self.tilt)
        down, ahead, across = np.array((0.0, 0.0, 1.0)), np.array((-1.0, 0.0, 0.0)), np.array((0.0, 1.0, 0.0))
        along = np.cos(tilt) * (np.cos(self.lean) * down + np.sin(self.lean) * ahead) + np.sin(tilt) * across
        place = (np.arange(self.elements) + 0.5) / self.elements
        carried = self.m + 0.5 * self.mu * self.l0 * (1.0 - place**2)
        strain = n**2 * (3.0 * np.cos(self.lean) ** 2 - self.c**2) * carried * self.l0 / self.EA
        q = np.cumsum(self.l0 / self.elements * (1.0 + strain))[:, None] * along
        return system.state(q=q, q_v=n * np.cross(across, q) + self.c * n * q)


class Deployment(AbstractSignal):
    """The length on the reel while the length outside goes from l_0 to l_1 as l' = c l, the rate c fading at last.

    c is constant up to t_1, falls like a cosine over `fade`, and is 0 thereafter.
    """

    total: float
    before: float
    rate: float
    until: float
    fade: float

    @classmethod
    def to(cls, total: float, before: float, after: float, rate: float, fade: float) -> "Deployment":
        """The deployment that ends at the length `after`."""
        return cls(total, before, rate, float(np.log(after / before)) / rate - 0.5 * fade, fade)

    @property
    def end(self) -> Any:
        """When it is over."""
        return self.until + self.fade

    def outside(self, t: Scalar) -> Float[Array, ""]:
        """The length outside."""
        late = jnp.clip((t - self.until) / self.fade, 0.0, 1.0)
        steady = jnp.minimum(t, self.until) + 0.5 * self.fade * (late + jnp.sin(jnp.pi * late) / jnp.pi)
        return self.before * jnp.exp(self.rate * steady)

    def __call__(self, t: Scalar) -> Float[Array, ""]:
        return self.total - self.outside(t)


class Observed(Module):
    """Length outside, tension at the spacecraft, energy and the angular momentum about the normal of the orbit."""

    system: StringPendulum

    def __call__(self, state: nd.State, t: Any) -> Any:
        system = self.system
        s = system.wound(state.g, t)
        first = Span(system.outlet(t), jnp.asarray(state.g.q)[0], s)
        tension = system.law.tension(system.strain(first))
        spin = system.angular_momentum(state)[1]
        return jnp.stack([system.length - s, tension, system.energy(state, t), spin])


@dataclasses.dataclass(frozen=True)
class Flight(DrivenString):
    """A deployment: the reel slows down at `until` and stands still at `end`."""

    rate: float
    until: float
    end: float

    @property
    def nodes(self) -> np.ndarray:
        """The tether in axes that turn with the orbit: down, ahead, across."""
        x, y, z = np.moveaxis(np.asarray(self.run.states.g.q), 2, 0)
        phase = self.rate * self.times[:, None]
        down = np.cos(phase) * z + np.sin(phase) * x
        ahead = np.sin(phase) * z - np.cos(phase) * x
        return np.stack([down, ahead, y], axis=2)

    @property
    def place(self) -> np.ndarray:
        """The subsatellite in the same axes."""
        return self.nodes[:, -1]

    @property
    def dataset(self) -> "xr.Dataset":
        """The run, with `nodes` and `x` as a page shows them: ahead, across and down, in axes that turn with the
        orbit."""
        seen = self.nodes[:, :, (1, 2, 0)] * (1.0, -1.0, 1.0)
        pictured = {"nodes": (("time", "node", "axis"), seen), "x": (("time", "axis"), seen[:, -1])}
        shown = self.run.dataset.drop_vars(["guide", "energy", "x"]).rename(q="q_fixed_axes").assign(pictured)
        return shown.assign_attrs(down=[0.0, 0.0, 1.0], run=None)

    @property
    def angles(self) -> np.ndarray:
        """In the plane of the orbit, positive ahead, and across it; in degrees."""
        down, ahead, across = self.place.T
        return np.degrees(np.stack([np.arctan2(ahead, down), np.arctan2(across, np.hypot(down, ahead))], axis=1))

    def results(self, study: TetheredSatellite) -> dict[str, Any]:
        """The numbers to report."""
        t, (in_plane, across) = self.times, self.angles.T
        length, tension, energy, spin = self.observed.T
        deploying, after = t < self.until, t >= self.end
        jacobi = (energy - self.rate * spin)[after]
        steady = 3.0 * self.rate**2 * (study.m + 0.5 * study.mu * length[-1]) * length[-1]
        return {
            "rate": self.rate,
            "t_deployed": self.end,
            "lean_expected": float(np.degrees(study.lean)),
            "lean_mean": float(np.mean(in_plane[deploying])),
            "libration_amplitude": float(np.max(np.abs(in_plane[after]))),
            "libration_frequency": frequency(t[after], in_plane[after]) / self.rate,
            "across_frequency": frequency(t[after], across[after]) / self.rate,
            "tension_mean": float(np.mean(tension[after])),
            "tension_expected": steady,
            "tension_max": float(np.max(tension)),
            "slack_steps": int(np.sum(tension == 0.0)),
            "moment_max": float(np.max(np.abs(self.moment()))),
            "jacobi_error_max": float(np.max(np.abs(jacobi - jacobi[0])) / abs(jacobi[0])),
        }


def frequency(t: np.ndarray, values: np.ndarray) -> float:
    """Of an oscillation about zero, from its first and last crossings [rad/s]; NaN with fewer than two."""
    at = np.flatnonzero(values[:-1] * values[1:] < 0.0)
    if len(at) < 2:
        return float("nan")
    crossings = t[at] - values[at] * (t[at + 1] - t[at]) / (values[at + 1] - values[at])
    return float(np.pi * (len(at) - 1) / (crossings[-1] - crossings[0]))


_UNITS = {
    "rate": "rad/s",
    "t_deployed": "s",
    "lean_expected": "deg",
    "lean_mean": "deg",
    "libration_amplitude": "deg",
    "tension_mean": "N",
    "tension_expected": "N",
    "tension_max": "N",
    "moment_max": "N m",
}

_NOTES = (
    "Angles in degrees, of the line from the spacecraft to the subsatellite: in the plane of the orbit, positive ahead "
    "of the line to the Earth, and across. `lean_mean` is over the deployment before the reel slows down, against "
    "`lean_expected`. Frequencies are in orbital rates, from the crossings of zero after the deployment: sqrt(3) and 2 "
    "for small angles, less for larger ones. Tensions [N] are elastic ones at the spacecraft, "
    "`tension_expected` is 3 n^2 (m + mu l/2) l. `jacobi_error_max` is the relative change of E - n L after the "
    "deployment, which only internal damping and the integrator change. The motion is computed in axes that do not "
    "turn, where the gravity gradient is a potential that does; `nodes` and `x`, and the moving picture, are in axes "
    "that turn with the orbit: ahead, across, down; `q_fixed_axes`, `q_v` and `q_p` are not."
)
