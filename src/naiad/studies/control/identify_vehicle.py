"""The added mass of a vehicle from a recorded run."""

from typing import Any

import jax.numpy as jnp
import numpy as np

import naiad as nd
from naiad.errors import RunError
from naiad.studies.control.optimum import ORDERS, check_order
from naiad.studies.parameters import Vector, parameter
from naiad.studies.progress import Progress
from naiad.studies.study import Findings, Study

_METHODS = {2: nd.Variational(), 4: nd.VPRK("gauss2"), 6: nd.VPRK("gauss3")}


class IdentifyVehicle(Study, name="identify-vehicle"):
    """Identification of added mass: from noisy positions and angular velocities of a run with known thrust.

    A vehicle whose own inertia is known is driven by torques and forces that are known functions of time; where it is
    and how fast it turns is measured with noise. The six added moments and masses and the initial momentum are fitted;
    `error_estimate` is the largest standard error of the six, which the true errors keep to.
    """

    paper = "classical: Kirchhoff's equations"

    dry: Vector = parameter(
        (0.2, 0.5, 0.5, 1.0, 1.0, 1.0), unit="kg m^2, kg", size=6, above=0.0, help="its own moments and masses, known"
    )
    added: Vector = parameter(
        (0.1, 0.6, 0.5, 0.1, 0.9, 0.8), unit="kg m^2, kg", size=6, above=0.0, help="the fluid's, to be found"
    )
    noise: float = parameter(0.002, above=0.0, help="standard deviation of each measured number, in m and rad/s")
    t1: float = parameter(20.0, unit="s", above=0.0, help="duration of the run")
    steps: int = parameter(400, at_least=20, at_most=100000, help="steps of the run")
    order: int = parameter(2, at_least=2, at_most=6, help=f"order of the discretisation: {ORDERS}")
    seed: int = parameter(1, at_least=0, help="seed of the noise")

    def validate(self) -> None:
        check_order(self.order)

    def run(self, progress: Progress) -> Findings:
        truth, guess = self._body(self.added), self._body(0.5 * self.dry)
        every, dt = max(1, self.steps // 100), self.t1 / self.steps
        run = nd.simulate(
            truth, truth.state(), t1=self.t1, dt=dt, save_every=every, method=_METHODS[self.order], progress=progress
        )
        rows = np.concatenate([run.g.x, run.xi.to_numpy()[:, :3]], axis=1)
        rows = rows[: self.steps // every + 1]
        rows = rows + self.noise * np.random.default_rng(self.seed).standard_normal(rows.shape)
        theta = 0.5 * self.dry
        for part in (len(rows) // 4, len(rows) // 2, len(rows)):  # a long motion is fitted from a good guess only
            found = nd.control.estimate(
                guess,
                guess.state(),
                rows[:part],
                measure=_measured,
                dt=dt,
                every=every,
                model=_with_added,
                theta=theta,
                weights=1.0 / self.noise**2,
                free_state=False,
                method=_METHODS[self.order],
            )
            theta = found.theta
        if not found.converged:
            raise RunError("the fit did not converge; measure longer, or with less noise")
        results = {
            "cost": found.misfit,
            "time": self.t1,
            "status": "solved",
            "iterations": found.iterations,
            "error_estimate": float(found.theta_errors.max()),
            "added": found.theta,
            "standard_errors": found.theta_errors,
            "largest_error": float(np.abs(found.theta - self.added).max()),
        }
        figures = {
            "fitted": lambda: _fitted(found, self.added),
            "residuals": lambda: _residuals(run, found),
        }
        return Findings(results, None, figures, notes=_NOTES, units={"time": "s"})

    def _body(self, added: np.ndarray) -> nd.models.SubmergedBody:
        mass = float(self.dry[3])
        return nd.models.SubmergedBody(
            np.diag(self.dry), np.diag(added), displaced=mass, gravity=(0.0, 0.0, 0.0), forces=_thrust
        )


def _thrust(motion: Any) -> Any:
    """Torques and forces with six frequencies, so that every direction is excited."""
    return 0.3 * jnp.sin((0.5 + 0.17 * jnp.arange(6.0)) * motion.t + jnp.arange(6.0))


def _with_added(system: Any, theta: Any) -> Any:
    return system.replaced(added=jnp.diag(theta))


def _measured(system: Any, state: Any, t: Any) -> Any:
    """Position and angular velocity."""
    return jnp.concatenate([state.g.x, system.velocity(state.g, state.mu, t)[:3]])


def _fitted(found: Any, true: np.ndarray) -> Any:
    from naiad import viz
    from naiad.viz.style import FAINT, GRID, INK, PALETTE, dress

    names = ("$J_1$", "$J_2$", "$J_3$", "$m_1$", "$m_2$", "$m_3$")
    apart = (found.theta - true) / found.theta_errors
    with viz.house():
        figure = viz.new_figure(7.2, 3.2)
        values, errors = figure.subplots(1, 2)
        values.bar(names, true, color=GRID, label="true")
        values.plot(names, found.theta, "o", color=PALETTE[0], label="fitted")
        values.legend(loc="upper left")
        dress(values, "", "added inertia [kg m², kg]", "What the fluid adds")
        errors.axhspan(-2.0, 2.0, color=GRID)
        errors.axhline(0.0, color=FAINT, linewidth=0.8)
        errors.errorbar(names, apart, np.ones(6), fmt="o", color=PALETTE[0], ecolor=INK, capsize=3)
        dress(errors, "", "fitted less true [standard errors]", "How far off")
        return figure


def _residuals(run: Any, found: Any) -> Any:
    from naiad import viz

    t = np.linspace(0.0, float(run.t[-1]), len(found.residuals))
    lines = {name: found.residuals[:, k] for k, name in enumerate(("x", "y", "z", "p", "q", "r"))}
    return viz.errors_over_time(t, lines, "measured less computed", title="Residuals")


_NOTES = (
    "`cost` is half the weighted sum of squares, about half the number of measured values; `added` has the fitted "
    "moments and masses, `largest_error` is the largest difference from the true ones."
)
