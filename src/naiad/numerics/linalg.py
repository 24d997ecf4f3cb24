"""Small linear systems without LAPACK: elimination without pivoting, traceable and differentiable.

The matrices of this library (inertias, I - X/2 with X skew, Newton's matrices near them) have a positive definite
symmetric part, for which elimination without pivoting is stable [golub2013, section 4.4].
"""

from collections.abc import Callable

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

UNROLLED = 16

Vector = Float[Array, " n"]


def solve(A: Float[Array, "n n"], b: Float[Array, "n ..."]) -> Float[Array, "n ..."]:
    """The solution x of A x = b, b a vector or a matrix, by A = L U without pivoting.

    Up to n = `UNROLLED` the loop over the pivots is unrolled, so that zeros known at trace time fold away.
    """
    A, b = jnp.asarray(A), jnp.asarray(b)
    n = A.shape[0]
    columns = b.reshape(n, -1)
    x = _solve_unrolled(A, columns) if n <= UNROLLED else _solve_loop(A, columns)
    return x.reshape(b.shape)


def inverse(A: Float[Array, "n n"]) -> Float[Array, "n n"]:
    """The inverse of A, by `solve`."""
    A = jnp.asarray(A)
    return solve(A, jnp.eye(A.shape[0], dtype=A.dtype))


def transpose(linear: Callable[[Vector], Vector], mu: Vector) -> Vector:
    """The transpose of a linear map of R^n into itself, applied to mu: <transpose(linear, mu), x> = <mu, linear(x)>."""
    _, pullback = jax.vjp(linear, jnp.zeros_like(mu))
    return pullback(mu)[0]


def _solve_unrolled(A: Float[Array, "n n"], b: Float[Array, "n m"]) -> Float[Array, "n m"]:
    pivots = []
    for _ in range(A.shape[0] - 1):
        reciprocal, row = 1.0 / A[0, 0], A[0, 1:]
        multipliers = (A[1:, 0] * reciprocal)[:, None]
        pivots.append((reciprocal, row, b[0]))
        A, b = A[1:, 1:] - multipliers * row, b[1:] - multipliers * b[0]
    x = b / A
    for reciprocal, row, right in reversed(pivots):
        x = jnp.concatenate([((right - row @ x) * reciprocal)[None], x])
    return x


def _solve_loop(A: Float[Array, "n n"], b: Float[Array, "n m"]) -> Float[Array, "n m"]:
    n = A.shape[0]
    index = jnp.arange(n)

    def eliminate(k, carry):
        A, b = carry
        multipliers = jnp.where(index > k, A[:, k] / A[k, k], 0.0)[:, None]
        return A - multipliers * A[k], b - multipliers * b[k]

    def substitute(j, x):
        k = n - 1 - j
        unknown = (b[k] - jnp.where(index > k, U[k], 0.0) @ x) / U[k, k]
        return jnp.where((index == k)[:, None], unknown, x)

    U, b = jax.lax.fori_loop(0, n, eliminate, (A, b))
    return jax.lax.fori_loop(0, n, substitute, jnp.zeros_like(b))
