"""Functions of small matrices by matrix products and `solve` alone, with a fixed number of operations.

Powers and squarings are loops, which the compiler writes out where the matrices are small.
"""

import math
from collections.abc import Sequence

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from naiad.numerics.linalg import inverse, solve

Matrix = Float[Array, "n n"]

PADE_ORDER = 7
EXP_SQUARINGS = 3
NEWTON_STEPS = 14
LOG_ROOTS = 3
ARTANH_TERMS = 13
SINC_TERMS = 15


def polynomial(coefficients: Sequence[float], X: Matrix) -> Matrix:
    """The matrix polynomial sum_j coefficients[j] X^j, by Horner's rule."""
    identity = jnp.eye(X.shape[0], dtype=X.dtype)

    def horner(value, coefficient):
        return coefficient * identity + X @ value, None

    *lower, highest = coefficients
    return jax.lax.scan(horner, highest * identity, jnp.asarray(lower[::-1], X.dtype))[0]


def expm1(X: Matrix) -> Matrix:
    """exp(X) - I: the diagonal Pade approximant of X / 2^s, squared s times.

    [higham2008, section 10.3] with order 7 and s = 3 for all X: round-off for |X|_2 <= 2 pi. For skew X the approximant
    N(X) N(-X)^-1 is orthogonal. The squarings work on E = exp - I by (I + E)^2 - I = 2 E + E^2, which keeps small E.
    """
    m = PADE_ORDER
    coefficients = [math.comb(m, j) * math.factorial(2 * m - j) / math.factorial(2 * m) for j in range(m + 1)]
    Y = X / 2.0**EXP_SQUARINGS
    square = Y @ Y
    even, odd = polynomial(coefficients[0::2], square), Y @ polynomial(coefficients[1::2], square)
    E = solve(even - odd, 2.0 * odd)

    def square_once(E, _):
        return 2.0 * E + E @ E, None

    return jax.lax.scan(square_once, E, length=EXP_SQUARINGS)[0]


def polar_factor(A: Matrix) -> Matrix:
    """The orthogonal factor of A by Newton's iteration U <- (U + U^-T)/2 [higham2008, eq. (8.17)].

    Its fixed length is enough for singular values between 1e-3 and 1e3.
    """

    def newton(U, _):
        return 0.5 * (U + inverse(U).T), None

    return jax.lax.scan(newton, A, length=NEWTON_STEPS)[0]


def rotation_square_root(F: Matrix) -> Matrix:
    """The square root of a rotation with no angle at pi: the polar factor of (I + F)/2, since F commutes with F^T."""
    return polar_factor(0.5 * (jnp.eye(F.shape[0], dtype=F.dtype) + F))


def rotation_log(F: Matrix) -> Matrix:
    """The principal logarithm of a rotation with angles below pi.

    log F = 2^(k+1) artanh((G - I)(G + I)^-1), G = F^(1/2^k): the inverse scaling and squaring of
    [higham2008, section 11.5], with rotations for roots.
    """

    def halve(G, _):
        return rotation_square_root(G), None

    G = jax.lax.scan(halve, F, length=LOG_ROOTS)[0]
    C = cayley_inverse(G)
    return 2.0 ** (LOG_ROOTS + 1) * C @ polynomial([1.0 / (2 * j + 1) for j in range(ARTANH_TERMS)], C @ C)


def cayley_inverse(F: Matrix) -> Matrix:
    """The matrix C with F = (I - C)^-1 (I + C)."""
    identity = jnp.eye(F.shape[0], dtype=F.dtype)
    return solve(F + identity, F - identity)


def symmetric_square_root(A: Matrix) -> Matrix:
    """The square root of a symmetric positive definite A by the Denman-Beavers iteration [higham2008, eq. (6.15)].

    Its fixed length is enough for eigenvalues between 1e-6 and 1e6.
    """

    def step(pair, _):
        Y, Z = pair
        return (0.5 * (Y + inverse(Z)), 0.5 * (Z + inverse(Y))), None

    return jax.lax.scan(step, (A, jnp.eye(A.shape[0], dtype=A.dtype)), length=NEWTON_STEPS)[0][0]


def sinc(S: Matrix) -> Matrix:
    """sin(sqrt(S)) / sqrt(S) for a symmetric positive semidefinite S with eigenvalues up to pi^2, by the Taylor series.

    Its largest term is 1.6, so that little cancels; the first that is left out is 1e-19.
    """
    return polynomial([(-1.0) ** j / math.factorial(2 * j + 1) for j in range(SINC_TERMS)], S)
