"""The motion of a string pendulum, observed at every step, in pieces that fit into memory."""

import dataclasses
import functools
import warnings
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np

import naiad as nd
from naiad.compiler import execute_rows
from naiad.errors import RunError, RunWarning
from naiad.integrators import AbstractMethod
from naiad.numerics import Module
from naiad.strings import StringPendulum
from naiad.studies.progress import Progress

if TYPE_CHECKING:
    import xarray as xr

PIECE_BYTES = 2**26
FRAMES = 1000
OBSERVED = ("energy", "kinetic", "rotational", "gravity", "elastic", "pi3", "orthogonality", "s_p", "stretched_length")
FORCES = ("carnot", "input")


class Observed(Module):
    """Energies, pi_3, |R^T R - I|, lengths, the forces on s of Carnot's term and of the moment, and Omega."""

    system: StringPendulum

    def __call__(self, state: nd.State, t: Any) -> Any:
        system, g = self.system, state.g
        xi = system.velocity(g, state.mu, t)
        Omega = xi[-3:] if system.turning else jnp.zeros(3)
        elastic, gravity = system.elastic_energy(g, t), system.smooth_potential(g, t)
        kinetic = 0.5 * jnp.dot(state.mu, xi)
        rotational = off = jnp.zeros(())
        if system.turning:
            assert system.body is not None
            rotational, off = (
                0.5 * jnp.dot(Omega, jnp.asarray(system.body.inertia) @ Omega),
                system.ends["R"].error(g.R),
            )
        carnot = given = jnp.zeros(())
        if system.reeled:
            assert system.reel is not None
            speed = xi[3 * system.elements]
            carnot = system.carnot_force(g, speed)
            given = system.reel.control(g, speed, t) / system.reel.radius
        numbers = (kinetic + gravity + elastic, kinetic, rotational, gravity, elastic, system.noether(state)[0], off)
        lengths = jnp.asarray(system.wound(g)), system.stretched_length(g)
        return jnp.concatenate([jnp.stack([*numbers, *lengths, carnot, given]), Omega])


@dataclasses.dataclass(frozen=True)
class StringMotion:
    """Observables at every step by name, states at some (stacked, with their times), the states at the times that were
    asked for, how it ended, and the order to which all that is accurate, at least 2."""

    times: np.ndarray
    observed: dict[str, np.ndarray]
    Omega: np.ndarray
    frame_times: np.ndarray
    frames: nd.State
    asked: list[tuple[float, nd.State]]
    ending: str
    system: StringPendulum
    order: int

    @functools.cached_property
    def dataset(self) -> "xr.Dataset":
        """What `naiad.viz` draws."""
        return _dataset(self.system, self.frame_times, self.frames)

    @property
    def final(self) -> nd.State:
        """The last state."""
        return jax.tree.map(lambda leaf: leaf[-1], self.frames)

    def work(self) -> dict[str, np.ndarray]:
        """The work of Carnot's term and of the moment since the start, int F ds, with splines of this order through the
        forces and the lengths on the reel at every step: exact for a constant force, and the mean of the forces at both
        ends of a step times its change of s for order 2."""
        from scipy.interpolate import make_interp_spline

        degree = min(self.order, len(self.times)) - 1
        if not degree:
            return {name: np.zeros(1) for name in FORCES}
        places, weights = np.polynomial.legendre.leggauss(degree)
        half = 0.5 * np.diff(self.times)
        between = self.times[:-1, None] + half[:, None] * (1.0 + places)
        ways = make_interp_spline(self.times, self.observed["s_p"], k=degree)(between, nu=1) * half[:, None] * weights
        forces = {name: make_interp_spline(self.times, self.observed[name], k=degree)(between) for name in FORCES}
        return {name: np.append(0.0, np.cumsum(np.sum(force * ways, axis=1))) for name, force in forces.items()}


def string_motion(
    system: StringPendulum,
    state: nd.State,
    *,
    t1: float,
    dt: float,
    method: AbstractMethod,
    events: dict[str, nd.Section],
    asked: Sequence[float],
    progress: Progress,
) -> StringMotion:
    """The motion to t1, or to an event; `asked` are times between."""
    rows, times, frames, frame_times, reports = [], [], [], [], []
    every = max(1, int(np.ceil(t1 / dt / FRAMES)))
    count, ending = 0, "completed"
    for piece in _pieces(system, state, t1, dt, method, events, progress):
        first = 0 if not times else 1  # a piece begins where the last one ended
        numbers = count + np.arange(first, len(piece.t))
        rows.append(piece.record["observed"].to_numpy()[first:])
        times.append(piece.t.to_numpy()[first:])
        kept = first + np.flatnonzero((numbers % every == 0) | (numbers == numbers[-1]))
        frames.append(jax.tree.map(lambda leaf, kept=kept: leaf[kept], piece.states))
        frame_times.append(piece.t.to_numpy()[kept])
        reports += _reports(system, method, piece, asked, first=not count, dt=dt)
        count += len(piece.t) - 1
        if piece.outcome is nd.Outcome.EVENT:
            when = {name: crossed["time"].to_numpy() for name, crossed in piece.crossings.items()}
            name = next(name for name, found in when.items() if len(found))
            ending = f"{name} at t = {when[name][0]:.9g} s"
    table = np.concatenate(rows)
    names = OBSERVED + FORCES
    states = jax.tree.map(lambda *leaves: np.concatenate(leaves), *frames)
    return StringMotion(
        np.concatenate(times),
        {name: table[:, i] for i, name in enumerate(names)},
        table[:, len(names) :],
        np.concatenate(frame_times),
        states,
        reports,
        ending,
        system,
        max(2, method.order(system)),
    )


def _pieces(
    system: StringPendulum,
    state: nd.State,
    t1: float,
    dt: float,
    method: AbstractMethod,
    events: dict[str, nd.Section],
    progress: Progress,
) -> Iterator[nd.Trajectory]:
    """The run with every step saved, in pieces."""
    steps = max(256, PIECE_BYTES // (16 * system.group.dim + 200))
    watch: dict[str, Any] = {
        "save_every": 1,
        "outputs": {"observed": Observed(system)},
        "sections": events,
        "progress": False,
    }
    run, node = None, 0
    while run is None or run.attrs["t"] < t1:
        node += steps
        stop = min(t1, node * dt)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", r"\w+ stopped at t = ", RunWarning)  # an error here
            if run is None:
                run = nd.simulate(system, state, t1=stop, dt=dt, method=method, **watch)
            else:
                run = nd.resume(run, t1=stop, **watch)
        if run.outcome.failed:
            raise RunError(f"the run stopped at t = {run.attrs['t']:g} s of {t1:g} s: {run.ending}")
        progress(stop / t1)
        yield run
        if run.outcome is not nd.Outcome.COMPLETED:
            return


def _reports(
    system: StringPendulum, method: AbstractMethod, piece: nd.Trajectory, asked: Sequence[float], *, first: bool, dt
) -> list[tuple[float, nd.State]]:
    """The states at those of the times that lie in a piece, by one shorter step from the node before."""
    times, found = piece.t.to_numpy(), []
    near = 1e-9 * dt
    for t in asked:
        if not (times[0] + near < t <= times[-1] + near or (first and abs(t - times[0]) <= near)):
            continue
        node = int(np.searchsorted(times, t + near, side="right")) - 1
        state = nd.State(*jax.tree.map(lambda leaf, node=node: leaf[node], piece.states))
        rest = t - times[node]
        if rest > near:
            state = nd.simulate(system, state, t0=times[node], t1=t, dt=rest, method=method).final
        found.append((float(t), state))
    return found


def _dataset(system: StringPendulum, times: np.ndarray, states: nd.State) -> "xr.Dataset":
    """Nodes, the elastic energy of each element, mass centre and attitude of the body."""
    import xarray as xr

    seen = execute_rows(_pictured, system, states.g, times, parameters=(0,))
    arrays: dict[str, Any] = {
        "nodes": (("time", "node", "axis"), states.g.q),
        "elastic": (("time", "node"), seen["elastic"], {"units": "J"}),
    }
    attributes: dict[str, Any] = {"down": [0.0, 0.0, 1.0]}
    if system.body is not None:
        arrays["x"] = (("time", "axis"), seen["x"], {"units": "m"})
    if system.turning:
        arrays["R"] = (("time", "row", "column"), states.g.R)
        attributes["shapes"] = np.asarray(system.semi_axes).tolist()
    if system.reeled:
        arrays["s_p"] = ("time", states.g.s[:, 0], {"units": "m"})
    return xr.Dataset(arrays, {"time": ("time", times, {"units": "s"})}, attributes)


def _pictured(system: StringPendulum, g: Any, t: Any) -> Any:
    return system.pictured(g, t)
