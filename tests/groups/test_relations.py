"""Groups inside groups: the same answer by two routes."""

import numpy as np
import pytest
from hypothesis import given, settings

from naiad.groups import S3, SE2, SE3, SO2, SO3, PlanarPose, Pose, Power, Product, Rn, SOn
from tests.sampling import EPS, angles, batched, distance, plane, seeds, vectors

TOLERANCE = 15 * EPS


def in_space(poses: PlanarPose) -> Pose:
    """Planar poses as poses of the plane z = 0."""
    R = np.zeros((len(poses.beta), 3, 3))
    R[:, :2, :2], R[:, 2, 2] = np.stack([plane(beta) for beta in poses.beta]), 1.0
    return Pose(R, np.pad(poses.x, [(0, 0), (0, 1)]))


def twist_in_space(x: np.ndarray) -> np.ndarray:
    """(Omega, vx, vy) as (0, 0, Omega, vx, vy, 0)."""
    return np.pad(x, [(0, 0), (2, 1)])


planar_exp, spatial_exp = batched(SE2().exp), batched(SE3().exp)
cover_exp, base_exp, turn = batched(S3().exp), batched(SO3().exp), batched(S3().act)


@given(seed=seeds, angle=angles)
@settings(max_examples=15, deadline=None)
def test_se2_is_planar_se3_in_exp(seed, angle):
    x = vectors(SE2(), np.random.default_rng(seed), angle)
    assert distance(in_space(planar_exp(x)), spatial_exp(twist_in_space(x))) <= TOLERANCE


def test_se2_is_planar_se3_in_the_rest():
    rng = np.random.default_rng(1)
    x, y = vectors(SE2(), rng, 1.1), vectors(SE2(), rng, 0.7)
    g, f = planar_exp(x), planar_exp(y)

    def results(G, g, f, x, y, v):
        evaluate = batched(
            lambda g, f, x, y, v: (G.compose(g, f), G.inverse(g), G.log(g), G.Ad(g, y), G.ad(x, y), G.act(g, v))
        )
        return evaluate(g, f, x, y, v)

    *poses, log, Ad, ad, point = results(SE2(), g, f, x, y, y[:, 1:])
    lifted = *map(in_space, poses), *map(twist_in_space, (log, Ad, ad)), np.pad(point, [(0, 0), (0, 1)])
    v = np.pad(y[:, 1:], [(0, 0), (0, 1)])
    spatial = results(SE3(), in_space(g), in_space(f), twist_in_space(x), twist_in_space(y), v)
    assert distance(lifted, spatial) <= TOLERANCE


def test_so_n_of_3_is_so3():
    def results(G):
        return batched(lambda R, x, y: (G.hat(x), G.vee(G.hat(x)), G.exp(x), G.log(R), G.Ad(R, y), G.ad(x, y)))

    special, general, rng = results(SO3()), results(SOn(3)), np.random.default_rng(2)
    for angle in (1e-9, 0.1, 1.5, 3.0):
        x, y = vectors(SO3(), rng, angle), vectors(SO3(), rng, 1.0)
        R = base_exp(x)
        # The logarithm of SO(n) amplifies near a half turn.
        assert distance(special(R, x, y), general(R, x, y)) <= TOLERANCE / np.cos(angle / 2)


def test_so_n_of_2_is_so2():
    x = np.array([[0.3], [-2.5]])
    G, H = SO2(), SOn(2)
    assert distance(batched(G.hat)(x), batched(H.hat)(x)) == 0
    assert distance(np.stack([plane(beta) for beta in batched(G.exp)(x)]), batched(H.exp)(x)) <= TOLERANCE


@pytest.mark.parametrize("angle", [1e-3, 0.7, 3.0])
@pytest.mark.parametrize(
    ("group", "axis"),
    [
        (SO2(), (1.0,)),
        (SO3(), (0.6, 0.0, 0.8)),
        (S3(), (0.6, 0.0, 0.8)),
        (SOn(4), (0.0, 0.0, 0.0, 0.0, 1.0, 0.0)),
        (SE2(), (1.0, 0.4, -0.3)),
        (SE3(), (0.6, 0.0, 0.8, 0.5, 0.2, 0.1)),
        (Power(SO3(), 2), (0.0, 0.1, 0.0, 0.6, 0.0, 0.8)),
        (Product(position=Rn(1), attitude=SO3()), (5.0, 0.6, 0.0, 0.8)),
    ],
    ids=str,
)
def test_the_versine_is_that_of_the_angle_between(group, axis, angle):
    g = group.random(np.random.default_rng(4))
    f = group.compose(g, group.exp(angle * np.array(axis)))
    assert group.versine(g, f) == pytest.approx(1.0 - np.cos(angle), abs=1e-14)


@pytest.mark.parametrize("n", [2, 3, 4, 6])
def test_pairing_of_so_n(n):
    """<x, y> = tr(X^T Y)/2."""
    G, rng = SOn(n), np.random.default_rng(3)
    x, y = rng.standard_normal(G.dim), rng.standard_normal(G.dim)
    X, Y = np.asarray(G.hat(x)), np.asarray(G.hat(y))
    assert np.trace(X.T @ Y) / 2 == pytest.approx(x @ y, abs=20 * EPS)
    assert distance(X, -X.T) == 0


@given(seed=seeds, angle=angles)
@settings(max_examples=15, deadline=None)
def test_s3_covers_so3(seed, angle):
    """q and -q turn vectors as the rotation matrix does, with the same Omega."""
    rng = np.random.default_rng(seed)
    x, v = vectors(SO3(), rng, angle), vectors(SO3(), rng, 1.0)
    q, R = cover_exp(x), base_exp(x)
    expected = np.einsum("bij,bj->bi", R, v)
    assert distance(turn(q, v), expected) <= TOLERANCE
    assert distance(turn(-q, v), expected) <= TOLERANCE


def test_coadjoint_formulas_of_se3():
    """ad*_xi mu = (Pi x Omega + p x v, p x Omega); Ad*_(B,x)(Pi, p) = (B^T (Pi - x x p), B^T p)."""
    rng, G = np.random.default_rng(4), SE3()
    g, (Omega, v, Pi, p) = G.random(rng), rng.standard_normal((4, 3))
    xi, mu = np.concatenate([Omega, v]), np.concatenate([Pi, p])
    expected = np.concatenate([np.cross(Pi, Omega) + np.cross(p, v), np.cross(p, Omega)])
    assert distance(G.ad_dual(xi, mu), expected) <= TOLERANCE
    expected = np.concatenate([g.R.T @ (Pi - np.cross(g.x, p)), g.R.T @ p])
    assert distance(G.Ad_dual(g, mu), expected) <= TOLERANCE
