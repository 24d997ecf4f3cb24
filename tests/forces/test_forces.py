"""Drag, thrusters and currents: wrenches that are known, the power they have, and the frames they are seen in."""

import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings

import naiad as nd
from naiad.groups import Pose
from naiad.models import Drag, Thrusters, checked_forces, force_on_pose, force_on_product, signal
from tests.sampling import seeds


def rotation(rng):
    return np.asarray(nd.SO3().random(rng))


def wrench(forces, g, xi, t=0.0, current=None):
    current = None if current is None else signal("current", current, 3)
    return np.asarray(nd.double(force_on_pose)(checked_forces(forces), current, g, np.asarray(xi), t))


def test_coefficients_act_axis_by_axis():
    drag = Drag(linear=(1, 2, 3, 4, 5, 6), quadratic=(0.1, 0.2, 0.3, 0.4, 0.5, 0.6))
    found = wrench(drag, Pose(np.eye(3), np.zeros(3)), [1.0, -1.0, 2.0, -2.0, 3.0, 0.0])
    np.testing.assert_allclose(found, [-1.1, 2.2, -7.2, 9.6, -19.5, 0.0], rtol=1e-15)


def test_a_matrix_couples_the_axes():
    rng = np.random.default_rng(1)
    linear = rng.standard_normal((6, 6))
    linear = linear @ linear.T + (linear - linear.T)
    quadratic = np.abs(rng.standard_normal((6, 6)))
    xi = rng.standard_normal(6)
    found = wrench(Drag(linear, quadratic), Pose(np.eye(3), np.zeros(3)), xi)
    np.testing.assert_allclose(found, -linear @ xi - quadratic @ (np.abs(xi) * xi), rtol=1e-14, atol=1e-14)


@settings(max_examples=15)
@given(seeds)
def test_drag_at_a_place_is_the_drag_of_the_body_described_from_there(seed):
    """The wrench is pulled back by Ad of the place, so its power is the same, and never positive."""
    rng = np.random.default_rng(seed)
    R, centre, xi = rotation(rng), rng.standard_normal(3), rng.standard_normal(6)
    linear, quadratic = rng.random(6), rng.random(6)
    rest = Pose(np.eye(3), np.zeros(3))
    found = wrench(Drag(linear, quadratic, centre=centre, R=R), rest, xi)
    there = np.concatenate([R.T @ xi[:3], R.T @ (xi[3:] + np.cross(xi[:3], centre))])
    local = wrench(Drag(linear, quadratic), rest, there)
    moved = np.concatenate([R @ local[:3] + np.cross(centre, R @ local[3:]), R @ local[3:]])
    rounding = 1e-14 * np.linalg.norm(local) * (1.0 + np.linalg.norm(centre))
    np.testing.assert_allclose(found, moved, rtol=0, atol=rounding)
    assert found @ xi == pytest.approx(local @ there, abs=rounding * (1.0 + np.linalg.norm(xi)))
    assert found @ xi < 0


def test_thrusters_push_and_turn():
    pair = Thrusters(points=[[0, 1, 0], [0, -1, 0]], directions=[[2, 0, 0], [1, 0, 0]], thrust=lambda t: (3.0 * t, 1.0))
    found = wrench(pair, Pose(np.eye(3), np.zeros(3)), np.zeros(6), t=2.0)
    np.testing.assert_allclose(found, [0, 0, -5.0, 7.0, 0, 0], atol=1e-15)
    one = Thrusters(points=(0.5, 0, 0), directions=(0, 0, 1), thrust=2.0)
    np.testing.assert_allclose(wrench(one, Pose(np.eye(3), np.zeros(3)), np.ones(6)), [0, -1, 0, 0, 0, 2])


def test_a_body_that_drifts_with_the_current_feels_no_drag():
    rng = np.random.default_rng(2)
    R, U = rotation(rng), np.array([0.4, -0.2, 0.9])
    drifting = np.concatenate([np.zeros(3), R.T @ (2.0 * U)])
    forces = (Drag(np.ones(6)), Drag(quadratic=np.ones(6), centre=(1, 2, 3)))
    moving = wrench(forces, Pose(R, rng.standard_normal(3)), drifting, t=2.0, current=lambda t: t * jnp.asarray(U))
    np.testing.assert_allclose(moving, np.zeros(6), atol=1e-15)
    assert np.linalg.norm(wrench(forces, Pose(R, np.zeros(3)), drifting, current=U)) > 0.5


def test_on_the_product_of_groups_the_force_is_in_space():
    rng = np.random.default_rng(3)
    R, x, Omega, v = rotation(rng), *rng.standard_normal((3, 3))
    forces = checked_forces([Drag(np.arange(1.0, 7.0)), lambda motion: jnp.concatenate([motion.x, motion.v])])
    current = signal("current", (0.1, 0.2, 0.3), 3)
    body = np.asarray(nd.double(force_on_pose)(forces, current, Pose(R, x), np.concatenate([Omega, v]), 0.0))
    space = np.asarray(nd.double(force_on_product)(forces, current, R, x, Omega, R @ v, 0.0))
    np.testing.assert_allclose(space, np.concatenate([body[:3], R @ body[3:]]), atol=1e-14)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Drag(), "give `linear`, `quadratic` or both"),
        (lambda: Drag(linear=(1, 2, 3)), "expected six finite numbers, angular first, or a 6 x 6 matrix"),
        (lambda: Drag(linear=-np.eye(6)), r"eigenvalue -2; friction must not give energy"),
        (lambda: Drag(quadratic=(1, 1, 1, 1, 1, -1)), "negative coefficient on its diagonal"),
        (lambda: Drag(np.ones(6), centre=(1, 2)), "expected 3 finite numbers"),
        (lambda: Drag(np.ones(6), R=np.diag([1, 1, -1])), "not a rotation.*det R = -1"),
        (lambda: Thrusters([[0, 0, 0]], [[1, 0, 0], [0, 1, 0]], 1.0), "1 points but 2 directions"),
        (lambda: Thrusters((0, 0, 0), (0, 0, 0), 1.0), r"directions\[0\] = .* is not a direction"),
        (lambda: Thrusters((0, 0, 0), (1, 0, 0), (1.0, 2.0)), "expected 1 finite numbers, or a function of time"),
        (lambda: Thrusters((0, 0, 0), (1, 0, 0), lambda t: (t, t)), r"value has shape \(2,\); expected \(1,\)"),
        (lambda: signal("current", (1.0, np.nan, 0.0), 3), "current = .*expected 3 finite numbers"),
        (lambda: checked_forces(3.0), "3.0 is no force; expected one such as Drag"),
        (lambda: checked_forces(lambda motion: motion.x), r"A force has shape \(3,\); expected \(6,\)"),
    ],
)
def test_bad_forces_are_refused(make, message):
    with pytest.raises(nd.InputError, match=message):
        make()
