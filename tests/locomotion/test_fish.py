"""The three-link fish against the figures of two other codes and the symmetries of the plane."""

import numpy as np
import pytest

from naiad.hydro import ClosedCurve, EllipticCylinder, moved
from naiad.locomotion import FORWARD, TURNING, connection, curvature, locked_inertia, reconstruct, three_link_fish
from naiad.locomotion.planar import homogeneous

PERIOD = [0.0, 2.0 * np.pi]
NEUTRAL = 1.0 / np.pi


@pytest.mark.parametrize(
    ("density", "gait", "net"),
    [
        (0.0, FORWARD, (0.0, 41.4127260433, -16.2821494068)),
        (0.0, TURNING, (1.8824427661, 22.1668636260, 9.3518099610)),
        (NEUTRAL, FORWARD, (0.0, 18.7740855457, -5.6133635601)),
    ],
)
def test_net_motion_of_links_alone(density, gait, net):
    motion = reconstruct(three_link_fish(density=density), gait, PERIOD)
    np.testing.assert_allclose([motion.g.beta[-1], *motion.g.x[-1]], net, rtol=0, atol=1e-9)


def test_net_motion_of_coupled_links():
    motion = reconstruct(three_link_fish(coupled=True), FORWARD, PERIOD)
    np.testing.assert_allclose([motion.g.beta[-1], *motion.g.x[-1]], (0.0, 44.131286513, -17.668303620), atol=1e-8)


def test_curvature():
    found = curvature(three_link_fish(), [[0.0, 0.0], [1.0, -0.5]])[:, 0, 1]
    np.testing.assert_allclose(found[0], (0.0, 136.0811606273, 0.0), rtol=0, atol=1e-9)
    np.testing.assert_allclose(found[1], (0.0613162395, 0.7156480971, 1.6005500699), rtol=0, atol=1e-9)


@pytest.mark.parametrize("coupled", [False, True])
def test_slopes_of_the_inertia(coupled):
    fish, theta, step = three_link_fish(density=0.2, coupled=coupled), np.array([0.7, -0.4]), 1e-4
    K, slopes = fish.inertias_with_slopes(theta)
    np.testing.assert_allclose(K, fish.inertias(theta), rtol=1e-12)
    for a, e in enumerate(np.eye(2)):
        change = fish.inertias([theta + step * e, theta - step * e])
        np.testing.assert_allclose(slopes[0, a], (change[0] - change[1]) / (2.0 * step), rtol=0, atol=3e-4)


def test_locked_inertia_and_connection_make_the_momentum_vanish():
    fish, theta, rates = three_link_fish(density=0.3), np.array([0.9, 0.3]), np.array([0.5, -1.2])
    K = fish.inertias(theta)[0]
    xi = -connection(fish, theta) @ rates
    np.testing.assert_array_equal(locked_inertia(fish, theta), K[:3, :3])
    np.testing.assert_allclose((K @ [*xi, *rates])[:3], 0.0, atol=1e-10)


def test_momentum_is_conserved_and_the_phases_compose():
    fish, J = three_link_fish(density=NEUTRAL), np.array([100.0, 50.0, 20.0])
    motion = reconstruct(fish, FORWARD, np.linspace(0.0, 9.0, 19), momentum=J)
    K = fish.inertias(motion.theta)
    body = np.einsum("sij,sj->si", K[:, :3], np.concatenate([motion.xi, motion.rates], axis=1))
    c, s = np.cos(motion.g.beta), np.sin(motion.g.beta)
    p = np.stack([c * body[:, 1] - s * body[:, 2], s * body[:, 1] + c * body[:, 2]], axis=1)
    spin = body[:, 0] + motion.g.x[:, 0] * p[:, 1] - motion.g.x[:, 1] * p[:, 0]
    np.testing.assert_allclose(np.column_stack([spin, p]), np.tile(J, (19, 1)), atol=1e-10)
    alone = reconstruct(fish, FORWARD, np.linspace(0.0, 9.0, 19))
    np.testing.assert_allclose(motion.geometric.x, alone.g.x, atol=1e-12)
    np.testing.assert_allclose(motion.g.beta, motion.dynamic.beta + motion.geometric.beta, atol=1e-13)


def test_reconstruction_is_of_sixth_order():
    fish, J = three_link_fish(density=NEUTRAL), [100.0, 50.0, 20.0]
    exact, *found = (reconstruct(fish, TURNING, PERIOD, momentum=J, steps=n).g.x[-1] for n in (320, 40, 80))
    coarse, fine = (np.linalg.norm(x - exact) for x in found)
    assert 5.7 < np.log2(coarse / fine) < 6.3


def test_the_inertia_of_an_outline_is_that_of_its_shape_wherever_it_lies():
    shape, x, angle = EllipticCylinder(1.3, 0.4), np.array([0.7, -0.5]), 0.6
    c, s = np.cos(angle), np.sin(angle)

    def outline(t):
        p, q = 1.3 * np.cos(t), 0.4 * np.sin(t)
        return x[0] + c * p - s * q, x[1] + s * p + c * q

    found = homogeneous(ClosedCurve(outline))
    np.testing.assert_allclose(found, moved(shape.inertia(1.0), x=x, R=angle), rtol=0, atol=1e-13)
