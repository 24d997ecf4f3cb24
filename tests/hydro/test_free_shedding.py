"""A free body that sheds: its impulse, its velocities and its wake by other routes."""

import jax
import numpy as np
import pytest

import naiad as nd
from naiad.errors import InputError, RunError
from naiad.hydro import EllipticCylinder, Vortices, shed_freely, shed_wake
from naiad.hydro.free_shedding import _Free
from naiad.hydro.shedding_flow import SheddingFlow, seen
from naiad.models import VortexBody

FOIL, PLATE, DRY = EllipticCylinder(1.0, 0.2), EllipticCylinder(1.0, 0.0), (0.3, 1.0, 1.0)
GAMMA, AT = np.array([1.0, -0.7]), np.array([(5.0, 1.0), (1.5, 1.4)])
STREET = {"gamma": GAMMA, "at": AT, "circulation": 0.3, "density": 1.3}


def test_impulse_and_velocities_are_those_of_the_hamiltonian_system():
    pose, xi, (rho, held) = np.array([0.3, 0.2, -0.1]), np.array([0.2, 0.1, -0.3]), (1.3, 0.6)
    system = VortexBody(Vortices(GAMMA, FOIL, circulation=held, density=rho), dry=DRY)
    state = system.start(AT, pose, xi)
    flow = SheddingFlow.of(FOIL, rho, held + GAMMA.sum())
    free, z = _Free(flow, np.diag(DRY) + flow.added), AT @ [1.0, 1.0j]
    with jax.enable_x64(True):
        whole, moving = np.asarray(system.noether(state)), np.asarray(system.velocity(*state))
    np.testing.assert_allclose(free.impulse(xi, z, GAMMA, pose), whole, atol=1e-13)
    np.testing.assert_allclose(free.velocity(whole, z, GAMMA, pose), moving[:3], atol=1e-13)
    np.testing.assert_allclose(flow.rates(z, GAMMA, pose, xi), moving[3:].reshape(2, 2) @ [1.0, 1.0j], atol=1e-13)


def test_a_motion_that_sheds_nothing_is_that_of_the_hamiltonian_system():
    """A foil that goes straight between a pair of vortices has no velocity at its edge: order 2 against order 6."""
    gamma, at, xi = np.array([-0.8, 0.8]), np.array([(3.0, 1.0), (3.0, -1.0)]), (0.0, 0.5, 0.0)
    system = VortexBody(Vortices(gamma, FOIL), dry=DRY)
    method = nd.Composition(nd.Variational(nd.Cayley()), 6)
    end = nd.simulate(system, system.start(at, xi=xi), t1=2.0, dt=0.1, method=method).final.g
    errors = []
    for dt in (0.1, 0.05):
        wake = shed_freely(FOIL, DRY, xi=xi, t1=2.0, dt=dt, gamma=gamma, at=at)
        assert np.max(np.abs(wake.gamma[2:])) < 1e-12
        errors.append(np.max(np.abs(wake.places[:2] - end.vortex)) + np.max(np.abs(wake.poses[-1, 1:] - end.body.x)))
    assert errors[1] < 1e-3
    assert np.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.3)


def test_a_heavy_body_has_the_wake_of_a_given_motion_and_feels_its_force():
    angle, mass = np.deg2rad(5.0), 1e7
    ahead = (0.0, np.cos(angle), -np.sin(angle))
    free = shed_freely(PLATE, (mass,) * 3, xi=ahead, pose=(angle, 0.0, 0.0), t1=1.0, dt=0.1)
    told = shed_wake(PLATE, lambda t: ahead, pose=(angle, 0.0, 0.0), t1=1.0, dt=0.1)
    np.testing.assert_allclose(free.gamma, told.gamma, atol=1e-7)
    np.testing.assert_allclose(free.places, told.places, atol=1e-6)
    v = (free.xi[:, 1] + 1j * free.xi[:, 2]) * np.exp(1j * free.poses[:, 0])
    pushed = mass * np.diff(v) / 0.1
    np.testing.assert_allclose(np.stack([pushed.real, pushed.imag], axis=1), told.forces, atol=1e-6)


def test_shedding_keeps_the_impulse_and_kuttas_condition():
    wake = shed_freely(FOIL, DRY, xi=(0.0, 1.0, -0.2), t1=2.0, dt=0.05, **STREET)
    assert np.ptp(wake.impulse, axis=0).max() < 1e-13
    assert np.abs(wake.gamma[2:]).max() > 0.05
    v = (wake.xi[:, 1] + 1j * wake.xi[:, 2]) * np.exp(1j * wake.poses[:, 0])
    assert abs(v[-1] - v[0]) > 0.05  # the body has given some
    flow = SheddingFlow.of(FOIL, 1.3, 0.3 + GAMMA.sum())
    X = seen(wake.places @ [1.0, 1.0j], wake.poses[-1])
    assert abs(flow.slip(X, wake.gamma, wake.xi[-1])) < 1e-13


def heaved(push, t1, dt, torque=0.0):
    """A plate that hardly turns, goes ahead, and is pushed across."""

    def force(t):
        return torque, 0.0, push * np.cos(3.0 * t)

    return shed_freely(PLATE, (50.0, 1.0, 1.0), xi=(0.0, 1.0, 0.0), t1=t1, dt=dt, force=force)


def test_a_force_changes_the_impulse_by_its_own():
    wake = heaved(1.0, 2.0, 0.05, torque=0.1)
    linear = wake.impulse[-1, 1:] - wake.impulse[0, 1:]
    np.testing.assert_allclose(linear, [0.0, np.sin(6.0) / 3.0], atol=1e-3)
    rate = 0.1 + wake.poses[:, 1] * np.cos(3.0 * wake.t)
    turned = np.sum(0.5 * (rate[1:] + rate[:-1])) * 0.05
    assert wake.impulse[-1, 0] - wake.impulse[0, 0] == pytest.approx(turned, abs=1e-3)


def test_a_plate_that_is_pushed_across_swims():
    """Ahead, away from the edge that sheds, by the square of the push; and so does its mirror image."""
    one, more, mirrored = (heaved(push, 3.0, 0.1) for push in (0.5, 1.0, -1.0))
    assert more.xi[-1, 1] - 1.0 > 0.005
    assert (more.xi[-1, 1] - 1.0) / (one.xi[-1, 1] - 1.0) == pytest.approx(4.0, rel=0.05)
    np.testing.assert_allclose(mirrored.poses, more.poses * [-1.0, 1.0, -1.0], atol=1e-12)
    np.testing.assert_allclose(mirrored.gamma, -more.gamma, atol=1e-12)


def test_a_rigid_motion_of_all_changes_nothing():
    turn, shift = np.exp(0.7j), 0.4 - 1.1j
    moved = turn * (AT @ [1.0, 1.0j]) + shift
    here = shed_freely(FOIL, DRY, xi=(0.0, 1.0, -0.2), t1=0.5, dt=0.05, **STREET)
    at = np.stack([moved.real, moved.imag], axis=1)
    pose = (0.7, shift.real, shift.imag)
    there = shed_freely(FOIL, DRY, xi=(0.0, 1.0, -0.2), t1=0.5, dt=0.05, pose=pose, **(STREET | {"at": at}))
    np.testing.assert_allclose(there.gamma, here.gamma, atol=1e-12)
    np.testing.assert_allclose(there.xi, here.xi, atol=1e-12)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"t1": 0.01}, "less than a step"),
        ({"at": [(0.1, 0.0)], "gamma": [1.0]}, "in or on the body"),
        ({"gamma": [1.0]}, "a place .x, y. for each of 1"),
        ({"dry": (0.0, 0.0, 0.0), "body": EllipticCylinder(1.0, 1.0)}, "motions without inertia"),
    ],
)
def test_what_is_refused(given, words):
    given = {"body": FOIL, "dry": DRY, "t1": 1.0, "dt": 0.1} | given
    with pytest.raises(InputError, match=words):
        shed_freely(given.pop("body"), given.pop("dry"), **given)


def test_a_vortex_that_comes_into_the_body_ends_it():
    with pytest.raises(RunError, match="came into the body"):
        shed_freely(FOIL, DRY, xi=(0.0, -1.0, 0.1), t1=1.0, dt=0.1)
