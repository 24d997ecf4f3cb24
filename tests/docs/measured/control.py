"""Numbers of docs/control.md."""

import jax
import jax.numpy as jnp
import numpy as np

import naiad as nd
from benchmarks.transcriptions import CHARTS, ORDERS, SCHEMES, ours, usual
from naiad.numerics import double
from tests.control.test_solve import AXIS, BODY_COST, turn
from tests.docs.measured.registry import measured, results
from tests.studies.test_control import DOCKING

LEAST_TIME = 2.42111655250962
"""Of a turn by 90 degrees, by shooting with Pontryagin's equations."""
CAYLEY, EXPONENTIAL = nd.Cayley(), nd.Exponential()
GAUSS = {4: "gauss2", 6: "gauss3"}
J, ANGLE, T = np.array([1.0, 2.0, 3.0]), 2.0, 2.0


def missed(order, N, tau=CAYLEY):
    """The relative error of the cost of the turn."""
    method = nd.Variational(tau) if order == 2 else nd.VPRK(GAUSS[order], tau)
    return turn(order, N, method=method, tolerance=1e-10).cost / BODY_COST - 1.0


def rates(y, u):
    """Of a unit quaternion and the angular momentum."""
    Omega, w, v = y[4:] / J, y[0], y[1:4]
    turning = jnp.concatenate([jnp.reshape(-v @ Omega, (1,)), w * Omega + jnp.cross(v, Omega)])
    return jnp.concatenate([0.5 * turning, jnp.cross(y[4:], Omega) + u])


def shot(u, h):
    """Cost and missed end of RK4 with controls that are linear between the nodes."""

    def step(y, ends):
        first, last = ends
        middle = 0.5 * (first + last)
        k1 = rates(y, first)
        k2 = rates(y + 0.5 * h * k1, middle)
        k3 = rates(y + 0.5 * h * k2, middle)
        k4 = rates(y + h * k3, last)
        spent = (first @ first + 4.0 * middle @ middle + last @ last) / 12.0
        return y + h * (k1 + 2.0 * k2 + 2.0 * k3 + k4) / 6.0, h * spent

    y, costs = jax.lax.scan(step, jnp.eye(7)[0], (u[:-1], u[1:]))
    w, v = np.cos(0.5 * ANGLE), np.sin(0.5 * ANGLE) * AXIS
    return jnp.sum(costs), jnp.concatenate([w * y[1:4] - y[0] * v - jnp.cross(v, y[1:4]), y[4:]])


@double
def missed_by_runge_kutta(N):
    """The same by RK4 with controls that are linear over a step: Newton's method for the conditions of Lagrange."""

    def lagrange(x):
        cost, miss = shot(x[:-6].reshape(-1, 3), T / N)
        return cost + x[-6:] @ miss

    slope, curvature = jax.jit(jax.grad(lagrange)), jax.jit(jax.jacfwd(jax.grad(lagrange)))
    about_the_axis = 6.0 * ANGLE / T**2 * np.outer(1.0 - 2.0 * np.linspace(0.0, 1.0, N + 1), J * AXIS)
    x = np.concatenate([about_the_axis.ravel(), np.zeros(6)])
    for _ in range(20):
        x = x - np.linalg.solve(curvature(x), slope(x))
    assert np.max(np.abs(slope(x))) < 1e-11
    return float(shot(x[:-6].reshape(-1, 3), T / N)[0]) / BODY_COST - 1.0


@measured("errors-of-optimal-costs")
def errors_of_optimal_costs():
    rows = []
    for N in (8, 32):
        fourth = [missed(4, N, tau) for tau in (CAYLEY, EXPONENTIAL)]
        rows += [missed(2, N), *fourth, missed_by_runge_kutta(N)]
        rows += [missed(6, N, tau) for tau in (CAYLEY, EXPONENTIAL)] if N == 8 else []
    return np.abs(rows)


@measured("costs-by-pontryagin")
def costs_by_pontryagin():
    docked = [results("vehicle-docking", "steps=64", f"order={order}") for order in (4, 6)]
    turned = results(
        "reorientation",
        *("objective=time", "J=1,1,1", "axis=0,0,1", "bound=1", "steps=200", "order=2"),
        f"angle={np.pi / 2}",
    )
    errors = [(found["cost"] - DOCKING, found["error_estimate"]) for found in docked]
    return [DOCKING, *np.ravel(errors), LEAST_TIME, 2, 200, turned["time"] - LEAST_TIME]


COUNTS = (8, 32)
TOLERANCE = 1e-10
"""Errors of costs that are smaller are those of the solver."""


@measured("transcriptions", within=0.05)
def transcriptions():
    """Errors of the cost; and the variation of the momentum, where it is more than round-off."""
    values = []
    for order in ORDERS:
        plans = [ours(order, N) for N in COUNTS]
        assert max(plan.momentum for plan in plans) < 1e-11
        values += [max(plan.error, TOLERANCE) for plan in plans]
    for name in SCHEMES:
        for chart in CHARTS:
            plans = [usual(name, chart, N) for N in COUNTS]
            values += [plan.error for plan in plans]
            if chart == "quaternions":
                assert max(plan.momentum for plan in plans) < 1e-12
            else:
                values += [plan.momentum for plan in plans]
    return values
