"""The motion of connected bodies, by a variational method or by Runge-Kutta, with what it keeps."""

import dataclasses
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np

import naiad as nd
from naiad.compiler import execute_rows
from naiad.diagnostics import Energy, RelativeChange, adaptive_run, watched_run
from naiad.numerics import Module
from naiad.simulation.record import algebra_variables, variable
from naiad.studies.progress import Progress
from naiad.trees import Tree, TreeVariational

if TYPE_CHECKING:
    import xarray as xr


class LinearMomentum(Module):
    """The total linear momentum of a tree."""

    tree: Tree

    def __call__(self, state: nd.State, t: Any) -> Any:
        return self.tree.linear_momentum(state.g, state.mu)


class AngularMomentum(Module):
    """The total angular momentum of a tree about the origin."""

    tree: Tree

    def __call__(self, state: nd.State, t: Any) -> Any:
        return self.tree.angular_momentum(state.g, state.mu)


class Orthogonality(Module):
    """The largest |R_i^T R_i - I|, Frobenius."""

    def __call__(self, state: nd.State, t: Any) -> Any:
        R = jnp.asarray(state.g.R)
        defects = jnp.swapaxes(R, 1, 2) @ R - jnp.eye(3)
        return jnp.sqrt(jnp.max(jnp.sum(defects**2, axis=(1, 2))))


@dataclasses.dataclass(frozen=True)
class Motion:
    """Times, states (stacked), velocities, energies, changes of the invariants and other observables over time; the
    largest changes and the monitors over every step."""

    times: np.ndarray
    states: nd.State
    xi: np.ndarray
    energy: np.ndarray
    changes: dict[str, np.ndarray]
    errors: dict[str, float]
    monitors: dict[str, Any]
    dataset: "Callable[[], xr.Dataset]"

    @property
    def start(self) -> nd.State:
        """The first state."""
        return jax.tree.map(lambda leaf: leaf[0], self.states)

    @property
    def final(self) -> nd.State:
        """The last state."""
        return jax.tree.map(lambda leaf: leaf[-1], self.states)


def watched(bodies: nd.models.ConnectedBodies, state: nd.State) -> dict[str, Any]:
    """What is watched: absolute changes of the invariants, and the distance from the group."""
    invariants = {
        "energy": Energy(bodies),
        "linear_momentum": LinearMomentum(bodies.tree),
        "angular_momentum": AngularMomentum(bodies.tree),
    }
    changes = {name: RelativeChange.since(f, state).replaced(scale=1.0) for name, f in invariants.items()}
    return changes | {"orthogonality": Orthogonality()}


def variational_motion(
    bodies: nd.models.ConnectedBodies,
    state: nd.State,
    *,
    t1: float,
    dt: float,
    progress: Progress,
    observables: Mapping[str, Any] | None = None,
) -> Motion:
    """The motion by the bodies' own discrete Lagrangian; `observables` are monitored too."""
    observed = watched(bodies, state)
    run, _ = watched_run(
        bodies,
        state,
        t1=t1,
        dt=dt,
        method=tree_method(bodies),
        progress=progress,
        invariants={},
        observables={**observed, **(observables or {})},
    )
    changes = {name: run.evaluate(f) for name, f in (observed | dict(observables or {})).items()}
    errors = {f"{name}_error_max": run.monitors[name].largest for name in observed}
    return Motion(
        run.t.to_numpy(),
        run.states,
        run.xi.to_numpy(),
        run.energy.to_numpy(),
        changes,
        errors,
        run.monitors,
        lambda: run.dataset,
    )


STEPS = {
    "lgvi": TreeVariational("one-sided", correction=True),
    "trapezoid": TreeVariational("trapezoid", correction=True),
    "midpoint": TreeVariational("midpoint"),
}


def tree_method(bodies: nd.models.ConnectedBodies) -> TreeVariational:
    """The step of the bodies' own discrete Lagrangian, in O(N): that of `Variational(Cayley())`, in sweeps."""
    return STEPS[bodies.scheme]


def runge_kutta_motion(
    bodies: nd.models.ConnectedBodies, state: nd.State, *, t1: float, tolerance: float, progress: Progress
) -> Motion:
    """The motion by adaptive Runge-Kutta, at every accepted step."""
    times, states = adaptive_run(bodies, state, t1=t1, tolerance=tolerance, progress=progress)
    changes = {name: execute_rows(_observed, f, states, times) for name, f in watched(bodies, state).items()}
    errors = {f"{name}_error_max": float(np.max(np.abs(values))) for name, values in changes.items()}
    xi = execute_rows(_velocity, bodies, states, times)
    energy = execute_rows(_observed, Energy(bodies), states, times)

    def dataset() -> "xr.Dataset":
        import xarray as xr

        group = bodies.group
        arrays = {
            name: variable("time", name, values) for name, values in zip(group.names.element, states.g, strict=True)
        }
        arrays |= algebra_variables(group.names.momentum, group, np.asarray(states.mu))
        arrays |= algebra_variables(group.names.velocity, group, xi)
        arrays["energy"] = variable("time", "energy", energy)
        return xr.Dataset(arrays, {"time": ("time", times, {"units": "s"})})

    return Motion(times, states, xi, energy, changes, errors, {}, dataset)


def _observed(observable: Any, state: nd.State, t: Any) -> Any:
    return observable(state, t)


def _velocity(system: nd.LagrangianSystem, state: nd.State, t: Any) -> Any:
    return system.velocity(state.g, state.mu, t)
