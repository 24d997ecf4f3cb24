"""A spacecraft with an internal rotor on a torsional spring."""

from typing import Any

import jax.numpy as jnp
import numpy as np

import naiad as nd
from naiad.diagnostics import watched_run
from naiad.numerics import solve
from naiad.studies.live import LivePage
from naiad.studies.methods import SHAPE_CHOICES, method
from naiad.studies.parameters import Inertia, Names, Vector, as_matrix, parameter
from naiad.studies.progress import Progress
from naiad.studies.study import Findings, Study


class RotorSpacecraft(Study, name="rotor-spacecraft"):
    """Spacecraft with an internal rotor on a torsional spring: rotations with a shape space beside them.

    Pi' = Pi x Omega, alpha' = p/J_r - n.Omega, p' = -kappa alpha with Omega = I^-1 (Pi - p n). A variational method
    keeps the momentum in space and |Pi| to round-off, and the energy error swings without drift. The figure `section`
    shows the points Pi where the rotor passes alpha = 0 forwards, for orbits of the same energy and |Pi|, as the thesis
    does: `flv` draws thin closed curves, as variational methods do, `rk4` at the same step loses energy and smears
    them, and `sw-perp`, which keeps energy, |Pi| and the momentum in space to round-off, leaves them altogether.
    """

    paper = "N. Bou-Rabee, Hamilton-Pontryagin Integrators on Lie Groups, Caltech 2007, section 7.4, Fig. 7.4.1"

    method: str = parameter("cay", choices=SHAPE_CHOICES, help="integrator")
    I: Inertia = parameter(  # noqa: E741  (the symbol of the paper)
        (2.0, 1.5, 1.0), unit="kg m^2", size=3, help="inertia of the craft less the rotor's moment about its axis"
    )
    J_r: float = parameter(0.4, unit="kg m^2", above=0.0, help="the rotor's moment about its axis")
    kappa: float = parameter(1.2, unit="N m/rad", at_least=0.0, help="stiffness of the torsional spring")
    n: Vector = parameter((0.0, 0.0, 1.0), size=3, help="axis of the rotor in the body (any length)")
    Pi0: Vector = parameter((0.6, 0.9, -0.7), unit="kg m^2/s", size=3, help="initial momentum in the body")
    alpha0: float = parameter(0.3, unit="rad", help="initial angle of the rotor")
    p0: float = parameter(0.2, unit="kg m^2/s", help="initial momentum of the rotor")
    dt: float = parameter(0.01, unit="s", above=0.0, help="time step")
    t1: float = parameter(10.0, unit="s", above=0.0, help="duration")
    compare: Names = parameter(("sw-perp", "rk4", "flv"), choices=SHAPE_CHOICES, help="methods of the figure `section`")
    orbits: int = parameter(10, at_least=1, at_most=200, help="orbits in the figure `section`")
    section_dt: float = parameter(0.2, unit="s", above=0.0, help="time step of the figure `section`")
    section_t1: float = parameter(10000.0, unit="s", above=0.0, help="duration of each orbit of the figure `section`")

    def craft(self) -> nd.models.RotorSpacecraft:
        """The system of these parameters."""
        return nd.models.RotorSpacecraft(as_matrix(self.I), self.J_r, self.kappa, self.n)

    def start(self) -> tuple[nd.models.RotorSpacecraft, nd.State]:
        """The craft, and its initial state."""
        craft = self.craft()
        return craft, craft.state(alpha=[self.alpha0], R_Pi=self.Pi0, alpha_p=[self.p0])

    def live(self) -> LivePage:
        """The methods of `compare` with steps of `section_dt`, and the section."""
        craft, state = self.start()
        orbits = [_drawn(start.mu) for start in section_starts(craft, state, self.orbits)]
        return LivePage(
            RotorSpacecraft.start,
            {
                "J_r": (0.05, 1.5),
                "kappa": (0.0, 5.0),
                "Pi0": (-2.0, 2.0),
                "alpha0": (-2.0, 2.0),
                "p0": (-1.0, 1.0),
                "I": (0.5, 4.0),
            },
            {SHAPE_CHOICES[name]: method(name) for name in self.compare},
            self.section_dt,
            60.0,
            section=nd.SectionPlot(
                nd.Section(_angle),
                lambda state, t: _drawn(state.mu)[0],
                lambda state, t: _drawn(state.mu)[1],
                ("angle of (Π₁, Π₂) [rad]", "Π₃/|Π|"),
                start=on_section,
                orbits=[(float(x), float(y)) for x, y in orbits],
                frame=(-np.pi, np.pi, -1.0, 1.0),
            ),
        )

    def run(self, progress: Progress) -> Findings:
        craft, state = self.start()
        invariants = {
            "energy": craft.energy,
            "momentum": lambda state, t: craft.noether(state),
            "casimir": lambda state, t: state.mu[:3] @ state.mu[:3],
        }
        run, errors = watched_run(
            craft, state, t1=self.t1, dt=self.dt, method=method(self.method), progress=progress, invariants=invariants
        )
        xi = run.xi.to_numpy()[-1]
        results = {
            "Pi": run.final.mu[:3],
            "alpha": float(run.final.g.alpha[0]),
            "p": float(run.final.mu[3]),
            "Omega": xi[:3],
            "alpha_rate": float(xi[3]),
            "R": run.final.g.R,
            **errors,
            "steps": run.statistics["steps"],
        }
        figures = {
            "section": lambda: section_figure(self, state),
            "rotor": lambda: _rotor(run),
            "invariants": lambda: _invariants(run),
            "momentum-sphere": lambda: _sphere(run),
        }
        return Findings(results, lambda: run.dataset, figures, notes=_NOTES, units=_UNITS)


def section_starts(craft: nd.models.RotorSpacecraft, state: nd.State, count: int) -> list[nd.State]:
    """States at alpha = 0, alpha' > 0 with the energy and |Pi| of `state`, Pi spread evenly over its sphere."""
    energy, size = float(craft.energy(state)), float(np.linalg.norm(np.asarray(state.mu)[:3]))
    inverse, n, starts = np.linalg.inv(np.asarray(craft.I)), np.asarray(craft.n), []
    for k in range(20 * count):
        height, angle = 1 - (2 * k + 1) / (20 * count), k * np.pi * (3 - np.sqrt(5))
        across = np.sqrt(1 - height**2)
        Pi = size * np.array([across * np.cos(angle), across * np.sin(angle), height])
        a, b = 1 / craft.J_r + n @ inverse @ n, n @ inverse @ Pi  # H = (a p^2 - 2 b p + Pi . I^-1 Pi) / 2
        discriminant = b**2 - a * (Pi @ inverse @ Pi - 2 * energy)
        if discriminant > 0:  # alpha' = a p - b > 0: the larger root
            starts.append(craft.state(R_Pi=Pi, alpha_p=[(b + np.sqrt(discriminant)) / a]))
    chosen = np.linspace(0, len(starts) - 1, min(count, len(starts))).round().astype(int)
    return [starts[index] for index in chosen]


def on_section(craft: nd.models.RotorSpacecraft, x: Any, y: Any, Pi0: Any, alpha0: Any, p0: Any) -> nd.State:
    """The state at alpha = 0, alpha' > 0 with Pi at a point of the picture, and energy and |Pi| of the initial one."""
    energy = craft.energy(craft.state(alpha=[alpha0], R_Pi=Pi0, alpha_p=[p0]))
    across = jnp.sqrt(1.0 - y**2)
    Pi = jnp.sqrt(Pi0 @ Pi0) * jnp.stack([across * jnp.cos(x), across * jnp.sin(x), y])
    I, n = jnp.asarray(craft.I), jnp.asarray(craft.n)  # noqa: E741
    turned, carried = solve(I, Pi), solve(I, n)
    a, b = 1.0 / craft.J_r + n @ carried, n @ turned
    p = (b + jnp.sqrt(b**2 - a * (Pi @ turned - 2.0 * energy))) / a
    return craft.state(alpha=jnp.zeros(1), R_Pi=Pi, alpha_p=p[None])


def _drawn(mu: Any) -> tuple[Any, Any]:
    """Where Pi lies in the picture: coordinates that keep areas on its sphere."""
    return jnp.arctan2(mu[1], mu[0]), mu[2] / jnp.sqrt(mu[:3] @ mu[:3])


def section_points(
    craft: nd.models.RotorSpacecraft, starts: list[nd.State], name: str, *, t1: float, dt: float
) -> list[np.ndarray]:
    """Pi at the crossings of alpha = 0 with alpha' > 0, for each orbit."""
    section = {"rotor": nd.Section(_angle)}
    runs = (
        nd.simulate(craft, start, t1=t1, dt=dt, method=method(name), sections=section, progress=False)
        for start in starts
    )
    return [run.crossings["rotor"]["R_Pi"].to_numpy() for run in runs]


def _angle(state: nd.State, t: Any) -> Any:
    return state.g.alpha[0]


def section_figure(study: RotorSpacecraft, state: nd.State) -> Any:
    """The sections of all methods side by side, in coordinates that keep areas on the sphere of Pi."""
    from naiad import viz

    craft = study.craft()
    starts = section_starts(craft, state, study.orbits)
    with viz.house():
        figure = viz.new_figure(4.6 * len(study.compare), 4.2)
        for index, name in enumerate(study.compare):
            ax = figure.add_subplot(1, len(study.compare), index + 1)
            orbits = section_points(craft, starts, name, t1=study.section_t1, dt=study.section_dt)
            points = np.concatenate([*orbits, np.zeros((0, 3))])
            number = np.repeat(np.arange(len(orbits)), [len(orbit) for orbit in orbits])
            longitude = np.arctan2(points[:, 1], points[:, 0])
            height = points[:, 2] / np.linalg.norm(points, axis=1)
            title = f"{name}, h = {study.section_dt:g} s, T = {study.section_t1:g} s"
            viz.section_scatter(
                longitude,
                height,
                xlabel=r"angle of $(\Pi_1, \Pi_2)$ [rad]",
                ylabel=r"$\Pi_3/|\Pi|$",
                groups=number,
                title=title,
                ax=ax,
            )
            ax.set(xlim=(-np.pi, np.pi), ylim=(-1, 1))
        return figure


def _rotor(run: nd.Trajectory) -> Any:
    from naiad import viz

    return viz.errors_over_time(run.t, {"alpha": run.g.alpha[:, 0]}, r"angle of the rotor $\alpha$ [rad]")


def _invariants(run: nd.Trajectory) -> Any:
    from naiad import diagnostics, viz

    errors = {"energy": diagnostics.energy_error(run), "momentum": diagnostics.momentum_error(run)}
    shown = {name: np.maximum(values, 1e-17) for name, values in errors.items()}
    return viz.errors_over_time(run.t, shown, "relative error", log=True, title="What the method keeps")


def _sphere(run: nd.Trajectory) -> Any:
    from naiad import viz

    return viz.sphere_curve(run.states.mu[:, :3], title="Momentum in the body")


_UNITS = {"Pi": "kg m^2/s", "alpha": "rad", "p": "kg m^2/s", "Omega": "rad/s", "alpha_rate": "rad/s"}

_NOTES = (
    "`Pi` and `p` are the momenta at the node `t1`, in the body and of the rotor. Errors are relative to the initial "
    "value and the largest over every step: `momentum_error_max` is that of R Pi, `casimir_error_max` of |Pi|^2 (of "
    "`flv`, which keeps it half a step later, at the nodes). The thesis does not say how its FLV and SW-perp take the "
    "rotor along; here -kappa alpha at the nodes pulls p, and the inertia couples it to the body."
)
