"""Where the energy of a system goes: the power of what acts on it."""

from typing import Any

import jax
import jax.numpy as jnp
from jax.extend.core import Literal
from jaxtyping import Array, Float

from naiad.mechanics.heat_bath import has_bath
from naiad.mechanics.state import Scalar, State
from naiad.mechanics.system import LagrangianSystem
from naiad.numerics.arguments import checked_throughout


@checked_throughout
def keeps_energy(system: LagrangianSystem) -> bool:
    """Whether the energy is constant: no force, no friction and no noise, and neither the Lagrangian nor a constraint
    depends on time."""
    if system.force is not None or has_bath(system):
        return False
    g, xi, t = jax.eval_shape(lambda: (system.group.identity(), jnp.zeros(system.group.dim), jnp.zeros(())))
    changing = _depends_on_last(system.lagrangian, g, xi, t)
    return not changing and (system.constraint is None or not _depends_on_last(system.constraint, g, t))


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
    """Whether what a function computes has to do with its last argument; yes, where only a call within could tell."""
    jaxpr = jax.make_jaxpr(function)(*arguments).jaxpr
    touched = {jaxpr.invars[-1]}
    for equation in jaxpr.eqns:
        if any(not isinstance(each, Literal) and each in touched for each in equation.invars):
            touched |= set(equation.outvars)
    return any(not isinstance(each, Literal) and each in touched for each in jaxpr.outvars)
