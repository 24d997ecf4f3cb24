"""Each map against its definition in print, by another route than the code's."""

import numpy as np
import pytest
import scipy.linalg

from naiad.groups import S3, SE2, SE3, SO2, SO3, SOn
from naiad.retractions import Cayley, Exponential, Newmark, Skew
from tests.sampling import EPS, algebra_matrix, batched, compiled, distance, matrix, plane, vector, vectors

TOLERANCE = 15 * EPS


@pytest.mark.parametrize("group", [SO2(), SE2(), SO3(), S3(), SE3(), SOn(4)], ids=repr)
def test_cayley_is_a_matrix_fraction(group):
    """tau(x) = (I - X/2)^-1 (I + X/2), dtau_x^-1 y = (I - X/2) Y (I + X/2) [bourabee2007, eqs. (4.6.6), (4.6.7)]."""
    rng = np.random.default_rng(0)
    x, y = vector(group, rng, 1.3), vector(group, rng, 1.0)
    identity, X, Y = np.eye(len(matrix(group, group.identity()))), algebra_matrix(group, x), algebra_matrix(group, y)
    expected = np.linalg.solve(identity - X / 2, identity + X / 2)
    f, z = compiled(lambda x, y: (Cayley().tau(group, x), Cayley().dtau_inv(group, x, y)))(x, y)
    assert distance(matrix(group, f), expected) <= TOLERANCE
    assert distance(algebra_matrix(group, z), (identity - X / 2) @ Y @ (identity + X / 2)) <= TOLERANCE


@pytest.mark.parametrize("retraction", [Exponential(), Cayley(), Skew(), Newmark()], ids=repr)
def test_table_of_coefficients_on_so3(retraction):
    """tau = I + c1 X + c2 X^2 and dtau_x^-1 = a1 - X/2 + a3 x x^T, with the table of [bourabee2007, section 5.5]."""
    x = vector(SO3(), np.random.default_rng(1), 0.8)
    t = 0.8
    cot, cosine = 1 / np.tan(t / 2), np.sqrt(1 - t**2)
    c1, c2, a1, a3 = {
        "Exponential": (np.sin(t) / t, 0.5 * (np.sin(t / 2) / (t / 2)) ** 2, t * cot / 2, (2 - t * cot) / (2 * t**2)),
        "Cayley": (4 / (4 + t**2), 2 / (4 + t**2), 1.0, 0.25),
        "Newmark": (np.sqrt(1 - t**2 / 4), 0.5, np.sqrt(1 - t**2 / 4), 0.0),
        "Skew": (1.0, (1 - cosine) / t**2, 0.5 * (1 + cosine), -1 / (2 + 2 * cosine)),
    }[type(retraction).__name__]
    X = algebra_matrix(SO3(), x)
    assert distance(compiled(lambda x: retraction.tau(SO3(), x))(x), np.eye(3) + c1 * X + c2 * X @ X) <= TOLERANCE
    columns = batched(lambda e: retraction.dtau_inv(SO3(), x, e))(np.eye(3)).T
    assert distance(columns, a1 * np.eye(3) - X / 2 + a3 * np.outer(x, x)) <= TOLERANCE


@pytest.mark.parametrize("n", [2, 4, 5])
def test_skew_is_defined_by_the_skew_part(n):
    """tau(x) = X + (I + X^2)^(1/2), and its skew part is X [bourabee2007, theorem 4.6.1]."""
    G = SOn(n)
    x = vector(G, np.random.default_rng(2), 0.95)
    X, F = algebra_matrix(G, x), compiled(lambda x: Skew().tau(G, x))(x)
    assert distance((F - F.T) / 2, X) <= TOLERANCE
    assert distance(F, X + np.real(scipy.linalg.sqrtm(np.eye(n) + X @ X))) <= 1e-14


def test_newmark_by_its_angle():
    """|x| = 2 sin(theta/2), so tau(x) = exp(theta x/|x|); and its inverse keeps its digits up to the half turn."""
    G, angles = SO3(), np.array([1e-9, 0.1, 2.0, np.pi - 1e-3])
    n = vectors(G, np.random.default_rng(3), 1.0)[:4]
    x = 2 * np.sin(angles / 2)[:, None] * n
    R = batched(lambda x: Newmark().tau(G, x))(x)
    # Near the half turn the map folds: d theta / d|x| = 1 / cos(theta/2).
    for got, expected, theta in zip(R, batched(G.exp)(angles[:, None] * n), angles, strict=True):
        assert distance(got, expected) <= 10 * EPS / np.cos(theta / 2)
    assert distance(batched(lambda R: Newmark().inverse(G, R))(batched(G.exp)(angles[:, None] * n)), x) <= TOLERANCE


@pytest.mark.parametrize("retraction", [Exponential(), Cayley(), Skew()], ids=repr)
def test_so_n_of_3_is_so3(retraction):
    rng = np.random.default_rng(4)
    x, y = vectors(SO3(), rng, 0.9), vectors(SO3(), rng, 1.0)

    def results(group):
        return batched(
            lambda x, y: (
                f := retraction.tau(group, x),
                retraction.inverse(group, f),
                retraction.half(group, x),
                retraction.dtau(group, x, y),
                retraction.dtau_inv(group, x, y),
            )
        )(x, y)

    assert distance(results(SO3()), results(SOn(3))) <= TOLERANCE


@pytest.mark.parametrize("retraction", [Exponential(), Cayley()], ids=repr)
def test_se2_is_planar_se3(retraction):
    rng = np.random.default_rng(5)
    x, y = vectors(SE2(), rng, 1.2), vectors(SE2(), rng, 1.0)

    def results(group, x, y):
        return batched(
            lambda x, y: (
                retraction.tau(group, x),
                retraction.half(group, x),
                retraction.dtau(group, x, y),
                retraction.dtau_inv(group, x, y),
            )
        )(x, y)

    def lift(x):
        return np.pad(x, [(0, 0), (2, 1)])

    planar, *flat = results(SE2(), x, y)
    spatial, *full = results(SE3(), lift(x), lift(y))
    assert distance([lift(part) for part in flat], full) <= TOLERANCE
    assert distance(planar.x, spatial.x[:, :2]) <= TOLERANCE
    assert distance(np.stack([plane(beta) for beta in planar.beta]), spatial.R[:, :2, :2]) <= TOLERANCE


def test_the_rotation_of_cayley_on_se3_is_that_on_so3():
    rng = np.random.default_rng(6)
    x, y = vectors(SE3(), rng, 1.2), vectors(SE3(), rng, 1.0)
    pose = batched(lambda x: Cayley().tau(SE3(), x))(x)
    assert distance(pose.R, batched(lambda x: Cayley().tau(SO3(), x))(x[:, :3])) == 0
    tangent = batched(lambda x, y: Cayley().dtau_inv(SE3(), x, y))(x, y)
    assert distance(tangent[:, :3], batched(lambda x, y: Cayley().dtau_inv(SO3(), x, y))(x[:, :3], y[:, :3])) == 0
