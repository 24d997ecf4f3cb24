"""Frames, orders, dry inertia and assemblies: what does not change when the description does."""

import numpy as np
import pytest
from hypothesis import given

from naiad.errors import InputError
from naiad.groups import SE2, SE3, SO3
from naiad.groups.se2 import PlanarPose
from naiad.groups.se3 import Pose
from naiad.hydro import (
    Assembly,
    Ellipsoid,
    EllipticCylinder,
    Sphere,
    Spheroid,
    angular_first,
    linear_first,
    mass_properties,
    moved,
    rigid_inertia,
)
from tests.sampling import compiled, log_uniform, seeds

RNG = np.random.default_rng(4)
adjoint = compiled(lambda R, x, xi: SE3().Ad(SE3().inverse(Pose(R, x)), xi))
planar_adjoint = compiled(lambda beta, x, xi: SE2().Ad(SE2().inverse(PlanarPose(beta, x)), xi))


def positive_definite(rng, n):
    A = rng.standard_normal((n, n))
    return A @ A.T + 0.1 * np.eye(n)


def place(rng, distance):
    return distance * rng.standard_normal(3), SO3().random(rng)


@given(seeds, log_uniform(1e-3, 1e3))
def test_the_energy_of_a_twist_is_the_same_from_every_frame(seed, distance):
    rng = np.random.default_rng(seed)
    K, xi, (x, R) = positive_definite(rng, 6), rng.standard_normal(6), place(rng, distance)
    there, here = adjoint(R, x, xi), moved(K, x=x, R=R)
    size = np.abs(xi) @ np.abs(here) @ np.abs(xi)
    assert xi @ here @ xi == pytest.approx(there @ K @ there, abs=1e-14 * size)


@given(seeds, log_uniform(1e-3, 1e3))
def test_the_same_in_the_plane(seed, distance):
    rng = np.random.default_rng(seed)
    K, xi, x, beta = positive_definite(rng, 3), rng.standard_normal(3), distance * rng.standard_normal(2), rng.random()
    there, here = planar_adjoint(beta, x, xi), moved(K, x=x, R=beta)
    size = np.abs(xi) @ np.abs(here) @ np.abs(xi)
    assert xi @ here @ xi == pytest.approx(there @ K @ there, abs=1e-14 * size)


@given(seeds, log_uniform(1e-3, 30.0))
def test_there_and_back_and_in_two_steps(seed, distance):
    rng = np.random.default_rng(seed)
    K, (x, R), (y, Q) = positive_definite(rng, 6), place(rng, distance), place(rng, distance)
    there = moved(K, x=x, R=R)
    size = np.linalg.norm(there, 2) * (1 + np.linalg.norm(x)) ** 2
    np.testing.assert_allclose(moved(there, x=-R.T @ x, R=R.T), K, rtol=0, atol=1e-14 * size)
    np.testing.assert_allclose(
        moved(there, x=y, R=Q), moved(K, x=y + Q @ x, R=Q @ R), rtol=0, atol=1e-13 * size * (1 + y @ y)
    )
    np.testing.assert_array_equal(there, there.T)
    assert np.linalg.eigvalsh(there)[0] > 0
    np.testing.assert_allclose(np.linalg.slogdet(there)[1], np.linalg.slogdet(K)[1], rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("n", [6, 3])
def test_orders_are_inverse_to_each_other_and_keep_energies(n):
    K, xi = positive_definite(RNG, n), RNG.standard_normal(n)
    angular = n // 2 if n == 6 else 1
    np.testing.assert_array_equal(linear_first(xi), [*xi[angular:], *xi[:angular]])
    for value in (K, xi):
        np.testing.assert_array_equal(angular_first(linear_first(value)), value)
        np.testing.assert_array_equal(linear_first(angular_first(value)), value)
    assert linear_first(xi) @ linear_first(K) @ linear_first(xi) == pytest.approx(xi @ K @ xi, rel=1e-14)


def test_dry_inertia_is_that_of_its_particles():
    """A cloud of point masses: the energy of its velocities v + Omega x r."""
    m, r = RNG.random(9) + 0.1, RNG.standard_normal((9, 3))
    mass, centre = m.sum(), m @ r / m.sum()
    arms = r - centre
    J = sum(mi * (a @ a * np.eye(3) - np.outer(a, a)) for mi, a in zip(m, arms, strict=True))
    K, xi = rigid_inertia(mass, J, centre), RNG.standard_normal(6)
    speeds = xi[3:] + np.cross(xi[:3], r)
    assert xi @ K @ xi == pytest.approx(m @ np.sum(speeds**2, axis=1), rel=1e-14)
    found = mass_properties(K)
    assert found.mass == mass
    np.testing.assert_allclose(found.centre, centre, atol=1e-15)
    np.testing.assert_allclose(found.inertia, J, rtol=1e-13, atol=1e-13)
    parts = sum(moved(rigid_inertia(mi, np.zeros(3)), x=ri) for mi, ri in zip(m, r, strict=True))
    np.testing.assert_allclose(parts, K, atol=1e-13)


def test_dry_inertia_of_the_plane():
    xi = np.array([0.7, -0.2, 0.5])
    K = rigid_inertia(2.0, 0.3, (0.4, -0.6))
    velocity = xi[1:] + xi[0] * np.array([0.6, 0.4])
    assert xi @ K @ xi == pytest.approx(0.3 * 0.7**2 + 2.0 * velocity @ velocity, rel=1e-15)


def test_an_assembly_adds_its_parts_where_they_are():
    R = SO3().random(RNG)
    hull, fin, ball = Spheroid(2.0, 0.3), Ellipsoid((0.2, 0.0, 0.3)), Sphere(0.4)
    body = Assembly(hull, fin.placed(x=(-1.8, 0.1, 0.4)), ball.placed(x=(0.5, 0.2, 0.0), R=R))
    assert body.volume == pytest.approx(hull.volume + ball.volume)
    np.testing.assert_allclose(body.centre, ball.volume * np.array([0.5, 0.2, 0.0]) / body.volume)
    expected = hull.added_inertia(2.0) + moved(fin.added_inertia(2.0), x=(-1.8, 0.1, 0.4))
    np.testing.assert_allclose(
        body.added_inertia(2.0), expected + moved(ball.added_inertia(2.0), x=(0.5, 0.2, 0.0)), atol=1e-12
    )
    dry = mass_properties(body.inertia(2.0))
    assert dry.mass == pytest.approx(2.0 * body.volume)
    assert body.displaced_mass(2.0) == pytest.approx(dry.mass)
    np.testing.assert_allclose(dry.centre, body.centre, atol=1e-15)
    again = body.placed(x=(1.0, 2.0, 3.0), R=R)
    np.testing.assert_allclose(again.centre, R @ body.centre + (1.0, 2.0, 3.0))
    np.testing.assert_allclose(mass_properties(again.inertia(2.0)).centre, again.centre, atol=1e-14)


def test_an_assembly_of_the_plane():
    first, second = EllipticCylinder(1.0, 0.2), EllipticCylinder(0.5, 0.1)
    fish = Assembly(first, second.placed(x=(1.6, 0.0), R=0.3).placed(x=(0.0, 0.1), R=-0.2))
    xi = np.array([0.3, 1.0, -0.5])
    tail = np.array([1.6 * np.cos(0.2), 0.1 - 1.6 * np.sin(0.2)])
    c, s = np.cos(0.1), np.sin(0.1)
    v = np.array([[c, s], [-s, c]]) @ (xi[1:] + xi[0] * np.array([-tail[1], tail[0]]))
    local = np.array([xi[0], *v])
    energy = xi @ first.added_inertia(1.0) @ xi + local @ second.added_inertia(1.0) @ local
    assert xi @ fish.added_inertia(1.0) @ xi == pytest.approx(energy, rel=1e-14)
    np.testing.assert_allclose(fish.centre, second.volume * tail / fish.volume)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: moved(np.eye(4)), r"An inertia of shape \(4, 4\); expected finite numbers, 6 x 6, or 3 x 3"),
        (lambda: moved(np.eye(6), x=(1, 2)), r"x = \(1, 2\); expected 3 finite numbers"),
        (lambda: moved(np.eye(6), R=2 * np.eye(3)), "R is not a rotation"),
        (lambda: Sphere(1.0).placed(R=np.diag([1, 1, -1])), "R is not a rotation"),
        (lambda: EllipticCylinder(1.0, 1.0).placed(x=(1, 2, 3)), "expected 2 finite numbers"),
        (lambda: linear_first(np.ones((6, 3))), r"shape \(6, 3\); expected 6 or 6 x 6"),
        (lambda: rigid_inertia(-1.0, (1, 1, 1)), r"mass = -1.0; expected a finite number of at least 0"),
        (lambda: rigid_inertia(1.0, (1, 1, -1)), "eigenvalue -1; a moment of inertia is never negative"),
        (lambda: rigid_inertia(1.0, np.arange(9.0).reshape(3, 3)), "a symmetric 3 x 3 matrix"),
        (lambda: mass_properties(Ellipsoid((1, 2, 3)).added_inertia(1.0)), "not that of a rigid body"),
        (lambda: mass_properties(np.eye(3)), r"shape \(3, 3\); expected a 6 x 6 matrix"),
        (lambda: Assembly(), "An Assembly needs shapes"),
        (lambda: Assembly(Sphere(1.0), EllipticCylinder(1.0, 1.0)), "of the plane and of space"),
    ],
)
def test_bad_frames_and_inertias_are_refused(make, message):
    with pytest.raises(InputError, match=message):
        make()
