"""Matrix functions against SciPy and eigenvalues."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.linalg

from naiad.numerics import matrix_functions
from tests.sampling import EPS, batched, distance


def skew(n: int, angles, seed: int = 0) -> np.ndarray:
    """Random skew matrices whose largest rotation angles are given."""
    A = np.random.default_rng(seed).standard_normal((len(angles), n, n))
    X = A - np.swapaxes(A, 1, 2)
    return X * (np.array(angles) / np.linalg.norm(X, 2, axis=(1, 2)))[:, None, None]


def rotation(X):
    return jnp.eye(X.shape[0]) + matrix_functions.expm1(X)


sizes = pytest.mark.parametrize("n", [2, 5])


@sizes
def test_expm1(n):
    """Round-off for all angles up to 2 pi, orthogonal to round-off, and small values keep their digits."""
    X = skew(n, [0.0, 1e-10, 0.1, 1.0, 3.0, 6.28])
    F = batched(rotation)(X)
    assert distance(F, np.stack([scipy.linalg.expm(x) for x in X])) <= 40 * EPS
    tiny = X[1]
    assert distance(batched(matrix_functions.expm1)(X)[1], tiny + tiny @ tiny / 2) <= 10 * EPS * 1e-10
    assert distance(np.swapaxes(F, 1, 2) @ F, np.broadcast_to(np.eye(n), F.shape)) <= 20 * EPS


@sizes
def test_log(n):
    """log(exp(X)) = X; near a half turn the condition is 1 / cos(angle/2)."""
    angles = [0.0, 1e-10, 0.1, 1.0, 2.0, 3.0, 3.13]
    X = skew(n, angles)
    log = batched(lambda X: matrix_functions.rotation_log(rotation(X)))(X)
    for x, y, angle in zip(X, log, angles, strict=True):
        assert distance(x, y) <= 40 * EPS / np.cos(angle / 2)


@sizes
def test_roots_and_polar_factor(n):
    X = skew(n, [1e-10, 0.5, 2.0, 3.0])
    F = batched(rotation)(X)
    G = batched(matrix_functions.rotation_square_root)(F)
    assert distance(G, batched(rotation)(X / 2)) <= 40 * EPS / np.cos(1.5)
    A = np.eye(n) + X
    assert (
        distance(batched(matrix_functions.polar_factor)(A), np.stack([scipy.linalg.polar(a)[0] for a in A])) <= 20 * EPS
    )
    S = np.eye(n) + 0.1 * X @ X
    W = batched(matrix_functions.symmetric_square_root)(S)
    assert distance(W @ W, S) <= 20 * EPS


@sizes
def test_sinc(n):
    """sin(sqrt(S))/sqrt(S) from the eigenvalues of S, up to pi^2."""
    X = skew(n, [0.0, 1e-6, 1.0, 2.6, np.pi])
    S = -X @ X
    values, vectors = np.linalg.eigh(S)
    expected = (vectors * np.sinc(np.sqrt(np.abs(values)) / np.pi)[:, None, :]) @ np.swapaxes(vectors, 1, 2)
    assert distance(batched(matrix_functions.sinc)(S), expected) <= 40 * EPS


def test_cayley_inverse():
    C = skew(4, [1e-10, 0.5, 10.0])
    F = np.linalg.solve(np.eye(4) - C, np.eye(4) + C)
    error = np.abs(batched(matrix_functions.cayley_inverse)(F) - C)
    # The condition of the inverse is 1 + |c|^2.
    assert np.all(np.max(error, axis=(1, 2)) <= 20 * EPS * np.array([1.0, 1.25, 101.0]))


def test_derivatives_at_zero():
    """D exp(0) Y = Y and D log(I) Y = Y: the iterations differentiate at the identity."""
    Y = skew(4, [1.0])
    zero, identity = np.zeros_like(Y), np.eye(4)[None]
    _, first = batched(lambda X, Y: jax.jvp(matrix_functions.expm1, (X,), (Y,)))(zero, Y)
    _, second = batched(lambda F, Y: jax.jvp(matrix_functions.rotation_log, (F,), (Y,)))(identity, Y)
    assert distance(first, Y) <= 4 * EPS
    assert distance(second, Y) <= 20 * EPS
