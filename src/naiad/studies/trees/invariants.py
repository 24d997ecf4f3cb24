"""What the studies of trees share: what a tree keeps, watched, and its steps."""

from typing import Any

import jax.numpy as jnp

import naiad as nd
from naiad.diagnostics import Energy, RelativeChange
from naiad.numerics import Module
from naiad.trees import Tree, TreeVariational

METHODS = {
    "lgvi": TreeVariational(nd.Left(), correction=True),
    "trapezoid": TreeVariational(nd.Trapezoid(), correction=True),
    "midpoint": TreeVariational(nd.Midpoint()),
}
"""By the names of the studies' schemes."""


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


def watched(bodies: nd.models.ConnectedBodies, state: nd.State) -> dict[str, Any]:
    """What is watched: absolute changes of the invariants, and the distance from the group."""
    invariants = {
        "energy": Energy(bodies),
        "linear_momentum": LinearMomentum(bodies.tree),
        "angular_momentum": AngularMomentum(bodies.tree),
    }
    changes = {name: RelativeChange.since(f, state).replaced(scale=1.0) for name, f in invariants.items()}
    return changes | {"orthogonality": Orthogonality()}


def largest_changes(run: nd.Trajectory) -> dict[str, float]:
    """Over every step of a run that monitored what is `watched`."""
    names = ("energy", "linear_momentum", "angular_momentum", "orthogonality")
    return {f"{name}_error_max": run.monitors[name].largest for name in names}
