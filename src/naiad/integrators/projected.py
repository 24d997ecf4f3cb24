"""Projection onto level sets after each step: the control that keeps invariants and nothing else."""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from naiad.errors import InputError
from naiad.integrators.method import AbstractOneStepMethod, StepInfo
from naiad.mechanics import LagrangianSystem, Scalar, State, has_symmetry
from naiad.numerics import Newton, static

Invariant = str | Callable[[State, Scalar], Any]
NAMED = ("energy", "momentum")


class Level(NamedTuple):
    """What the step itself remembers, and the values that the invariants had at the start."""

    inner: Any
    values: Float[Array, " m"]


class Projected(AbstractOneStepMethod):
    """A step of `method`, then the projection onto the level set where the invariants I have their first values.

    From (g, xi) to (g exp(eta), xi + delta), (eta, delta) = I'(g, xi)^T lambda, lambda by Newton's method from
    I = I_0: the simplified projection of [hairer2006, algorithm IV.4.2], near in the Euclidean norm of displacement
    and velocity. `invariants` are "energy", "momentum" (that of the declared symmetry, or of left translations where
    the Lagrangian depends on xi alone) or functions f(state, t). They must be independent. The method is neither
    symplectic nor symmetric: it shows what conservation alone is worth.
    """

    method: AbstractOneStepMethod
    invariants: tuple[Invariant, ...] = static(default=("energy",))
    newton: Newton = Newton()

    def __post_init__(self):
        given = self.invariants
        if not isinstance(given, tuple) or not given or any(not callable(i) and i not in NAMED for i in given):
            raise InputError(
                f"Projected: invariants = {given!r}; expected a tuple of 'energy', 'momentum' or functions f(state, t)."
            )

    def check(self, system: LagrangianSystem) -> None:
        self.method.check(system)
        if "energy" in self.invariants and system.force is not None:
            raise InputError(
                f"Projected onto energy, but {type(system).__name__} has a force, which does work. Leave 'energy' out."
            )
        if "momentum" in self.invariants and not has_symmetry(system):
            raise InputError(
                f"Projected onto momentum, but {type(system).__name__} declares no symmetry; define "
                "`symmetry(s, g)`, or leave 'momentum' out."
            )

    def order(self, system: LagrangianSystem) -> int:
        return self.method.order(system)

    def symmetric(self, system: LagrangianSystem) -> bool:
        return False

    def memory(self, system: LagrangianSystem, state: State, t: Scalar) -> Level:
        xi = system.velocity(state.g, state.mu, t)
        return Level(self.method.memory(system, state, t), self.values(system, state.g, xi, t))

    def values(self, system: LagrangianSystem, g: Any, xi: Float[Array, " n"], t: Scalar) -> Float[Array, " m"]:
        """The invariants at a configuration and a velocity, in one vector."""
        state = State(g, system.legendre(g, xi, t))

        def value(invariant: Invariant) -> Any:
            if invariant == "energy":
                return state.mu @ xi - system.lagrangian(g, xi, t)
            return system.noether(state) if invariant == "momentum" else invariant(state, t)  # type: ignore[operator]

        return jnp.concatenate([jnp.ravel(jnp.asarray(value(invariant))) for invariant in self.invariants])

    def advance(self, system, state, memory, t, h, inputs):
        moved, inner, info = self.method.advance(system, state, memory.inner, t, h, inputs)
        group, n = system.group, system.group.dim
        velocity = system.velocity(moved.g, moved.mu, t + h)

        def shifted(delta):
            return group.compose(moved.g, group.exp(delta[:n])), velocity + delta[n:]

        def excess(delta):
            return self.values(system, *shifted(delta), t + h) - memory.values

        normals = _unit_rows(jax.jacrev(excess)(jnp.zeros(2 * n)))
        speed = jnp.sqrt(velocity @ velocity)
        scale = jnp.where(speed > 0, speed, 1.0)  # of the corrections: Newton's round-off is relative to it

        def correction(unknowns):
            return scale * (unknowns - 1.0) @ normals

        root = self.newton.root(lambda unknowns: excess(correction(unknowns)), jnp.ones(memory.values.size))
        delta = correction(root.x)
        g, xi = shifted(delta)
        end = State(group.renormalise(g), system.legendre(g, xi, t + h))
        solved = StepInfo(root.iterations, jnp.zeros(()), root.converged, jnp.zeros(()))
        return end, Level(inner, memory.values), info.then(solved)


def _unit_rows(rows: Float[Array, "m n"]) -> Float[Array, "m n"]:
    lengths = jnp.sqrt(jnp.sum(rows**2, axis=1, keepdims=True))
    return rows / jnp.where(lengths > 0, lengths, 1.0)
