"""Elimination without pivoting against LAPACK, and its derivatives against the formula."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from naiad.numerics import inverse, solve, transpose
from naiad.numerics.linalg import UNROLLED
from tests.sampling import EPS, compiled, distance

SIZES = [1, 2, 3, 6, UNROLLED, UNROLLED + 1, 40]


def system(n: int, seed: int = 0) -> np.ndarray:
    """A matrix with a positive definite symmetric part and a large skew part."""
    A = np.random.default_rng(seed).standard_normal((n, n))
    return np.eye(n) + A @ A.T / n + (A - A.T)


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("columns", [None, 1, 3])
def test_solve(n, columns):
    """The residual is round-off of A x: a small backward error."""
    A, rng = system(n), np.random.default_rng(1)
    b = rng.standard_normal(n if columns is None else (n, columns))
    x = compiled(solve)(A, b)
    assert x.shape == b.shape
    assert np.max(np.abs(A @ x - b)) <= 4 * n * EPS * np.max(np.abs(A) @ np.abs(x))
    assert np.max(np.abs(x - np.linalg.solve(A, b))) <= 10 * EPS * np.linalg.cond(A) * np.max(np.abs(x))


@pytest.mark.parametrize("n", SIZES)
def test_inverse(n):
    A = system(n)
    assert distance(compiled(inverse)(A) @ A, np.eye(n)) <= 20 * EPS * np.linalg.cond(A)


def test_exact_on_small_integers():
    """Powers of two as pivots: every step is exact."""
    A, x = np.array([[2.0, 1.0, 0.0], [4.0, 4.0, 2.0], [2.0, -1.0, 2.0]]), np.array([1.0, -2.0, 3.0])
    assert distance(compiled(solve)(A, A @ x), x) == 0


@pytest.mark.parametrize("n", [4, UNROLLED + 1])
def test_derivatives(n):
    """d(A^-1 b) = A^-1 (db - dA x), forwards; and backwards the transpose of that."""
    rng = np.random.default_rng(2)
    A, b, dA, db, mu = system(n), *(rng.standard_normal(s) for s in ((n,), (n, n), (n,), (n,)))
    x, dx = compiled(lambda *args: jax.jvp(solve, args[:2], args[2:]))(A, b, dA, db)
    expected = np.linalg.solve(A, db - dA @ x)
    tolerance = 40 * EPS * np.linalg.cond(A) ** 2
    assert distance(dx, expected) <= tolerance
    gA, gb = compiled(jax.grad(lambda A, b: jnp.dot(mu, solve(A, b)), (0, 1)))(A, b)
    assert np.sum(gA * dA) + gb @ db == pytest.approx(mu @ expected, abs=tolerance)


def test_the_program_grows_linearly():
    """Unrolled over the pivots, not over the entries: the equations of the trace are linear in n."""
    counts = [len(jax.make_jaxpr(solve)(np.eye(n), np.ones(n)).eqns) for n in (4, 8, 12, 16)]
    assert len(set(np.diff(counts))) == 1
    assert counts[-1] <= 30 * 16
    assert len(jax.make_jaxpr(solve)(np.eye(40), np.ones(40)).eqns) <= 30


def test_transpose():
    """<transpose(A) mu, x> = <mu, A x>, also when the map mixes constants and x in one array."""
    A, rng = system(5), np.random.default_rng(3)
    mu = rng.standard_normal(5)

    def linear(x):
        return jnp.concatenate([A[:2], jnp.stack([x, 2.0 * x])])[2:].sum(axis=0) / 3.0 + jnp.asarray(A) @ x

    assert distance(compiled(lambda mu: transpose(linear, mu))(mu), A.T @ mu + mu) <= 20 * EPS
