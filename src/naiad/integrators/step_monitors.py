"""Time scales of a motion, for steps that follow it: squared rates 1/Q^2, to which a least one may be added."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from naiad.errors import InputError
from naiad.groups import Power, Rn
from naiad.mechanics import LagrangianSystem, Scalar, State, is_euler_poincare
from naiad.mechanics.functions import with_system
from naiad.numerics import solve


def by_frequency(system: LagrangianSystem, state: State, t: Scalar) -> Float[Array, ""]:
    """The Frobenius norm of M^-1 V'': of small oscillations, the root of the sum of the fourth powers of their
    frequencies; of a planet, near G m / r^3."""
    potential, n = _potential(system, state, t), system.group.dim
    stiffness = jax.jacfwd(jax.grad(potential))(jnp.zeros(n))
    shape = jax.vmap(lambda column: solve(_inertia(system, state, t), column), 1, 1)(stiffness)
    square = jnp.sum(shape * shape.T)
    return jnp.where(square > 0.0, jnp.sqrt(jnp.where(square > 0.0, square, 1.0)), 0.0)


def by_force(system: LagrangianSystem, state: State, t: Scalar) -> Float[Array, ""]:
    """(F M^-1 F)^(3/4) of the force of the potential: r^-3 where that is gravity."""
    potential, n = _potential(system, state, t), system.group.dim
    force = jax.grad(potential)(jnp.zeros(n))
    square = force @ solve(_inertia(system, state, t), force)
    return jnp.where(square > 0.0, jnp.where(square > 0.0, square, 1.0) ** 0.75, 0.0)


def by_distance(system: LagrangianSystem, state: State, t: Scalar) -> Float[Array, ""]:
    """The sum of r^-3 over all pairs of points."""
    first, second = np.triu_indices(state.g.shape[0], 1)
    square = jnp.sum((state.g[first] - state.g[second]) ** 2, axis=1)
    return jnp.sum(1.0 / (square * jnp.sqrt(square)))


MONITORS: dict[str, Callable[..., Float[Array, ""]]] = {
    "frequency": by_frequency,
    "force": by_force,
    "distance": by_distance,
}


def squared_rate(monitor: Any, system: LagrangianSystem, state: State, t: Scalar) -> Float[Array, ""]:
    """1/Q^2 of a word, or of a function that gives Q."""
    if callable(monitor):
        return jnp.asarray(with_system(monitor, system)(state, t), float) ** -2
    return MONITORS[monitor](system, state, t)


def check_monitor(monitor: Any, system: LagrangianSystem) -> None:
    """Raise an `InputError` if a system has not what a word asks for, or a function gives no number."""
    name, group = type(system).__name__, system.group
    own = "give a function Q(state, t) of your own"
    if monitor in ("frequency", "force") and is_euler_poincare(system):
        raise InputError(f"ReversibleSteps by {monitor!r} needs a potential, and {name} has none; {own}.")
    if monitor == "distance" and not (isinstance(group, Power) and isinstance(group.base, Rn) and group.count > 1):
        raise InputError(f"ReversibleSteps by 'distance' needs points in space, as PointMasses has; for {name} {own}.")
    if callable(monitor):
        example = State(group.identity(), jnp.ones(group.dim))
        shape = jax.eval_shape(lambda: with_system(monitor, system)(example, 0.0)).shape
        if shape:
            raise InputError(f"ReversibleSteps: the monitor gives an array of shape {shape}; expected one number.")


def _potential(system: LagrangianSystem, state: State, t: Scalar) -> Callable[[Float[Array, " n"]], Float[Array, ""]]:
    """V as a function of the increment eta of the configuration."""
    group, rest = system.group, jnp.zeros(system.group.dim)
    return lambda eta: -system.lagrangian(group.compose(state.g, group.exp(eta)), rest, t)


def _inertia(system: LagrangianSystem, state: State, t: Scalar) -> Float[Array, "n n"]:
    return jax.hessian(system.lagrangian, argnums=1)(state.g, jnp.zeros(system.group.dim), t)
