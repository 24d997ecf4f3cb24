"""The flow anywhere in the fluid: closed forms, boundary conditions, and its momentum."""

import numpy as np
import pytest

from naiad.hydro import ClosedCurve, Ellipse, PlanarBodies, SplineCurve
from naiad.hydro.curve import parameters
from naiad.hydro.ellipse_field import ellipse_field, inside_ellipse
from naiad.hydro.inside import inside
from naiad.hydro.outer_field import boundary_values, outer_field
from tests.hydro import fish
from tests.hydro.test_planar_bodies import FISH, PANELS, kidney

POSES = fish.poses(0.8, -0.4) + np.array([0.3, 2.0, -1.0])
VELOCITIES = np.array([[1.0, 0.2, 12.0], [-0.5, 0.0, 0.3], [0.3, 0.2, 0.1]])
DISTANCES = [3.0, 0.3, 1e-2, 1e-4, 1e-8, 1e-12, 0.0]


def near(body: int, distance: float, count: int = 61):
    """Points beside a link of the fish, between its nodes, with the normal and the link's own velocity there."""
    t = np.linspace(0.0, 2.0 * np.pi, count) + 0.0123
    z, normal = fish.A * np.cos(t) + 1j * fish.B * np.sin(t), fish.B * np.cos(t) + 1j * fish.A * np.sin(t)
    normal /= np.abs(normal)
    beta, x, y = POSES[body]
    turn = np.exp(1j * beta)
    Omega, *v = VELOCITIES[body]
    own = turn * (complex(*v) + 1j * Omega * z)
    return _pairs(turn * (z + distance * normal) + complex(x, y)), _pairs(turn * normal), _pairs(own)


def _pairs(z):
    return np.stack([z.real, z.imag], axis=-1)


@pytest.mark.parametrize("distance", DISTANCES)
def test_a_circle_has_the_flow_of_a_dipole_at_any_distance(distance):
    a, U = 1.3, 0.7 - 0.4j
    flow = PlanarBodies([Ellipse(a, a)], points=64).flow((0.9, 0.5, -2.0), (5.0, *_pairs(U * np.exp(-0.9j))))
    z = (a + distance) * np.exp(1j * np.linspace(0.0, 6.0, 40)) * (1 + 1e-15)
    points = _pairs(z + (0.5 - 2.0j))
    w, velocity = -U * a**2 / z, U * a**2 / z**2
    assert flow.potential(points) == pytest.approx(w.real, abs=2e-13)
    assert flow.stream_function(points) == pytest.approx(w.imag, abs=2e-13)
    assert flow.velocity(points) == pytest.approx(_pairs(velocity.conj()), abs=2e-13)


@pytest.mark.parametrize("distance", DISTANCES)
def test_the_flow_is_as_accurate_at_a_body_as_far_from_it(distance):
    finer = PlanarBodies([Ellipse(fish.A, fish.B)] * 3, fish.DENSITY, points=288).flow(POSES, VELOCITIES)
    flow = FISH.flow(POSES, VELOCITIES)
    for body in range(3):
        points, _, _ = near(body, distance)
        assert np.max(np.abs(flow.potential(points) - finer.potential(points))) < 3e-12  # of 120
        assert np.max(np.abs(flow.stream_function(points) - finer.stream_function(points))) < 3e-12
        assert np.max(np.abs(flow.velocity(points) - finer.velocity(points))) < 1e-10  # of 70


def test_the_fluid_moves_with_the_bodies_across_their_outlines():
    flow = FISH.flow(POSES, VELOCITIES)
    for body in range(3):
        points, normal, own = near(body, 0.0)
        assert np.max(np.abs(np.sum((flow.velocity(points) - own) * normal, axis=1))) < 1e-10


@pytest.mark.parametrize(("bodies", "tolerance"), [(FISH, 3e-8), (PANELS, 2e-2)], ids=["nystrom", "panels"])
def test_velocity_is_the_gradient_of_the_potential_and_turns_the_stream_function(bodies, tolerance):
    flow = bodies.flow(POSES, VELOCITIES)
    rng = np.random.default_rng(1)
    points, step = rng.uniform((-25.0, 6.0), (30.0, 15.0), (50, 2)), 1e-5

    def slope(function, direction):
        return (function(points + step * direction) - function(points - step * direction)) / (2 * step)

    u, v = flow.velocity(points).T
    x, y = np.eye(2)
    for found, expected in (
        (slope(flow.potential, x), u),
        (slope(flow.potential, y), v),
        (slope(flow.stream_function, y), u),
        (slope(flow.stream_function, x), -v),
    ):
        ok = np.isfinite(expected) & np.isfinite(found)
        assert np.count_nonzero(ok) > 40
        assert np.max(np.abs(found - expected)[ok]) < tolerance


def test_the_dipole_of_the_far_flow_is_the_momentum():
    """w -> m/z with -2 pi rho m the impulse of the fluid and of the bodies filled with it."""
    flow = FISH.flow(POSES, VELOCITIES)
    circle = 100.0 * np.exp(2j * np.pi * np.arange(256) / 256)
    w = flow.potential(_pairs(circle)) + 1j * flow.stream_function(_pairs(circle))
    dipole = np.mean(w * circle)
    momentum = (FISH.added_inertia(POSES) @ VELOCITIES.ravel()).reshape(3, 3)
    displaced = fish.DENSITY * np.pi * fish.A * fish.B
    impulse = np.sum(np.exp(1j * POSES[:, 0]) * ((momentum + displaced * VELOCITIES) @ [0.0, 1.0, 1.0j]))
    assert -2.0 * np.pi * fish.DENSITY * dipole == pytest.approx(impulse, rel=1e-12)
    assert np.abs(np.mean(w)) < 1e-12


def test_the_flow_is_not_defined_inside_bodies():
    flow = FISH.flow(POSES, VELOCITIES)
    for body in range(3):
        assert np.all(np.isnan(flow.velocity(near(body, -1e-9)[0])))
        assert np.all(np.isfinite(flow.velocity(near(body, 1e-9)[0])))
    assert np.isnan(PANELS.flow(POSES, VELOCITIES).potential(POSES[2, 1:]))


def test_panels_approach_the_same_flow():
    exact = FISH.flow(POSES, VELOCITIES)
    points = near(0, 1.0)[0]
    errors = []
    for count in (100, 200):
        bodies = PlanarBodies([Ellipse(fish.A, fish.B)] * 3, fish.DENSITY, boundary="panels", points=count)
        flow = bodies.flow(POSES, VELOCITIES)
        errors.append(np.max(np.abs(flow.velocity(points) - exact.velocity(points))))
        stream = flow.stream_function(points) - exact.stream_function(points)
        assert np.max(np.abs(stream)) < 3.0 * 100 / count  # of 100
    assert errors[1] < 0.7 * errors[0] < 0.7


def test_a_curve_by_a_function_is_that_curve_whichever_way_it_runs():
    poses, velocities = [(0.2, 0.0, 0.0), (0.0, 4.0, 3.0)], [(1.0, 0.3, 0.2), (0.0, 1.0, 0.0)]
    points = np.array([[2.5, 0.5], [0.0, 1.7], [30.0, -4.0]])
    exact = PlanarBodies([Ellipse(2.0, 1.0), Ellipse(1.0, 1.0)])
    for sign in (1, -1):
        curve = ClosedCurve(lambda t, sign=sign: (2.0 * np.cos(t + 0.3), sign * np.sin(t + 0.3)))
        bodies = PlanarBodies([curve, Ellipse(1.0, 1.0)])
        assert np.max(np.abs(bodies.added_inertia(poses) - exact.added_inertia(poses))) < 2e-12
        flows = [each.flow(poses, velocities).velocity(points) for each in (bodies, exact)]
        assert flows[0] == pytest.approx(flows[1], abs=1e-12)


def test_a_hollow_body_holds_no_fluid_in_its_middle():
    """The mean of a crescent's nodes lies in the fluid."""

    def crescent(t):
        angle = 2.4 * np.sin(t)
        r = 1.0 + 0.25 * np.cos(t)
        return r * np.cos(angle), r * np.sin(angle)

    flow, finer = (PlanarBodies([ClosedCurve(crescent)], points=n).flow(None, (0.3, 1.0, 0.2)) for n in (320, 640))
    points = np.array([[0.0, 0.0], [-1.0, 0.0], [1.26, 0.0], [0.74, 0.0], [2.0, 2.0]])
    assert flow.velocity(points) == pytest.approx(finer.velocity(points), abs=1e-9)
    assert np.isnan(flow.potential([1.0, 0.0]))


def test_a_spline_converges_to_the_curve_of_its_points():
    exact = PlanarBodies([ClosedCurve(kidney)], points=256).added_inertia()
    errors = []
    for count in (24, 48, 96):
        t = 2.0 * np.pi * np.arange(count) / count
        spline = SplineCurve(np.stack(kidney(t), axis=1))
        errors.append(np.max(np.abs(PlanarBodies([spline], points=768).added_inertia() - exact)))
    assert errors[2] < 1e-6
    assert np.log2(errors[0] / errors[1]) > 3.5
    assert np.log2(errors[1] / errors[2]) > 3.5


@pytest.mark.parametrize(("a", "b"), [(3.0, 1.0), (0.5, 2.0), (1.0, 1.0)])
def test_the_series_of_an_ellipse_is_the_integral_over_its_outline(a, b):
    ellipse = Ellipse(a, b)
    outline = ellipse.sample(96)
    values = boundary_values(outline, np.cos(2.0 * parameters(96) + 0.3)[:, None])[:, 0]
    angles = np.linspace(0.0, 2.0 * np.pi, 23)
    z = np.concatenate([s * (a * np.cos(angles) + 1j * b * np.sin(angles)) for s in (1.0 + 1e-9, 1.1, 4.0)])
    series, integral = ellipse_field(ellipse, values), outer_field(ellipse, values)
    np.testing.assert_allclose(series.complex_potential(z), integral.complex_potential(z), rtol=0, atol=1e-13)
    np.testing.assert_allclose(series.complex_velocity(z), integral.complex_velocity(z), rtol=0, atol=1e-12)
    for scale, within in ((1.0, False), (1.0 - 1e-9, True), (0.0, True), (1.0 + 1e-9, False)):
        assert np.all(inside_ellipse(ellipse, scale * outline.z) == within)
        assert np.all(inside(outline, scale * outline.z) == within)
