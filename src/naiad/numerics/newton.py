"""Newton's method to round-off, with an implicit derivative."""

import functools
from collections.abc import Callable
from typing import Any, Literal, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from naiad.errors import InputError
from naiad.numerics.module import Module, static
from naiad.numerics.structure import AbstractStructure, Dense

Residual = Callable[[Float[Array, " n"]], Float[Array, " n"]]


class Root(NamedTuple):
    """A root and how it was found."""

    x: Float[Array, " n"]
    iterations: Int[Array, ""]
    converged: Bool[Array, ""]


class _Progress(NamedTuple):
    """Where the iteration stands: x = base - step, and the sizes of the last corrections."""

    x: Float[Array, " n"]
    base: Float[Array, " n"]
    step: Float[Array, " n"]
    correction: Float[Array, ""]
    iterations: Int[Array, ""]
    converged: Bool[Array, ""]


class Newton(Module):
    """Solve r(x) = 0 by x <- x - A^-1 r(x), until the next correction would be lost in round-off.

    With the exact Jacobian A = r'(x) convergence is quadratic: the m-th correction d_m predicts d_{m+1} = d_m (d_m /
    d_{m-1})^2, the first one d_1^2 / |x|. With `jacobian="inertia"` A is a matrix near the Jacobian at the guess,
    factorised once (for a variational integrator the inertia matrix, off by O(h)): more iterations, which cost less;
    d_{m+1} = d_m^2 / d_{m-1}. The iteration ends when the prediction is below the rounding of x, or when corrections at
    the level of round-off no longer shrink: some hundred units in the last place of x, or `floor`, below which x is
    nothing but the rounding of larger terms that cancel, as at rest under forces that balance. A step to where r or r'
    is not a number is halved. The derivative of the root with respect to everything that r depends on is the implicit
    one, -r'(x)^-1 dr, in forward and reverse mode.
    """

    max_iterations: int = static(default=50)
    jacobian: Literal["exact", "inertia"] = static(default="exact")

    def __post_init__(self):
        if self.jacobian not in ("exact", "inertia"):
            raise InputError(f"Newton: jacobian = {self.jacobian!r}; expected 'exact' or 'inertia'.")

    def root(
        self,
        residual: Residual,
        guess: Float[Array, " n"],
        structure: AbstractStructure | None = None,
        inertia: Residual | None = None,
        floor: Float[Array, ""] | float = 0.0,
    ) -> Root:
        """The root of `residual` near `guess`; `structure` says how the Jacobian couples the unknowns, `inertia` is a
        linear function near it, and unknowns below `floor` are rounding."""
        coupling = Dense() if structure is None else structure
        function, given = jax.closure_convert(residual, guess)  # what it depends on becomes an argument
        if self.jacobian == "inertia" and inertia is None:
            raise InputError(
                "Newton(jacobian='inertia') is for steps whose unknowns are velocities alone; these equations have no "
                "inertia matrix near their Jacobian. Use Newton()."
            )
        chord = inertia if self.jacobian == "inertia" else None
        near: Any = None
        near_given: list[Any] = []
        if chord is not None:
            near, near_given = jax.closure_convert(chord, guess)

        @jax.custom_jvp
        def find(start, given, near_given, floor):
            if near is None:
                correct = functools.partial(coupling.newton_step, lambda x: function(x, *given))
            else:
                inverse = coupling.inverse(lambda x: near(x, *near_given), start.size)
                correct = lambda x: inverse(function(x, *given))  # noqa: E731
            first = _Progress(
                start, start, jnp.zeros_like(start), jnp.full((), jnp.inf), jnp.zeros((), int), jnp.zeros((), bool)
            )
            end = jax.lax.while_loop(
                lambda p: ~p.converged & (p.iterations < self.max_iterations),
                lambda p: _iterate(correct, p, floor, quadratic=near is None),
                first,
            )
            return Root(end.x, end.iterations, end.converged)

        @find.defjvp
        def differentiate(primals, tangents):
            root, (_, given, _, _), (_, given_dot, _, _) = find(*primals), primals, tangents
            _, change = jax.jvp(lambda *values: function(root.x, *values), tuple(given), tuple(given_dot))
            linear = jax.linearize(lambda x: function(x, *given), root.x)[1]
            none: Any = np.zeros((), jax.dtypes.float0)  # the tangent of a count
            return root, Root(-coupling.solve(linear, change), none, none)

        return find(guess, given, near_given, jnp.asarray(floor, guess.dtype))


def _iterate(correct: Residual, last: _Progress, floor: Float[Array, ""], *, quadratic: bool) -> _Progress:
    eps = jnp.finfo(last.x.dtype).eps
    newton_step = correct(last.x)
    good = jnp.all(jnp.isfinite(newton_step))
    base, step = jnp.where(good, last.x, last.base), jnp.where(good, newton_step, 0.5 * last.step)
    x = base - step
    correction, scale = jnp.max(jnp.abs(step)), jnp.max(jnp.abs(x))
    ratio = correction / last.correction  # 0 at first
    begins = jnp.isinf(last.correction)
    shrinks = jnp.where(begins, correction / scale, ratio**2) if quadratic else ratio
    negligible = (correction * shrinks <= 0.5 * eps * scale) & (quadratic | ~begins)
    stalled = (ratio > 0.5) & (correction <= 1e3 * eps * scale + floor)
    converged = good & (negligible | stalled | (correction == 0))
    return _Progress(x, base, step, correction, last.iterations + 1, converged)
