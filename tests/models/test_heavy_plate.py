"""A heavy plate in the plane: against its equations in space, and against the body in space."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import naiad as nd

DRY = np.array([[0.9, -0.15, 0.3], [-0.15, 1.5, 0.0], [0.3, 0.0, 1.5]])  # m c_G = (0.3, 0.15)
ADDED = np.array([[0.2, 0.0, 0.05], [0.0, 0.1, 0.02], [0.05, 0.02, 1.9]])
GRAVITY, DISPLACED, CENTRE = np.array([0.6, -1.6]), 0.9, np.array([0.05, -0.1])
PLATE = nd.models.HeavyPlate(DRY, ADDED, displaced=DISPLACED, buoyancy_centre=CENTRE, gravity=GRAVITY)
STATE = PLATE.state(beta=0.7, x=(0.4, -0.2), Omega=0.8, v=(0.3, -0.5))


def turn(beta):
    return np.array([[np.cos(beta), -np.sin(beta)], [np.sin(beta), np.cos(beta)]])


def in_space(t1):
    """beta, x, y and Pi by DOP853: the momentum in space is known, P_0 + (m - m_d) gamma t."""
    P_0, K, moment = turn(0.7) @ STATE.mu[1:], DRY + ADDED, np.array([0.3, 0.15]) - DISPLACED * CENTRE

    def rates(t, y):
        R = turn(y[0])
        p, Gamma = R.T @ (P_0 + 0.6 * GRAVITY * t), R.T @ GRAVITY
        Omega, *v = np.linalg.solve(K, [y[3], *p])
        torque = moment[0] * Gamma[1] - moment[1] * Gamma[0]
        return [Omega, *(R @ v), p[0] * v[1] - p[1] * v[0] + torque]

    start = [0.7, *STATE.g.x, STATE.mu[0]]
    return solve_ivp(rates, (0.0, t1), start, method="DOP853", rtol=1e-12, atol=1e-12).y[:, -1]


@pytest.mark.parametrize("method", [nd.Reduced(rule=nd.Midpoint()), nd.Variational()], ids=["reduced", "full"])
def test_the_motion_is_that_of_the_equations_in_space(method):
    final = nd.simulate(PLATE, STATE, t1=2.0, dt=0.02, method=nd.Composition(method, 6)).final
    np.testing.assert_allclose([final.g.beta, *final.g.x, final.mu[0]], in_space(2.0), atol=5e-9)


def test_equations_and_energy_are_those_of_the_body_in_space():
    """`SubmergedBody` with the plate's inertia in its plane (x, y), moving in it."""
    plane, dry, added = [2, 3, 4], np.eye(6), np.zeros((6, 6))
    m, c = 1.5, np.array([0.2, 0.1, 0.0])
    dry[:] = nd.hydro.rigid_inertia(m, (1.0, 1.0, 0.9 - m * c @ c), c)
    added[np.ix_(plane, plane)] = ADDED
    body = nd.models.SubmergedBody(
        dry, added, displaced=DISPLACED, gravity=(*GRAVITY, 0.0), buoyancy_centre=(*CENTRE, 0.0)
    )
    np.testing.assert_allclose(dry[np.ix_(plane, plane)], DRY, atol=1e-14)
    there = body.state(R=(0.0, 0.0, 0.7), x=(0.4, -0.2, 0.0), Omega=(0.0, 0.0, 0.8), v=(0.3, -0.5, 0.0))
    flat, full = PLATE.equations(STATE).mu, np.asarray(body.equations(there).mu)
    np.testing.assert_allclose(flat, full[plane], atol=1e-13)
    np.testing.assert_allclose(np.delete(full, plane), 0.0, atol=1e-13)
    assert float(PLATE.energy(STATE)) == pytest.approx(float(body.energy(there)), abs=1e-13)


def test_a_long_run_keeps_the_level_momentum_and_the_energy():
    neutral = nd.models.HeavyPlate(DRY, ADDED, displaced=1.5, buoyancy_centre=CENTRE, gravity=GRAVITY)
    run = nd.simulate(neutral, STATE, t1=200.0, dt=0.02, method=nd.Reduced(rule=nd.Midpoint()), save_every=50)
    assert nd.diagnostics.energy_error(run).max() < 1e-3
    assert nd.diagnostics.momentum_error(run).max() < 1e-11
    level = run.evaluate(nd.diagnostics.KelvinNoether(neutral, np.array([0.0, 1.6, 0.6])))  # across gravity
    assert np.ptp(level) < 1e-11


def test_from_shape_and_bad_values():
    shape = nd.hydro.EllipticCylinder(0.5, 0.1)
    plate = nd.models.HeavyPlate.from_shape(shape, 2.0, shape.inertia(3.0))
    assert float(plate.surplus) == pytest.approx(np.pi * 0.05)
    np.testing.assert_allclose(plate.added, 2.0 * np.pi * np.diag([0.24**2 / 8, 0.01, 0.25]))
    assert plate.picture is not None
    assert plate.axes == (0.5, 0.1)
    with pytest.raises(nd.InputError, match="expected a shape of the plane"):
        nd.models.HeavyPlate.from_shape(nd.hydro.Ellipsoid((1.0, 1.0, 1.0)), 1.0, shape.inertia(1.0))
    with pytest.raises(nd.InputError, match="not that of a rigid body"):
        nd.models.HeavyPlate((1.0, 1.0, 2.0), ADDED)
