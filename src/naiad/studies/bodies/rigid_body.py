"""The free rigid body."""

from typing import Any

import jax.numpy as jnp
import numpy as np

import naiad as nd
from naiad.diagnostics import Energy, SpaceMomentum, watched_run
from naiad.errors import InputError
from naiad.numerics import double
from naiad.studies.live import LivePage
from naiad.studies.methods import FREE_CHOICES, method
from naiad.studies.parameters import Inertia, Vector, as_matrix, parameter
from naiad.studies.progress import Progress
from naiad.studies.study import Findings, Study
from naiad.viz.live import Slider

DEFAULT_MOMENTUM = (0.7, 0.8, -1.5)
GROUPS = {"so3": "rotation matrices", "s3": "unit quaternions (w, x, y, z)"}


class RigidBody(Study, name="rigid-body"):
    """Free rigid body: Euler's equations with an integrator of your choice.

    A variational method keeps the momentum in space and the Casimir |Pi| to round-off and lets the energy error swing
    without drift; its map decides the size of the swing (`new` keeps the energy to round-off as well). `rk4` and
    `rkmk4` are more accurate at first, but all their errors grow with time; `rk4` also leaves the rotation group.
    `compose4`, `compose6` and `compose8` keep the structure at higher order. `mln`, `sw-perp` and `kr` (which is of
    first order) keep momentum, Casimir and energy to round-off, `sw` all but the energy, `tln` and `flv` keep theirs at
    half steps; none of these is symplectic. The reported `Pi` is the momentum at the node, from which `Omega` and the
    energy follow. With `group=s3` the attitude is a quaternion; a map that lives on both groups gives the same motion
    up to its order.
    """

    paper = "N. Bou-Rabee, Hamilton-Pontryagin Integrators on Lie Groups, Caltech 2007, (5.2.1)-(5.2.3)"

    method: str = parameter("cay", choices=FREE_CHOICES, help="integrator")
    group: str = parameter("so3", choices=GROUPS, help="what the attitude is")
    J: Inertia = parameter((1.0, 2.0, 3.0), unit="kg m^2", size=3, help="inertia: three principal moments or a matrix")
    unphysical: bool = parameter(False, help="take moments of inertia that no body has")
    Pi0: Vector | None = parameter(
        None, unit="kg m^2/s", size=3, help="initial momentum in the body (0.7,0.8,-1.5 if neither is given)"
    )
    Omega0: Vector | None = parameter(
        None, unit="rad/s", size=3, help="initial angular velocity in the body, instead of Pi0"
    )
    dt: float = parameter(0.01, unit="s", above=0.0, help="time step")
    t1: float = parameter(10.0, unit="s", above=0.0, help="duration")

    def validate(self) -> None:
        if self.Pi0 is not None and self.Omega0 is not None:
            raise InputError("Pi0 and Omega0 are both given; give one of them")

    def start(self) -> tuple[nd.models.RigidBody, nd.State]:
        """The body of these parameters, and its initial state."""
        group = nd.S3() if self.group == "s3" else nd.SO3()
        body = nd.models.RigidBody(as_matrix(self.J), group=group, unphysical=self.unphysical)
        momentum = DEFAULT_MOMENTUM if self.Pi0 is None else self.Pi0
        return body, body.state(Pi=momentum) if self.Omega0 is None else body.state(Omega=self.Omega0)

    def live(self) -> LivePage:
        first: dict[str, Any] = {"Omega0": (-3.0, 3.0)}
        if self.Omega0 is None:
            momentum = self.parameters["Pi0"].options
            given = DEFAULT_MOMENTUM if self.Pi0 is None else self.Pi0
            first = {"Pi0": Slider(-3.0, 3.0, given, unit=momentum.unit, help="initial momentum in the body")}
        return LivePage(
            RigidBody.start,
            {"J": (0.2, 4.0), **first},
            {FREE_CHOICES[self.method]: method(self.method)},
            self.dt,
            max(self.t1, 20.0),
            outputs={"Pi": lambda state, t: state.mu},
        )

    def run(self, progress: Progress) -> Findings:
        body, state = self.start()
        invariants = {"energy": Energy(body), "momentum": SpaceMomentum(body), "casimir": casimir}
        run, errors = watched_run(
            body, state, t1=self.t1, dt=self.dt, method=method(self.method), progress=progress, invariants=invariants
        )
        results = {
            "Pi": run.final.mu,
            "Omega": run.xi.to_numpy()[-1],
            **attitude(run.final.g),
            **errors,
            "newton_iterations_mean": run.statistics["newton_iterations_mean"],
            "steps": run.statistics["steps"],
        }
        return Findings(results, lambda: run.dataset, figures(run), notes=_NOTES, units=_UNITS)


def casimir(state: nd.State, t: Any) -> Any:
    """|Pi|^2."""
    return state.mu @ state.mu


@double
def attitude(g: Any) -> dict[str, np.ndarray]:
    """The rotation matrix, and the quaternion where g is one."""
    if np.ndim(g) == 2:
        return {"R": g}
    columns = [np.asarray(nd.S3().act(g, jnp.asarray(axis))) for axis in np.eye(3)]
    return {"R": np.stack(columns, axis=1), "q": g}


def figures(run: nd.Trajectory) -> dict:
    """The overview, the path of Pi on its sphere, and the errors of all invariants."""
    from naiad import diagnostics, viz

    def invariants():
        errors = {"energy": diagnostics.energy_error(run), "momentum": diagnostics.momentum_error(run)}
        errors["off the group"] = run.group_error.to_numpy()
        shown = {name: np.maximum(values, 1e-17) for name, values in errors.items()}
        return viz.errors_over_time(run.t, shown, "relative error", log=True, title="What the method keeps")

    return {
        "overview": lambda: viz.plot(run.dataset),
        "momentum-sphere": lambda: viz.sphere_curve(run.mu.to_numpy(), title="Momentum in the body"),
        "invariants": invariants,
    }


_UNITS = {"Pi": "kg m^2/s", "Omega": "rad/s"}

_NOTES = (
    "All errors are relative to the initial value and are the largest over every step: `energy_error_max`, "
    "`momentum_error_max` (the momentum in space, R Pi), `casimir_error_max` (|Pi|^2). `orthogonality_error_max` is "
    "the Frobenius norm of R^T R - I, or with quaternions how far |q| is from 1."
)
