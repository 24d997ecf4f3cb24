"""Advected parameters and additional dynamics: the reduced equations against the full ones."""

from typing import Any

import jax
import numpy as np
import pytest

import naiad as nd
from naiad.diagnostics import march, reference
from naiad.mechanics import diamond, generator


class Vehicle(nd.AdvectedSystem):
    """A rigid body with weight and buoyancy: n is its position, a the vertical, both seen from the body."""

    J: Any
    M: Any
    a0: Any
    r: Any
    weight: float
    base = nd.SO3()
    additional_dim = 3

    def reduced_lagrangian(self, xi, n, nu, a, t):
        return 0.5 * xi @ self.J @ xi + 0.5 * nu @ self.M @ nu + 0.7 * a @ self.r + self.weight * n @ a


class Top(nd.AdvectedSystem):
    """A heavy top: an advected parameter and no additional dynamics."""

    J: Any
    a0: Any
    mgl: float
    base = nd.SO3()

    def reduced_lagrangian(self, xi, n, nu, a, t):
        return 0.5 * xi @ self.J @ xi - self.mgl * a[2]


class Buoy(nd.AdvectedSystem):
    """SE(3) as the group, moving a point: an action that is not linear."""

    K: Any
    a0: Any
    base = nd.SE3()
    additional_dim = 3

    def act_on_a(self, g, a):
        return g.R @ a

    def reduced_lagrangian(self, xi, n, nu, a, t):
        return 0.5 * xi @ (self.K * xi) + 0.6 * nu @ nu - 0.5 * (n @ n) ** 2 + 0.3 * n @ a


J, E3 = np.diag([1.0, 2.0, 3.0]), np.array([0.0, 0.0, 1.0])
ATTITUDE = np.asarray(nd.SO3().exp(np.array([0.5, 0.2, 0.1])))
VEHICLE = Vehicle(J, np.diag([1.0, 2.0, 1.5]), E3, np.array([0.1, 0.0, 0.2]), 0.4)
VEHICLE_STATE = VEHICLE.state(base=ATTITUDE, q=(1.0, 2.0, 3.0), base_Omega=(0.3, 0.2, 1.0), q_v=(1.0, 0.5, 0.2))
TOP = Top(J, E3, 1.3)
TOP_STATE = TOP.state(R=ATTITUDE, Omega=(0.3, 0.2, 2.0))
BUOY = Buoy(np.array([1.0, 1.5, 2.0, 1.0, 2.0, 3.0]), E3)
BUOY_STATE = BUOY.state(
    base_R=ATTITUDE,
    base_x=(0.1, 0.2, 0.3),
    q=(0.5, 0.0, 0.2),
    base_Omega=(0.3, 0.2, 1.0),
    base_v=(0.1, 0.3, 0.2),
    q_v=(0.2, 0.5, 0.2),
)
CASES = {"vehicle": (VEHICLE, VEHICLE_STATE), "top": (TOP, TOP_STATE), "buoy": (BUOY, BUOY_STATE)}


@pytest.fixture(autouse=True)
def _double():
    with jax.enable_x64(True):
        yield


def test_diamond_on_so3_is_the_cross_product():
    b, a, xi = np.random.default_rng(0).standard_normal((3, 3))
    np.testing.assert_allclose(generator(nd.SO3(), nd.SO3().act, xi, a), np.cross(xi, a), rtol=1e-14)
    np.testing.assert_allclose(diamond(nd.SO3(), nd.SO3().act, b, a), np.cross(b, a), rtol=1e-14)


@pytest.mark.parametrize("case", CASES)
def test_reduced_equations_are_the_derivative_of_the_reduced_exact_motion(case):
    system, state = CASES[case]
    h = 1e-3
    ahead = system.reduce(reference(system, state, t1=h))
    further = system.reduce(reference(system, state, t1=2 * h))
    now, rates = system.reduce(state), system.reduced_equations(system.reduce(state))
    for here, one, two, rate in zip(now, ahead, further, rates, strict=True):
        slope = (-3.0 * here + 4.0 * one - two) / (2.0 * h)  # one-sided, second order
        np.testing.assert_allclose(slope, rate, atol=2e-5)


@pytest.mark.parametrize(
    ("case", "quadrature"),
    [
        ("vehicle", nd.Left()),
        ("vehicle", nd.Trapezoid()),
        ("vehicle", nd.Midpoint()),
        ("top", nd.Trapezoid()),
        ("buoy", nd.Trapezoid()),
    ],
    ids=lambda part: part if isinstance(part, str) else type(part).__name__,
)
def test_reduced_and_full_steps_give_the_same_motion(case, quadrature):
    system, state = CASES[case]
    full = march(system, nd.Variational(nd.Cayley(), quadrature), state, dt=0.02, steps=50)
    reduced = march(system, nd.Reduced(nd.Cayley(), quadrature), state, dt=0.02, steps=50)
    for one, other in zip(jax.tree.leaves(full), jax.tree.leaves(reduced), strict=True):
        np.testing.assert_allclose(one, other, atol=3e-13)


def test_kelvin_noether_quantity_is_conserved_about_the_vertical_and_in_balance_about_the_others():
    times = np.linspace(0.0, 2.0, 101)
    run = nd.simulate(VEHICLE, VEHICLE_STATE, t1=2.0, dt=0.02, method=nd.Composition(nd.Variational(), 6), save_every=1)
    for c0 in np.eye(3):
        value = run.evaluate(lambda s, t, c0=c0: VEHICLE.kelvin_noether(s, c0))
        rate = run.evaluate(lambda s, t, c0=c0: VEHICLE.kelvin_noether_rate(s, c0, t))
        if c0[2]:
            assert np.max(np.abs(value - value[0])) < 1e-12 * abs(value[0])
            assert np.max(np.abs(rate)) < 1e-13
        else:
            assert np.ptp(value) > 0.1
            h = times[1] - times[0]
            fourth = (value[:-4] - 8 * value[1:-3] + 8 * value[3:-1] - value[4:]) / (12 * h)
            np.testing.assert_allclose(fourth, rate[2:-2], atol=1e-5)


def test_reduced_needs_an_advected_system():
    body = nd.models.RigidBody((1.0, 2.0, 3.0))
    with pytest.raises(nd.InputError, match=r"Reduced needs an AdvectedSystem.*RigidBody.*Use Variational"):
        nd.simulate(body, body.state(Pi=(1.0, 0.0, 0.0)), t1=1.0, dt=0.1, method=nd.Reduced())
