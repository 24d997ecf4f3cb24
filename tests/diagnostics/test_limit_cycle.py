"""Periodic motions of driven swimmers: multipliers against differences, closed forms, and what symmetry forces."""

import functools

import numpy as np
import pytest

import naiad as nd
from naiad.errors import InputError
from naiad.hydro import Ellipse
from naiad.locomotion import DrivenSwimmer, HarmonicTorque, planar_swimmer, three_link_fish

T, STEPS = 4.0, 64
METHOD, VARIATIONAL = nd.RKMK("rk4"), nd.Variational(nd.Cayley(), nd.Midpoint())


@functools.cache
def driven(damping=3.0):
    """Two unlike links with one hinge."""
    curves, own, other = [Ellipse(1.0, 0.3), Ellipse(0.8, 0.2)], [(0.0, 0.0), (0.9, 0.0)], [(0.0, 0.0), (-1.1, 0.0)]
    swimmer = planar_swimmer(curves, (-1, 0), own=own, other=other, density=1.0)
    torque = HarmonicTorque((0.0,), (4.0,), 1.0 / T, (0.0,))
    return DrivenSwimmer(swimmer, torque=torque, stiffness=8.0, rest=0.4, damping=damping)


@functools.cache
def cycle():
    return nd.diagnostics.limit_cycle(driven(), T, steps=STEPS, method=METHOD)


def ran(state, periods=1, **options):
    return nd.simulate(driven(), state, t1=periods * T, dt=T / STEPS, method=METHOD, **options)


@pytest.mark.long
def test_the_cycle_is_what_a_long_run_comes_to_and_multipliers_are_differences():
    found = cycle()
    assert found.stable
    assert found.miss < 1e-10
    late = ran(driven().start(), periods=40).final
    np.testing.assert_allclose(late.g.theta, found.state.g.theta, atol=1e-9)
    np.testing.assert_allclose(late.mu[3:], found.state.mu[3:], atol=1e-9)
    columns, step = [], 1e-5
    for k in range(2):
        ends = []
        for sign in (1.0, -1.0):
            move = sign * step * np.eye(2)[k]
            start = nd.State(
                found.state.g._replace(theta=found.state.g.theta + move[:1]),
                found.state.mu + np.array([0, 0, 0, move[1]]),
            )
            end = ran(start).final
            ends.append(np.array([end.g.theta[0], end.mu[3]]))
        columns.append((ends[0] - ends[1]) / (2.0 * step))
    D = np.array(columns).T
    np.testing.assert_allclose(np.sort_complex(np.linalg.eigvals(D)), np.sort_complex(found.multipliers), atol=1e-8)


def test_damping_shrinks_volumes_and_one_hinge_goes_nowhere():
    found = cycle()
    assert abs(float(found.net.beta)) < 1e-6  # what comes back the way it went is back
    assert np.max(np.abs(found.net.x)) < 1e-5
    np.testing.assert_allclose(found.rigid, 1.0, atol=1e-5)
    # Liouville: the volume of (theta, mu_theta) shrinks at the rate tr(damping dtheta'/dmu_theta)
    K = driven().swimmer.inertias(np.asarray(ran(found.state).g.theta))
    rate = 3.0 * np.linalg.inv(K)[:-1, 3, 3]  # over a period the trapezoidal rule is exact
    assert np.prod(found.multipliers).real == pytest.approx(np.exp(-np.mean(rate) * T), rel=1e-4)


@pytest.mark.long
def test_symmetry_forces_the_multipliers_of_rigid_motions():
    """Three links about a bent rest turn in each period, by beta."""
    torque = HarmonicTorque((0.0, 0.0), (1500.0, 1500.0), 0.15, (0.0, -np.pi / 2.0))
    fish = three_link_fish(density=1.0 / np.pi)
    system = DrivenSwimmer(fish, torque=torque, stiffness=3000.0, rest=(0.5, -0.5), damping=1000.0)
    found = nd.diagnostics.limit_cycle(system, 1.0 / 0.15, steps=100, method=METHOD)
    beta = float(found.net.beta)
    assert abs(beta) > 1e-2
    turns = np.exp(1j * np.array([0.0, beta, -beta]))
    whole = np.linalg.eigvals(found.monodromy)
    for each in (*turns, *found.multipliers):
        assert np.min(np.abs(whole - each)) < 1e-6
    for each in found.rigid:
        assert np.min(np.abs(turns - each)) < 1e-7


@pytest.mark.long
@pytest.mark.parametrize("damping", [3.0, None])
def test_passive_joints_are_an_oscillator(damping):
    passive = driven(damping).released()
    rest = passive.start(theta=[0.4])
    found = nd.diagnostics.limit_cycle(passive, 1.0, steps=4 * STEPS, start=rest, method=VARIATIONAL)
    A = np.linalg.inv(passive.swimmer.inertias([0.4])[0])[3, 3]
    linear = np.array([[0.0, A], [-8.0, -(damping or 0.0) * A]])
    expected = np.exp(np.linalg.eigvals(linear))
    np.testing.assert_allclose(np.sort_complex(found.multipliers), np.sort_complex(expected), atol=1e-3)
    if damping is None:  # and the method is symplectic
        assert abs(np.prod(found.multipliers) - 1.0) < 1e-12
    else:
        assert found.stable


def test_what_has_no_cycle_is_refused():
    moving = driven().start(theta=[0.4], momentum=(0.0, 1.0, 0.0))
    with pytest.raises(InputError, match="has momentum"):
        nd.diagnostics.limit_cycle(driven(), T, steps=STEPS, start=moving)
    with pytest.raises(InputError, match="steps = 0"):
        nd.diagnostics.limit_cycle(driven(), T, steps=0)
    with pytest.raises(InputError, match="period"):
        nd.diagnostics.limit_cycle(driven(), -T, steps=STEPS)
