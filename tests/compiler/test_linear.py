"""Factorisations and triangular solves in generated code, against LAPACK."""

import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.lax import linalg

import naiad.compiler as nc
from naiad.numerics import solve
from tests.compiler.compare import LANES, xla

EPS = np.finfo(float).eps
SIZES = [1, 2, 3, 4, 5, 7, 8, 26]


def matrix(seed, *shape):
    return np.random.default_rng(seed).standard_normal(shape)


@pytest.mark.parametrize("n", SIZES)
def test_factors_are_those_of_lapack(n):
    """To round-off, with the same pivots; also of a matrix whose columns cannot be told apart, and of zeros."""
    lu = nc.compile(linalg.lu)
    for A in (matrix(n, n, n), np.ones((n, n)), np.zeros((n, n)), np.eye(n)[::-1].copy()):
        (factors, swaps, order), expected = lu(A), xla(linalg.lu, A)
        np.testing.assert_allclose(factors, expected[0], rtol=0, atol=4 * n * EPS * np.max(np.abs(A)))
        np.testing.assert_array_equal(swaps, expected[1])
        np.testing.assert_array_equal(order, expected[2])
        np.testing.assert_array_equal(nc.compile(lambda s, n=n: linalg.lu_pivots_to_permutation(s, n))(swaps), order)


def test_trajectories_side_by_side_take_their_own_pivots():
    A = matrix(1, LANES + 1, 6, 6)
    factors, swaps, order = nc.compile(linalg.lu).batch(A)
    assert len({tuple(each) for each in order}) > 1
    for row, each in enumerate(A):
        expected = xla(linalg.lu, each)
        np.testing.assert_allclose(factors[row], expected[0], rtol=0, atol=40 * EPS)
        np.testing.assert_array_equal(swaps[row], expected[1])
        np.testing.assert_array_equal(order[row], expected[2])


def test_a_stack_of_matrices():
    A, b = matrix(2, 3, 2, 5, 5), matrix(3, 3, 2, 5, 2)
    found = nc.compile(jnp.linalg.solve)(A, b)
    np.testing.assert_allclose(found, np.linalg.solve(A, b), rtol=1e-12)
    np.testing.assert_array_equal(nc.compile(linalg.lu)(A)[2], xla(linalg.lu, A)[2])


@pytest.mark.parametrize("n", [1, 4, 6, 9])
@pytest.mark.parametrize("options", [*itertools.product([False, True], repeat=4)])
def test_triangles(n, options):
    """On either side, upper or lower, turned over or not, with ones on the diagonal or not; the other half is not
    read."""
    left, lower, transposed, unit = options
    A, B = matrix(n, n, n) + 3 * np.eye(n), matrix(n + 1, *((n, 2) if left else (2, n)))
    A[np.triu_indices(n, 1) if lower else np.tril_indices(n, -1)] = np.nan
    triangular = nc.compile(
        lambda A, B: linalg.triangular_solve(
            A, B, left_side=left, lower=lower, transpose_a=transposed, unit_diagonal=unit
        )
    )
    T = np.tril(A) if lower else np.triu(A)
    T = np.nan_to_num(T - np.diag(np.diag(T)), nan=0.0) + (np.eye(n) if unit else np.diag(np.diag(A)))
    T, X = T.T if transposed else T, triangular(A, B)
    product = T @ X if left else X @ T
    np.testing.assert_allclose(product, B, rtol=0, atol=20 * EPS * n * np.max(np.abs(T)) * np.max(np.abs(X)))


@pytest.mark.parametrize("n", [3, 30])
def test_solutions_and_derivatives(n):
    """Forwards and backwards."""
    A, b, dA = matrix(4, n, n) + 3 * np.eye(n), matrix(5, n), matrix(6, n, n)
    x = np.linalg.solve(A, b)
    np.testing.assert_allclose(nc.compile(jnp.linalg.solve)(A, b), x, rtol=1e-11, atol=1e-12)
    np.testing.assert_allclose(nc.compile(jnp.linalg.inv)(A), np.linalg.inv(A), rtol=1e-10, atol=1e-12)
    forwards = nc.compile(lambda A, b, dA: jax.jvp(lambda A: jnp.linalg.solve(A, b), (A,), (dA,))[1])(A, b, dA)
    np.testing.assert_allclose(forwards, -np.linalg.solve(A, dA @ x), rtol=1e-10, atol=1e-11)
    backwards = nc.compile(jax.grad(lambda A, b: jnp.sum(solve(A, b) ** 2)))(A, b)
    assert np.sum(backwards * dA) == pytest.approx(2 * x @ forwards, rel=1e-9)


def test_not_a_number_stays_one():
    A = matrix(7, 5, 5)
    A[2, 3] = np.nan
    assert np.isnan(nc.compile(jnp.linalg.solve)(A, np.ones(5))).any()


def test_a_matrix_that_is_not_square_is_refused():
    with pytest.raises(nc.Unsupported, match=r"lu of a matrix of shape \(2, 3\)"):
        nc.compile(linalg.lu)(np.ones((2, 3)))


def test_a_small_array_is_written_once_for_the_loops_that_read_it():
    """At an index that is known when the code runs: not in every round."""
    places = np.random.default_rng(8).integers(0, 10, 100)
    function = nc.compile(lambda x, i: jnp.sum(jnp.sin(x)[i, 0] * jnp.cos(x)[i, 1]))
    x = matrix(9, 10, 3)
    assert function(x, places) == pytest.approx(np.sum(np.sin(x)[places, 0] * np.cos(x)[places, 1]), rel=1e-13)
    inside = function.ir.split("while")[1]
    assert "store" not in inside
    assert inside.count(" = sin") + inside.count("work[") <= 2


@pytest.mark.parametrize("known", [True, False])
def test_sums_at_many_places_of_a_small_array(known):
    """Places that are known are additions, others a loop: neither is a choice for every element and place."""
    places, values = np.random.default_rng(10).integers(0, 10, 200), matrix(11, 200, 3)

    def add(values, i):
        return jnp.zeros((10, 3)).at[places if known else i].add(values * values)

    function = nc.compile(add)
    expected = np.zeros((10, 3))
    np.add.at(expected, places, values**2)
    np.testing.assert_allclose(function(values, places), expected, rtol=1e-13)
    assert sum(function.stats["operations"].values()) < 3_000
