"""The outer solar system: a symplectic method against projections onto energy and momentum."""

from typing import TYPE_CHECKING, Any

import jax.numpy as jnp
import numpy as np

import naiad as nd
from naiad.diagnostics import watched_run
from naiad.studies.live import LivePage
from naiad.studies.methods import EULER
from naiad.studies.parameters import Names, parameter
from naiad.studies.progress import Progress
from naiad.studies.study import Findings, Study
from naiad.viz.live import Slider

if TYPE_CHECKING:
    import xarray as xr

# The outer solar system on 5 September 1994, 0 h, relative to the sun [hairer2006, section I.2.4]: distances in AU,
# velocities in AU/day, masses relative to the sun's; the sun's mass includes the inner planets.
G = 2.95912208286e-4
"""AU^3 / (sun's mass day^2)."""

NAMES = ("Sun", "Jupiter", "Saturn", "Uranus", "Neptune", "Pluto")

MASSES = np.array(
    [1.00000597682, 0.000954786104043, 0.000285583733151, 0.0000437273164546, 0.0000517759138449, 1.0 / 1.3e8]
)

POSITIONS = np.array(
    [
        [0.0, 0.0, 0.0],
        [-3.5023653, -3.8169847, -1.5507963],
        [9.0755314, -3.0458353, -1.6483708],
        [8.3101420, -16.2901086, -7.2521278],
        [11.4707666, -25.7294829, -10.8169456],
        [-15.5387357, -25.2225594, -3.1902382],
    ]
)

VELOCITIES = np.array(
    [
        [0.0, 0.0, 0.0],
        [0.00565429, -0.00412490, -0.00190589],
        [0.00168318, 0.00483525, 0.00192462],
        [0.00354178, 0.00137102, 0.00055029],
        [0.00288930, 0.00114527, 0.00039677],
        [0.00276725, -0.00170702, -0.00136504],
    ]
)

EXPLICIT = nd.RKMK("euler")

METHODS = {
    "energy-euler": ("explicit Euler, projected onto the energy", nd.Projected(EXPLICIT, ("energy",))),
    "energy-momentum-euler": (
        "explicit Euler, projected onto energy, angular and linear momentum",
        nd.Projected(EXPLICIT, ("energy", "momentum")),
    ),
    "euler": ("variational Euler", EULER),
    "explicit-euler": ("explicit Euler", EXPLICIT),
    "implicit-euler": ("implicit Euler", nd.ImplicitEuler()),
    "verlet": ("Stormer-Verlet (variational, trapezoid)", nd.Variational()),
    "compose8": ("Stormer-Verlet composed to order 8", nd.Composition(nd.Variational(), 8)),
    "splitting6": ("kicks and drifts (Runge-Kutta-Nystrom), order 6", nd.Nystrom(6)),
    "splitting8": ("kicks and drifts, order 8", nd.Nystrom(8)),
    "wisdom-holman": ("orbits of Kepler and kicks, orders 10, 6, 4 in the masses", nd.WisdomHolman()),
}

COLOURS = ("#E69F00", "#D55E00", "#56B4E9", "#0072B2", "#222222")
"""Bright near the sun, Pluto black."""


class OuterSolarSystem(Study, name="outer-solar-system"):
    """Outer solar system over five centuries: variational Euler against projected explicit Euler.

    Sun and five planets from 1994 on. Variational Euler keeps the momenta to round-off, the energy error swings, and
    the planets stay on their ellipses. Explicit Euler with projection onto the energy, or onto energy and all momenta,
    has no error in what it projects onto, and yet its planets wander to wrong orbits: the size of the ellipses
    (`semi_major_axes`) drifts, Neptune's most. The projection is the nearest one in positions and velocities.
    """

    paper = "N. Bou-Rabee, Caltech 2007, Fig. 1.2.2; data of Hairer, Lubich, Wanner, Springer 2006, section I.2.4"

    methods: Names = parameter(
        ("energy-euler", "energy-momentum-euler", "euler"),
        choices={name: words for name, (words, _) in METHODS.items()},
        help="integrators to compare",
    )
    dt: float = parameter(10.0, unit="day", above=0.0, help="time step")
    t1: float = parameter(185000.0, unit="day", above=0.0, help="duration, from 5 September 1994")

    def start(self, jupiter: Any = None) -> tuple[nd.models.PointMasses, nd.State]:
        """Sun and planets, and where they were; with a Jupiter so many times as heavy, if that is given."""
        masses = MASSES if jupiter is None else MASSES * jnp.where(np.arange(6) == 1, jupiter, 1.0)
        system = nd.models.PointMasses(masses, G, nd.Chain(3), names=NAMES)
        return system, system.state(q=POSITIONS, v=VELOCITIES)

    def live(self) -> LivePage:
        heavy = Slider(0.1, 300.0, 1.0, label="Jupiter", log=True, help="its mass, times what it is")
        return LivePage(
            lambda study: study.start(study.jupiter),
            {"jupiter": heavy},
            {_words(name): METHODS[name][1] for name in self.methods},
            self.dt,
            min(self.t1, 60000.0),
            time_unit="day",
            step=(0.1 * self.dt, 30.0 * self.dt),
        )

    def run(self, progress: Progress) -> Findings:
        system, state = self.start()
        invariants = {
            "energy": system.energy,
            "angular_momentum": lambda state, t: jnp.sum(jnp.cross(state.g, _rows(state.mu)), axis=0),
            "linear_momentum": lambda state, t: jnp.sum(_rows(state.mu), axis=0),
        }
        results: dict[str, dict[str, Any]] = {"energy_error_max": {}, "angular_momentum_error_max": {}}
        results |= {"linear_momentum_error_max": {}, "positions": {}, "semi_major_axes": {}, "axis_change_max": {}}
        runs = {}
        for index, name in enumerate(self.methods):
            run, errors = watched_run(
                system,
                state,
                t1=self.t1,
                dt=self.dt,
                method=METHODS[name][1],
                progress=progress.part(index, len(self.methods), label=name),
                invariants=invariants,
            )
            runs[name] = run
            axes = semi_major_axes(run.g, np.reshape(run.states.mu, (-1, 6, 3)) / MASSES[:, None])
            found = {key: errors[key] for key in errors if key in results}
            found["positions"] = run.final.g - run.final.g[0]
            found["semi_major_axes"] = axes[-1]
            found["axis_change_max"] = np.max(np.abs(axes / axes[0] - 1.0), axis=0)
            for key, value in found.items():
                results[key][name] = value
        last = runs[self.methods[-1]]
        figures = {"orbits": lambda: _orbits(self, runs), "neptune": lambda: _neptune(runs)}
        return Findings(results, lambda: _in_own_units(last.dataset), figures, notes=_NOTES, units=_UNITS)


def semi_major_axes(positions: np.ndarray, velocities: np.ndarray) -> np.ndarray:
    """1 / (2/r - v^2/mu) of each planet's osculating ellipse about the sun (negative if it escapes), in AU."""
    r, v = (values[..., 1:, :] - values[..., :1, :] for values in (positions, velocities))
    mu = G * (MASSES[0] + MASSES[1:])
    return 1.0 / (2.0 / np.linalg.norm(r, axis=-1) - np.sum(v**2, axis=-1) / mu)


def _in_own_units(dataset: "xr.Dataset") -> "xr.Dataset":
    """With the units of the data: astronomical units, days, and masses of the sun."""
    made = dataset.copy()
    units = {"time": "day", "q": "AU", "v": "AU/day", "p": "solar masses AU/day", "energy": "solar masses AU^2/day^2"}
    for name, unit in units.items():
        made[name].attrs["units"] = unit
    return made


def _rows(mu: Any) -> Any:
    return jnp.reshape(mu, (-1, 3))


def _orbits(study: OuterSolarSystem, runs: dict[str, nd.Trajectory]) -> Any:
    from naiad import viz

    with viz.house():
        figure = viz.new_figure(4.0 * len(runs), 4.6)
        axes = np.atleast_1d(figure.subplots(1, len(runs), sharex=True, sharey=True, squeeze=True))
        for ax, (name, run) in zip(axes, runs.items(), strict=True):
            relative = run.g - run.g[:, :1]
            for planet, colour in enumerate(COLOURS, start=1):
                ax.plot(*relative[:, planet, :2].T, color=colour, linewidth=0.8, label=NAMES[planet])
            ax.plot(0, 0, "o", color="#8A8A8A", markersize=3)
            ax.set(xlim=(-55, 55), ylim=(-55, 55), aspect="equal", xlabel="x [AU]", title=_title(name, study.dt))
        axes[0].set_ylabel("y [AU]")
        handles, labels = axes[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=5)
        return figure


def _title(name: str, dt: float) -> str:
    return f"{_words(name)}, h = {dt:g} days"


def _words(name: str) -> str:
    return {"euler": "variational Euler", "verlet": "Verlet"}.get(name, name.replace("-euler", " Euler"))


def _neptune(runs: dict[str, nd.Trajectory]) -> Any:
    """How each method changes the size of Neptune's orbit, whose osculating ellipse swings with Jupiter."""
    from naiad import viz
    from naiad.viz.thinning import thin

    with viz.house():
        figure = viz.new_figure(6.8, 3.8)
        ax = figure.add_subplot()
        for colour, (name, run) in zip(viz.PALETTE, runs.items(), strict=False):
            axes = semi_major_axes(run.g, np.reshape(run.states.mu, (-1, 6, 3)) / MASSES[:, None])
            years = 1994.68 + run.t.to_numpy() / 365.25
            ax.plot(*thin(years, axes[:, 3] / axes[0, 3]), color=colour, label=_words(name))
        ax.set(xlabel="year", ylabel="semi-major axis of Neptune / initial")
        ax.grid(True, color="#E4E4E4", linewidth=0.6)
        ax.legend(loc="upper left", bbox_to_anchor=(1.0, 1.02))
        return figure


_UNITS = {"positions": "AU", "semi_major_axes": "AU"}

_NOTES = (
    "Each result has a value for each method. Errors are relative and the largest over every step. `positions` are "
    "those of sun and planets at `t1`, relative to the sun, in AU; `semi_major_axes` are of the osculating ellipses at "
    "`t1`, in AU, and `axis_change_max` how far they moved from the initial ones, at most, relative (saved nodes)."
)
