"""The spherical pendulum with a square's symmetry, on a Poincare section."""

from typing import Any

import jax.numpy as jnp
import numpy as np

import naiad as nd
from naiad.integrators import AbstractMethod
from naiad.studies.live import LivePage
from naiad.studies.methods import EULER, GENERAL, method
from naiad.studies.parameters import parameter
from naiad.studies.progress import Progress
from naiad.studies.study import Findings, Study

CHOICES = {"euler": "variational Euler: Cayley map, Lagrangian at the left node", **GENERAL}


class SphericalPendulum(Study, name="spherical-pendulum"):
    """Spherical pendulum with a D_4 perturbation: a symplectic method beside implicit Euler on a section.

    The section is u_y = 0, rising, u the direction of the rod. The variational method keeps the invariant tori, at ten
    times the step of implicit Euler, which loses energy: its points spiral to the rest position. The thesis gives
    neither potential nor parameters; here the perturbation is epsilon Re (u_x + i u_y)^n, the simplest with the
    symmetry of the n-gon.
    """

    paper = "N. Bou-Rabee, Hamilton-Pontryagin Integrators on Lie Groups, Caltech 2007, Fig. 1.2.1"

    method: str = parameter("euler", choices=CHOICES, help="the symplectic integrator")
    m: float = parameter(1.0, unit="kg", above=0.0, help="mass")
    l: float = parameter(1.0, unit="m", above=0.0, help="length of the rod")  # noqa: E741
    gravity: float = parameter(1.0, unit="m/s^2", above=0.0, help="gravity")
    epsilon: float = parameter(0.25, unit="J", help="strength of the perturbation")
    n: int = parameter(4, at_least=1, at_most=12, help="corners of the polygon whose symmetry it has")
    energy: float = parameter(0.3, unit="J", above=0.0, help="energy above the rest position, the same for all orbits")
    orbits: int = parameter(8, at_least=1, at_most=100, help="orbits, spread over the section")
    dt: float = parameter(0.02, unit="s", above=0.0, help="time step of the symplectic method")
    dt_implicit: float = parameter(0.002, unit="s", above=0.0, help="time step of implicit Euler")
    t1: float = parameter(1000.0, unit="s", above=0.0, help="duration of each orbit")

    def pendulum(self) -> nd.models.SphericalPendulum:
        """The system of these parameters."""
        return nd.models.SphericalPendulum(self.m, self.l, self.gravity, self.epsilon, self.n)

    def live(self) -> LivePage:
        """The symplectic method and implicit Euler with the same step, and the section."""
        starts = section_starts(self.pendulum(), self.energy, self.orbits)
        places = [float(start.g[0, 2]) for start in starts]
        return LivePage(
            lambda study: study.start(places[0]),
            {
                "energy": (0.02, 1.9),
                "epsilon": (-1.0, 1.0),
                "gravity": (0.1, 10.0),
                "m": (0.1, 5.0),
                "l": (0.2, 3.0),
            },
            {
                CHOICES[self.method].partition(":")[0]: self.symplectic(),
                "implicit Euler": nd.ImplicitEuler(),
            },
            self.dt,
            60.0,
            section=nd.SectionPlot(
                nd.Section(_side),
                lambda state, t: state.g[0, 2],
                lambda system, state, t: _sideways(system, state),
                ("u_x", "u_x' [1/s]"),
                start=lambda pendulum, x, y, energy: on_section(pendulum, energy, x, y),
                orbits=[(x, 0.0) for x in places[1:]],
            ),
        )

    def start(self, x: float) -> tuple[nd.models.SphericalPendulum, nd.State]:
        """The pendulum of these parameters, on the section at u_x = x."""
        pendulum = self.pendulum()
        return pendulum, on_section(pendulum, self.energy, x, 0.0)

    def symplectic(self) -> AbstractMethod:
        """The integrator that is compared with implicit Euler."""
        return EULER if self.method == "euler" else method(self.method)

    def run(self, progress: Progress) -> Findings:
        pendulum = self.pendulum()
        starts = section_starts(pendulum, self.energy, self.orbits)
        chosen = {"": (self.symplectic(), self.dt), "implicit_": (nd.ImplicitEuler(), self.dt_implicit)}
        results: dict[str, Any] = {}
        points: dict[str, list[np.ndarray]] = {}
        first: Any = None
        for done, (prefix, (integrator, dt)) in enumerate(chosen.items()):
            runs = []
            for index, start in enumerate(starts):
                runs.append(_orbit(pendulum, start, integrator, self.t1, dt))
                progress((done + (index + 1) / len(starts)) / len(chosen))
            first = first or runs[0]
            points[prefix] = [section_points(run) for run in runs]
            results |= {f"{prefix}{key}": value for key, value in _measures(runs, self).items()}
        results |= {"u": first.final.g[:, 2]}
        figures = {"section": lambda: _figure(self, points), "overview": lambda: first.plot()}
        return Findings(results, lambda: _dataset(points), figures, notes=_NOTES, units=_UNITS)


def section_starts(pendulum: nd.models.SphericalPendulum, energy: float, count: int) -> list[nd.State]:
    """States at u_y = 0 with the given energy above rest and u' along y, u_x spread over where that is possible."""
    total = energy - pendulum.m * pendulum.l * pendulum.gravity
    starts = []
    for x in np.linspace(-1.0, 1.0, 401)[1:-1]:
        u = np.array([x, 0.0, -np.sqrt(1 - x**2)])
        kinetic = total - float(pendulum.potential(u))
        if kinetic > 0:
            speed = np.sqrt(2 * kinetic / (pendulum.m * pendulum.l**2))
            starts.append((u, speed))
    places = (np.arange(count) + 0.7) / (count + 0.2) * len(starts)  # not mirror images of each other
    return [pendulum.from_rod(starts[i][0], (0.0, starts[i][1], 0.0)) for i in places.astype(int)]


def on_section(pendulum: nd.models.SphericalPendulum, energy: Any, x: Any, rate: Any) -> nd.State:
    """The state at u_y = 0 with u_x = x, u_x' = rate, u_y' > 0 and an energy above rest; NaN if there is none."""
    height = -jnp.sqrt(1.0 - x**2)
    u, fall = jnp.stack([x, 0.0, height]), -x * rate / height
    kinetic = energy - pendulum.m * pendulum.l * pendulum.gravity - pendulum.potential(u)
    square = 2.0 * kinetic / (pendulum.m * pendulum.l**2) - rate**2 - fall**2
    return pendulum.from_rod(u, jnp.stack([rate, jnp.sqrt(square), fall]))


def _sideways(pendulum: Any, state: nd.State) -> Any:
    """u_x', the first component of R (Omega x e_3)."""
    Omega = state.mu / (pendulum.m * pendulum.l**2)
    return state.g[0, 0] * Omega[1] - state.g[0, 1] * Omega[0]


def section_points(run: nd.Trajectory) -> np.ndarray:
    """(u_x, u_x') at the crossings."""
    at = run.crossings["section"]
    R, Pi = at["R"].to_numpy(), at["Pi"].to_numpy()
    pendulum: Any = run.system
    inertia = float(pendulum.m * pendulum.l**2)
    Omega = Pi / inertia
    rate = R[:, 0, 0] * Omega[:, 1] - R[:, 0, 1] * Omega[:, 0]  # first component of R (Omega x e_3)
    return np.stack([R[:, 0, 2], rate], axis=1)


def _orbit(
    pendulum: nd.models.SphericalPendulum, start: nd.State, integrator: Any, t1: float, dt: float
) -> nd.Trajectory:
    return nd.simulate(
        pendulum,
        start,
        t1=t1,
        dt=dt,
        method=integrator,
        progress=False,
        monitors={"energy": pendulum.energy, "spin": _spin},
        sections={"section": nd.Section(_side)},
        throw=True,
    )


def _side(state: nd.State, t: Any) -> Any:
    return state.g[1, 2]


def _spin(state: nd.State, t: Any) -> Any:
    return state.mu[2]


def _measures(runs: list[nd.Trajectory], study: SphericalPendulum) -> dict[str, Any]:
    """Errors relative to the energy above rest, the largest over all orbits."""
    begins = [float(run.energy[0]) for run in runs]
    energies = [run.monitors["energy"] for run in runs]
    swings = [max(m.max - e, e - m.min) for m, e in zip(energies, begins, strict=True)]
    drifts = [m.slope * study.t1 for m in energies]
    return {
        "energy_error_max": float(max(swings)) / study.energy,
        "energy_drift": float(max(drifts, key=abs)) / study.energy,
        "spin_max": max(run.monitors["spin"].largest for run in runs),
        "crossings": sum(len(run.crossings["section"]["time"]) for run in runs),
    }


def _figure(study: SphericalPendulum, points: dict[str, list[np.ndarray]]) -> Any:
    from naiad import viz

    titles = {"": f"{study.method}, h = {study.dt:g} s", "implicit_": f"implicit Euler, h = {study.dt_implicit:g} s"}
    with viz.house():
        figure = viz.new_figure(9.4, 4.4)
        axes = figure.subplots(1, 2, sharex=True, sharey=True)
        for ax, (prefix, orbits) in zip(axes, points.items(), strict=True):
            x, y = np.concatenate(orbits).T
            number = np.repeat(np.arange(len(orbits)), [len(orbit) for orbit in orbits])
            title = titles[prefix].replace(
                study.method, {"euler": "variational Euler"}.get(study.method, study.method), 1
            )
            viz.section_scatter(x, y, xlabel="$u_x$", ylabel="$u_x'$ [1/s]", groups=number, title=title, ax=ax)
        return figure


def _dataset(points: dict[str, list[np.ndarray]]) -> Any:
    import xarray as xr

    found = {}
    for prefix, orbits in points.items():
        along = f"{prefix}crossing"
        number = np.repeat(np.arange(len(orbits)), [len(orbit) for orbit in orbits])
        found[f"{prefix}section"] = ((along, "component"), np.concatenate(orbits))
        found[f"{prefix}orbit"] = ((along,), number)
    return xr.Dataset(found)


_UNITS = {"spin_max": "kg m^2/s", "implicit_spin_max": "kg m^2/s"}

_NOTES = (
    "Names without a prefix belong to the symplectic method, those with `implicit_` to implicit Euler. Energy errors "
    "are relative to `energy`, the largest over every step and orbit; `energy_drift` is the slope of the energy "
    "times `t1`. `spin_max` is the momentum about the rod, zero at the start. `u` is the rod's direction at `t1`, on "
    "the first orbit."
)
