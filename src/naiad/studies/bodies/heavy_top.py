"""The heavy top, written as a user of naiad would write it."""

import math

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

import naiad as nd
from naiad.diagnostics import watched_run
from naiad.studies.live import LivePage
from naiad.studies.methods import CHOICES, method
from naiad.studies.parameters import Inertia, Vector, as_matrix, parameter
from naiad.studies.progress import Progress
from naiad.studies.study import Findings, Study


class HeavyTop(nd.LagrangianSystem):
    """A rigid body with a fixed point, its mass centre at a distance l along the body's third axis; e_3 points up."""

    J: Float[Array | np.ndarray, "3 3"]
    mgl: float
    group = nd.SO3()

    def lagrangian(self, g, xi, t):
        return 0.5 * xi @ self.J @ xi - self.mgl * g[2, 2]

    def symmetry(self, s, g):
        return nd.SO3().exp(s[0] * jnp.array([0.0, 0.0, 1.0])) @ g

    @property
    def picture(self):
        """A homogeneous ellipsoid that spins on its tip, with these moments about it."""
        J = np.diag(np.asarray(self.J))
        height = 5.0 / 12.0 * (J[0] + J[1] - J[2])  # times the mass, as the next two
        across = 5.0 * J[1::-1] - 6.0 * height
        axes = np.sqrt(np.maximum([*across, height], 1e-3 * J.max()))
        return nd.mechanics.Picture(shapes=[axes], centres=[(0.0, 0.0, axes[2])])


class HeavyTopStudy(Study, name="heavy-top"):
    """Heavy top: precession and nutation under gravity.

    The energy error swings without drift and the vertical momentum stays at round-off for the variational methods. For
    a symmetric top (two equal moments across the axis) the momentum about the body's axis is conserved too, and the
    tilt swings between two fixed angles; an asymmetric one (for example J=1,2,3) may be chaotic.
    """

    paper = "A classical system; the discretisation is that of N. Bou-Rabee, Caltech 2007, (4.6.1)-(4.6.3)"

    method: str = parameter("cay", choices=CHOICES, help="integrator")
    J: Inertia = parameter(
        (2.0, 2.0, 1.0), unit="kg m^2", size=3, help="inertia about the fixed point: three moments or a matrix"
    )
    unphysical: bool = parameter(False, help="take moments of inertia that no body has")
    mgl: float = parameter(
        4.0, unit="N m", at_least=0.0, help="weight times the distance of the mass centre along axis 3"
    )
    tilt: float = parameter(
        0.6, unit="rad", at_least=0.0, at_most=math.pi, help="initial angle of axis 3 from the vertical"
    )
    Omega0: Vector = parameter((0.0, 0.3, 8.0), unit="rad/s", size=3, help="initial angular velocity in the body")
    dt: float = parameter(0.005, unit="s", above=0.0, help="time step")
    t1: float = parameter(20.0, unit="s", above=0.0, help="duration")

    def start(self) -> tuple[HeavyTop, nd.State]:
        """The top of these parameters, and its initial state."""
        top = HeavyTop(nd.models.body_inertia("J", as_matrix(self.J), unphysical=self.unphysical), self.mgl)
        return top, top.state(R=(0.0, self.tilt, 0.0), Omega=self.Omega0)

    def live(self) -> LivePage:
        return LivePage(
            HeavyTopStudy.start,
            {"mgl": (0.0, 10.0), "tilt": (0.0, math.pi), "Omega0": (-12.0, 12.0), "J": (0.2, 4.0)},
            {CHOICES[self.method]: method(self.method)},
            self.dt,
            self.t1,
            outputs={"tilt": lambda state, t: jnp.arccos(jnp.clip(state.g[2, 2], -1.0, 1.0))},
        )

    def run(self, progress: Progress) -> Findings:
        top, state = self.start()
        invariants = {
            "energy": top.energy,
            "vertical_momentum": lambda state, t: top.noether(state),
        }
        run, errors = watched_run(
            top,
            state,
            t1=self.t1,
            dt=self.dt,
            method=method(self.method),
            progress=progress,
            invariants=invariants,
            observables={"cosine": lambda state, t: state.g[2, 2]},
        )
        cosine = run.monitors["cosine"]
        results = {
            "R": run.final.g,
            "Omega": run.xi.to_numpy()[-1],
            "Pi": run.final.mu,
            "tilt_min": float(np.arccos(np.clip(cosine.max, -1.0, 1.0))),
            "tilt_max": float(np.arccos(np.clip(cosine.min, -1.0, 1.0))),
            **errors,
            "newton_iterations_mean": run.statistics["newton_iterations_mean"],
            "steps": run.statistics["steps"],
        }
        return Findings(results, lambda: run.dataset, figures(run), notes=_NOTES, units=_UNITS)


def figures(run: nd.Trajectory) -> dict:
    """The path of the axis on the sphere, the overview, and the tilt over time."""
    from naiad import viz

    axis = run.g[:, :, 2]
    return {
        "axis": lambda: viz.sphere_curve(axis, title="Path of the top's axis"),
        "overview": lambda: viz.plot(run.dataset),
        "tilt": lambda: viz.errors_over_time(run.t, {"tilt": np.arccos(np.clip(axis[:, 2], -1.0, 1.0))}, "tilt [rad]"),
    }


_UNITS = {"Omega": "rad/s", "Pi": "kg m^2/s", "tilt_min": "rad", "tilt_max": "rad"}

_NOTES = (
    "`tilt_min` and `tilt_max` are the extreme angles of the axis from the vertical over every step. Errors are "
    "relative to the initial value (absolute where that is zero), the largest over every step; `vertical_momentum` is "
    "the momentum of turns about the vertical."
)
