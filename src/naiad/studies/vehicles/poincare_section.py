"""Poincaré sections of Kirchhoff's equations."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

import naiad as nd
from naiad.errors import InputError, RunError
from naiad.integrators import check_method
from naiad.numerics import solve
from naiad.studies.live import LivePage
from naiad.studies.methods import FREE_CHOICES, method
from naiad.studies.parameters import Names, Vector, parameter
from naiad.studies.progress import Progress
from naiad.studies.study import Findings, Study
from naiad.studies.vehicles import section_figures
from naiad.studies.vehicles.section_panels import Coordinate, Panel, Sections, columns
from naiad.studies.vehicles.vehicle import Inertias, vehicle
from naiad.viz.live import Slider

if TYPE_CHECKING:
    import xarray as xr

AXES = {"px": 0, "py": 1, "pz": 2}
PLASTIC = 1.32471795724474602596
"""The plastic number: multiples of its first two inverse powers fill the unit square evenly."""
SECTIONS = {"pz": "the plane p_z = 0", "py": "the plane p_y = 0", "px": "the plane p_x = 0"}
DIRECTIONS = {"rising": 1, "falling": -1, "both": 0}
ANGLES = 257  # between which roots are looked for; odd, so that none is a multiple of pi
FRACTIONS = (0.25, 0.5, 1.0)


class PoincareSection(Study, Inertias, name="poincare-section"):
    """Poincaré section of an underwater vehicle: tori and chaos, and which methods keep them.

    Orbits start on the section, spread over the states with the given Pi.p, |p| and energy. A closed curve is a torus;
    points that fill an area are chaos. `compare=rk4,cay` draws the methods side by side for the steps dt/4, dt/2 and
    dt, or those of `dts` (the thesis's Figure 6.6.1 is `compare=rk4,cay,tln,flv` with t1=1e6, Figure 6.6.3
    `compare=sw,sw-perp` with dt=0.0125). With `cpu=4,2,1` each method takes the step with which it uses that CPU time
    instead (Figure 6.6.2). The chaotic sea looks the same for all methods: judge them by the tori, by the energy and
    by the Casimirs. A method without structure, such as `rk4`, drifts off its level set, and its tori become bands.
    """

    paper = "N. Bou-Rabee, Hamilton-Pontryagin Integrators on Lie Groups, Caltech 2007, Figs. 6.6.1-6.6.3"
    ensemble = True

    method: str = parameter("cay", choices=FREE_CHOICES, help="integrator")
    pi_dot_p: float = parameter(0.0, unit="kg^2 m^3/s^2", help="the Casimir Pi.p of all orbits")
    p_norm: float = parameter(5.2, unit="kg m/s", above=0.0, help="the Casimir |p| of all orbits")
    energy: float = parameter(4.0, unit="J", above=0.0, help="the energy of all orbits")
    orbits: int = parameter(8, at_least=1, at_most=1000, help="number of orbits, spread over the level set")
    section: str = parameter("pz", choices=SECTIONS, help="the plane of section")
    direction: str = parameter(
        "rising", choices=dict.fromkeys(DIRECTIONS, ""), help="which crossings count: that coordinate's direction"
    )
    dt: float = parameter(0.05, unit="s", above=0.0, help="time step")
    t1: float = parameter(5e4, unit="s", above=0.0, help="duration of an orbit (the thesis has 5e4 and 1e6)")
    compare: Names | None = parameter(None, choices=FREE_CHOICES, help="methods to draw side by side")
    dts: Vector | None = parameter(None, unit="s", above=0.0, help="steps to draw side by side (dt/4, dt/2, dt)")
    cpu: Vector | None = parameter(
        None, unit="s", above=0.0, help="CPU times of a panel to draw side by side, instead of steps"
    )

    def validate(self) -> None:
        if self.dts is not None and self.cpu is not None:
            raise InputError("dts and cpu are both given; give the steps or the CPU times")
        self._level().spread(self.orbits, DIRECTIONS[self.direction])  # says it if there are no such states
        for name in self._compared():
            check_method(method(name), vehicle(self.I, self.M, self.S))

    def live(self) -> LivePage:
        """One paints the section: an orbit begins where one clicks."""
        level, direction = self._level(), DIRECTIONS[self.direction]
        starts, axis = level.spread(self.orbits, direction), level.axis
        across, up = section_figures.plotted(level)
        low, high = section_figures.extent(level)
        pad = 0.05 * (high - low)
        point = [(float(mu[across]), float(mu[up])) for mu in starts]

        def start(body: Any, x: Any, y: Any, pi_dot_p: Any, p_norm: Any, energy: Any) -> nd.State:
            mu = on_level(body.K, axis, direction, (x, y), pi_dot_p, p_norm, energy)
            return nd.State(body.group.identity(), mu)

        def build(study: PoincareSection) -> tuple[nd.models.KirchhoffBody, nd.State]:
            body = vehicle(study.I, study.M, study.S)
            x, y = point[0]
            return body, start(body, x, y, study.pi_dot_p, study.p_norm, study.energy)

        return LivePage(
            build,
            {
                "energy": (1.0, 12.0),
                "p_norm": Slider(1.0, 10.0, label="|p|"),
                "pi_dot_p": Slider(-5.0, 5.0, label="Π·p"),
                "I": (0.5, 12.0),
                "M": (2.0, 16.0),
            },
            {FREE_CHOICES[self.method]: method(self.method)},
            self.dt,
            40.0,
            section=nd.SectionPlot(
                nd.Section(Coordinate(3 + axis), direction),
                lambda state, t: state.mu[across],
                lambda state, t: state.mu[up],
                (f"{section_figures.NAMES[across]} [kg m²/s]", f"{section_figures.NAMES[up]} [kg m²/s]"),
                start=start,
                orbits=point[1:],
                frame=(low[0] - pad[0], high[0] + pad[0], low[1] - pad[1], high[1] + pad[1]),
            ),
        )

    def run(self, progress: Progress) -> Findings:
        level, direction = self._level(), DIRECTIONS[self.direction]
        starts = level.spread(self.orbits, direction)
        section = nd.Section(Coordinate(3 + level.axis), direction)
        sections = Sections(vehicle(self.I, self.M, self.S), starts, section, self.t1)
        wanted = self._grid(sections)
        stages = 1 + sum(map(len, wanted))
        main = sections.panel(self.method, self.dt, progress.part(0, stages))
        if main.stopped:
            raise RunError(main.stopped)
        stage = iter(range(1, stages))
        rows = [[sections.panel(name, dt, progress.part(next(stage), stages)) for name, dt in row] for row in wanted]
        results = {
            "crossings": len(main.t),
            "energy_error_max": main.energy_error_max,
            "energy_drift": main.energy_drift,
            "casimir_error_max": main.casimir_error_max,
            "seconds": main.seconds,
        }
        if rows:
            results["rows"] = [panel.row() for row in rows for panel in row]
        panels = [main, *(panel for row in rows for panel in row)]
        return Findings(results, lambda: dataset(panels), self._figures(main, rows, level), notes=_NOTES, units=_UNITS)

    def _level(self) -> "LevelSet":
        K = np.asarray(vehicle(self.I, self.M, self.S).K)
        return LevelSet(K, AXES[self.section], self.pi_dot_p, self.p_norm, self.energy)

    def _compared(self) -> tuple[str, ...]:
        if self.compare is not None:
            return self.compare
        return (self.method,)

    def _grid(self, sections: Sections) -> list[list[tuple[str, float]]]:
        """The method and step of each panel, row by row."""
        if self.compare is None and self.dts is None and self.cpu is None:
            return []
        if self.cpu is not None:
            return [[(name, sections.step_for(name, self.dt, cpu)) for cpu in self.cpu] for name in self._compared()]
        dts = [fraction * self.dt for fraction in FRACTIONS] if self.dts is None else [float(dt) for dt in self.dts]
        return [[(name, dt) for dt in dts] for name in self._compared()]

    def _figures(self, main: Panel, rows: Sequence[Sequence[Panel]], level: "LevelSet") -> dict:
        figures = {"section": lambda: section_figures.one_panel(main, level)}
        if rows:
            figures["comparison"] = lambda: section_figures.panel_grid(rows, level, timed=self.cpu is not None)
        return figures


class LevelSet(NamedTuple):
    """The momenta (Pi, p) with p_axis = 0, |p| = p_norm, Pi.p = pi_dot_p and mu . K^-1 mu / 2 = energy.

    p = |p| u(phi) lies on a circle. Pi = (Pi.p/|p|) u + y_1 e_axis x u + y_2 e_axis, where y lies on an ellipse, the
    level line of a quadratic function: two angles are coordinates.
    """

    K: np.ndarray
    axis: int
    pi_dot_p: float
    p_norm: float
    energy: float

    def least_energy(self, phi: float) -> float:
        """The least energy of all Pi at an angle phi of p; the level set has a point there if it is not above
        `energy`."""
        return self._ellipse(phi)[0]

    def momentum(self, phi: float, theta: np.ndarray | float) -> np.ndarray | None:
        """(Pi, p) at two angles (rows of them for an array theta), or None where there is none."""
        least, centre, plane, shape = self._ellipse(phi)
        if least > self.energy:
            return None
        radius = np.sqrt(2.0 * (self.energy - least))
        y = np.linalg.solve(shape.T, radius * np.stack([np.cos(theta), np.sin(theta)]))
        return centre + (plane @ y).T

    def rate(self, mu: np.ndarray) -> float:
        """p_axis', with p' = p x Omega."""
        Omega = np.linalg.solve(self.K, mu)[:3]
        return float(np.cross(mu[3:], Omega)[self.axis])

    def spread(self, count: int, direction: int) -> np.ndarray:
        """`count` momenta spread over the angles, the same every time; those that cross in the direction (0: all)."""
        found: list[np.ndarray] = []
        steps = np.array([1.0 / PLASTIC, 1.0 / PLASTIC**2])
        for number in range(1000 + 200 * count):
            mu = self.momentum(*(2.0 * np.pi * ((0.5 + number * steps) % 1.0)))
            if mu is not None and direction * self.rate(mu) >= 0.0:
                found.append(mu)
            if len(found) == count:
                return np.array(found)
        least = min(self.least_energy(phi) for phi in np.linspace(0.0, 2.0 * np.pi, 721))
        raise InputError(
            f"no states with energy {self.energy:g}, |p| = {self.p_norm:g} and Pi.p = {self.pi_dot_p:g} were found on "
            f"the section: there the least energy is {least:.6g}; give an energy well above it"
        )

    def _ellipse(self, phi: float) -> tuple[float, np.ndarray, np.ndarray, np.ndarray]:
        """The least energy at phi, the momentum there, the plane of y, and the Cholesky factor of the energy in it."""
        first, second, normal = np.roll(np.eye(3), 2 - self.axis, axis=0)
        along = np.cos(phi) * first + np.sin(phi) * second
        base = np.concatenate([self.pi_dot_p / self.p_norm * along, self.p_norm * along])
        plane = np.zeros((6, 2))
        plane[:3] = np.stack([np.cross(normal, along), normal], axis=1)
        inverse = np.linalg.inv(self.K)
        form = plane.T @ inverse @ plane
        centre = base - plane @ np.linalg.solve(form, plane.T @ inverse @ base)
        return float(0.5 * centre @ inverse @ centre), centre, plane, np.linalg.cholesky(form)


def on_level(K: Any, axis: int, direction: int, shown: tuple[Any, Any], pi_dot_p: Any, p_norm: Any, energy: Any) -> Any:
    """(Pi, p) on the level set whose plotted components of Pi are `shown`, and which crosses in the direction; NaN if
    there is none. For JAX to trace.

    p = |p| (cos phi e_1 + sin phi e_2), and Pi = (shown_1, c, shown_2) along (e_1, e_2, e_axis), c being what Pi.p
    asks for: one equation for phi, the energy, whose roots are looked for between many angles, and then by bisection.
    """
    order = np.array([(axis + 1) % 3, (axis + 2) % 3, axis])  # the numbers of e_1, e_2, e_axis

    def momentum(phi: Any) -> Any:
        c = (pi_dot_p / p_norm - shown[0] * jnp.cos(phi)) / jnp.sin(phi)
        Pi = jnp.stack([shown[0], c, shown[1]])
        p = p_norm * jnp.stack([jnp.cos(phi), jnp.sin(phi), jnp.zeros_like(phi)])
        back = np.argsort(order)
        return jnp.concatenate([Pi[back], p[back]])

    def excess(phi: Any) -> Any:
        mu = momentum(phi)
        return (0.5 * mu @ solve(jnp.asarray(K), mu) - energy) * jnp.sin(phi) ** 2  # bounded where c is not

    def rate(phi: Any) -> Any:
        mu = momentum(phi)
        return jnp.cross(mu[3:], solve(jnp.asarray(K), mu)[:3])[axis]

    angles = (np.arange(ANGLES) + 0.5) * 2.0 * np.pi / ANGLES
    values = jax.lax.map(excess, angles)
    after = jnp.roll(values, -1)
    right = jax.lax.map(rate, angles) * direction >= 0.0
    found = (values * after <= 0.0) & right
    first = jnp.argmax(found)

    def halve(_: Any, bracket: Any) -> Any:
        low, high = bracket
        middle = 0.5 * (low + high)
        same = excess(middle) * excess(low) > 0.0
        return jnp.where(same, middle, low), jnp.where(same, high, middle)

    start = jnp.asarray(angles)[first]
    low, high = jax.lax.fori_loop(0, 60, halve, (start, start + 2.0 * np.pi / ANGLES))
    return jnp.where(jnp.any(found), momentum(0.5 * (low + high)), jnp.nan)


def dataset(panels: Sequence[Panel]) -> "xr.Dataset":
    """The points of all panels; the first is that of `method` and `dt`."""
    import xarray as xr

    return xr.Dataset(columns(panels))


_UNITS = {"seconds": "s"}

_NOTES = (
    "`crossings`, `energy_error_max`, `energy_drift`, `casimir_error_max` and `seconds` (CPU time of the steps) are "
    "those of `method` and `dt`, over all orbits and every step; those of a comparison are in `rows`. The drift is the "
    "slope of a straight line fitted to the energy of an orbit, times t1, relative; the one of the orbit that has most "
    "of it. The Casimirs are Pi.p, relative to |Pi| |p|, and |p|^2. A crossing is located by stepping again from the "
    "node before it with a fraction of dt. The points are in result.zarr: `Pi` and `p` along `crossing`, with the "
    "`orbit` and the `panel` of each; panel 0 is `method` and `dt`."
)
