"""Projection onto level sets after each step: the control that keeps invariants and nothing else."""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from naiad.compiler import execute
from naiad.errors import InputError
from naiad.integrators.gate import check_method
from naiad.integrators.method import AbstractOneStepMethod, StepInfo
from naiad.mechanics import (
    LagrangianSystem,
    Scalar,
    State,
    has_symmetry,
    left_gradient,
    left_jacobian,
    left_velocity,
)
from naiad.numerics import Newton, static

Invariant = str | Callable[[State, Scalar], Any]
NAMED = ("energy", "momentum")
LOST = 1e-9
"""The rate of change of a momentum, relative to what it is made of, that is still rounding."""
DEPENDENT = 1e-10
"""A gradient with less than this share outside of the span of others depends on them."""


class Level(NamedTuple):
    """What the step itself remembers, and the values that the invariants had at the start."""

    inner: Any
    values: Float[Array, " m"]


class Projected(AbstractOneStepMethod):
    """A step of `method`, then the projection onto the level set where the invariants I have their first values.

    From (g, xi) to (g exp(eta), xi + delta), (eta, delta) = I'(g, xi)^T lambda, lambda by Newton's method from
    I = I_0: the simplified projection of [hairer2006, algorithm IV.4.2], near in the Euclidean norm of displacement
    and velocity. `invariants` are "energy", "momentum" (that of the declared symmetry, or of left translations where
    the Lagrangian depends on xi alone) or functions f(state, t); one that others before it determine, as the vertical
    part of a momentum that has none, is left out. The method is neither symplectic nor symmetric: it shows what
    conservation alone is worth.
    """

    method: AbstractOneStepMethod
    invariants: tuple[Invariant, ...] = static(default=("energy",))
    newton: Newton = Newton()

    symplectic = False

    def __post_init__(self):
        given = self.invariants
        if not isinstance(given, tuple) or not given or any(not callable(i) and i not in NAMED for i in given):
            raise InputError(
                f"Projected: invariants = {given!r}; expected a tuple of 'energy', 'momentum' or functions f(state, t)."
            )

    @property
    def honours(self) -> frozenset[str]:
        """What the method does, without noise, and without what changes the invariants."""
        left_out = {"noise"}
        if "energy" in self.invariants:
            left_out |= {"force", "dissipation", "time"}
        if "momentum" in self.invariants:
            left_out |= {"force", "dissipation"}
        return self.method.honours - left_out

    def check(self, system: LagrangianSystem) -> None:
        check_method(self.method, system)
        if "momentum" not in self.invariants:
            return
        name = type(system).__name__
        if not has_symmetry(system):
            raise InputError(
                f"Projected onto momentum, but {name} declares no symmetry; define `symmetry(s, g)`, or leave "
                "'momentum' out."
            )
        places = np.random.default_rng(0).standard_normal((2, system.group.dim))
        lost = execute(_lost_momentum, system, places, parameters=(0,))
        if not np.max(lost) <= LOST:
            raise InputError(
                f"Projected onto momentum, but the Lagrangian or the constraint of {name} breaks the symmetry: at a "
                f"place drawn at random the momentum changes by {np.max(lost):.1e} of its scale. Leave 'momentum' out."
            )

    def order(self, system: LagrangianSystem) -> int:
        return self.method.order(system)

    def symmetric(self, system: LagrangianSystem) -> bool:
        return False

    def settled(self, system: LagrangianSystem, carry: Any, node: Any) -> Any:
        return self.method.settled(system, carry, node)

    def memory(self, system: LagrangianSystem, state: State, t: Scalar) -> Level:
        xi = system.velocity(state.g, state.mu, t)
        return Level(self.method.memory(system, state, t), self.values(system, state.g, xi, t))

    def values(self, system: LagrangianSystem, g: Any, xi: Float[Array, " n"], t: Scalar) -> Float[Array, " m"]:
        """The invariants at a configuration and a velocity, in one vector."""
        state = State(g, system.legendre(g, xi, t))

        def value(invariant: Invariant) -> Any:
            if invariant == "energy":
                return state.mu @ xi - system.lagrangian(g, xi, t)
            return invariant(state, t) if callable(invariant) else system.noether(state)

        return jnp.concatenate([jnp.ravel(jnp.asarray(value(invariant))) for invariant in self.invariants])

    def advance(self, system, state, memory, t, h, inputs):
        moved, inner, info = self.method.advance(system, state, memory.inner, t, h, inputs)
        group, n = system.group, system.group.dim
        velocity = system.velocity(moved.g, moved.mu, t + h)

        def shifted(delta):
            return group.compose(moved.g, group.exp(delta[:n])), velocity + delta[n:]

        def excess(delta):
            return self.values(system, *shifted(delta), t + h) - memory.values

        normals, independent = orthonormal(jax.jacrev(excess)(jnp.zeros(2 * n)))
        speed = jnp.sqrt(velocity @ velocity)
        scale = jnp.where(speed > 0, speed, 1.0)  # of the corrections: Newton's round-off is relative to it

        def correction(unknowns):
            return scale * (unknowns - 1.0) @ normals

        def residual(unknowns):
            return independent * excess(correction(unknowns)) + (1.0 - independent) * (unknowns - 1.0)

        root = self.newton.root(residual, jnp.ones(memory.values.size))
        delta = correction(root.x)
        g, xi = shifted(delta)
        end = State(g, system.legendre(g, xi, t + h))
        solved = StepInfo.solved(root.iterations, jnp.zeros(()), root.converged)
        return end, Level(inner, memory.values), info.then(solved)


def _lost_momentum(system: LagrangianSystem, places: Any) -> Float[Array, "2"]:
    """How fast the Lagrangian changes the momentum, and how much the constraint changes along the symmetry, as shares
    of the sums of what they are made of."""
    group, (place, xi) = system.group, places
    g, t = group.exp(place), 0.3
    mu = system.legendre(g, xi, t)
    free = group.ad_dual(xi, mu) + left_gradient(group, lambda x: system.lagrangian(x, xi, t), g)
    directions = (group.tangent(g, xi), free)
    rate = jax.jvp(lambda g, mu: system.noether(State(g, mu)), (g, mu), directions)[1]
    scale = jnp.sqrt((mu @ mu) * (xi @ xi)) + jnp.sqrt(free @ free) + jnp.sqrt(xi @ xi)
    turned = jnp.zeros(())
    if system.constraint is not None:
        act, size = system.symmetry, system.symmetry_dim
        if act is None:
            act, size = (lambda s, g: group.compose(group.exp(s), g)), group.dim
        along = left_jacobian(group, lambda x: jnp.atleast_1d(system.constraint(x, t)), g)
        moved = jax.vmap(lambda e: left_velocity(group, lambda s: act(s * e, g)))(jnp.eye(size))
        turned = jnp.max(jnp.abs(along @ moved.T)) / (jnp.max(jnp.abs(along)) * jnp.max(jnp.abs(moved)))
    return jnp.stack([jnp.max(jnp.abs(rate)) / scale, turned])


def orthonormal(rows: Float[Array, "m n"]) -> tuple[Float[Array, "m n"], Float[Array, " m"]]:
    """Orthonormal rows that span the same, zero for a row that those before it span, and 1 for each that is not."""
    found, independent = [], []
    for row in rows:
        rest = row
        for _ in range(2):  # once more for round-off
            for unit in found:
                rest = rest - (rest @ unit) * unit
        square = rest @ rest
        own = square > DEPENDENT**2 * (row @ row)
        found.append(jnp.where(own, rest / jnp.sqrt(jnp.where(own, square, 1.0)), 0.0))
        independent.append(jnp.where(own, 1.0, 0.0))
    return jnp.stack(found), jnp.stack(independent)
