"""Unknown parameters of a system and of its start, and how an optimum changes with parameters."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import naiad as nd
from naiad.errors import InputError


class Particle(nd.LagrangianSystem):
    """A particle on a line; the least cost of a way d in the time T is 6 (m d)^2 / T^3."""

    m: float
    group = nd.Rn(1)

    def lagrangian(self, x, v, t):
        return 0.5 * self.m * v @ v


PARTICLE, WAY, T = Particle(1.5), 0.8, 2.0
BEGIN, GOAL = PARTICLE.state(q=(0.0,)), PARTICLE.state(q=(WAY,))


def heavier(system, theta):
    return system.replaced(m=theta[0])


def moved(particle=PARTICLE, **options):
    return nd.control.solve(particle, BEGIN, GOAL, T, 10, **{"order": 2, **options})


def test_the_best_mass_is_a_compromise():
    """cost a m^2 of the way, and (m - 2)^2 of the mass: least for m = 2 / (1 + a)."""
    alone = moved()
    a = alone.cost / PARTICLE.m**2
    found = moved(model=heavier, theta=(1.0,), end_cost=lambda state, t, theta: (theta[0] - 2.0) ** 2)
    assert found.solved
    assert found.theta == pytest.approx([2.0 / (1.0 + a)], rel=1e-8)
    assert found.cost == pytest.approx(4.0 * a / (1.0 + a), rel=1e-9)


def test_a_bound_of_a_parameter_is_met():
    found = moved(model=heavier, theta=(1.0,), theta_bounds=(0.25, 3.0), tolerance=1e-10)
    assert found.theta == pytest.approx([0.25], abs=1e-8)
    assert found.cost == pytest.approx(moved(Particle(0.25)).cost, rel=1e-7)


def test_a_start_that_is_as_free_as_the_end_coasts():
    """The momentum is the same at both ends, and unknown: nothing need be done for a way."""

    def begin(theta):
        return nd.State(jnp.zeros(1), theta)

    def ending(state, t, theta):
        return jnp.concatenate([state.g - WAY, state.mu - theta])

    found = nd.control.solve(PARTICLE, begin, None, T, 10, order=2, theta=(0.0,), ending=ending)
    assert found.solved
    assert found.theta == pytest.approx([1.5 * WAY / T], rel=1e-10)
    assert found.states.mu[0] == pytest.approx(found.theta, rel=1e-12)
    assert found.cost < 1e-20
    again = nd.control.solve(
        PARTICLE, begin, None, T, 20, order=2, theta=(0.0,), ending=ending, guess=found, tolerance=1e-10
    )
    assert again.solved
    assert again.iterations <= 1


def test_controls_are_proportional_to_the_mass_and_their_cost_to_its_square():
    found = moved()
    change = nd.control.sensitivity(found, heavier, (1.5,))
    assert change.cost == pytest.approx([2.0 * found.cost / 1.5], rel=1e-9)
    np.testing.assert_allclose(change.u[0], found.u / 1.5, atol=1e-9)
    np.testing.assert_allclose(change.mu[0], found.states.mu / 1.5, atol=1e-9)
    np.testing.assert_allclose(change.eta, 0.0, atol=1e-9)


def diagonal(system, theta):
    return system.replaced(J=jnp.diag(theta))


CASES = [
    {"order": 2},
    {"order": 4},
    {"order": 2, "bounds": 2.2},
    {"order": 2, "free_time": True, "cost": lambda g, xi, u, t: 1.0 + 0.5 * u @ u},
]


@pytest.mark.long
@pytest.mark.parametrize("options", CASES, ids=["order 2", "order 4", "bounds", "free time"])
def test_derivatives_of_an_optimum_are_those_of_other_optima(options):
    body, J, e = nd.models.RigidBody((1.0, 2.0, 3.0)), np.array([1.0, 2.0, 3.0]), 1e-5
    with jax.enable_x64(True):
        goal = body.state(R=np.asarray(body.group.exp(jnp.array([0.5, 0.9, 0.4]))))

    def best(J):
        other = body.replaced(J=np.diag(J))
        return nd.control.solve(other, body.state(), goal, 2.0, 16, tolerance=1e-11, **options)

    found = best(J)
    change = nd.control.sensitivity(found, diagonal, J)
    for k, direction in enumerate(e * np.eye(3)):
        more, less = best(J + direction), best(J - direction)
        np.testing.assert_allclose(change.cost[k], (more.cost - less.cost) / (2 * e), atol=1e-8)
        np.testing.assert_allclose(change.T[k], (more.T - less.T) / (2 * e), atol=1e-8)
        np.testing.assert_allclose(change.u[k], (more.u - less.u) / (2 * e), atol=2e-8)
        np.testing.assert_allclose(change.mu[k], (more.states.mu - less.states.mu) / (2 * e), atol=2e-8)
        turn = np.einsum("kij,kil->kjl", found.states.g, (more.states.g - less.states.g) / (2 * e))
        np.testing.assert_allclose(change.eta[k], np.stack([turn[:, 2, 1], turn[:, 0, 2], turn[:, 1, 0]], 1), atol=2e-8)
    assert np.abs(change.u).max() > 0.2  # there is something to compare


@pytest.mark.long
def test_unknown_parameters_answer_to_those_that_are_given():
    """A mass f m with an unknown f of the price (f - 2)^2: f = 2 / (1 + a m^2)."""
    a, m = moved().cost / PARTICLE.m**2, PARTICLE.m

    def scaled(system, theta):
        return system.replaced(m=system.m * theta[0])

    found = moved(model=scaled, theta=(1.0,), end_cost=lambda state, t, theta: (theta[0] - 2.0) ** 2)
    change = nd.control.sensitivity(found, heavier, (m,))
    whole = 1.0 + a * m**2
    assert change.cost == pytest.approx([8.0 * a * m / whole**2], rel=1e-7)
    assert change.theta[0] == pytest.approx([-4.0 * a * m / whole**2], rel=1e-7)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"model": heavier}, "theta="),
        ({"model": heavier, "theta": (1.0,), "theta_bounds": (2.0, 3.0)}, r"theta\[0\] = 1 is not between"),
        ({"model": lambda system, theta: 3, "theta": (1.0,)}, "gives int"),
        ({"model": lambda system, theta: system.nothing, "theta": (1.0,)}, "failed: AttributeError"),
        ({"theta": (np.nan,)}, "finite"),
        ({"theta": (1.0,), "ending": lambda state, t: state.mu}, r"ending\(state, t, theta\)"),
    ],
)
def test_what_does_not_fit_is_said(options, words):
    with pytest.raises(InputError, match=words):
        moved(**options)


def test_only_an_optimum_of_the_same_system_has_derivatives():
    with pytest.raises(InputError, match="another system"):
        nd.control.sensitivity(moved(), heavier, (1.6,))
    with pytest.raises(InputError, match="not solved"):
        nd.control.sensitivity(moved(bounds=0.01), heavier, (1.5,))
