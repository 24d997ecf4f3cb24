"""Optimal control of an elastic string."""

import functools

import jax.numpy as jnp
import numpy as np
import pytest
from scipy.integrate import solve_bvp

import naiad as nd
from naiad.models import HangingBody, StringPendulum

GRAVITY, LENGTH, DENSITY, STIFFNESS, LOAD, T = 9.81, 1.0, 0.2, 60.0, 0.5, 2.0
START = np.array([0.3, 0.0, 1.0])
STRING = StringPendulum(
    length=LENGTH,
    mass_per_length=DENSITY,
    stiffness=STIFFNESS,
    elements=2,
    gravity=(0.0, 0.0, GRAVITY),
    body=HangingBody(LOAD),
)
PUSH = np.eye(6)[:, 3:4]
"""Along e_1, on the body at the end."""
MIDPOINT = nd.Variational(rule=nd.Midpoint())


def still(state, t):
    return jnp.stack([state.g.q[-1, 0], state.mu[3]])


@functools.cache
def plan(N):
    return nd.control.solve(
        STRING,
        STRING.straight(START),
        None,
        T=T,
        N=N,
        order=2,
        method=MIDPOINT,
        actuation=PUSH,
        ending=still,
        tolerance=1e-10,
    )


def least_effort():
    """Return the least effort by Pontryagin's equations of the two elements in their plane, as a boundary value
    problem: nodes q and velocities v with costates a and b, u = -(W b) along e_1 at the load, W the inverse of the mass
    matrix. The guess swings freely."""
    element = LENGTH / 2
    mass = DENSITY * element
    inertia = np.array([[4.0 * mass, mass], [mass, 2.0 * mass + 6.0 * LOAD]]) / 6.0
    W = np.linalg.inv(inertia)
    weight = GRAVITY * np.array([mass, 0.5 * mass + LOAD])
    at_load, momentum = np.array([0.0, 0.0, 1.0, 0.0]), np.array([inertia[1, 0], 0.0, inertia[1, 1], 0.0])

    def pull(d):
        """The tension along an element, and its slope."""
        length = np.linalg.norm(d, axis=0)
        along = d[:, None] * d / length**2
        across = np.eye(2)[:, :, None] - along
        slope = STIFFNESS * (along / element + (1.0 / element - 1.0 / length) * across)
        return STIFFNESS * (1.0 / element - 1.0 / length) * d, slope

    def rates(t, y, _):
        q, v, a, b = y[:4].reshape(2, 2, -1), y[4:8], y[8:12], y[12:16]
        (first, K), (second, L) = pull(q[0]), pull(q[1] - q[0])
        u = -W[1] @ b[::2]
        pulls = np.stack([second - first, -second])
        pulls[:, 1] += weight[:, None]
        pulls[1, 0] += u
        c = np.einsum("ij,jkm->ikm", W, b.reshape(2, 2, -1))
        loads = np.stack([np.einsum("jkm,km->jm", K, c[0]), np.einsum("jkm,km->jm", L, c[1] - c[0])])
        b_pull = np.concatenate([-loads[0] + loads[1], -loads[1]])
        return np.concatenate([v, np.einsum("ij,jkm->ikm", W, pulls).reshape(4, -1), -b_pull, -a, 0.5 * u[None] ** 2])

    along = START[::2] / np.linalg.norm(START)

    def ends(first, last, multipliers):
        place, speed = multipliers
        straight = 0.5 * LENGTH * np.concatenate([along, 2.0 * along])
        costates = [*(last[8:12] - place * at_load), *(last[12:16] - speed * momentum)]
        return np.array([*(first[:4] - straight), *first[4:8], first[16], last[2], momentum @ last[4:8], *costates])

    t = np.linspace(0.0, T, 201)
    angle = np.arctan2(*along) * np.cos(np.sqrt(GRAVITY / LENGTH) * t)
    guess = np.zeros((17, t.size))
    guess[:4] = np.outer([0.5, 0.5, 1.0, 1.0], np.ones(t.size)) * np.tile([np.sin(angle), np.cos(angle)], (2, 1))
    guess[4:8] = np.gradient(guess[:4], t, axis=1)
    found = solve_bvp(rates, ends, t, guess, p=[0.0, 0.0], max_nodes=20000)
    assert found.success
    return found.y[16, -1]


@pytest.mark.long
def test_the_least_effort_is_that_of_pontryagins_equations():
    exact = least_effort()
    assert exact == pytest.approx(0.1591165068, abs=2e-9)  # as by shooting with DOP853
    for N in (40, 80, 160):  # of second order; its sign changes, since coarse steps miss the elastic waves
        assert 0.3 < N**2 * abs(plan(N).cost - exact) < 0.5


@pytest.mark.long
def test_a_swing_is_stopped_with_least_effort_and_the_plan_is_a_motion_of_the_simulator():
    found = plan(40)
    assert found.solved
    state = STRING.straight(START)
    for k in range(40):
        driven = nd.control.Actuated(STRING, found.u[k, 0], PUSH)
        state = nd.simulate(driven, state, t1=0.05, dt=0.05, method=MIDPOINT, progress=False).final
        np.testing.assert_allclose(state.g.q, found.states.g.q[k + 1], atol=1e-7)
    np.testing.assert_allclose(still(state, 2.0), 0.0, atol=1e-7)
    assert found.cost == pytest.approx(0.05 / 2.0 * np.sum(found.u**2), rel=1e-6)
