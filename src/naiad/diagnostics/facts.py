"""What a system is along a motion: are its derivatives right, what leaves its Lagrangian alone, and how fast is it."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from naiad.compiler import execute, execute_rows
from naiad.diagnostics.tangent import displaced
from naiad.mechanics import LagrangianSystem, State, left_velocity
from naiad.numerics.arguments import checked

NEAR = 0.1
"""How far, in every direction, a system is looked at from where it comes."""
LARGE = 30
"""Dimensions of a group above which its linearised equations are left to XLA, which is slower for small ones."""


class Facts(NamedTuple):
    """The largest along a motion, relative to the size of ell: how far its derivatives are from differences, how fast
    it changes under each of the declared symmetries, how much a force pushes along them, and d ell/dt."""

    derivatives: float
    symmetries: np.ndarray
    pushed: np.ndarray
    changing: float


def facts(system: LagrangianSystem, g: Any, xi: np.ndarray, times: np.ndarray) -> Facts:
    """The facts near the places and velocities of a motion: not at them, where a motion may happen to be special."""
    ways = np.random.default_rng(0).normal(size=(len(times), 2 * system.group.dim))
    rows = execute_rows(_near, system, g, xi, times, ways, parameters=(0,))
    return Facts(*(np.nanmax(np.asarray(row), axis=0) for row in rows))


def _near(system: LagrangianSystem, g: Any, xi: Any, t: Any, way: Any) -> tuple[Any, ...]:
    group, n = system.group, system.group.dim
    g, xi = group.compose(g, group.exp(NEAR * way[:n])), xi + NEAR * way[n:]
    scale = jnp.abs(system.lagrangian(g, xi, t)) + jnp.abs(system.legendre(g, xi, t) @ xi)
    scale = jnp.where(scale > 0.0, scale, 1.0)

    def along(s):
        return system.lagrangian(group.compose(g, group.exp(s * way[:n])), xi + s * way[n:], t + s)

    step, weights = 1e-3, jnp.array([1.0, -8.0, 8.0, -1.0])
    differences = weights @ jax.lax.map(along, step * jnp.array([-2.0, -1.0, 1.0, 2.0])) / (12.0 * step)
    wrong = jnp.abs(jax.grad(along)(0.0) - differences) / scale
    changing = jnp.abs(jax.grad(system.lagrangian, argnums=2)(g, xi, jnp.asarray(t, float))) / scale
    if system.symmetry is None:
        return wrong, jnp.zeros(1), jnp.zeros(1), changing

    def moved(s):
        at = system.symmetry(s, g)
        velocity = left_velocity(group, lambda e: system.symmetry(s, group.compose(g, group.exp(e * xi))))
        return system.lagrangian(at, velocity, t)

    zero = jnp.zeros(system.symmetry_dim)
    pushed = jnp.zeros_like(zero)
    if system.total_force is not None:
        pushed = generators(system, g) @ system.total_force(g, xi, t)
    return wrong, jnp.abs(jax.jacfwd(moved)(zero)) / scale, jnp.abs(pushed) / scale, changing


def generators(system: LagrangianSystem, g: Any) -> Any:
    """The left velocities with which the symmetries begin at g, in rows: those declared, or else translations."""
    group = system.group
    if system.symmetry is None:
        return jax.vmap(lambda s: group.Ad(group.inverse(g), s))(jnp.eye(group.dim))
    directions = jnp.eye(system.symmetry_dim)
    return jax.vmap(lambda s: left_velocity(group, lambda e: system.symmetry(e * s, g)))(directions)


@checked
def shortest_time(system: LagrangianSystem, state: State, t: float = 0.0) -> float:
    """1/|lambda| in s for the largest eigenvalue lambda of the equations of motion, linearised at a state, or the time
    of a radian where a body turns faster; 1 s for a system at rest in no field."""
    engine = "auto" if system.group.dim <= LARGE else "xla"
    rates = execute(_linearised, system, state, t, parameters=(0,), engine=engine)
    fastest = max(float(np.max(np.abs(np.linalg.eigvals(rates[0])))), float(rates[1]))
    return 1.0 / fastest if fastest > 0.0 else 1.0


def _linearised(system: LagrangianSystem, state: State, t: Any) -> tuple[Any, Any]:
    def slope(z):
        rates = system.equations(displaced(system.group, state, z), t)
        return jnp.concatenate([rates.xi, rates.mu])

    return jax.jacfwd(slope)(jnp.zeros(2 * system.group.dim)), system.group.spin(system.equations(state, t).xi)
