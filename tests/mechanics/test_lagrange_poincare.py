"""Groups with shapes: connection, Routh reduction and phases, on a floating arm whose formulas are known."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.integrate import quad, solve_ivp

import naiad as nd
from naiad.diagnostics import phases
from naiad.numerics import double

HINGES = np.array([[0.5, 0.0], [-0.4, 0.1]])
MASSES, LENGTHS = np.array([0.7, 0.4]), np.array([0.8, 0.6])


class Arms(nd.LagrangePoincareSystem):
    """A plane body on a pivot with two arms on springs."""

    J: float
    k: float
    group = nd.Product(theta=nd.SO2(), s=nd.Rn(2))

    def reduced_lagrangian(self, xi, s, v, t):
        r = HINGES + LENGTHS[:, None] * jnp.stack([jnp.cos(s), jnp.sin(s)], axis=1)
        u = xi * jnp.stack([-r[:, 1], r[:, 0]], axis=1)
        u += (LENGTHS * v)[:, None] * jnp.stack([-jnp.sin(s), jnp.cos(s)], axis=1)
        return 0.5 * self.J * xi[0] ** 2 + 0.5 * jnp.sum(MASSES[:, None] * u**2) - 0.5 * self.k * jnp.sum(s**2)


ARMS = Arms(0.9, 1.5)


def at_once(function, *arguments):
    """The value by one compiled program, which is sooner than operation by operation."""
    return jax.tree.map(np.asarray, double(jax.jit(function))(*arguments))


def inertia(s):
    reach = HINGES + LENGTHS[:, None] * np.stack([np.cos(s), np.sin(s)], axis=1)
    return ARMS.J + np.sum(MASSES * np.sum(reach**2, axis=1))


def connection(s):
    tip = LENGTHS[:, None] * np.stack([np.cos(s), np.sin(s)], axis=1)
    return MASSES * np.sum((HINGES + tip) * tip, axis=1) / inertia(s)


def start():
    return ARMS.state(s=(0.4, -0.9), theta_Omega=0.7, s_v=(0.5, 1.1))


def test_locked_inertia_connection_and_routhian_are_those_of_the_textbook():
    s, v, mu = np.array([0.4, -0.9]), np.array([0.5, 1.1]), np.array([0.8])
    routh = nd.RouthSystem(ARMS, mu)

    def values(s, v, mu, state):
        found = ARMS.locked_inertia(s), ARMS.connection(s), ARMS.amended_potential(s, mu), routh.lagrangian(s, v, 0.0)
        return *found, ARMS.split_velocity(state)

    locked, local, potential, routhian, split = at_once(values, s, v, mu, start())
    np.testing.assert_allclose(locked, [[inertia(s)]], rtol=1e-14)
    np.testing.assert_allclose(local[0], connection(s), rtol=1e-13)
    A, amended = connection(s), 0.75 * s @ s + 0.5 * mu[0] ** 2 / inertia(s)
    assert float(potential) == pytest.approx(amended, rel=1e-14)
    horizontal = np.diag(MASSES * LENGTHS**2) - inertia(s) * np.outer(A, A)
    expected = 0.5 * v @ horizontal @ v + mu[0] * A @ v - amended
    assert float(routhian) == pytest.approx(expected, rel=1e-13)
    assert float(split.locked[0] + split.drift[0]) == pytest.approx(0.7, rel=1e-13)
    assert float(split.drift[0]) == pytest.approx(-A @ v, rel=1e-13)


def test_a_small_loop_turns_by_the_curvature_times_its_area():
    centre, radius = np.array([0.4, -0.9]), 1e-3

    def rate(phi):
        e = np.array([np.cos(phi), np.sin(phi)])
        return -connection(centre + radius * e) @ (radius * np.array([-e[1], e[0]]))

    turn = quad(rate, 0.0, 2.0 * np.pi, epsabs=1e-15)[0]
    F = at_once(ARMS.curvature, centre)
    assert turn == pytest.approx(-np.pi * radius**2 * F[0, 1, 0], rel=1e-5)
    np.testing.assert_allclose(F, -np.swapaxes(F, 0, 1), atol=1e-15)


@pytest.mark.parametrize("rule", [None, nd.Midpoint()], ids=["trapezoid", "midpoint"])
def test_routh_steps_move_as_the_unreduced_ones(rule):
    state, method = start(), nd.Variational(rule=rule)
    routh = nd.RouthSystem(ARMS, state.mu[:1])
    whole = nd.simulate(ARMS, state, t1=4.0, dt=0.02, method=method, save_every=1)
    shape = nd.simulate(routh, routh.reduced(state), t1=4.0, dt=0.02, method=method, save_every=1)
    np.testing.assert_allclose(shape.g, whole.g.s, rtol=0, atol=2e-14)
    np.testing.assert_allclose(shape.energy, whole.energy, rtol=0, atol=2e-14)
    found = phases(shape)
    np.testing.assert_allclose(found.g, whole.g.theta, rtol=0, atol=1e-13)
    np.testing.assert_allclose(found.dynamic + found.geometric, found.g, rtol=0, atol=1e-14)
    assert np.ptp(whole.momentum.to_numpy()) < 1e-14


def test_phases_are_the_integrals_of_connection_and_locked_velocity():
    """Along the exact motion, by DOP853 on Lagrange's equations of this Lagrangian."""
    state = start()

    def rates(t, y):
        found = jax.tree.map(np.asarray, equations(nd.State(type(state.g)(y[0], y[1:3]), y[3:6])))
        dynamic = state.mu[0] / inertia(y[1:3])
        return np.concatenate([found.xi, found.mu, [dynamic, -connection(y[1:3]) @ found.xi[1:]]])

    equations = double(jax.jit(ARMS.equations))
    first = np.concatenate([[0.0], state.g.s, state.mu, [0.0, 0.0]])
    exact = solve_ivp(rates, (0.0, 2.0), first, "DOP853", rtol=1e-10, atol=1e-11).y[:, -1]
    errors = []
    for steps in (100, 200):
        run = nd.simulate(ARMS, state, t1=2.0, dt=2.0 / steps, save_every=1)
        found = phases(run)
        errors.append([found.dynamic[-1] - exact[6], found.geometric[-1] - exact[7], run.g.s[-1, 0] - exact[1]])
    assert abs(exact[7]) > 0.04
    np.testing.assert_allclose(np.array(errors[0]) / errors[1], 4.0, rtol=0.05)


def test_a_system_of_a_rotation_and_a_rotor_has_its_connection():
    """I + J_r n n^T is the locked inertia, and A = (I + J_r n n^T)^-1 J_r n is constant: F_ab = 0 of one shape."""
    craft = nd.models.RotorSpacecraft((2.0, 1.5, 1.0), 0.4, 1.2, (0.6, 0.0, 0.8))
    n, s = np.array([0.6, 0.0, 0.8]), np.zeros(1)
    locked = np.diag([2.0, 1.5, 1.0]) + 0.4 * np.outer(n, n)
    np.testing.assert_allclose(at_once(craft.locked_inertia, s), locked, rtol=1e-14)
    np.testing.assert_allclose(at_once(craft.connection, s)[:, 0], np.linalg.solve(locked, 0.4 * n), rtol=1e-13)


def test_the_oblate_planet_by_its_meridian_plane():
    """The unreduced satellite in Cartesian coordinates moves as the reduced one; a step apart, to second order."""
    orbit = nd.models.OblateOrbit(1.3, GM=1.0, J2=0.05, radius=0.5)
    state = orbit.state(place=(1.0, 0.2), theta_Omega=0.8, place_v=(0.1, 0.4))
    routh = nd.RouthSystem(orbit, state.mu[:1])

    def acceleration(t, y):
        x, square = y[:3], y[:3] @ y[:3]
        b, z = 1.5 * 0.05 * 0.25, x[2]
        pull = -x / square**1.5 * (1.0 + b / square * (1.0 - 5.0 * z**2 / square))
        return np.concatenate([y[3:], pull - np.array([0.0, 0.0, 2.0 * b * z / square**2.5])])

    exact = solve_ivp(acceleration, (0.0, 5.0), (1.0, 0.0, 0.2, 0.1, 0.8, 0.4), "DOP853", rtol=1e-12, atol=1e-12)
    x, y, z = exact.y[:3, -1]
    errors = []
    for steps in (250, 500):
        run = nd.simulate(routh, routh.reduced(state), t1=5.0, dt=5.0 / steps, save_every=1)
        turn = phases(run).g[-1] - np.arctan2(y, x)
        errors.append([*(run.g[-1] - (np.hypot(x, y), z)), (turn + np.pi) % (2 * np.pi) - np.pi])
    np.testing.assert_allclose(np.array(errors[0]) / errors[1], 4.0, rtol=0.02)
    assert np.max(np.abs(errors[1])) < 2e-3


def test_what_cannot_be_reduced_is_refused():
    craft = nd.models.RotorSpacecraft((2.0, 1.5, 1.0), 0.4, 1.2)
    with pytest.raises(nd.InputError, match="does not commute"):
        nd.RouthSystem(craft, (0.0, 0.0, 1.0))
    with pytest.raises(nd.InputError, match="locked inertia is singular"):
        nd.RouthSystem(nd.models.OblateOrbit(), [0.5]).state(q=(0.0, 1.0))

    class Pushed(Arms):
        def force(self, g, xi, t):
            return jnp.ones(3)

    with pytest.raises(nd.InputError, match="force"):
        nd.RouthSystem(Pushed(0.9, 1.5), [0.5])

    class Alone(Arms):
        group = nd.Rn(3)

    with pytest.raises(nd.InputError, match="Product of two factors"):
        _ = Alone(0.9, 1.5).base
    run = nd.simulate(ARMS, start(), t1=0.2, dt=0.02, save_every=2)
    with pytest.raises(nd.InputError, match="save_every=1"):
        phases(run)
