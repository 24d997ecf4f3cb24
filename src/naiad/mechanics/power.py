"""Where the energy of a system goes: the power of what acts on it."""

from typing import Any

import jax
import jax.numpy as jnp
from jax.interpreters.partial_eval import dce_jaxpr
from jaxtyping import Array, Float

from naiad.mechanics.heat_bath import has_bath
from naiad.mechanics.state import Scalar, State
from naiad.mechanics.system import LagrangianSystem
from naiad.numerics.arguments import checked_throughout


@checked_throughout
def keeps_energy(system: LagrangianSystem) -> bool:
    """Whether the energy is constant: no force, no friction and no noise, and neither the Lagrangian nor a constraint
    depends on time."""
    return system.force is None and not has_bath(system) and not depends_on_time(system)


@checked_throughout
def depends_on_time(system: LagrangianSystem) -> bool:
    """Whether the Lagrangian, a force, friction or a constraint depends on time."""
    g, xi, t = jax.eval_shape(lambda: (system.group.identity(), jnp.zeros(system.group.dim), jnp.zeros(())))
    if _depends_on_last(system.lagrangian, g, xi, t):
        return True
    if system.total_force is not None and _depends_on_last(system.total_force, g, xi, t):
        return True
    return system.constraint is not None and _depends_on_last(system.constraint, g, t)


@checked_throughout
def power(system: LagrangianSystem, state: State, t: Scalar = 0.0) -> Float[Array, ""]:
    """dE/dt = <F - C xi, xi> - d ell/dt - <lambda, dc/dt>: the rate at which forces, friction, a Lagrangian that has to
    do with time, and a constraint c(g, t) that is moved change the energy E = <mu, xi> - ell."""
    g, mu = state
    t = jnp.asarray(t, float)
    xi = system.velocity(g, mu, t)
    given = -jax.grad(system.lagrangian, argnums=2)(g, xi, t)
    if getattr(system, "dissipation", None) is not None:
        given = given + system.friction(g, xi, t) @ xi
    if system.constraint is not None and _depends_on_last(system.constraint, g, t):
        moved = jax.jvp(lambda t: jnp.atleast_1d(system.constraint(g, t)), (t,), (jnp.ones(()),))[1]
        given = given - system.equations(state, t).multipliers @ moved
    return given if system.force is None else given + jnp.asarray(system.force(g, xi, t)) @ xi


def _depends_on_last(function: Any, *arguments: Any) -> bool:
    """Whether what a function computes has to do with its last argument."""
    traced = jax.make_jaxpr(function)(*arguments).jaxpr
    return dce_jaxpr(traced, [True] * len(traced.outvars))[1][-1]
