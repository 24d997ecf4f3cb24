"""Swimmers of space whose links the fluid couples."""

import numpy as np

from naiad.groups.se3 import Pose
from naiad.hydro import Ellipsoid, SpatialBodies
from naiad.locomotion import placed_links, spatial_swimmer, tabulated

ARM = np.array([2.6, 0.0, 0.0])
PARTS = {
    "own": np.stack([-ARM, ARM, 0.0 * ARM]),
    "other": np.stack([ARM, -ARM, 0.0 * ARM]),
    "axis": (0.0, 0.0, 1.0),
    "density": 1.0,
}
LINKS = [Ellipsoid((2.0, 0.6, 1.0))] * 3
FISH = spatial_swimmer(LINKS, (2, 2, -1), coupled=True, degree=4, **PARTS)
THETA = np.array([[0.4, -0.7], [0.0, 0.0], [-0.8, 0.9]])


def test_the_inertia_is_that_of_the_coupled_bodies():
    """K = B^T (M_dry + M) B, more than that of links alone by what the fluid couples, and more so for bent ones."""
    alone = spatial_swimmer(LINKS, (2, 2, -1), **PARTS).inertias(THETA)
    K = FISH.inertias(THETA)
    assert np.all(np.linalg.eigvalsh(K) > 0.0)
    assert 5e-4 < np.abs(K - alone).max() / np.abs(alone).max() < 0.1
    home = Pose(np.eye(3)[None], np.zeros((1, 3)))
    placed = placed_links(FISH, home, THETA[:1])
    bodies = SpatialBodies(LINKS, degree=4).added_inertia(Pose(placed.R[0], placed.x[0]))
    B = np.asarray(FISH.links.jacobian(THETA[0])).reshape(18, -1)
    dry = np.einsum("nia,nij,njb->ab", B.reshape(3, 6, -1), FISH.own, B.reshape(3, 6, -1))
    np.testing.assert_allclose(K[0], dry + B.T @ bodies @ B, atol=1e-10)


def test_slopes_against_differences():
    found = FISH.inertias_with_slopes(THETA[0])
    np.testing.assert_allclose(found.K, FISH.inertias(THETA[0]), atol=1e-11)
    for m in range(2):
        e = 1e-5 * np.eye(2)[m]
        slope = (FISH.inertias(THETA[0] + e) - FISH.inertias(THETA[0] - e)) / 2e-5
        np.testing.assert_allclose(found.slopes[:, m], slope, atol=2e-7)


def test_a_table_of_it():
    table = tabulated(FISH, -0.3, 0.3, tolerance=1e-4)
    shapes = np.array([[0.2, -0.1], [-0.25, 0.15]])
    K = FISH.inertias(shapes)
    assert np.abs(table.inertias(shapes) - K).max() < 1e-4 * np.abs(K).max()
