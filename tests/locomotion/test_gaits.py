"""Spline gaits, what gaits reach, and how that changes with their numbers."""

import jax
import numpy as np
import pytest
from scipy.interpolate import make_interp_spline

import naiad as nd
from naiad.compiler import execute, execute_rows
from naiad.errors import InputError
from naiad.groups import SE2, SE3
from naiad.hydro import Ellipse
from naiad.locomotion import (
    FORWARD,
    TURNING,
    FourierGait,
    SplineGait,
    connection,
    curvature,
    net_motion,
    net_motion_with_gradient,
    net_motions,
    planar_swimmer,
    reconstruct,
    three_link_fish,
)
from naiad.locomotion.magnus import magnus
from naiad.locomotion.numbers import numbers, with_numbers
from naiad.locomotion.reconstruction import GAUSS

FISH = three_link_fish()
TWISTED = FourierGait.of([0.2, -0.3], [[0.7, 0.1], [0.05, -0.1]], [[-0.2, 0.6], [0.1, 0.03]], period=3.0)


def test_spline_gait_against_scipy():
    points = np.random.default_rng(3).normal(size=(7, 3))
    gait, times = SplineGait.of(points, period=3.0), np.linspace(-4.0, 8.0, 61)
    knots = np.linspace(0.0, 3.0, 8)
    exact = make_interp_spline(knots, np.concatenate([points, points[:1]]), k=5, bc_type="periodic")
    for engine in ("compiled", "xla"):
        found = execute_rows(SplineGait.motion, gait, times, parameters=(0,), engine=engine)
        for order, values in enumerate(found):
            np.testing.assert_allclose(values, exact(times % 3.0, order), rtol=0, atol=1e-11 * 10**order)


@pytest.mark.parametrize("points", [np.zeros((5, 2)), np.zeros(8), [[np.nan] * 2] * 8, "shapes"])
def test_splines_that_cannot_be(points):
    with pytest.raises(InputError, match="at least 6 rows"):
        SplineGait.of(points)


def test_many_gaits_are_each_alone():
    gaits = [FORWARD, TURNING, FourierGait.of([0.1, 0.3], [[0.4, -0.9]], [[0.2, 0.7]])]
    found = net_motions(FISH, gaits)
    for k, gait in enumerate(gaits):
        alone = reconstruct(FISH, gait, [0.0, 2.0 * np.pi])
        np.testing.assert_allclose(found.beta[k], alone.g.beta[-1], rtol=0, atol=1e-11)
        np.testing.assert_allclose(found.x[k], alone.g.x[-1], rtol=0, atol=1e-9)
    rows = FourierGait(*(np.stack([getattr(gait, name) for gait in gaits]) for name in ("mean", "cosines", "sines")))
    np.testing.assert_array_equal(net_motions(FISH, rows).x, found.x)


def test_gaits_of_different_forms_are_refused():
    with pytest.raises(InputError, match="2 forms"):
        net_motions(FISH, [FORWARD, TWISTED])


@pytest.mark.parametrize("frame", [SE2(), SE3()], ids=["SE2", "SE3"])
def test_explicit_steps_are_of_sixth_order(frame):
    waves = np.random.default_rng(2).normal(size=(2, frame.dim))

    def after(steps):
        g, h = frame.identity(), 1.0 / steps
        for k in range(steps):
            times = h * (k + np.asarray(GAUSS.c))
            xi = np.outer(np.cos(2.0 * times), waves[0]) + np.outer(times, waves[1])
            g = frame.compose(g, frame.exp(magnus(frame, h, xi)))
        return np.concatenate([np.ravel(leaf) for leaf in g])

    with jax.enable_x64(True):
        exact, coarse, fine = (after(steps) for steps in (16, 3, 6))
    assert 5.7 < np.log2(np.linalg.norm(coarse - exact) / np.linalg.norm(fine - exact)) < 6.4


def along(fish, gait, change):
    return jax.jvp(lambda each: net_motion(fish, each, 24), (gait,), (change,))


def test_gradient_is_that_of_the_discrete_motion():
    found, rng = net_motion_with_gradient(FISH, TWISTED, steps=24), np.random.default_rng(5)
    change = jax.tree.map(lambda leaf: rng.normal(size=np.shape(leaf)), TWISTED)
    g, dg = execute(along, FISH, TWISTED, change, parameters=(0,))
    np.testing.assert_allclose(found.g.x, g.x, rtol=0, atol=1e-11)
    eta = sum(
        np.tensordot(a, b, np.ndim(b)) for a, b in zip(*map(jax.tree.leaves, (found.gradient, change)), strict=True)
    )
    c, s = np.cos(g.beta), np.sin(g.beta)
    np.testing.assert_allclose(eta[0], dg.beta, rtol=0, atol=1e-11)
    np.testing.assert_allclose([c * eta[1] - s * eta[2], s * eta[1] + c * eta[2]], dg.x, rtol=0, atol=1e-10)


def test_gradient_is_the_curvature_along_the_loop():
    """g^-1 dg = Ad_{g^-1} int Ad_{g(t)} F(theta', dtheta) dt, and at the ends what moves with the shape itself: a
    second route, which knows nothing of steps."""
    found = net_motion_with_gradient(FISH, TWISTED, steps=96).gradient
    nodes, weights = np.polynomial.legendre.leggauss(120)
    times = np.concatenate([[0.0], 1.5 * (1.0 + nodes), [3.0]])
    motion = reconstruct(FISH, TWISTED, times)
    F = curvature(FISH, motion.theta)

    def carried(k, xi):
        beta, (x, y) = motion.g.beta[k], motion.g.x[k]
        c, s = np.cos(beta), np.sin(beta)
        return np.array([xi[0], c * xi[1] - s * xi[2] + xi[0] * y, s * xi[1] + c * xi[2] - xi[0] * x])

    for name, row, a in (("mean", None, 0), ("cosines", 1, 1), ("sines", 0, 0)):
        phase = 2.0 * np.pi * times / 3.0 * (1 if row is None else row + 1)
        change = {"mean": np.ones_like(times), "cosines": np.cos(phase), "sines": np.sin(phase)}[name]
        total = np.zeros(3)
        for k, weight in enumerate(1.5 * weights, start=1):
            total += weight * change[k] * carried(k, np.einsum("bd,b->d", F[k][:, a], motion.rates[k]))
        ends = connection(FISH, motion.theta[[0, -1]])[:, :, a] * change[[0, -1], None]
        total += carried(0, ends[0])
        # Ad_g (eta + A dtheta) at the end is the sum, eta = g^-1 dg
        mine = getattr(found, name)[(slice(None), a) if row is None else (slice(None), row, a)]
        np.testing.assert_allclose(carried(-1, mine + ends[1]), total, rtol=0, atol=2e-7)


def test_gradient_of_coupled_links_by_differences():
    fish, step = three_link_fish(coupled=True, density=0.2), 1e-4
    gait = FourierGait.of([0.1, -0.2], [[0.5, 0.1]], [[0.0, 0.6]])
    found = net_motion_with_gradient(fish, gait, steps=4)
    with jax.enable_x64(True):
        vector = np.asarray(numbers(gait))
    slopes = np.concatenate([each.reshape(3, -1) for each in jax.tree.leaves(found.gradient)], axis=1)
    for k in (1, 5):
        ends = [
            net_motion_with_gradient(fish, with_numbers(gait, vector + sign * step * np.eye(6)[k]), steps=4).g
            for sign in (1.0, -1.0)
        ]
        c, s = np.cos(found.g.beta), np.sin(found.g.beta)
        dx = (ends[0].x - ends[1].x) / (2.0 * step)
        change = [(ends[0].beta - ends[1].beta) / (2.0 * step), c * dx[0] + s * dx[1], c * dx[1] - s * dx[0]]
        np.testing.assert_allclose(slopes[:, k], change, rtol=0, atol=2e-5)


def test_four_links_and_splines():
    arm = np.array([12.0, 0.0])
    own, other = np.stack([-arm, arm, 0.0 * arm, arm]), np.stack([arm, -arm, 0.0 * arm, -arm])
    eel = planar_swimmer([Ellipse(10.0, 1.0)] * 4, (2, 2, -1, 1), own=own, other=other)
    gait = SplineGait.of(0.4 * np.random.default_rng(1).normal(size=(8, 3)))
    found = net_motion_with_gradient(eel, gait, steps=64)
    np.testing.assert_allclose(found.g.x, reconstruct(eel, gait, [0.0, 2.0 * np.pi]).g.x[-1], rtol=0, atol=1e-5)
    assert found.gradient.points.shape == (3, 8, 3)
    step = 1e-5
    ends = [gait.replaced(points=gait.points + sign * step * np.eye(24)[7].reshape(8, 3)) for sign in (1.0, -1.0)]
    beta = net_motions(eel, ends, steps=64).beta
    np.testing.assert_allclose(found.gradient.points[0].ravel()[7], (beta[0] - beta[1]) / (2.0 * step), atol=1e-8)


def test_a_net_motion_is_in_double_precision_whatever_jax_is_set_to():
    fish = nd.locomotion.three_link_fish(1.0, 0.4, 0.3, fluid=1.0, density=0.5)
    gait = nd.locomotion.FourierGait.of([0.0, 0.0], [[-1.0, 0.0]], [[0.0, 1.0]])
    alone, among = nd.locomotion.net_motion(fish, gait, 32), nd.locomotion.net_motions(fish, [gait], 32)
    assert alone.x.dtype == float
    np.testing.assert_allclose(alone.x, among.x[0], rtol=1e-13)
