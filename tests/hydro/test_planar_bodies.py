"""Bodies coupled by the fluid: closed forms, series, symmetry, and derivatives by two routes."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from naiad.hydro import ClosedCurve, Ellipse, EllipticCylinder, PlanarBodies, moved
from naiad.numerics import double
from tests.hydro import fish
from tests.hydro.circles import added_masses

FISH = PlanarBodies([Ellipse(fish.A, fish.B)] * 3, fish.DENSITY)
PANELS = PlanarBodies([Ellipse(fish.A, fish.B)] * 3, fish.DENSITY, boundary="panels")
REFERENCE = {
    (1, 1): 1231.518230479,
    (2, 2): 1.002895939,
    (3, 3): 102.694872873,
    (7, 7): 1237.056332348,
    (1, 7): -45.296843226,
    (1, 3): -4.062949359,
    (1, 4): -4.954558109,
}
SHAPES = [(0.0, 0.0), (1.0, -0.5), (-1.3, 0.4), (2.0, -1.9)]
TRANSLATIONS = [1, 2, 4, 5]


def kidney(t):
    """Not convex, no symmetry, its middle of mass off the origin."""
    r = 1.0 + 0.25 * np.cos(t) - 0.1 * np.sin(2 * t)
    return 1.5 * r * np.cos(t) + 0.2, r * np.sin(t) + 0.25 * np.cos(2 * t)


@pytest.mark.parametrize(("a", "b"), [(10.0, 1.0), (3.0, 2.0), (0.2, 1.7), (1.0, 1.0)])
def test_one_ellipse_has_the_inertia_of_the_closed_form(a, b):
    exact = EllipticCylinder(a, b).added_inertia(0.7)
    found = PlanarBodies([Ellipse(a, b)], 0.7).added_inertia(symmetric=False)
    assert np.max(np.abs(found - exact)) < 1e-14 * np.max(exact) * 2


def test_192_points_are_enough_for_the_ellipses_of_the_paper():
    assert FISH.boundaries[0].finest.size == 192
    exact = EllipticCylinder(10.0, 1.0).added_inertia(1.0)
    errors = [
        np.max(np.abs(PlanarBodies([Ellipse(10.0, 1.0)], points=points).added_inertia() - exact)) / np.max(exact)
        for points in (48, 96)
    ]
    rate = np.log(errors[0] / errors[1]) / 48
    assert rate == pytest.approx(2 * np.arctanh(0.1), rel=0.05)  # of the kernel: ((a - b)/(a + b))^N


@pytest.mark.parametrize("entry", REFERENCE)
def test_the_fish_has_the_inertia_of_independent_codes(entry):
    M = FISH.added_inertia(fish.poses(0.0, 0.0))
    assert M[entry[0] - 1, entry[1] - 1] == pytest.approx(REFERENCE[entry], abs=6e-10)


@pytest.mark.parametrize("shape", SHAPES)
def test_inertia_is_symmetric_positive_and_does_not_depend_on_the_number_of_nodes(shape):
    poses = fish.poses(*shape)
    M = FISH.added_inertia(poses, symmetric=False)
    assert np.max(np.abs(M - M.T)) < 4e-15 * np.max(M)
    assert np.min(np.linalg.eigvalsh(0.5 * (M + M.T))) > 0.5
    finer = PlanarBodies([Ellipse(fish.A, fish.B)] * 3, fish.DENSITY, points=320, coupling=320)
    assert np.max(np.abs(M - finer.added_inertia(poses))) < 4e-15 * np.max(M)


def test_panels_are_of_first_order_and_too_heavy():
    exact = FISH.added_inertia(fish.poses(0.0, 0.0))
    errors = []
    for points in (50, 400, 800):
        bodies = PlanarBodies([Ellipse(fish.A, fish.B)] * 3, fish.DENSITY, points=points, boundary="panels")
        errors.append(np.diag(bodies.added_inertia(fish.poses(0.0, 0.0))) / np.diag(exact) - 1.0)
    assert np.all((errors[0] > 0.0145) & (errors[0] < 0.03))
    assert np.log2(errors[1] / errors[2]) == pytest.approx(1.0, abs=0.15)


@pytest.mark.parametrize(("radii", "distance"), [((1.0, 1.0), 5.0), ((1.0, 0.3), 1.5), ((2.0, 1.0), 3.2)])
def test_two_circles_agree_with_the_series_of_images(radii, distance):
    exact = added_masses(radii, distance, 1.3)
    bodies = PlanarBodies([Ellipse(r, r) for r in radii], 1.3, points=512)
    found = bodies.added_inertia([(0.0, 0.3, -0.2), (0.0, distance + 0.3, -0.2)], symmetric=False)
    turning = np.delete(np.arange(6), TRANSLATIONS)
    assert np.max(np.abs(found[np.ix_(TRANSLATIONS, TRANSLATIONS)] - exact)) < 2e-14 * np.max(exact)
    assert np.max(np.abs(found[turning])) < 1e-13


def test_bodies_far_apart_are_alone():
    poses = [(0.3, 0.0, 0.0), (1.0, 1e5, 0.0)]
    found = PlanarBodies([Ellipse(2.0, 1.0), ClosedCurve(kidney)], 1.0).added_inertia(poses)
    alone = [PlanarBodies([curve]).added_inertia() for curve in (Ellipse(2.0, 1.0), ClosedCurve(kidney))]
    assert np.max(np.abs(found[:3, :3] - alone[0])) < 1e-8
    assert np.max(np.abs(found[3:, 3:] - alone[1])) < 1e-8
    assert np.max(np.abs(found[:3, 3:])) < 1e-8


def test_a_body_placed_elsewhere_in_its_frame_has_the_moved_inertia():
    turn = np.exp(0.4j)

    def displaced(t):
        z = turn * complex(*kidney(t)) + (0.3 - 0.8j)
        return z.real, z.imag

    here, there = (PlanarBodies([ClosedCurve(curve)], points=256).added_inertia() for curve in (kidney, displaced))
    assert np.max(np.abs(there - moved(here, x=(0.3, -0.8), R=0.4))) < 1e-12


def test_the_frame_of_one_body_holds_the_velocities_of_all():
    poses = fish.poses(0.7, -0.4)
    shifted = poses + np.array([0.0, 3.0, -1.0])
    in_b3 = FISH.added_inertia(poses, frame=2)
    blocks = FISH.added_inertia(poses)
    for i, (beta, *x) in enumerate(poses):
        part = slice(3 * i, 3 * i + 3)
        assert np.max(np.abs(in_b3[part, part] - moved(blocks[part, part], x=x, R=beta))) < 1e-10
    assert np.max(np.abs(FISH.added_inertia(shifted, frame=2) - in_b3)) < 1e-9


@pytest.mark.parametrize("bodies", [FISH, PANELS], ids=["nystrom", "panels"])
def test_the_derivative_agrees_with_automatic_differentiation(bodies):
    """The adjoint solve in NumPy, and JAX through its own formulas and solve."""
    poses = fish.poses(0.9, -0.6) + np.array([0.2, 5.0, -3.0])
    M, dM = bodies.added_inertia_with_derivative(poses)
    traced = double(jax.jit(lambda p: (bodies.added_inertia(p), jax.jacfwd(bodies.added_inertia)(p))))
    same, by_jax = map(np.asarray, traced(double(jnp.asarray)(poses)))
    assert np.max(np.abs(M - same)) < 1e-14 * np.max(M) * 5
    assert np.max(np.abs(dM - by_jax)) < 1e-12 * np.max(np.abs(dM))


def test_moving_all_bodies_together_changes_nothing():
    poses = fish.poses(0.9, -0.6) + np.array([0.2, 5.0, -3.0])
    dM = FISH.added_inertia_with_derivative(poses).derivative
    turn = np.stack([np.ones(3), -poses[:, 2], poses[:, 1]], axis=1)
    assert np.max(np.abs(dM)) > 50.0
    for motion in (turn, np.tile([0.0, 1.0, 0.0], (3, 1)), np.tile([0.0, 0.0, 1.0], (3, 1))):
        assert np.max(np.abs(np.einsum("abkc,kc->ab", dM, motion))) < 1e-11


def test_second_derivatives_pass_through_jax():
    bodies = PlanarBodies([Ellipse(2.0, 1.0), Ellipse(1.0, 1.0)], points=64, coupling=32)
    place = double(jnp.asarray)([[0.3, 0.0, 0.0], [0.0, 4.0, 1.0]])
    entry = lambda p: bodies.added_inertia(p)[0, 0]  # noqa: E731
    H = np.asarray(double(jax.jit(jax.hessian(entry)))(place)).reshape(6, 6)
    step = 1e-5
    ahead, behind = (
        bodies.added_inertia_with_derivative(np.asarray(place) + sign * step * np.eye(6)[4].reshape(2, 3)).derivative
        for sign in (1, -1)
    )
    assert H[4] == pytest.approx((ahead - behind)[0, 0].ravel() / (2 * step), abs=1e-8)
    assert np.max(np.abs(H - H.T)) < 1e-12


def test_four_bodies_of_different_kinds():
    curves = [Ellipse(3.0, 0.5), ClosedCurve(kidney), Ellipse(1.0, 1.0), Ellipse(0.4, 2.0)]
    poses = [(0.3, 0.0, 0.0), (1.0, 6.0, 0.5), (0.0, 0.0, 4.0), (-0.5, 5.0, 5.0)]
    M = PlanarBodies(curves, 2.0).added_inertia(poses, symmetric=False)
    assert np.max(np.abs(M - M.T)) < 1e-12 * np.max(M)
    one = PlanarBodies([*curves[1:], curves[0]], 2.0).added_inertia([*poses[1:], poses[0]])
    order = np.r_[9:12, 0:9]
    assert np.max(np.abs(M - one[np.ix_(order, order)])) < 1e-12 * np.max(M)
    assert np.min(np.linalg.eigvalsh(M)) > -1e-13
