"""The motion of a string pendulum, observed at every step."""

import dataclasses
import functools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np

import naiad as nd
from naiad.compiler import execute_rows
from naiad.integrators import AbstractMethod
from naiad.numerics import Module
from naiad.strings import StringPendulum
from naiad.studies.progress import Progress

if TYPE_CHECKING:
    import xarray as xr

OBSERVED = (
    "energy",
    "kinetic",
    "rotational",
    "gravity",
    "elastic",
    "pi3",
    "orthogonality",
    "beyond",
    "s_p",
    "stretched_length",
    "way",
)
FORCES = ("carnot", "input", "inside")
PATHS = {"carnot": "s_p", "input": "way"}


class Observed(Module):
    """Energies, pi_3, |R^T R - I|, how far the mass centre lies beyond the string's end along its last element, lengths
    (unstretched on the reel, outside, and the way inside), the forces of Carnot's term on s and of the moment on the
    way inside, the power of friction there, and Omega."""

    system: StringPendulum

    def __call__(self, state: nd.State, t: Any) -> Any:
        system, g = self.system, state.g
        xi = system.velocity(g, state.mu, t)
        Omega = xi[-3:] if system.turning else jnp.zeros(3)
        elastic, gravity = system.elastic_energy(g, t), system.smooth_potential(g, t)
        kinetic = 0.5 * jnp.dot(state.mu, xi)
        rotational = off = beyond = jnp.zeros(())
        if system.turning:
            assert system.body is not None
            rotational, off = (
                0.5 * jnp.dot(Omega, jnp.asarray(system.body.inertia) @ Omega),
                system.ends["R"].error(g.R),
            )
            last = g.q[-1] - (g.q[-2] if system.elements > 1 else 0.0)
            beyond = jnp.dot(g.R @ jnp.asarray(system.body.centre), last) / jnp.sqrt(jnp.dot(last, last))
        carnot = given = lost = jnp.zeros(())
        way = jnp.asarray(system.wound(g))
        if system.inner:
            rates = xi[3 * system.elements :][: system.reel_dim]
            way, moving = system.inside(g)[0], system.inside_rate(rates[1:], t)
            on_s, on_w = system.inner_force(g, rates, t)
            lost = on_s * rates[0] + jnp.dot(on_w, moving)
            given = jnp.zeros(()) if system.drum is not None else system.pull(g, moving[0], t)
        elif system.reeled:
            speed = xi[3 * system.elements]
            carnot, given = system.carnot_force(g, speed), system.pull(g, speed, t)
        energies = kinetic + gravity + elastic, kinetic, rotational, gravity, elastic
        lengths = jnp.asarray(system.wound(g)), system.stretched_length(g)
        numbers = (*energies, system.noether(state)[0], off, beyond, *lengths, way, carnot, given, lost)
        return jnp.concatenate([jnp.stack(numbers), Omega])


@dataclasses.dataclass(frozen=True)
class StringMotion:
    """A run with the output `observed` at every step, and the states at the times that were asked for."""

    run: nd.Trajectory
    frames: nd.State
    frame_times: np.ndarray
    asked: list[tuple[float, nd.State]]

    @functools.cached_property
    def times(self) -> np.ndarray:
        """Of every step."""
        return self.run.record["output_time"].to_numpy()

    @functools.cached_property
    def observed(self) -> dict[str, np.ndarray]:
        """The observables at every step, by name."""
        return dict(zip(OBSERVED + FORCES, self.run.record["observed"].to_numpy().T, strict=False))

    @property
    def Omega(self) -> np.ndarray:
        """The angular velocity of the body at every step."""
        return self.run.record["observed"].to_numpy()[:, -3:]

    @property
    def final(self) -> nd.State:
        """The last state."""
        return jax.tree.map(lambda leaf: leaf[-1], self.frames)

    @property
    def ending(self) -> str:
        """How it ended: at t1, or at an event."""
        events = ((name, crossed["time"].to_numpy()) for name, crossed in self.run.crossings.items())
        return next((f"{name} at t = {when[0]:.9g} s" for name, when in events if len(when)), "completed")

    def work(self) -> dict[str, np.ndarray]:
        """The work of Carnot's term, of the moment and of friction inside since the start, int F ds, with splines of
        the method's order, at least 2, through the forces and the lengths on the reel at every step: exact for a
        constant force, and the mean of the forces at both ends of a step times its change of s for order 2; that of
        friction by its power."""
        from scipy.interpolate import make_interp_spline

        degree = min(max(2, self.run.method.order(self.run.system)), len(self.times)) - 1
        if not degree:
            return {name: np.zeros(1) for name in FORCES}
        places, weights = np.polynomial.legendre.leggauss(degree)
        half = 0.5 * np.diff(self.times)
        between = self.times[:-1, None] + half[:, None] * (1.0 + places)

        def at(name: str, nu: int = 0) -> np.ndarray:
            return make_interp_spline(self.times, self.observed[name], k=degree)(between, nu=nu)

        powers = {name: at(name) * (at(PATHS[name], 1) if name in PATHS else 1.0) for name in FORCES}
        durations = half[:, None] * weights
        return {name: np.append(0.0, np.cumsum(np.sum(power * durations, axis=1))) for name, power in powers.items()}

    @functools.cached_property
    def dataset(self) -> "xr.Dataset":
        """What `naiad.viz` draws: nodes, the elastic energy of each element, mass centre and attitude of the body."""
        import xarray as xr

        system, g = self.run.system, self.frames.g
        assert isinstance(system, StringPendulum)
        seen = execute_rows(_seen, system.picture.seen, g, self.frame_times, parameters=(0,))
        arrays: dict[str, Any] = {
            "nodes": (("time", "node", "axis"), g.q),
            "elastic": (("time", "node"), seen["elastic"], {"units": "J"}),
        }
        attributes = {"down": [0.0, 0.0, 1.0]} | system.picture.attributes
        if system.body is not None:
            arrays["x"] = (("time", "axis"), seen["x"], {"units": "m"})
        if system.turning:
            arrays["R"] = (("time", "row", "column"), g.R)
        if system.reeled:
            arrays["s_p"] = ("time", g.s[:, 0], {"units": "m"})
        return xr.Dataset(arrays, {"time": ("time", self.frame_times, {"units": "s"})}, attributes)


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
    run = nd.simulate(
        system,
        state,
        t1=t1,
        dt=dt,
        method=method,
        outputs={"observed": Observed(system)},
        output_every=1,
        sections=events,
        progress=progress,
        throw=True,
    )
    times, states, end = run.t.to_numpy(), run.states, run.attrs["t"]
    if end > times[-1]:  # an event between two saved nodes
        last = state_at(run, end)
        times = np.append(times, end)
        states = jax.tree.map(lambda rows, row: np.concatenate([rows, np.asarray(row)[None]]), states, last)
    reached = [float(t) for t in asked if t <= end + 1e-9 * dt]
    return StringMotion(run, states, times, [(t, state_at(run, t)) for t in reached])


def state_at(run: nd.Trajectory, t: float) -> nd.State:
    """The state at a time of a run, by steps from the saved node before, the last one shorter."""
    times, dt = run.t.to_numpy(), run.attrs["dt"]
    node = int(np.searchsorted(times, t + 1e-9 * dt, side="right")) - 1
    state = nd.State(*jax.tree.map(lambda leaf: leaf[node], run.states))
    if t - times[node] <= 1e-9 * dt:
        return state
    options: dict[str, Any] = {"dt": dt, "method": run.method, "progress": False, "throw": True}
    return nd.simulate(run.system, state, t0=float(times[node]), t1=t, **options).final


def _seen(seen: Any, g: Any, t: Any) -> Any:
    return seen(g, t)
