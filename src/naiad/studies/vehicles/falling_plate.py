"""A heavy plate that falls through an ideal fluid."""

import math
from typing import Any

import numpy as np

import naiad as nd
from naiad import hydro
from naiad.diagnostics import Energy, KelvinNoether, watched_run
from naiad.errors import InputError
from naiad.numerics.checks import namespace
from naiad.studies.live import LivePage
from naiad.studies.methods import GENERAL
from naiad.studies.methods import method as general_method
from naiad.studies.parameters import Vector, parameter
from naiad.studies.progress import Progress
from naiad.studies.study import Findings, Study
from naiad.studies.vehicles import plate_figures

REDUCED = {"reduced": "in the variables of the body alone, Cayley map, Lagrangian at the midpoint"}
CHOICES = REDUCED | GENERAL
FAN = (0.0, 0.25, 0.5, 0.75, 1.0)
"""The drops beside each other, by their share of the initial spin."""
_ASIDE, _ABOUT = np.array([[0.0, 0.0, 1.0], [0.0, 0.0, 0.0], [1.0, 0.0, 0.0]]), np.diag([1.0, 0.0, 0.0])
PEAKS = 4
"""Swings from which on a power of time is fitted."""


class FallingPlate(Study, name="falling-plate"):
    """Falling plate: it tumbles, then flutters, in the plane and without friction.

    An elliptic plate with weight and buoyancy on SE(2); the field of gravity, seen from the plate, is an advected
    parameter. The momentum in space grows by the surplus weight W t, and Munk's moment turns the plate across its way:
    it tumbles until that moment holds it, then swings about the horizontal, ever faster and less far. From a small
    angle, at rest, it is theta = theta_0 Gamma(3/4) (k/4)^(1/4) sqrt(t) J_{-1/4}(k t^2/2), with
    k^2 = W^2 (1/m_1 - 1/m_2)/I, so that the swings fall as t^(-1/2). How many half-turns there are before depends on
    the start in stripes (figure `half-turns`). A mass centre off the middle, offset, makes it glide to a side.
    """

    paper = "Own system, by the method of Y. Ono, S. Fiori, L. Peng, arXiv:2501.12940, 2025, (10)-(14), (42)-(44)"
    ensemble = True

    method: str = parameter("reduced", choices=CHOICES, help="integrator")
    a: float = parameter(0.05, unit="m", above=0.0, help="half the width of the plate")
    b: float = parameter(0.005, unit="m", above=0.0, help="half its thickness")
    rho: float = parameter(2700.0, unit="kg/m^3", above=0.0, help="density of the plate, homogeneous")
    density: float = parameter(1000.0, unit="kg/m^3", above=0.0, help="density of the fluid")
    offset: float = parameter(0.0, unit="m", help="of the mass centre from the middle, along the plate")
    gravity: float = parameter(9.81, unit="m/s^2", at_least=0.0, help="acceleration of gravity, along -y")
    beta0: float = parameter(0.6, unit="rad", help="initial angle of the plate from the horizontal")
    Omega0: float = parameter(30.0, unit="rad/s", help="initial angular velocity")
    v0: Vector = parameter((0.0, 0.0), unit="m/s", size=2, help="initial velocity in space")
    grid: int = parameter(
        20, at_least=0, at_most=400, help="angles and spins of the figure of half-turns (0: no figure)"
    )
    dt: float = parameter(0.0005, unit="s", above=0.0, help="time step")
    t1: float = parameter(1.0, unit="s", above=0.0, help="duration")

    def plate(self) -> nd.models.HeavyPlate:
        """The plate in the fluid, about its middle."""
        shape = hydro.EllipticCylinder(self.a, self.b)
        m = self.rho * shape.volume
        dry = shape.inertia(self.rho) + m * self.offset * _ASIDE + m * self.offset**2 * _ABOUT
        return nd.models.HeavyPlate.from_shape(shape, self.density, dry, gravity=(0.0, -self.gravity))

    def start(self, plate: nd.models.HeavyPlate, beta: Any, Omega: Any) -> nd.State:
        """At the origin, at this angle and with this spin."""
        xp = namespace(beta, Omega)
        c, s = xp.cos(beta), xp.sin(beta)
        v = xp.stack([c * self.v0[0] + s * self.v0[1], c * self.v0[1] - s * self.v0[0]])
        return plate.state(beta=beta, Omega=Omega, v=v)

    def validate(self) -> None:
        if not self.b < self.a:
            raise InputError(f"b = {self.b:g} is not less than a = {self.a:g}; a plate is wider than it is thick")
        if self.t1 < self.dt:
            raise InputError(f"t1 = {self.t1:g} is less than a step of dt = {self.dt:g}")

    def live(self) -> LivePage:
        def build(study: FallingPlate) -> tuple[nd.models.HeavyPlate, nd.State]:
            plate = study.plate()
            return plate, study.start(plate, study.beta0, study.Omega0)

        sliders = {"beta0": (-1.6, 1.6), "Omega0": (-60.0, 60.0), "offset": (-0.02, 0.02), "gravity": (0.0, 20.0)}
        return LivePage(build, sliders, {CHOICES["midpoint"]: general_method("midpoint")}, self.dt, self.t1)

    def run(self, progress: Progress) -> Findings:
        plate, steps = self.plate(), round(self.t1 / self.dt)
        state = self.start(plate, self.beta0, self.Omega0)
        run, errors = watched_run(
            plate,
            state,
            t1=self.t1,
            dt=self.dt,
            method=self._method(),
            save_every=max(steps // 4000, 1),
            progress=progress.part(0, 2),
            invariants={
                "energy": Energy(plate),
                "level_momentum": KelvinNoether(plate, np.array([0.0, 1.0, 0.0])),
            },
        )
        beta = np.asarray(run.states.g.beta)
        peaks = swings(run.t.to_numpy(), beta)
        results = {
            "beta": float(beta[-1]),
            "x": run.final.g.x,
            "v": run.xi.to_numpy()[-1, 1:],
            "half_turns": int(np.rint(beta[-1] / math.pi)),
            "last_swing": float(peaks[-1, 1]) if len(peaks) else None,
            "swing_exponent": exponent(peaks),
            "swing_rate": self.rate(plate),
            **errors,
            "steps": run.statistics["steps"],
        }
        found = self._half_turns(plate, progress.part(1, 2)) if self.grid else None
        figures = plate_figures.figures(self, run, peaks, found)
        return Findings(results, lambda: run.dataset, figures, notes=_NOTES, units=_UNITS)

    def fan(self, plate: nd.models.HeavyPlate) -> list[nd.Trajectory]:
        """The drops with a share of the initial spin, one after the other; only one if there is none."""
        shares = FAN if self.Omega0 else (1.0,)
        starts = [self.start(plate, self.beta0, share * self.Omega0) for share in shares]
        return list(self._many(plate, starts, max(round(self.t1 / self.dt) // 1000, 1)))

    def rate(self, plate: nd.models.HeavyPlate) -> float:
        """k of the small swings, whose frequency is k t; 0 without weight."""
        inertia, m_1, m_2 = np.diag(np.asarray(plate.dry) + np.asarray(plate.added))
        return float(abs(plate.surplus) * self.gravity * np.sqrt((1.0 / m_1 - 1.0 / m_2) / inertia))

    def _method(self) -> Any:
        midpoint = nd.Reduced(nd.Cayley(), nd.Midpoint())
        return midpoint if self.method in REDUCED else general_method(self.method)

    def _many(self, plate: nd.models.HeavyPlate, states: Any, save_every: int, progress: Any = False) -> Any:
        return nd.simulate_many(
            plate, states, t1=self.t1, dt=self.dt, method=self._method(), save_every=save_every, progress=progress
        )

    def _half_turns(self, plate: nd.models.HeavyPlate, progress: Progress) -> "plate_figures.HalfTurns":
        """How many half-turns a plate makes from each angle and spin."""
        middles = (np.arange(self.grid) + 0.5) / self.grid
        betas, most = np.pi * (middles - 0.5), 2.0 * abs(self.Omega0) or 60.0
        spins = most * (2.0 * middles - 1.0)
        starts = [self.start(plate, beta, spin) for spin in spins for beta in betas]
        ends = np.asarray(self._many(plate, starts, round(self.t1 / self.dt), progress).states.g.beta)[:, -1]
        return plate_figures.HalfTurns(betas, spins, np.rint(ends.reshape(self.grid, self.grid) / np.pi))


def swings(t: np.ndarray, beta: np.ndarray) -> np.ndarray:
    """The times and sizes of the swings about the last horizontal, after the last turn over; rows (t, |theta|)."""
    theta = beta - np.pi * np.rint(beta[-1] / np.pi)
    over = np.flatnonzero(np.abs(theta) > 0.5 * np.pi)
    first = over[-1] + 1 if len(over) else 0
    size = np.abs(theta)
    peak = np.flatnonzero((size[1:-1] > size[:-2]) & (size[1:-1] >= size[2:])) + 1
    return np.column_stack([t, size])[peak[peak > first]]


def exponent(peaks: np.ndarray) -> float | None:
    """n of |theta| ~ t^n, fitted to the later half of the swings; None if there are too few."""
    later = peaks[len(peaks) // 2 :]
    t, size = np.log(later).T
    return float(np.polyfit(t, size, 1)[0]) if len(later) >= PEAKS else None


_UNITS = {"beta": "rad", "x": "m", "v": "m/s", "last_swing": "rad", "swing_rate": "1/s^2"}

_NOTES = (
    "`beta` counts whole turns, and `half_turns` is its nearest multiple of pi at t1; `v` is in the body. `last_swing` "
    "is the last largest angle from the horizontal, and `swing_exponent` n of t^n fitted to the later half of the "
    "swings, -1/2 in the end; `swing_rate` is k of small ones, whose frequency is k t. Errors are relative to the "
    "first value (absolute where that is zero), the largest over every step; `level_momentum` is the Kelvin-Noether "
    "quantity of translations across gravity, a Casimir."
)
