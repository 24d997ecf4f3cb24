"""Argon 6: a cluster of Lennard-Jones atoms as a rotation and a shape."""

import math
import warnings
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

import naiad as nd
from naiad.compiler import execute, execute_rows
from naiad.diagnostics import RelativeChange, phases, timed_run
from naiad.errors import InputError
from naiad.locomotion.magnus import magnus
from naiad.numerics import PARTITIONED, Module, double, static
from naiad.studies.parameters import Names, Vector, parameter
from naiad.studies.progress import Progress
from naiad.studies.study import Findings, Study, Table

BOLTZMANN, ATOMIC_MASS = 1.380649e-23, 1.66053906660e-27
LOWEST = {2: -1.0, 3: -3.0, 4: -6.0, 5: -9.103852, 6: -12.712062, 7: -16.505384, 13: -44.326801}
"""The lowest energies of small clusters, in eps [wales1997]."""
SECOND = {6: -12.302927}
"""The second minimum: of six atoms the bicapped tetrahedron."""

BOUND = 1.0
"""The least stiffness of a minimum, in eps / sigma^2 (of six atoms it is above 20)."""

CIRCLE_STEPS = 48
ALIKE = 1e-6
"""Minima whose energies differ by less are the same."""

CHORD = nd.Newton(jacobian="inertia")
"""Newton's method with the inertia in place of the Jacobian: a third of the time of a reduced step."""
REDUCED = nd.Variational(newton=CHORD)
TRAPEZOID = nd.Variational(rule=nd.Trapezoid(), newton=CHORD)

METHODS = {
    "verlet": ("all atoms, Stormer-Verlet (variational, trapezoid)", nd.Variational()),
    "reduced": ("rotation and shape, the same discrete Lagrangian", REDUCED),
    "trapezoid": (
        "rotation and shape, trapezoid of the reduced Lagrangian",
        nd.Variational(rule=nd.Trapezoid(), newton=CHORD),
    ),
}


class Isomer(NamedTuple):
    """A minimum of the potential: its energy, its Jacobi vectors, and how many starts fell into it."""

    energy: float
    q: np.ndarray
    count: int


class Turn(NamedTuple):
    """Loops of shapes without angular momentum about the reference of a chart, along two directions: a free vibration,
    its turn about the axis of the curvature by the motion and by the area swept, and its dynamic phase; and circles
    that are gone through in any way, with the turns that the connection and the area rule say, by radius."""

    chart: nd.models.ClusterShape
    directions: np.ndarray
    run: nd.Trajectory
    period: float
    angle: np.ndarray
    by_area: np.ndarray
    dynamic: float
    radii: np.ndarray
    circles: np.ndarray
    circles_by_area: np.ndarray


class Piece(NamedTuple):
    """A run in one chart."""

    chart: nd.models.ClusterShape
    run: nd.Trajectory


class ArgonCluster(Study, name="argon-cluster"):
    """Argon 6: isomers, angular momentum, and a turn without any, by a reduced integrator of rotation and shape.

    The cluster is a group, SO(3), and a shape, 3N - 6 numbers about a reference, without its centre of mass. Steps of
    both, by the discrete Lagrangian of Verlet, move as Verlet's do on all atoms, to round-off, and cost more; the
    energy swings without drift, and the angular momentum stays at round-off. Without angular momentum a loop of shapes
    turns the cluster, by the curvature of the mechanical connection times the area. At higher energies it goes to and
    fro between its isomers.
    """

    paper = "N. Bou-Rabee, Hamilton-Pontryagin Integrators on Lie Groups, Caltech 2007, section 7.4"

    N: int = parameter(6, at_least=3, at_most=30, help="number of atoms")
    well: float = parameter(119.8, unit="K", above=0.0, help="depth eps of the potential, over Boltzmann's constant")
    sigma: float = parameter(3.405e-10, unit="m", above=0.0, help="distance at which the potential is zero")
    mass: float = parameter(39.948, unit="u", above=0.0, help="mass of an atom")
    energy: float = parameter(-10.5, unit="eps", help="energy of the motion between isomers")
    L0: Vector = parameter((0.0, 0.5, 1.0), unit="sigma sqrt(m eps)", size=3, help="angular momentum of that motion")
    amplitude: float = parameter(0.02, unit="sigma sqrt(m)", above=0.0, help="radius of a free vibration on a circle")
    periods: int = parameter(30, at_least=1, help="vibrations on that circle, without angular momentum")
    starts: int = parameter(1000, at_least=1, help="random shapes from which minima are sought")
    methods: Names = parameter(
        ("verlet", "reduced", "trapezoid"),
        choices={name: words for name, (words, _) in METHODS.items()},
        help="steps whose error and cost are compared",
    )
    dts: Vector = parameter((0.02, 0.01, 0.005), unit="sigma sqrt(m/eps)", above=0.0, help="steps of that comparison")
    dt: float = parameter(0.005, unit="sigma sqrt(m/eps)", above=0.0, help="time step")
    t1: float = parameter(150.0, unit="sigma sqrt(m/eps)", above=0.0, help="duration of the motion between isomers")
    seed: int = parameter(1, at_least=0, help="seed of random shapes and velocities")

    def cluster(self) -> nd.models.AtomCluster:
        """The atoms, in units of eps, sigma and the mass of an atom."""
        return nd.models.AtomCluster(np.ones(self.N))

    def run(self, progress: Progress) -> Findings:
        cluster = self.cluster()
        found = isomers(cluster, self.starts, self.seed)
        progress.part(0, 10, label="loop of shapes")(0.0)
        turn = loop_without_momentum(cluster, found[0].q, self.amplitude, self.periods, self.dt)
        start = start_state(cluster, found[0].q, self.energy, self.L0, self.seed)
        progress.part(2, 10, label="between isomers")(0.0)
        pieces, errors = between_isomers(cluster, start, self.t1, self.dt)
        quenched = quench(cluster, pieces)
        still = start_state(cluster, found[0].q, self.energy, np.zeros(3), self.seed)
        hot, still_errors = between_isomers(cluster, still, self.t1, self.dt)
        progress.part(6, 10, label="comparison")(0.0)
        costs = compared(cluster, start, self.methods, self.dts)
        seconds = self.sigma * math.sqrt(self.mass * ATOMIC_MASS / (self.well * BOLTZMANN))
        results = {
            "isomer_energies": np.array([each.energy for each in found[:4]]),
            "isomer_counts": np.array([each.count for each in found[:4]]),
            **_known(self.N, found),
            "vibration_turn": turn.angle[-1],
            "vibration_turn_by_area": turn.by_area[-1],
            "vibration_dynamic_phase": turn.dynamic,
            "vibration_period": turn.period,
            "circle_turn": turn.circles[-1],
            "circle_turn_by_area": turn.circles_by_area[-1],
            **errors,
            "angular_momentum_at_rest_max": still_errors["angular_momentum_error_max"],
            "turn_at_rest": _turned(hot[-1].run),
            "charts": len(pieces),
            "isomer_changes": int(np.sum(np.abs(np.diff(quenched[1])) > 1e-3)),
            "ground_state_share": float(np.mean(np.abs(quenched[1] - found[0].energy) < 1e-3)),
            "step_cost": {name: rows[-1][1] for name, rows in costs.items()},
            "step_error": {name: rows[-1][2] for name, rows in costs.items()},
            "difference_from_verlet": _difference(cluster, start, self.dt),
            "time_unit": seconds,
        }
        from naiad.studies.atoms import argon_figures as figures

        drawn = {
            "turn": lambda: figures.turn_figure(turn, hot),
            "isomers": lambda: figures.isomer_figure(cluster, found, quenched, pieces),
            "cost": lambda: figures.cost_figure(costs),
        }
        table = {"cost": lambda: _table(costs)}
        return Findings(results, lambda: turn.run.dataset, drawn, notes=_NOTES, tables=table, units=_UNITS)


def isomers(cluster: nd.models.AtomCluster, starts: int, seed: int) -> list[Isomer]:
    """The minima into which random shapes fall, by energy."""
    rng, count = np.random.default_rng(seed), len(cluster.m)
    shapes = count ** (1 / 3) * rng.uniform(-1.0, 1.0, (starts, count, 3))
    ends = cluster.relaxed(np.stack([cluster.coordinates(x) for x in shapes]))
    ends = ends[np.all(np.isfinite(ends), axis=(1, 2))]
    energies, stiffness = execute_rows(_energy_and_stiffness, cluster, ends, parameters=(0,))
    whole = np.linalg.eigvalsh(stiffness)[:, 3] > BOUND  # else atoms flew apart; the first three are turns
    found: list[Isomer] = []
    for k in np.flatnonzero(whole)[np.argsort(energies[whole])]:
        if found and energies[k] - found[-1].energy < ALIKE:
            found[-1] = found[-1]._replace(count=found[-1].count + 1)
        else:
            found.append(Isomer(float(energies[k]), ends[k], 1))
    if not found:
        raise nd.RunError(f"None of {starts} random shapes fell into a minimum; take more starts.")
    return found


def start_state(cluster: nd.models.AtomCluster, q: np.ndarray, energy: float, L: Any, seed: int) -> nd.State:
    """The shape q in no special attitude, with this angular momentum, and random velocities to this energy."""
    q = q @ np.asarray(nd.SO3().exp(jnp.array([0.3, 0.5, 0.7]))).T
    inertia = np.sum(q**2) * np.eye(3) - q.T @ q
    w = np.random.default_rng(seed).standard_normal(q.shape)
    w -= np.cross(np.linalg.solve(inertia, np.cross(q, w).sum(0)), q)
    spin = np.linalg.solve(inertia, np.asarray(L, float))
    rest = float(execute(_energy_and_stiffness, cluster, q, parameters=(0,))[0]) + 0.5 * spin @ inertia @ spin
    if not energy > rest:
        raise InputError(
            f"energy = {energy:g}; expected more than {rest:.4f}, that of the lowest isomer which turns with L0."
        )
    return cluster.state(q, np.ravel(w * math.sqrt(2.0 * (energy - rest) / np.sum(w**2)) + np.cross(spin, q)))


def loop_without_momentum(
    cluster: nd.models.AtomCluster, q: np.ndarray, amplitude: float, periods: int, dt: float
) -> Turn:
    """Two vibrations of one frequency, a quarter of a period apart, with no angular momentum."""
    chart = nd.models.ClusterShape(cluster, q @ np.asarray(nd.SO3().exp(jnp.array([0.3, 0.5, 0.7]))).T)
    rest = np.zeros(len(chart.basis))
    stiffness, F = execute(_stiffness_and_curvature, chart, rest, parameters=(0,))
    first, second, omega, axis = _loop(stiffness, F, np.asarray(execute(_first_atom, chart, parameters=(0,))))
    s, v = amplitude * first, amplitude * omega * second
    xi = -np.asarray(execute(_connection, chart, s, parameters=(0,))) @ v
    state = chart.state(s=s, R_Omega=xi, s_v=v)
    still: Any = np.concatenate([np.zeros(3), state.mu[3:]])
    state = state._replace(mu=still)
    period = 2.0 * math.pi / omega
    steps = max(1, round(period / dt)) * periods
    run = nd.simulate(
        chart, state, t1=periods * period, dt=periods * period / steps, method=REDUCED, save_every=1, throw=True
    )
    parts = phases(run)
    turns = execute_rows(_relative_turn, (), run.g.R[:-1], run.g.R[1:], parameters=(0,))
    shapes = run.g.s
    swept = 0.5 * np.einsum("abd,d,ka,kb->k", F, axis, shapes[:-1], np.diff(shapes, axis=0))
    angle, area = (np.concatenate([[0.0], np.cumsum(each)]) for each in (turns @ axis, -swept))
    dynamic = execute_rows(_angle, (), parts.dynamic, parameters=(0,))
    radii = np.linspace(0.0, 0.8, 17)
    plane = np.stack([first, second])
    circles = execute_rows(_circle, (chart, plane), radii, parameters=(0,)) @ axis
    by_area = -math.pi * radii**2 * np.einsum("abd,d,a,b->", F, axis, first, second)
    return Turn(chart, plane, run, period, angle, area, float(np.max(dynamic)), radii, circles, by_area)


def _loop(stiffness: np.ndarray, F: np.ndarray, axis: np.ndarray) -> tuple[np.ndarray, np.ndarray, float, np.ndarray]:
    """Two directions of shape with one frequency and the largest curvature about an axis, the frequency, and the axis;
    where no two frequencies are alike, of all directions."""
    squares, modes = np.linalg.eigh(stiffness)
    blocks = [np.abs(squares / each - 1.0) < 1e-4 for each in squares]
    about = modes.T @ (F @ axis) @ modes

    def size(block):
        return np.linalg.norm(about[np.ix_(block, block)], 2)

    best = max(blocks, key=size)
    best = best if size(best) > 1e-6 else np.ones_like(best)
    left, _, right = np.linalg.svd(about[np.ix_(best, best)])
    first, second = modes[:, best] @ left[:, 0], modes[:, best] @ right[0]
    return first, second, math.sqrt(first @ stiffness @ first), axis


def between_isomers(
    cluster: nd.models.AtomCluster, start: nd.State, t1: float, dt: float
) -> tuple[list[Piece], dict[str, float]]:
    """The reduced motion, chart after chart; and how far energy and angular momentum moved, over every step."""
    chart = nd.models.ClusterShape(cluster, start.g)
    state, t, pieces = chart.reduced(start), 0.0, []
    known = {"energy": float(cluster.energy(start)), "momentum": np.round(cluster.noether(start), 14)}
    errors = dict.fromkeys(known, 0.0)
    while t < t1:
        monitors = {
            name: RelativeChange(Observed(chart, name), np.asarray(value), float(np.linalg.norm(value)) or 1.0)
            for name, value in known.items()
        }
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", nd.RunWarning)
            run = nd.simulate(chart, state, t0=t, t1=t1, dt=dt, method=REDUCED, monitors=monitors, save_every=10)
        if run.outcome not in (nd.Outcome.COMPLETED, nd.Outcome.LIMIT) or len(run.t) < 2:
            raise nd.RunError(run.ending)
        pieces.append(Piece(chart, run))
        errors = {name: max(errors[name], run.monitors[name].largest) for name in errors}
        t = float(run.t[-1])
        chart, state = chart.about(run.final)
    return pieces, {"energy_error_max": errors["energy"], "angular_momentum_error_max": errors["momentum"]}


class Observed(Module):
    """The energy or the angular momentum of a chart, as an observable."""

    chart: nd.models.ClusterShape
    name: str = static()

    def __call__(self, state: nd.State, t: Any) -> Any:
        return self.chart.energy(state, t) if self.name == "energy" else state.g.R @ state.mu[:3]


def quench(cluster: nd.models.AtomCluster, pieces: list[Piece], every: int = 10) -> tuple[np.ndarray, np.ndarray]:
    """Times, and the energies of the isomers into which the shapes of then fall."""
    times = np.concatenate([run.t.to_numpy()[::every] for _, run in pieces])
    shapes = [execute_rows(_slice, chart, run.g.s[::every], parameters=(0,)) for chart, run in pieces]
    ends = cluster.relaxed(np.concatenate(shapes))
    return times, execute_rows(_energy, cluster, ends, parameters=(0,))


def compared(
    cluster: nd.models.AtomCluster, start: nd.State, methods: Any, dts: Any
) -> dict[str, list[tuple[float, float, float]]]:
    """For each method (dt, microseconds a step, error of the places at t = 1) of each step size."""
    chart = nd.models.ClusterShape(cluster, start.g)
    finest = nd.simulate(cluster, start, t1=1.0, dt=5e-4, method=nd.Nystrom(6), throw=True).final.g
    found: dict[str, list[tuple[float, float, float]]] = {}
    for name in methods:
        system, state = (cluster, start) if name == "verlet" else (chart, chart.reduced(start))
        for dt in sorted(dts, reverse=True):
            steps = max(1, round(1.0 / dt))
            timed = timed_run(system, METHODS[name][1], state, dt=1.0 / steps, steps=steps, rounds=2)
            q = timed.state.g if name == "verlet" else execute(_place, chart, timed.state.g, parameters=(0,))
            error = float(np.max(np.abs(q - finest)))
            found.setdefault(name, []).append((1.0 / steps, 1e6 * timed.seconds / steps, error))
    return found


@double
def _difference(cluster: nd.models.AtomCluster, start: nd.State, dt: float) -> float:
    """How far the reduced steps come from Verlet's on all atoms, until t = 1."""
    chart = nd.models.ClusterShape(cluster, start.g)
    all_atoms = nd.simulate(cluster, start, t1=1.0, dt=dt, save_every=1)
    reduced = nd.simulate(chart, chart.reduced(start), t1=1.0, dt=dt, method=REDUCED, save_every=1)
    return float(np.max(np.abs(execute_rows(_place, chart, reduced.g, parameters=(0,)) - all_atoms.g)))


def _known(N: int, found: list[Isomer]) -> dict[str, float]:
    """How far the two lowest minima are from the published ones."""
    names = {"lowest_energy_error": (LOWEST.get(N), 0), "second_energy_error": (SECOND.get(N), 1)}
    return {
        name: abs(found[k].energy / known - 1.0)
        for name, (known, k) in names.items()
        if known is not None and len(found) > k
    }


def _energy_and_stiffness(cluster: nd.models.AtomCluster, q: Any) -> Any:
    def energy(flat):
        return cluster.potential_energy(jnp.reshape(flat, q.shape))

    return energy(jnp.ravel(q)), jax.hessian(energy)(jnp.ravel(q))


def _energy(cluster: nd.models.AtomCluster, q: Any) -> Any:
    return cluster.potential_energy(q)


def _stiffness_and_curvature(chart: nd.models.ClusterShape, s: Any) -> Any:
    return jax.hessian(chart.potential)(s), chart.curvature(s)


def _circle(given: tuple[nd.models.ClusterShape, Any], radius: Any) -> Any:
    """The rotation vector after one circle of shapes without momentum: R' = - R A(s) s', by Magnus's expansion."""
    chart, plane = given
    h = 2.0 * math.pi / CIRCLE_STEPS

    def velocity(phi):
        e = jnp.stack([jnp.cos(phi), jnp.sin(phi)])
        s, rate = radius * e @ plane, radius * jnp.stack([-e[1], e[0]]) @ plane
        return -chart.connection(s) @ rate

    def advance(R, k):
        xi = jax.vmap(velocity)(h * (k + jnp.asarray(PARTITIONED["gauss3"].c)))
        return R @ nd.SO3().exp(magnus(nd.SO3(), h, xi)), None

    return nd.SO3().log(jax.lax.scan(advance, jnp.eye(3), jnp.arange(CIRCLE_STEPS, dtype=float))[0])


def _first_atom(chart: nd.models.ClusterShape) -> Any:
    place = chart.whole.places(jnp.asarray(chart.reference))[0]
    return place / jnp.sqrt(place @ place)


def _connection(chart: nd.models.ClusterShape, s: Any) -> Any:
    return chart.connection(s)


def _slice(chart: nd.models.ClusterShape, s: Any) -> Any:
    return chart.slice(s)


def _place(chart: nd.models.ClusterShape, g: Any) -> Any:
    return chart.configuration(g)


def _relative_turn(_: Any, R: Any, next_R: Any) -> Any:
    return nd.SO3().log(R.T @ next_R)


def _angle(_: Any, R: Any) -> Any:
    return jnp.sqrt(jnp.sum(nd.SO3().log(R) ** 2))


def _turned(run: nd.Trajectory) -> float:
    """The angle of the attitude at the end of a run."""
    return float(execute(_angle, (), run.final.g.R, parameters=(0,)))


def _table(costs: dict[str, list[tuple[float, float, float]]]) -> Table:
    rows = [
        (name, f"{dt:g}", f"{cost:.2f}", f"{error:.2e}") for name, each in costs.items() for dt, cost, error in each
    ]
    return Table(("steps", "dt", "us a step", "error at t = 1"), tuple(rows))


_UNITS = {
    "isomer_energies": "eps",
    "vibration_turn": "rad",
    "vibration_turn_by_area": "rad",
    "vibration_dynamic_phase": "rad",
    "vibration_period": "sigma sqrt(m/eps)",
    "circle_turn": "rad",
    "circle_turn_by_area": "rad",
    "turn_at_rest": "rad",
    "step_cost": "us",
    "time_unit": "s",
}

_NOTES = (
    "Energies are in eps, lengths in sigma, times in sigma sqrt(m/eps), which is `time_unit` seconds. "
    "`isomer_counts` says how many random starts fell into each of the lowest minima. Without angular momentum: "
    "`vibration_turn` is the turn after `periods` vibrations on a circle of shapes, about the axis of the curvature, "
    "`vibration_turn_by_area` the curvature at the reference times the area swept, `vibration_dynamic_phase` what the "
    "momentum adds, which is nothing; `circle_turn` is the turn after one circle of shapes with the radius 0.8, by the "
    "connection, and `circle_turn_by_area` by the curvature at its centre; `turn_at_rest` is how far the frame of the "
    "cluster has turned at `t1` at the same energy, with `angular_momentum_at_rest_max` throughout. Errors of energy "
    "and angular momentum are relative and the largest over every step, through all `charts`. `step_error` is that of "
    "the places at t = 1 with the smallest of `dts`, and `difference_from_verlet` how far reduced steps come from "
    "those of all atoms until then."
)
