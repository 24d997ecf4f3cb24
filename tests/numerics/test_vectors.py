"""Vectors of R^3 and the plane."""

import jax
import numpy as np

from naiad.numerics import cross, hat, hat_times, inverse3, outer, quarter_turn, times_hat, vee
from tests.sampling import distance


def test_cross_hat_vee():
    rng = np.random.default_rng(0)
    x, y = rng.standard_normal((2, 3)).astype(np.float32)
    assert distance(cross(x, y), np.cross(x, y)) == 0
    assert distance(hat(x) @ y, np.cross(x, y)) <= 1e-6
    assert distance(vee(hat(x)), x) == 0


def test_vee_takes_the_skew_part():
    A = np.arange(9.0, dtype=np.float32).reshape(3, 3)
    assert distance(hat(vee(A)), (A - A.T) / 2) == 0


def test_quarter_turn_is_the_cross_product_with_e3():
    v = np.array([1.0, 2.0], dtype=np.float32)
    assert distance(quarter_turn(v), np.cross([0, 0, 1], [*v, 0])[:2]) == 0


def test_products_with_skew_matrices_and_the_inverse():
    rng = np.random.default_rng(1)
    x, y, A = rng.standard_normal(3), rng.standard_normal(3), rng.standard_normal((3, 3)) + 3.0 * np.eye(3)
    with jax.enable_x64(True):
        assert distance(hat_times(x, A), np.asarray(hat(x)) @ A) <= 1e-15
        assert distance(times_hat(A, x), A @ np.asarray(hat(x))) <= 1e-15
        assert distance(outer(x, y), np.outer(x, y)) == 0
        assert distance(inverse3(A), np.linalg.inv(A)) <= 1e-15
