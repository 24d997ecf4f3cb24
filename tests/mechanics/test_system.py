"""What follows from a Lagrangian alone, each by a second route."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import naiad as nd
from naiad.diagnostics import reference
from naiad.mechanics import left_gradient, left_jacobian, left_velocity
from tests.verification.problems import PROBLEMS, about_vertical

RNG = np.random.default_rng(3)


@pytest.fixture(autouse=True)
def _double():
    with jax.enable_x64(True):
        yield


@pytest.mark.parametrize("name", ["heavy-top", "double-pendulum", "body-in-potential", "planar-body", "rotor-chain"])
def test_left_gradient_is_the_derivative_along_curves(name):
    problem = PROBLEMS[name]
    group, g, eta = problem.system.group, problem.state.g, RNG.standard_normal(problem.system.group.dim)
    xi = problem.system.velocity(g, problem.state.mu)

    def potential(g):
        return problem.system.lagrangian(g, xi, 0.3)

    along = jax.jvp(lambda s: potential(group.compose(g, group.exp(s * eta))), (0.0,), (1.0,))[1]
    assert left_gradient(group, potential, g) @ eta == pytest.approx(float(along), rel=1e-13)
    jacobian = left_jacobian(group, lambda g: jnp.stack([potential(g), 2.0 * potential(g)]), g)
    np.testing.assert_allclose(jacobian @ eta, [along, 2 * along], rtol=1e-13)


@pytest.mark.parametrize(
    "name", ["free-body", "free-body-s3", "free-body-so5", "vehicle", "planar-body", "rotor-chain"]
)
def test_left_velocity_inverts_the_exponential_curve(name):
    problem = PROBLEMS[name]
    group, g = problem.system.group, problem.state.g
    eta = RNG.standard_normal(group.dim)
    np.testing.assert_allclose(left_velocity(group, lambda s: group.compose(g, group.exp(s * eta))), eta, rtol=1e-13)


@pytest.mark.parametrize("name", ["free-body", "free-body-s3", "vehicle", "planar-body", "rotor-chain"])
def test_the_derivative_of_a_left_velocity(name):
    """Of turns from the left at g exp(x b) in x: -ad_b Ad_{g^-1} a."""
    problem = PROBLEMS[name]
    group, g = problem.system.group, problem.state.g
    a, b = RNG.standard_normal((2, group.dim))

    def velocity(x):
        at = group.compose(g, group.exp(x * b))
        return left_velocity(group, lambda s: group.compose(group.exp(s * a), at))

    expected = -group.ad(b, group.Ad(group.inverse(g), a))
    np.testing.assert_allclose(
        jax.jit(jax.jacfwd(velocity))(0.0), expected, rtol=1e-12, atol=1e-13 * np.max(np.abs(expected))
    )


@pytest.mark.parametrize("name", list(PROBLEMS))
def test_velocity_inverts_legendre(name):
    problem = PROBLEMS[name]
    xi = RNG.standard_normal(problem.system.group.dim)
    mu = problem.system.legendre(problem.state.g, xi, 0.2)
    np.testing.assert_allclose(problem.system.velocity(problem.state.g, mu, 0.2), xi, rtol=1e-12, atol=1e-13)


class Relativistic(nd.LagrangianSystem):
    """A Lagrangian that is not quadratic: its Legendre transform is p = v / sqrt(1 - v^2)."""

    group = nd.Rn(3)

    def lagrangian(self, q, v, t):
        return -jnp.sqrt(1.0 - v @ v)


def test_velocity_of_a_lagrangian_that_is_not_quadratic():
    p = np.array([1.5, -0.7, 0.2])
    expected = p / np.sqrt(1.0 + p @ p)
    np.testing.assert_allclose(Relativistic().velocity(np.zeros(3), p), expected, rtol=1e-14)
    state = Relativistic().state(p=p)
    assert float(Relativistic().energy(state)) == pytest.approx(np.sqrt(1.0 + p @ p), rel=1e-14)


def test_equations_of_the_heavy_top_are_those_of_the_textbook():
    problem = PROBLEMS["heavy-top"]
    top, state = problem.system, problem.state
    Omega, Gamma = np.linalg.solve(top.J, state.mu), state.g.T @ np.array([0.0, 0.0, 1.0])
    expected = np.cross(state.mu, Omega) + top.mgl * np.cross(Gamma, np.array([0.0, 0.0, 1.0]))
    rates = top.equations(state)
    np.testing.assert_allclose(rates.mu, expected, rtol=1e-13)
    np.testing.assert_allclose(rates.xi, Omega, rtol=1e-13)


def test_equations_of_the_vehicle_are_those_of_kirchhoff():
    problem = PROBLEMS["vehicle"]
    rates = problem.system.equations(problem.state)
    Pi, p, Omega, v = problem.state.mu[:3], problem.state.mu[3:], rates.xi[:3], rates.xi[3:]
    np.testing.assert_allclose(
        rates.mu, np.concatenate([np.cross(Pi, Omega) + np.cross(p, v), np.cross(p, Omega)]), rtol=1e-13
    )


@pytest.mark.parametrize("name", ["heavy-top", "double-pendulum", "body-in-potential", "vehicle"])
def test_energy_and_noether_momentum_are_constant_along_the_exact_motion(name):
    problem = PROBLEMS[name]
    system, end = problem.system, reference(problem.system, problem.state, t1=1.0)
    assert float(system.energy(end)) == pytest.approx(float(system.energy(problem.state)), rel=1e-11)
    before, after = system.noether(problem.state, problem.action), system.noether(end, problem.action)
    np.testing.assert_allclose(after, before, rtol=0, atol=1e-11 * problem.scale)


def test_noether_momentum_of_vertical_turns_is_the_vertical_component():
    problem = PROBLEMS["heavy-top"]
    value = problem.system.noether(problem.state, lambda s, R: about_vertical(s) @ R)
    assert float(value[0]) == pytest.approx(float((problem.state.g @ problem.state.mu)[2]), rel=1e-13)
