"""The torques of a gait: numbers of independent codes, the energy that they put in, and the equation of each hinge."""

from typing import Any

import numpy as np
import pytest
from scipy.integrate import simpson
from threadpoolctl import threadpool_limits

from naiad.errors import InputError
from naiad.locomotion import (
    FORWARD,
    TURNING,
    AbstractGait,
    connection,
    gait_torques,
    link_poses,
    link_velocities,
    reconstruct,
    three_link_fish,
)

NEUTRAL, LENGTH, SIDES = 1.0 / np.pi, 12.0, (1.0, -1.0)
STENCIL, STEP = np.array([1 / 280, -4 / 105, 1 / 5, -4 / 5, 0.0, 4 / 5, -1 / 5, 4 / 105, -1 / 280]), 0.01
OFFSETS = STEP * np.arange(-4, 5)
"""Central differences of order 8."""


@pytest.fixture(autouse=True)
def one_thread():
    with threadpool_limits(1, "blas"):
        yield


def links_inertia(fish, theta):
    """The inertia of all links in their own frames, 9 x 9."""
    own = np.zeros((9, 9))
    for k, block in enumerate(fish.own):
        own[3 * k : 3 * k + 3, 3 * k : 3 * k + 3] = block
    return own if fish.fluid is None else own + fish.fluid.added_inertia(link_poses(fish, theta))


def motion_at(fish, gait, t):
    """The velocities of the links from rest, and their momenta, each in its own frame."""
    theta, rates = (np.asarray(each) for each in gait.motion(t)[:2])
    Xi = link_velocities(fish, theta, [*(-connection(fish, theta) @ rates), *rates])
    return Xi, (links_inertia(fish, theta) @ Xi.ravel()).reshape(3, 3)


def hinge_equation(fish, gait, t):
    """tau_a = Pi' - (Px vy - Py vx) + s l (Py' + Omega Px) - 1/2 Xi . (dM/dtheta_a) Xi, and the last term."""
    Xi, P = motion_at(fish, gait, t)
    theta = np.asarray(gait.motion(t).theta)
    change = np.einsum("s,sij->ij", STENCIL, [motion_at(fish, gait, t + offset)[1] for offset in OFFSETS]) / STEP
    torques, shape_terms = [], []
    for k, side in enumerate(SIDES):
        (Omega, vx, vy), (_, Px, Py), (spin, _, push) = Xi[k], P[k], change[k]
        along = np.eye(2)[k]
        moved = [links_inertia(fish, theta + offset * along) for offset in OFFSETS]
        dM = np.einsum("s,sij->ij", STENCIL, moved) / STEP
        shape_terms.append(0.5 * Xi.ravel() @ dM @ Xi.ravel())
        torques.append(spin - (Px * vy - Py * vx) + side * LENGTH * (push + Omega * Px) - shape_terms[-1])
    return np.array(torques), np.array(shape_terms)


def test_the_numbers_of_independent_codes():
    found = gait_torques(three_link_fish(density=NEUTRAL), FORWARD, [0.0, 1.0])
    np.testing.assert_allclose(found.torques[1], (4462.3868215905, -4824.3342998776), rtol=0, atol=1e-9)
    assert found.kinetic_energy[0] == pytest.approx(1302.4727728877, abs=1e-9)
    rates = np.array([np.sin(1.0), np.cos(1.0)])
    assert found.power[1] == pytest.approx(found.torques[1] @ rates, rel=1e-14)


@pytest.mark.parametrize("coupled", [False, True])
@pytest.mark.parametrize(("gait", "momentum"), [(FORWARD, None), (TURNING, None), (FORWARD, (100.0, 50.0, 20.0))])
def test_the_work_is_the_change_of_the_kinetic_energy(coupled, gait, momentum):
    fish = three_link_fish(density=NEUTRAL, coupled=coupled)
    found = gait_torques(fish, gait, [0.3, 1.1, 2.5, 4.0], momentum=momentum)
    change = found.kinetic_energy - found.kinetic_energy[0]
    assert np.min(np.abs(change[1:])) > 50.0
    np.testing.assert_allclose(found.work, change, rtol=0, atol=1e-8)


@pytest.mark.parametrize("coupled", [False, True])
def test_the_equation_of_each_hinge(coupled):
    fish = three_link_fish(density=NEUTRAL, coupled=coupled)
    expected, shape_terms = hinge_equation(fish, FORWARD, 1.0)
    found = gait_torques(fish, FORWARD, [0.0, 1.0]).torques[1]
    np.testing.assert_allclose(found, expected, rtol=1e-9)
    if not coupled:
        assert np.max(np.abs(shape_terms)) < 1e-9
    else:
        assert np.min(np.abs(shape_terms)) > 1.0


def works_over_the_change_of_energy():
    """Between 1 s and 1.4 s by Gauss's rule: the work of the torques over the change of the kinetic energy, and the
    same without the change of the inertia with the shape."""
    fish = three_link_fish(density=NEUTRAL, coupled=True)
    x, w = np.polynomial.legendre.leggauss(8)
    times = 1.2 + 0.2 * x
    found = gait_torques(fish, FORWARD, [1.0, *times, 1.4])
    terms = np.array([hinge_equation(fish, FORWARD, t)[1] for t in times])
    rates = np.stack([np.sin(times), np.cos(times)], axis=1)
    power = found.power[1:-1]
    change = found.kinetic_energy[-1] - found.kinetic_energy[0]
    return 0.2 * w @ power / change, 0.2 * w @ (power + np.sum(terms * rates, axis=1)) / change


def test_without_the_change_of_the_inertia_the_energy_does_not_balance():
    """Eq. (5.18) of the paper has no term with dM/dtheta: 0.2 % of the energy would go nowhere."""
    whole, without = works_over_the_change_of_energy()
    assert whole == pytest.approx(1.0, rel=1e-10)
    assert abs(without - 1.0) > 0.002


@pytest.mark.parametrize("coupled", [False, True])
def test_the_impulse(coupled):
    """None from rest; otherwise it stays, and the torques along the way still balance the energy."""
    fish, times = three_link_fish(density=NEUTRAL, coupled=coupled), np.linspace(0.0, 5.0, 6)
    for J in (np.zeros(3), np.array([100.0, 50.0, 20.0])):
        motion = reconstruct(fish, TURNING, times, momentum=J)
        Xi = link_velocities(fish, motion.theta, np.concatenate([motion.xi, motion.rates], axis=1))
        base = np.column_stack([motion.g.beta, motion.g.x])
        total = []
        for theta, pose, velocities in zip(motion.theta, base, Xi, strict=True):
            P = (links_inertia(fish, theta) @ velocities.ravel()).reshape(3, 3)
            poses = link_poses(fish, theta, pose)
            p = (P[:, 1] + 1j * P[:, 2]) * np.exp(1j * poses[:, 0])
            spin = P[:, 0] + np.imag(np.conj(poses[:, 1] + 1j * poses[:, 2]) * p)
            total.append([np.sum(spin), np.sum(p).real, np.sum(p).imag])
        np.testing.assert_allclose(total, np.tile(J, (6, 1)), rtol=0, atol=1e-9)


def test_the_velocities_of_the_links_are_the_derivatives_of_their_poses():
    fish, theta, v, base = three_link_fish(), np.array([0.4, -0.9]), np.array([0.5, 0.1, -0.2, 0.7, -0.3]), 0.3

    def placed(t):
        """With B3 turning about the origin of space, and its angles changing."""
        z = (v[1] + 1j * v[2]) * np.exp(1j * base) * (np.exp(1j * v[0] * t) - 1.0) / (1j * v[0])
        return link_poses(fish, theta + t * v[3:], [base + v[0] * t, z.real, z.imag])

    change = np.einsum("s,sij->ij", STENCIL, [placed(t) for t in OFFSETS]) / STEP
    own = (change[:, 1] + 1j * change[:, 2]) * np.exp(-1j * placed(0.0)[:, 0])
    expected = np.stack([change[:, 0], own.real, own.imag], axis=1)
    np.testing.assert_allclose(link_velocities(fish, theta, v), expected, atol=1e-10)
    rows = link_velocities(fish, [theta, theta], [v, 2.0 * v])
    np.testing.assert_allclose(rows[1], 2.0 * rows[0])


class Stop(AbstractGait):
    """Hinges that turn at `rates` at t = 0 and stand still at t = period."""

    theta: Any
    rates: Any
    period: Any

    def __call__(self, t):
        x = t / self.period
        return self.theta + self.rates * self.period * (x - x**3 + 0.5 * x**4)


def test_locking_the_shape_takes_an_impulse_and_the_work_that_was_done_whatever_the_time():
    """[kanso2005, section 7.3]: the torque grows without bound as the time shrinks, its integral and its work do not:
    they take the momenta of the hinges away, and the energy that the torques put in from rest."""
    fish, theta, rates = three_link_fish(density=NEUTRAL), np.array([0.5, -0.8]), np.array([1.0, 0.7])
    moving = fish.start(theta, rates)
    energy, hinges = fish.energy(moving), np.asarray(moving.mu)[3:]
    largest, missed = [], []
    for period in (1e-2, 1e-3):
        times = np.linspace(0.0, period, 41)
        found = gait_torques(fish, Stop(theta, rates, period), times)
        assert found.work[-1] == pytest.approx(-energy, rel=1e-12)
        largest.append(np.max(np.abs(found.torques)))
        missed.append(np.max(np.abs(simpson(found.torques, x=times, axis=0) + hinges)))
    assert largest[1] / largest[0] == pytest.approx(10.0, rel=0.05)
    assert missed[1] < 1e-3 * np.max(np.abs(hinges))
    assert missed[0] / missed[1] == pytest.approx(10.0, rel=0.05)


def test_times_that_do_not_grow_are_refused():
    with pytest.raises(InputError, match="that grow"):
        gait_torques(three_link_fish(), FORWARD, [1.0, 0.5])
