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


class Free(nd.LagrangianSystem):
    """A mass on a line."""

    group = nd.Rn(1)

    def lagrangian(self, g, xi, t):
        return 0.5 * xi @ xi


def line(count=12):
    """Places of a cart that rolls freely, a tenth off, and what straight lines through them are made of."""
    t = 0.3 * np.arange(count)
    return 1.0 + 0.5 * t + 0.1 * np.random.default_rng(3).standard_normal(count), np.stack([np.ones(count), t], axis=1)


def test_what_is_missing_is_left_out():
    """A straight line by weighted least squares; NaN is missing, whatever its weight."""
    rows, basis = line()
    rows[[2, 7]] = np.nan
    weights = np.where(np.arange(12) < 6, 100.0, 25.0)
    there = np.where(np.isnan(rows), 0.0, weights)
    covariance = np.linalg.inv(basis.T @ (there[:, None] * basis))
    best = covariance @ basis.T @ (there * np.nan_to_num(rows))
    cart = Free()
    found = nd.control.estimate(
        cart, cart.state(), rows[:, None], measure=place, dt=0.1, every=3, weights=weights[:, None]
    )
    assert found.converged
    assert [found.state.g[0], found.state.mu[0]] == pytest.approx(best, rel=1e-5)
    np.testing.assert_allclose(found.covariance, covariance, rtol=1e-9)
    assert np.isnan(found.residuals[[2, 7]]).all()
    plain = nd.control.estimate(cart, cart.state(), rows[:, None], measure=place, dt=0.1, every=3)
    assert plain.converged
    assert np.isfinite(plain.state_errors).all()


def test_of_what_is_not_measured_the_errors_are_infinite():
    rows, _ = line()
    cart = Free()
    found = nd.control.estimate(cart, cart.state(), rows[:, None], measure=momenta, dt=0.3, weights=100.0)
    assert found.state_errors[0] == np.inf
    assert found.state_errors[1] == pytest.approx(0.1 / np.sqrt(12), rel=1e-9)
    alone = nd.control.estimate(cart, cart.state(), rows[:1, None], measure=place, dt=0.3)
    assert (alone.state_errors == np.inf).all()


def test_a_moving_horizon_that_knows_nothing_before_comes_to_the_fit_of_all():
    """A line through all measurements, most of which have left the window."""
    rows, basis = line()
    best = np.linalg.lstsq(basis, rows, rcond=None)[0]
    cart = Free()
    nothing = nd.control.Prior(cart.state(), np.zeros(0), np.zeros((2, 2)))
    follow = nd.control.MovingHorizon(cart, nothing, window=3, dt=0.3, measure=place, weights=100.0)
    for row in rows:
        follow([row])
    assert [follow.now.g[0], follow.now.mu[0]] == pytest.approx([best @ basis[-1], best[1]], rel=1e-5)


@pytest.mark.parametrize(
    ("information", "words"),
    [(-np.eye(2), "not the inverse of a covariance"), (np.eye(3), r"expected 0 and \(2, 2\)")],
)
def test_what_cannot_be_known_before_is_refused(information, words):
    cart = Free()
    prior = nd.control.Prior(cart.state(), np.zeros(0), information)
    with pytest.raises(InputError, match=words):
        nd.control.estimate(cart, cart.state(), line()[0][:, None], measure=place, dt=0.3, prior=prior)
