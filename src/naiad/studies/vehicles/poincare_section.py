"""Poincaré sections of Kirchhoff's equations."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

import naiad as nd
from naiad.errors import InputError, RunError
from naiad.studies.methods import FREE_CHOICES, method
from naiad.studies.parameters import Inertia, Matrix, Names, Vector, parameter
from naiad.studies.progress import Progress
from naiad.studies.study import Findings, Study
from naiad.studies.vehicles.level_set import AXES, LevelSet
from naiad.studies.vehicles.section_panels import Coordinate, Panel, Sections, columns
from naiad.studies.vehicles.vehicle import INERTIA, MASS, vehicle

if TYPE_CHECKING:
    import xarray as xr

SECTIONS = {"pz": "the plane p_z = 0", "py": "the plane p_y = 0", "px": "the plane p_x = 0"}
DIRECTIONS = {"rising": 1, "falling": -1, "both": 0}
FRACTIONS = (0.25, 0.5, 1.0)


class PoincareSection(Study, name="poincare-section"):
    """Poincaré section of an underwater vehicle: tori and chaos, and which methods keep them.

    Orbits start on the section, spread over the states with the given Pi.p, |p| and energy. A closed curve is a torus;
    points that fill an area are chaos. `compare=rk4,cay` draws the methods side by side for the steps dt/4, dt/2 and
    dt, or those of `dts` (the thesis's Figure 6.6.1 is `compare=rk4,cay,tln,flv` with t1=1e6, Figure 6.6.3
    `compare=sw,sw-perp` with dt=0.0125). With `cpu=4,2,1` each method takes the step with which it uses that CPU time
    instead (Figure 6.6.2). The chaotic sea looks the same for all methods: judge them by the tori, by the energy and
    by the Casimirs. A method without structure, such as `rk4`, drifts off its level set, and its tori become bands.
    """

    paper = "N. Bou-Rabee, Hamilton-Pontryagin Integrators on Lie Groups, Caltech 2007, section 6.6"

    method: str = parameter("cay", choices=FREE_CHOICES, help="integrator")
    I: Inertia = parameter(  # noqa: E741  (the symbol of the papers)
        INERTIA, unit="kg m^2", size=3, help="inertia with the fluid's: three moments or a matrix"
    )
    M: Inertia = parameter(MASS, unit="kg", size=3, help="mass with the fluid's: three numbers or a matrix")
    S: Matrix | None = parameter(
        None, unit="kg m", size=(3, 3), help="coupling of translation to rotation, p = S Omega + M v"
    )
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
            method(name).check(vehicle(self.I, self.M, self.S))

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
        return Findings(results, lambda: dataset(panels), self._figures(main, rows, level), notes=_NOTES)

    def _level(self) -> LevelSet:
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

    def _figures(self, main: Panel, rows: Sequence[Sequence[Panel]], level: LevelSet) -> dict:
        from naiad.studies.vehicles import section_figures

        figures = {"section": lambda: section_figures.one_panel(main, level)}
        if rows:
            figures["comparison"] = lambda: section_figures.grid(rows, level, timed=self.cpu is not None)
        return figures


def dataset(panels: Sequence[Panel]) -> "xr.Dataset":
    """The points of all panels; the first is that of `method` and `dt`."""
    import xarray as xr

    return xr.Dataset(columns(panels))


_NOTES = (
    "`crossings`, `energy_error_max`, `energy_drift`, `casimir_error_max` and `seconds` (CPU time of the steps) are "
    "those of `method` and `dt`, over all orbits and every step; those of a comparison are in `rows`. The drift is the "
    "slope of a straight line fitted to the energy of an orbit, times t1, relative; the one of the orbit that has most "
    "of it. The Casimirs are Pi.p, relative to |Pi| |p|, and |p|^2. A crossing is located by stepping again from the "
    "node before it with a fraction of dt. The points are in result.zarr: `Pi` and `p` along `crossing`, with the "
    "`orbit` and the `panel` of each; panel 0 is `method` and `dt`."
)
