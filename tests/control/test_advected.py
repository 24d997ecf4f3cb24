"""Optimal control of a system with an advected parameter, the vertical seen from a vehicle with weight and buoyancy."""

import jax.numpy as jnp
import numpy as np
import pytest
from scipy.integrate import solve_bvp
from scipy.spatial.transform import Rotation

import naiad as nd

MASS, BUOYANCY, G = 2.0, 17.0, 9.81
ADDED, J, R = np.array([0.5, 1.5, 2.0]), np.array([0.6, 1.1, 1.4]), np.array([0.02, 0.0, -0.08])
T, DEPTH = 3.0, 1.2
START = Rotation.from_rotvec([0.7, -0.9, 0.4]).as_matrix()
VEHICLE = nd.models.BuoyantVehicle(MASS, ADDED, J, BUOYANCY, R, gravity=(0.0, 0.0, G))


def push(g, u, t):
    """Torques and forces in the frame of the body; q is in space."""
    return jnp.concatenate([u[:3], g.R @ u[3:]])


def upright(state, t):
    """The third axis along the vertical, the depth, and rest; the heading and the place across are free."""
    return jnp.concatenate([state.g.R[2, :2], state.g.q[2:] - DEPTH, state.mu])


def least_effort():
    """Return the least effort by Pontryagin's equations of the reduced motion: mu, p, a and the depth z."""

    def motion(x, u):
        mu, p, a = x[:3], x[3:6], x[6:9]
        Omega, nu = mu / J[:, None], p / (MASS + ADDED)[:, None]
        weight = np.cross(R, a, axisb=0).T
        return np.concatenate(
            [
                np.cross(mu, Omega, axis=0) + np.cross(p, nu, axis=0) - BUOYANCY * weight + u[:3],
                np.cross(p, Omega, axis=0) + (MASS * G - BUOYANCY) * a + u[3:],
                np.cross(a, Omega, axis=0),
                np.sum(nu * a, axis=0, keepdims=True),
            ]
        )

    def rates(t, y):
        x, costates = y[:10], y[10:20]
        u = -costates[:6]
        slopes = [
            np.sum(costates * motion(x + 1e-30j * np.eye(10)[:, k : k + 1], u).imag / 1e-30, axis=0) for k in range(10)
        ]
        return np.concatenate([motion(x, u), -np.array(slopes), 0.5 * np.sum(u**2, axis=0, keepdims=True)])

    def ends(first, last):
        begin = [*first[:6], *(first[6:9] - START[2]), first[9], first[20]]
        return np.array([*begin, *last[:8], last[9] - DEPTH, last[18]])

    t = np.linspace(0.0, T, 41)
    guess = np.zeros((21, t.size))
    guess[6:9] = START[2][:, None] + np.outer(np.array([0.0, 0.0, 1.0]) - START[2], t / T)
    guess[9] = DEPTH * t / T
    found = solve_bvp(rates, ends, t, guess, tol=1e-6, max_nodes=20000)
    assert found.success
    return found.y[20, -1]


def test_a_vehicle_with_weight_is_righted_with_pontryagins_effort():
    exact, start = least_effort(), VEHICLE.state(R=START)
    costs = [
        nd.control.solve(VEHICLE, start, None, T=T, N=N, order=4, actuation=push, controls=6, ending=upright).cost
        for N in (16, 32)
    ]
    assert exact == pytest.approx(15.433174, abs=1e-6)
    errors = np.array(costs) - exact
    assert 0.0 < errors[1] < 2e-6
    assert np.log2(errors[0] / errors[1]) == pytest.approx(4.0, abs=0.1)
