"""Estimation of parameters and states."""

import numpy as np
import pytest

import naiad as nd
from naiad.errors import InputError
from tests.control.test_mpc import Cart

TRUTH = nd.models.RigidBody(J=(1.0, 2.0, 2.5))
STATE = TRUTH.state(Omega=(0.7, 0.4, -0.5))
NOISE = 0.01


def model(system, theta):
    import jax.numpy as jnp

    return system.replaced(J=jnp.diag(jnp.concatenate([jnp.ones(1), theta])))


def momenta(state, t):
    return state.mu


def recorded(seed, count):
    run = nd.simulate(TRUTH, STATE, t1=0.4 * (count - 1), dt=0.1, save_every=4)
    return run.states.mu + NOISE * np.random.default_rng(seed).standard_normal((count, 3))


def test_moments_of_inertia_within_their_standard_errors():
    start = nd.models.RigidBody(J=(1.0, 1.7, 2.2))
    found = nd.control.estimate(
        start,
        start.state(mu=recorded(1, 60)[0]),
        recorded(1, 60),
        measure=momenta,
        dt=0.1,
        every=4,
        model=model,
        theta=(1.7, 2.2),
        weights=1.0 / NOISE**2,
    )
    assert found.converged
    assert np.all(np.abs(found.theta - (2.0, 2.5)) < 4 * found.theta_errors)
    assert np.all(found.theta_errors < 0.05)
    assert found.residuals.std() == pytest.approx(NOISE, rel=0.2)
    # without weights the same fit, its variance estimated
    plain = nd.control.estimate(
        start,
        start.state(mu=recorded(1, 60)[0]),
        recorded(1, 60),
        measure=momenta,
        dt=0.1,
        every=4,
        model=model,
        theta=(1.7, 2.2),
    )
    np.testing.assert_allclose(plain.theta, found.theta, rtol=1e-5)
    np.testing.assert_allclose(plain.theta_errors, found.theta_errors, rtol=0.25)


def test_a_moving_horizon_follows_the_state():
    prior = nd.control.Prior(TRUTH.state(mu=STATE.mu + 0.1), np.zeros(0), np.diag([1e6] * 3 + [10.0] * 3))
    follow = nd.control.MovingHorizon(TRUTH, prior, window=5, measure=momenta, dt=0.1, every=4, weights=1.0 / NOISE**2)
    rows = recorded(2, 12)
    for row in rows:
        follow(row)
    run = nd.simulate(TRUTH, STATE, t1=4.4, dt=0.1)
    assert np.abs(follow.now.mu - run.final.mu).max() < 2.5 * NOISE
    assert np.abs(follow.now.mu - run.final.mu).max() < np.abs(rows[-1] - run.final.mu).max() + NOISE


def place(state, t):
    return state.g


def test_a_moving_horizon_knows_the_time():
    """What pulls is that of the time of a measurement, also when the first ones have left the window: exact
    measurements of the place give the exact momentum."""
    cart, start = Cart(), np.array([0.3])
    run = nd.simulate(cart, cart.state(start, start), t0=1.0, t1=3.4, dt=0.1, save_every=2)
    prior = nd.control.Prior(cart.state(start, 0.0 * start), np.zeros(0), 1e-6 * np.eye(2))
    follow = nd.control.MovingHorizon(cart, prior, window=4, measure=place, dt=0.1, every=2, t0=1.0, weights=1e4)
    for row in run.states.g:
        follow(row)
    np.testing.assert_allclose(follow.now.mu, run.final.mu, atol=1e-6)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"measured": np.ones((4, 2))}, "expected a row of 3 numbers"),
        ({"theta": (1.0,)}, "model and theta go together"),
        ({"free_state": False}, "nothing is unknown"),
        ({"every": 0}, "expected both at least 1"),
        ({"weights": -1.0}, "weights hold negative"),
    ],
)
def test_bad_fits_are_refused(options, words):
    given = {"measured": np.ones((4, 3)), "measure": momenta, "dt": 0.1, **options}
    with pytest.raises(InputError, match=words):
        nd.control.estimate(TRUTH, STATE, **given)
