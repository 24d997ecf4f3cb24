"""The flow around bodies of space."""

import numpy as np
import pytest

from naiad.errors import InputError
from naiad.groups import SO3
from naiad.groups.se3 import Pose
from naiad.hydro import Ellipsoid, Mesh, Plane, SpatialBodies, Sphere
from tests.hydro import surfaces

POSES = Pose(
    np.stack([SO3().random(np.random.default_rng(k)) for k in range(2)]), np.array([(0.0, 0, 0), (2.4, 0.3, 0.4)])
)
VELOCITIES = np.array([(0.3, -0.2, 0.5, 1.0, 0.4, -0.3), (0.1, 0.4, 0.2, -0.5, 0.2, 0.6)])
AXES = np.array([(1.0, 0.8, 0.6), (0.7, 0.7, 1.1)])


def _around(axes, share):
    """Points outside of an ellipsoid, at a share of it, with the normals of the ellipsoid through them."""
    n = np.random.default_rng(0).standard_normal((10, 3))
    n /= np.linalg.norm(n, axis=1)[:, None]
    normal = n / axes
    return n * axes * (1.0 + share), normal / np.linalg.norm(normal, axis=1)[:, None]


def test_a_sphere():
    """phi = - a^3 v . r / (2 r^3)."""
    v, at = np.array([0.3, -0.5, 1.2]), np.array([1.0, 2.0, -1.0])
    flow = SpatialBodies([Sphere(0.8)], degree=3).flow([at], np.concatenate([(5.0, 1.0, 2.0), v]))
    r = np.array([(1.0, 0.2, 0.1), (0.9, 0.0, 0.0), (0.0, -3.0, 4.0)])
    length = np.linalg.norm(r, axis=1)[:, None]
    phi = -0.5 * 0.8**3 * (r @ v) / length[:, 0] ** 3
    u = -0.5 * 0.8**3 * (v / length**3 - 3.0 * r * (r @ v)[:, None] / length**5)
    np.testing.assert_allclose(flow.potential(at + r), phi, rtol=1e-5)
    np.testing.assert_allclose(flow.velocity(at + r), u, atol=1e-5)
    assert np.isnan(flow.velocity(at + 0.1)).all()
    with pytest.raises(InputError, match=r"expected \(x, y, z\) along the last axis"):
        flow.velocity([[1.0, 2.0]])


@pytest.mark.parametrize("plane", [None, Plane((0.0, 0.6, 0.8), -2.5), Plane((0.0, 0.6, 0.8), -2.5, "surface")])
def test_no_water_passes_a_surface(plane):
    """At every body the normal velocities are the body's own, and at the plane what it asks for."""
    bodies = SpatialBodies([Ellipsoid(axes) for axes in AXES], plane=plane, degree=12)
    flow = bodies.flow(POSES, VELOCITIES)
    for R, x, axes, xi in zip(*POSES, AXES, VELOCITIES, strict=True):
        surface, normals = _around(axes, 0.0)
        seen = flow.velocity(np.stack([surface + k * 0.04 * normals for k in range(1, 6)]) @ R.T + x) @ R
        weights = np.array([5.0, -10.0, 10.0, -5.0, 1.0])  # the value at 0 of the polynomial of degree 4
        at_surface = np.einsum("k,kqi->qi", weights, seen)
        own = np.sum((xi[3:] + np.cross(xi[:3], surface)) * normals, axis=1)
        np.testing.assert_allclose(np.sum(at_surface * normals, axis=1), own, atol=4e-3)
    if plane is not None:
        on = np.array([(0.3, 0.2, -1.0), (-2.0, 1.0, 0.5), (4.0, -1.0, 3.0)])
        on = on - (on @ plane.normal - plane.height)[:, None] * plane.normal
        if plane.kind == "wall":
            assert np.abs(flow.velocity(on) @ plane.normal).max() < 1e-12
        else:
            assert np.abs(flow.potential(on)).max() < 1e-12
        assert np.isnan(flow.velocity(on - 0.1 * plane.normal)).all()


@pytest.mark.parametrize("kind", ["smooth", pytest.param("mesh", marks=pytest.mark.long)])
def test_the_velocity_is_the_slope_of_the_potential(kind):
    shape = Ellipsoid(AXES[0]) if kind == "smooth" else Mesh(*surfaces.ellipsoid(2, *AXES[0]), tolerance=0.05)
    at, h = np.array([(1.2, 0.2, 0.1), (-0.4, 1.1, 0.3), (1.5, -0.2, 1.0)]), 1e-4
    flow = SpatialBodies([shape, Ellipsoid(AXES[1])], degree=8).flow(POSES, VELOCITIES)
    slope = [(flow.potential(at + step) - flow.potential(at - step)) / (2.0 * h) for step in h * np.eye(3)]
    np.testing.assert_allclose(flow.velocity(at), np.stack(slope, axis=1), atol=1e-6)


@pytest.mark.long
def test_a_mesh_and_what_it_stands_for():
    smooth = SpatialBodies([Ellipsoid(axes) for axes in AXES], degree=10).flow(POSES, VELOCITIES)
    vertices, triangles = surfaces.ellipsoid(2, *AXES[0])
    scale = (4.0 / 3.0 * np.pi * np.prod(AXES[0]) / Mesh(vertices, triangles).volume) ** (1.0 / 3.0)
    mesh = Mesh(vertices * scale, triangles, tolerance=0.05)
    flow = SpatialBodies([mesh, Ellipsoid(AXES[1])], degree=8).flow(POSES, VELOCITIES)
    points, _ = _around(AXES[0], 0.3)
    at = points @ POSES.R[0].T + POSES.x[0]
    outside = np.isfinite(smooth.potential(at))
    np.testing.assert_allclose(flow.velocity(at[outside]), smooth.velocity(at[outside]), atol=0.02)
    assert np.isnan(flow.potential(POSES.x[0] + (0.1, 0.1, 0.0)))
