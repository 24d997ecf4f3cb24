"""Newton's method to round-off, with an implicit derivative."""

from collections.abc import Callable
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from naiad.numerics.double import Module
from naiad.numerics.structure import AbstractStructure, Dense

Residual = Callable[[Float[Array, " n"]], Float[Array, " n"]]


class Root(NamedTuple):
    """A root and how it was found."""

    x: Float[Array, " n"]
    iterations: Int[Array, ""]
    converged: Bool[Array, ""]


class _Progress(NamedTuple):
    x: Float[Array, " n"]
    correction: Float[Array, ""]
    iterations: Int[Array, ""]
    done: Bool[Array, ""]


class Newton(Module):
    """Solve r(x) = 0 by x <- x - r'(x)^-1 r(x), until the next correction would be lost in round-off.

    With d_m the largest entry of the m-th correction, quadratic convergence predicts d_{m+1} = d_m (d_m / d_{m-1})^2;
    the iteration ends when that is below the rounding of x, or when corrections at the level of round-off no longer
    shrink. The derivative of the root with respect to everything that r depends on is the implicit one, -r'(x)^-1 dr,
    in forward and reverse mode.
    """

    max_iterations: int = eqx.field(static=True, default=25)

    def root(self, residual: Residual, guess: Float[Array, " n"], structure: AbstractStructure | None = None) -> Root:
        """The root of `residual` near `guess`; `structure` says how the Jacobian couples the unknowns."""
        coupling = Dense() if structure is None else structure

        def solve(function, start):
            end = jax.lax.while_loop(
                lambda p: ~p.done & (p.iterations < self.max_iterations),
                lambda p: _iterate(function, coupling, p),
                _Progress(start, jnp.inf * jnp.ones(()), jnp.zeros((), int), jnp.zeros((), bool)),
            )
            converged = end.done & jnp.all(jnp.isfinite(end.x))
            return end.x, (end.iterations.astype(float), converged.astype(float))  # custom_root has no integer tangents

        x, (iterations, converged) = jax.lax.custom_root(residual, guess, solve, coupling.solve, has_aux=True)
        return Root(x, iterations.astype(int), converged > 0)


def _iterate(residual: Residual, structure: AbstractStructure, last: _Progress) -> _Progress:
    eps = jnp.finfo(last.x.dtype).eps
    step = structure.newton_step(residual, last.x)
    x = last.x - step
    correction = jnp.max(jnp.abs(step))
    scale = jnp.max(jnp.abs(x))
    ratio = jnp.where(jnp.isinf(last.correction), 1.0, correction / last.correction)
    negligible = correction * ratio**2 <= 0.5 * eps * scale
    stalled = (ratio > 0.5) & (correction <= 1e3 * eps * scale) & (last.iterations > 0)
    done = negligible | stalled | (correction == 0) | ~jnp.isfinite(correction)
    return _Progress(x, correction, last.iterations + 1, done)
