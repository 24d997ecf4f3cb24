"""Linear systems: small ones by elimination without pivoting, written out, large ones with pivoting.

The matrices of this library (inertias, I - X/2 with X skew, Newton's matrices near them) have a positive definite
symmetric part, for which elimination without pivoting is stable [golub2013, section 4.4].
"""

import functools
from collections.abc import Callable

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

UNROLLED = 24

Vector = Float[Array, " n"]
Substitution = Callable[[Float[Array, "n m"]], Float[Array, "n m"]]


def solve(A: Float[Array, "n n"], b: Float[Array, "n ..."]) -> Float[Array, "n ..."]:
    """The solution x of A x = b, b a vector or a matrix.

    Up to n = `UNROLLED` by A = L U without pivoting, every operation written out, so that zeros known at trace time
    fold away; above with partial pivoting.
    """
    return solver(A)(b)


def solver(
    A: Float[Array, "n n"], *, pivoted: bool = False
) -> Callable[[Float[Array, "n ..."]], Float[Array, "n ..."]]:
    """The map from b to the solution of A x = b; A is factorised once, `pivoted` whatever n is."""
    A = jnp.asarray(A)
    substitute = _pivoted(A) if pivoted or A.shape[0] > UNROLLED else _unrolled(A)

    def solution(b):
        b = jnp.asarray(b)
        return substitute(b.reshape(A.shape[0], -1)).reshape(b.shape)

    return solution


def solve_in_loops(A: Float[Array, "n n"], b: Float[Array, "n m"]) -> Float[Array, "n m"]:
    """The solution with partial pivoting whatever n is: for matrices without zeros and many right sides, of which
    `solve` makes long programs."""
    return solver(A, pivoted=True)(b)


def inverse(A: Float[Array, "n n"]) -> Float[Array, "n n"]:
    """The inverse of A, by `solve`."""
    A = jnp.asarray(A)
    return solve(A, jnp.eye(A.shape[0], dtype=A.dtype))


def semidefinite_root(A: Float[Array, "n n"]) -> Float[Array, "n n"]:
    """A lower triangular L with L L^T = A, for a symmetric positive semidefinite A.

    Cholesky's elimination; a pivot that is zero to round-off ends its direction, with a column of zeros [golub2013,
    section 4.2.8].
    """
    A = jnp.asarray(A)
    n = A.shape[0]
    negligible = n * jnp.finfo(A.dtype).eps * jnp.diagonal(A)
    index = jnp.arange(n)

    def column(k, at):
        left, L = at
        pivot = left[k, k]
        good = pivot > negligible[k]
        each = jnp.where(good & (index >= k), left[:, k] / jnp.sqrt(jnp.where(good, pivot, 1.0)), 0.0)
        return left - each[:, None] * each, jnp.where(index == k, each[:, None], L)

    at = (A, jnp.zeros_like(A))
    if n > UNROLLED:
        return jax.lax.fori_loop(0, n, column, at)[1]
    for k in range(n):
        at = column(k, at)
    return at[1]


def is_definite(A: Float[Array, "n n"]) -> Bool[Array, ""]:
    """Whether a symmetric matrix is positive definite beyond round-off, by the pivots of its elimination; False also
    where they are not computed, beyond n = `UNROLLED`."""
    A = jnp.asarray(A)
    negligible, pivots = A.shape[0] * jnp.finfo(A.dtype).eps * jnp.max(jnp.diagonal(A)), []
    if A.shape[0] > UNROLLED:
        return jnp.zeros((), bool)
    while A.shape[0]:
        pivots.append(A[0, 0])
        A = A[1:, 1:] - A[1:, :1] * (A[:1, 1:] / A[0, 0])
    return jnp.all(jnp.stack(pivots) > negligible)


def transpose(linear: Callable[[Vector], Vector], mu: Vector) -> Vector:
    """The transpose of a linear map of R^n into itself, applied to mu: <transpose(linear, mu), x> = <mu, linear(x)>."""
    _, pullback = jax.vjp(linear, jnp.zeros_like(mu))
    return pullback(mu)[0]


def _unrolled(A: Float[Array, "n n"]) -> Substitution:
    pivots = []
    while A.shape[0]:
        reciprocal, row = 1.0 / A[0, 0], A[0, 1:]
        column = (A[1:, 0] * reciprocal)[:, None]
        pivots.append((reciprocal, row, column))
        A = A[1:, 1:] - column * row

    def substitute(b):
        rights = []
        for _, _, column in pivots:
            rights.append(b[0])
            b = b[1:] - column * b[0]
        x = b
        for (reciprocal, row, _), right in zip(reversed(pivots), reversed(rights), strict=True):
            x = jnp.concatenate([((right - row @ x) * reciprocal)[None], x])
        return x

    return substitute


def _pivoted(A: Float[Array, "n n"]) -> Substitution:
    """By LAPACK's factorisation, or the compiler's; derivatives are those of the solution, whatever the pivots."""
    lu, _, order = jax.lax.linalg.lu(jax.lax.stop_gradient(A))
    triangular = functools.partial(jax.lax.linalg.triangular_solve, lu, left_side=True)

    def ahead(_, b):
        return triangular(triangular(b[order], lower=True, unit_diagonal=True))

    def turned(_, b):
        y = triangular(b, transpose_a=True)
        return jnp.zeros_like(b).at[order].set(triangular(y, lower=True, unit_diagonal=True, transpose_a=True))

    return lambda b: jax.lax.custom_linear_solve(lambda x: A @ x, b, ahead, turned)
