"""A rigid body turned from rest to rest, with least effort or in least time."""

import itertools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import naiad as nd
from naiad.errors import InputError
from naiad.studies.control.following import following_page
from naiad.studies.control.optimum import Discretisation, check_order, dataset, figures, results, solved
from naiad.studies.live import LivePage
from naiad.studies.parameters import Inertia, Vector, as_matrix, parameter
from naiad.studies.progress import Progress
from naiad.studies.study import Findings, Study
from naiad.viz.live import Slider

OBJECTIVES = {"effort": "half the integral of |u|^2, in the time T", "time": "the time, with torques up to the bound"}


class Reorientation(Study, Discretisation, name="reorientation"):
    """Reorientation of a rigid body: from rest to rest with least effort, or in least time.

    A sphere takes the effort 6 J^2 angle^2 / T^3, exactly. With torques bounded on each axis, the fastest turn of a
    cube-like body is not about the axis: 90 degrees take 2.42112 s (J = 1, bound = 1) where turning about the axis
    alone takes 2.50663 s, with torques that switch between their bounds. Try `objective=time J=1,1,1 axis=0,0,1
    angle=1.5707963267948966 bound=1 order=2 steps=200`.
    """

    paper = "K. D. Bilimoria, B. Wie, Time-optimal three-axis reorientation of a rigid spacecraft, 1993"

    J: Inertia = parameter((1.0, 2.0, 3.0), unit="kg m^2", size=3, help="principal moments of inertia, or the matrix")
    axis: Vector = parameter((1.0, 1.0, 1.0), size=3, help="axis of the turn in the body (any length)")
    angle: float = parameter(2.0, unit="rad", above=0.0, below=3.1, help="angle of the turn")
    objective: str = parameter("effort", choices=OBJECTIVES, help="what is least")
    T: float = parameter(2.0, unit="s", above=0.0, help="duration, where the effort is least")
    bound: float | None = parameter(None, unit="N m", above=0.0, help="bound of each torque")
    starts: int = parameter(6, at_least=1, at_most=1000, help="first guesses, where the time is least")

    def validate(self) -> None:
        check_order(self.order)
        if not np.any(self.axis):
            raise InputError("axis=0,0,0: expected a direction; for example -p axis=0,0,1")
        if self.objective == "time" and self.bound is None:
            raise InputError("objective=time needs a bound of the torques; for example -p bound=1")
        self.body()

    def body(self) -> nd.models.RigidBody:
        """The body of these parameters."""
        return nd.models.RigidBody(as_matrix(self.J))

    def optimum(self, progress: Progress) -> nd.control.Solution:
        """The best turn."""
        body = self.body()
        axis = self.axis / np.linalg.norm(self.axis)
        with jax.enable_x64(True):
            goal = body.state(R=np.asarray(body.group.exp(jnp.asarray(self.angle * axis))))
        options: dict[str, Any] = {"T": self.T, "bounds": self.bound}
        if self.objective == "time":
            alone = 2.0 * np.sqrt(self.angle * float(axis @ as_matrix(self.J) @ axis) / float(self.bound or 1.0))
            options |= {"T": alone, "cost": nd.control.elapsed, "free_time": True, "starts": self.starts}
            options |= {"tolerance": 1e-7}
        return solved(self, progress, body, body.state(), goal, **options)

    def live(self) -> LivePage:
        most = float(np.max(as_matrix(self.J)))
        return following_page(
            self.optimum(Progress()), Reorientation.body, {"J": Slider(0.2, 2.0 * most, label="J of the body")}, 1.0
        )

    def run(self, progress: Progress) -> Findings:
        found = self.optimum(progress)
        switches = switching_times(found, self.bound) if self.objective == "time" else None
        more = {} if switches is None else {"switches": len(switches), "switching_times": switches}
        return Findings(
            results(found) | more,
            lambda: dataset(found),
            {"attitude": lambda: _attitude(found), **figures(found, self.bound)},
            notes=_NOTES,
            units={"time": "s", **({"switching_times": "s"} if more else {})},
        )


def _attitude(found: nd.control.Solution) -> Any:
    """The ways of the body's axes in space."""
    from naiad import viz

    names = ("first axis", "second axis", "third axis")
    return viz.sphere_curve({name: found.states.g[:, :, k] for k, name in enumerate(names)}, title="Attitude in space")


def switching_times(found: nd.control.Solution, bound: float | None) -> np.ndarray:
    """The times at which a torque goes from one bound to the other, all torques together."""
    t, u = found.t_u.reshape(-1), found.u.reshape(-1, found.u.shape[2])
    at_bound = np.abs(u) > 0.99 * (bound or np.inf)
    times = []
    for k in range(u.shape[1]):
        where = np.flatnonzero(at_bound[:, k])
        for a, b in itertools.pairwise(where):
            if u[a, k] * u[b, k] < 0:
                times.append(0.5 * (t[a] + t[b]))
    return np.sort(times)


_NOTES = (
    "`cost` is that of the discrete optimum and `error_estimate` its error, from grids with a quarter and half the "
    "steps. `time` is the duration. `switches` counts the changes of a torque from one bound to the other."
)
