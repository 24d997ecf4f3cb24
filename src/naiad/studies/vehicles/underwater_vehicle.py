"""A neutrally buoyant vehicle in an ideal fluid."""

import numpy as np

import naiad as nd
from naiad.diagnostics import Energy, SpaceMomentum, relative_drift, watched_run
from naiad.errors import InputError
from naiad.studies.live import LivePage
from naiad.studies.methods import FREE_CHOICES, method
from naiad.studies.parameters import Vector, parameter
from naiad.studies.progress import Progress
from naiad.studies.study import Findings, Study
from naiad.studies.vehicles.vehicle import CasimirChange, Inertias, vehicle


class UnderwaterVehicle(Study, Inertias, name="underwater-vehicle"):
    """Underwater vehicle: Kirchhoff's equations with an integrator of your choice.

    Pi' = Pi x Omega + p x v, p' = p x Omega. A variational method keeps the Casimirs Pi.p and |p|^2 and the momentum
    in space to round-off and lets the energy error swing without drift. `rk4` drifts in all of them: `energy_drift`
    grows with t1, whereas that of a variational method does not. The defaults lie on a torus; for the chaotic sea take
    `Pi0=-1.837930166172763,1.837930166172763,0.5` and `p0=3.676955262170047,3.676955262170047,0`. A shape may be given
    in place of the inertias, `axes=2,1,0.5`: theirs have four decimals.
    """

    paper = "N. Bou-Rabee, Hamilton-Pontryagin Integrators on Lie Groups, Caltech 2007, (6.2.1)-(6.2.5)"

    method: str = parameter("cay", choices=FREE_CHOICES, help="integrator")
    axes: Vector | None = parameter(
        None, unit="m", size=3, above=0.0, help="semi-axes of an ellipsoid of the water's density, in place of I, M, S"
    )
    density: float = parameter(1.0, unit="kg/m^3", above=0.0, help="density of the water, where axes are given")
    Pi0: Vector = parameter(
        (0.0, 3.807047861195724, 1.0), unit="kg m^2/s", size=3, help="initial angular momentum in the body"
    )
    p0: Vector = parameter((5.2, 0.0, 0.0), unit="kg m/s", size=3, help="initial linear momentum in the body")
    dt: float = parameter(0.05, unit="s", above=0.0, help="time step")
    t1: float = parameter(10.0, unit="s", above=0.0, help="duration")

    def validate(self) -> None:
        given = [name for name in ("I", "M", "S") if name in self.changed()]
        if self.axes is not None and given:
            raise InputError(f"both axes and {given[0]} are given; give the shape or its inertia, not both")
        if self.axes is None and "density" in self.changed():
            raise InputError("density is given without axes; give axes too, or leave it out")
        self._body()  # says it if I, M and S make no inertia

    def _body(self) -> nd.models.KirchhoffBody:
        if self.axes is None:
            return vehicle(self.I, self.M, self.S)
        return nd.models.KirchhoffBody.ellipsoid(self.axes, self.density)

    def start(self) -> tuple[nd.models.KirchhoffBody, nd.State]:
        """The body of these parameters, and its initial state."""
        body = self._body()
        return body, body.state(Pi=self.Pi0, p=self.p0)

    def live(self) -> LivePage:
        inertias = {} if self.axes is not None else {"I": (0.5, 12.0), "M": (2.0, 16.0)}
        return LivePage(
            UnderwaterVehicle.start,
            {"Pi0": (-6.0, 6.0), "p0": (-8.0, 8.0), **inertias},
            {FREE_CHOICES[self.method]: method(self.method)},
            self.dt,
            max(self.t1, 40.0),
            outputs={"v": lambda system, state, t: system.velocity(state.g, state.mu, t)[3:]},
        )

    def run(self, progress: Progress) -> Findings:
        body, state = self.start()
        run, errors = watched_run(
            body,
            state,
            t1=self.t1,
            dt=self.dt,
            method=method(self.method),
            progress=progress,
            invariants={"energy": Energy(body), "momentum": SpaceMomentum(body)},
            observables={"casimir": CasimirChange.since(state), "value_of_energy": Energy(body)},
        )
        xi = run.xi.to_numpy()[-1]
        results = {
            "Pi": run.final.mu[:3],
            "p": run.final.mu[3:],
            "Omega": xi[:3],
            "v": xi[3:],
            "R": run.final.g.R,
            "x": run.final.g.x,
            "energy_drift": relative_drift(run.monitors["value_of_energy"], self.t1, float(run.energy[0])),
            "casimir_error_max": run.monitors["casimir"].largest,
            **errors,
            "newton_iterations_mean": run.statistics["newton_iterations_mean"],
            "steps": run.statistics["steps"],
        }
        return Findings(results, lambda: run.dataset, figures(run), notes=_NOTES, units=_UNITS)


def figures(run: nd.Trajectory) -> dict:
    """The overview, the path of p on its sphere, and the errors of the invariants."""
    from naiad import diagnostics, viz

    def invariants():
        mu = run.mu.to_numpy()
        Pi, p = mu[:, :3], mu[:, 3:]
        size = np.linalg.norm(Pi[0]) * np.linalg.norm(p[0]) or 1.0
        errors = {
            "energy": diagnostics.energy_error(run),
            "momentum in space": diagnostics.momentum_error(run),
            "Π·p": np.abs(np.sum(Pi * p, axis=1) - Pi[0] @ p[0]) / size,
            "|p|²": diagnostics.relative_change(np.sum(p * p, axis=1)),
        }
        shown = {name: np.maximum(values, 1e-17) for name, values in errors.items()}
        return viz.errors_over_time(run.t, shown, "relative error", log=True, title="What the method keeps")

    return {
        "overview": lambda: viz.plot(run.dataset),
        "momentum-sphere": lambda: viz.sphere_curve(run.mu.to_numpy()[:, 3:], title="Linear momentum in the body"),
        "invariants": invariants,
    }


_UNITS = {"Pi": "kg m^2/s", "p": "kg m/s", "Omega": "rad/s", "v": "m/s", "x": "m"}

_NOTES = (
    "Maxima run over every step. `energy_error_max` and `momentum_error_max` (the momentum in space, linear and "
    "angular together) are relative to the initial value; `casimir_error_max` is the larger of the changes of Pi.p, "
    "relative to |Pi0| |p0|, and of |p|^2, relative to |p0|^2. `energy_drift` is the slope of a straight line fitted "
    "to the energy at every step, times t1, relative to the initial energy. The momentum in space holds x cross R p, "
    "so its round-off grows with the distance. `orthogonality_error_max` is the Frobenius norm of R^T R - I."
)
