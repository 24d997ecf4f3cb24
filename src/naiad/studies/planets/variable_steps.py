"""Steps that follow the motion and keep its structure, against steps of one size at the same cost."""

import math
import time
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np

import naiad as nd
from naiad.diagnostics import reference
from naiad.diagnostics.watching import RelativeChange
from naiad.integrators import AbstractMethod
from naiad.numerics import double
from naiad.studies.parameters import Names, parameter
from naiad.studies.planets.variable_figures import energies, paths, sizes
from naiad.studies.progress import Progress
from naiad.studies.study import Findings, Study

MIDPOINT = nd.Variational(nd.Cayley(), nd.Midpoint())
FOURTH = nd.Composition(nd.Variational(), 4)


class Kind(NamedTuple):
    """A method by its name: words, how many steps of second order one of it costs, and how it is made of a time
    scale of the motion."""

    words: str
    cost: int
    made: Callable[[Any], AbstractMethod]


METHODS = {
    "constant": Kind("variational, trapezoid, constant steps", 1, lambda scale: nd.Variational()),
    "constant-midpoint": Kind("variational, midpoint, constant steps", 1, lambda scale: MIDPOINT),
    "constant4": Kind("trapezoid composed to order 4, constant steps", 5, lambda scale: FOURTH),
    "reversible": Kind("trapezoid, reversible steps", 1, lambda scale: nd.ReversibleSteps(nd.Variational(), scale)),
    "reversible4": Kind("order 4, reversible steps", 5, lambda scale: nd.ReversibleSteps(FOURTH, scale)),
    "energy": Kind("midpoint, steps that keep the energy", 1, lambda scale: nd.EnergySteps(MIDPOINT)),
}
PROBLEMS = {
    "kepler": "two bodies on an ellipse of semi-major axis 1",
    "pass": "two bodies that pass each other closely, once",
    "satellite": "a rigid satellite of an oblate planet, on an ellipse",
}


class Problem(NamedTuple):
    """A system, its start, how long it is followed, what sets its time scale, and the exact end, if that is known."""

    system: nd.LagrangianSystem
    state: nd.State
    t1: float
    scale: Any
    exact: Callable[[float], np.ndarray] | None


class VariableSteps(Study, name="variable-steps"):
    """Steps that follow the motion and keep its structure, against constant steps at the same cost.

    A planet on a long ellipse is fast for a short time. `ReversibleSteps` integrates a step density beside the state:
    its energy error swings without drift at any eccentricity, where as many steps of one size lose the orbit.
    `EnergySteps` takes the size of a step as an unknown and keeps the discrete energy, here that at the midpoints of
    steps, to round-off, and with it the period: at e = 0.6 its phase is the best of all for two to three times the
    cost of a step. At e = 0.9 its equation has no solution before the orbit is half done; the run ends there, and
    `outcome` says so.
    """

    paper = "Y. Ono et al. 2025, section 6, names them; Kane, Marsden, Ortiz 1999; Hairer, Soederlind 2005"

    problem: str = parameter("kepler", choices=PROBLEMS, help="what moves")
    methods: Names = parameter(
        ("constant", "constant4", "reversible", "reversible4", "energy"),
        choices={name: kind.words for name, kind in METHODS.items()},
        help="methods to compare",
    )
    e: float = parameter(0.9, at_least=0.0, below=1.0, help="eccentricity of the ellipse")
    miss: float = parameter(0.1, above=0.0, help="distance by which the bodies of `pass` aim past each other")
    steps: int = parameter(
        500, at_least=8, help="steps in a revolution (or in the pass), a stage of order 4 counting 1"
    )
    periods: int = parameter(20, at_least=1, help="revolutions")

    @double
    def made(self) -> Problem:
        """What moves, from the far end of its ellipse."""
        return {"kepler": self._kepler, "pass": self._pass, "satellite": self._satellite}[self.problem]()

    def run(self, progress: Progress) -> Findings:
        problem = self.made()
        turns = 1 if self.problem == "pass" else self.periods
        runs: dict[str, nd.Trajectory] = {}
        results: dict[str, dict[str, Any]] = {name: {} for name in _RESULTS}
        for index, name in enumerate(self.methods):
            part = progress.part(index, len(self.methods), label=name)
            runs[name], found = self.measured(problem, name, turns, part)
            for key, value in found.items():
                results[key][name] = value
        shown = {name: run for name, run in runs.items() if len(run.t) > 1}
        figures = {
            "paths": lambda: paths(shown, _position),
            "energy": lambda: energies(shown, problem.t1),
            "steps": lambda: sizes(shown, problem.t1 / turns),
        }
        last = runs[self.methods[-1]]
        return Findings(results, lambda: last.dataset, figures, notes=_NOTES, units={"seconds": "s", **_UNITS})

    def measured(self, problem: Problem, name: str, turns: int, progress: Any) -> tuple[nd.Trajectory, dict[str, Any]]:
        """A run by a method with as many steps as asked for, and what came of it."""
        system, state, method = problem.system, problem.state, METHODS[name].made(problem.scale)
        wanted, period = self.steps / METHODS[name].cost, problem.t1 / turns
        change = RelativeChange.since(system.energy, state)
        dt = period / wanted
        every = max(1, round(wanted * turns / 20000))
        watched: dict[str, Any] = {"method": method, "monitors": {"energy": change}, "save_every": every}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", nd.RunWarning)  # `outcome` says it
            trial = nd.simulate(system, state, t1=period, dt=dt, progress=False, **watched)  # which compiles
            if method.variable:  # the number of steps is inverse to the first of them
                dt *= trial.statistics["steps"] * period / (max(trial.attrs["t"], dt) * wanted)
            started = time.process_time()
            run = nd.simulate(system, state, t1=problem.t1, dt=dt, progress=progress, **watched)
            seconds = time.process_time() - started
        h = np.diff(run.t) / every if len(run.t) > 2 else np.array([dt])
        energy = np.abs(run.evaluate(change))
        parts = [np.max(part) for part in np.array_split(energy, min(10, len(energy)))]
        found = {
            "outcome": run.outcome.name,
            "steps": run.statistics["steps"],
            "step_min": run.statistics.get("step_min", float(h.min())),
            "step_max": run.statistics.get("step_max", float(h.max())),
            "energy_error_max": run.monitors["energy"].max,
            "energy_error_end": float(energy[-1]),
            "energy_error_growth": float(parts[-1] / max(parts[0], 1e-16)),
            "position_error": self._position_error(problem, run),
            "seconds": seconds,
        }
        return run, found

    def _position_error(self, problem: Problem, run: nd.Trajectory) -> float:
        t, end = run.attrs["t"], _position(run.final.g)
        if problem.exact is not None:
            return float(np.linalg.norm(end - problem.exact(t)))
        exact = _position(reference(problem.system, problem.state, t1=t).g)
        return float(np.linalg.norm(end - exact) / np.linalg.norm(_position(problem.state.g)))

    def _kepler(self) -> Problem:
        """The period is 2 pi."""
        e = self.e
        q, v = np.array([1.0 + e, 0.0, 0.0]), np.array([0.0, math.sqrt((1.0 - e) / (1.0 + e)), 0.0])
        return Problem(*_two_bodies(q, v), 2.0 * math.pi * self.periods, "distance", self._ellipse)

    def _ellipse(self, t: float) -> np.ndarray:
        """The exact distance vector at t: Kepler's equation, from the far end."""
        M, e = (t + math.pi) % (2.0 * math.pi), self.e
        E = M + 0.85 * e * math.copysign(1.0, math.sin(M))
        for _ in range(50):
            E -= (E - e * math.sin(E) - M) / (1.0 - e * math.cos(E))
        return np.array([e - math.cos(E), -math.sqrt(1.0 - e * e) * math.sin(E), 0.0])

    def _pass(self) -> Problem:
        q, v = np.array([8.0, self.miss, 0.0]), np.array([-1.2, 0.0, 0.0])
        return Problem(*_two_bodies(q, v), 12.0, "distance", None)

    def _satellite(self) -> Problem:
        """A long satellite on an ellipse that is tilted to the equator, in radii of the planet and of its gravity."""
        system = nd.models.OblateSatellite(1.0, np.diag([3e-4, 2.8e-4, 0.5e-4]), J2=1.08263e-3)
        a, tilt = 1.5 / (1.0 - self.e), 0.9
        speed = math.sqrt((1.0 - self.e) / ((1.0 + self.e) * a))
        v = speed * np.array([0.0, math.cos(tilt), math.sin(tilt)])
        state = system.state(R=np.eye(3), x=[a * (1.0 + self.e), 0.0, 0.0], R_Omega=[0.0, 0.0, 0.3 * a**-1.5], x_v=v)
        return Problem(system, state, 2.0 * math.pi * a**1.5 * self.periods, _orbital_time, None)


def _two_bodies(q: np.ndarray, v: np.ndarray) -> tuple[nd.LagrangianSystem, nd.State]:
    """Masses 0.7 and 0.3 about their centre, G = 1, with this distance vector and its rate."""
    m = np.array([0.7, 0.3])
    system, share = nd.models.PointMasses(m, names=("heavy", "light")), np.array([[m[1]], [-m[0]]])
    return system, system.state(q=share * q, v=share * v)


def _orbital_time(state: nd.State, t: Any) -> Any:
    """r^(3/2): the time scale of an orbit."""
    return jnp.sum(state.g.x**2) ** 0.75


def _position(g: Any) -> np.ndarray:
    """From the one body to the other, or from the planet."""
    return np.asarray(g.x) if hasattr(g, "x") else np.asarray(g)[..., 0, :] - np.asarray(g)[..., 1, :]


_RESULTS = (
    "outcome",
    "steps",
    "step_min",
    "step_max",
    "energy_error_max",
    "energy_error_end",
    "energy_error_growth",
    "position_error",
    "seconds",
)
_UNITS = {"step_min": "s", "step_max": "s"}
_NOTES = (
    "Each result has a value for each method. Methods of order 2 take `steps` steps in a revolution, those of order 4 "
    "a fifth of that, so that all cost about as many steps of order 2; `seconds` is the CPU time of the run. "
    "`energy_error_max` is relative, over every step, `energy_error_end` at the end; `energy_error_growth` is the "
    "largest in the last tenth of the run over that in the first. `position_error` is that of the distance vector at "
    "the run's own end, by Kepler's equation (kepler) or the reference solution, relative to the distance at the start "
    "(pass, satellite). A run that ends early has an `outcome` that says so, and its numbers are those until then."
)
