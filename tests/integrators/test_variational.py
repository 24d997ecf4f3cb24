"""The variational step: its legs against the discrete Lagrangian itself, its starts, its options, known numbers."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import naiad as nd
from naiad.diagnostics import march, reference
from naiad.integrators import slopes_by_autodiff
from naiad.integrators.method import put_back
from naiad.mechanics import left_gradient
from tests.verification.problems import PROBLEMS

BODY = nd.models.RigidBody((1.0, 2.0, 3.0))
START = BODY.state(Pi=(0.7, 0.8, -1.5))


@pytest.fixture(autouse=True)
def _double():
    with jax.enable_x64(True):
        yield


@pytest.mark.parametrize(
    ("method", "Pi"),
    [
        (nd.Variational(nd.Cayley()), (-0.6017715025617, 1.0730676874051, -1.3661613363552)),
        (nd.Variational(nd.Exponential()), (-0.6016783795649, 1.0732796386425, -1.3660358504957)),
        (nd.Composition(nd.Variational(), 8), (-0.601679461673720, 1.073278762298076, -1.366036062408285)),
    ],
    ids=["cay", "exp", "exact"],
)
def test_rigid_body_reaches_the_known_momentum(method, Pi):
    end = march(BODY, method, START, dt=0.01, steps=1000)
    np.testing.assert_allclose(end.mu, Pi, rtol=0, atol=6e-14)


def test_reference_reaches_the_known_momentum():
    exact = (-0.601679461673720, 1.073278762298076, -1.366036062408285)
    np.testing.assert_allclose(reference(BODY, START, t1=10.0).mu, exact, rtol=0, atol=2e-12)


@pytest.mark.parametrize(
    ("name", "tau", "rule"),
    [
        ("heavy-top", nd.Cayley(), nd.Left()),
        ("heavy-top", nd.Exponential(), nd.Right()),
        ("heavy-top", nd.Skew(), nd.Trapezoid()),
        ("heavy-top", nd.Newmark(), nd.Midpoint()),
        ("body-in-potential", nd.Cayley(), nd.Midpoint()),
    ],
    ids=lambda part: part if isinstance(part, str) else type(part).__name__,
)
def test_momenta_are_the_derivatives_of_the_action_in_its_end_points(name, tau, rule):
    """mu_- = -D_1 and mu_+ = D_2 of S(g_0, g_1), left-trivialised, with xi eliminated: a route that knows no legs."""
    problem, h, t = PROBLEMS[name], 0.1, 0.3
    system, group, method = problem.system, problem.system.group, nd.Variational(tau, rule)
    after = march(system, method, problem.state, dt=h, steps=1, t0=t)

    def action(g0, g1):
        xi = tau.inverse(group, group.compose(group.inverse(g0), g1)) / h
        return rule.action(system, tau, g0, xi, t, h)

    g0, g1 = problem.state.g, after.g
    minus = -jax.jit(lambda g: left_gradient(group, lambda g: action(g, g1), g))(g0)
    plus = jax.jit(lambda g: left_gradient(group, lambda g: action(g0, g), g))(g1)
    np.testing.assert_allclose(minus, problem.state.mu, rtol=0, atol=3e-13)
    np.testing.assert_allclose(plus, after.mu, rtol=0, atol=3e-13)


@pytest.mark.parametrize("rule", [nd.Left(), nd.Right(), nd.Trapezoid()], ids=lambda r: type(r).__name__)
@pytest.mark.parametrize("name", ["double-pendulum", "body-in-potential"])
def test_slopes_in_closed_form_give_the_legs_of_autodiff(name, rule):
    """The closed forms split L_d differently between the nodes; the momenta at both nodes must be the same."""
    problem, tau, h, t = PROBLEMS[name], nd.Cayley(), 0.1, 0.3
    system, group = problem.system, problem.system.group
    xi = np.random.default_rng(5).standard_normal(group.dim)

    def momenta(slopes):
        minus = tau.dtau_inv_dual(group, h * xi, slopes.kinetic) - slopes.minus
        return minus, tau.dtau_inv_dual(group, -h * xi, slopes.kinetic) + slopes.plus

    @jax.jit
    def both(g):
        arguments = (system, tau, g, xi, t, h)
        return momenta(rule.slopes(*arguments)), momenta(slopes_by_autodiff(rule, *arguments))

    for closed, automatic in zip(*both(problem.state.g), strict=True):
        np.testing.assert_allclose(closed, automatic, rtol=0, atol=2e-14)


def test_two_configuration_start_lands_on_the_second():
    problem = PROBLEMS["heavy-top"]
    method, h = nd.Variational(nd.Exponential()), 0.1
    g1 = march(problem.system, nd.RKMK(), problem.state, dt=h / 20, steps=20).g
    start = method.pair(problem.system, problem.state.g, g1, 0.0, h)
    landed = march(problem.system, method, start, dt=h, steps=1)
    np.testing.assert_allclose(landed.g, g1, atol=2e-15)
    assert np.max(np.abs(start.mu - problem.state.mu)) > 1e-5  # it is not the Legendre start


def test_momentum_is_exact_whatever_the_solver_leaves():
    """One Newton iteration leaves a residual; the momentum in space must not see it."""
    crude = nd.Variational(newton=nd.Newton(max_iterations=1))
    step = jax.jit(lambda carry: crude.step(BODY, carry, jnp.zeros(()), jnp.asarray(0.3)))
    carry = crude.init(BODY, START, jnp.zeros(()), jnp.asarray(0.3))
    for _ in range(20):
        carry = step(carry)
    assert float(crude.info(carry).residual) > 1e-11
    np.testing.assert_allclose(BODY.momentum(carry.state), START.mu, atol=1e-14)


def test_round_off_correction_can_be_seen_and_switched_off():
    long = {"dt": 0.05, "t1": 1000.0, "progress": False}
    kept = nd.simulate(BODY, START, **long)
    free = nd.simulate(BODY, START, method=nd.Variational(renormalise=False), **long)
    assert float(kept.group_error.max()) < 2e-15
    assert 0 < kept.statistics["correction_max"] < 2e-15
    assert float(free.group_error.max()) > 5e-15
    assert free.statistics["correction_max"] == 0.0


def test_a_group_that_leaves_its_elements_alone_needs_not_say_so():
    """One's own group may give g back as it is, and not be called `free`."""

    class Line(nd.Rn):
        free = False

        def renormalise(self, g):
            return g

    assert float(put_back(Line(2), jnp.ones(2), True)[1]) == 0.0


class Oscillator(nd.LagrangianSystem):
    """A system with its own discrete Lagrangian: implicit midpoint of a quartic oscillator."""

    k: float
    group = nd.Rn(1)
    discrete_order = 2
    discrete_symmetric = True

    def lagrangian(self, q, v, t):
        return 0.5 * v @ v - self.k * q[0] ** 4

    def discrete_lagrangian(self, g, xi, t, h, tau):
        return h * self.lagrangian(g + 0.5 * h * xi, xi, t)


def test_own_discrete_lagrangian_is_used_and_can_be_overruled():
    system = Oscillator(1.0)
    state = system.state(q=[0.7], v=[0.3])
    own = march(system, nd.Variational(), state, dt=0.1, steps=10)
    midpoint = march(system, nd.Variational(rule=nd.Midpoint()), state, dt=0.1, steps=10)
    trapezoid = march(system, nd.Variational(rule=nd.Trapezoid()), state, dt=0.1, steps=10)
    np.testing.assert_allclose(own.mu, midpoint.mu, atol=1e-14)
    assert abs(own.mu - trapezoid.mu)[0] > 1e-4
    assert nd.Variational().order(system) == 2
    assert nd.Composition(nd.Variational(), 4).check(system) is None


def test_trapezoid_on_a_vector_space_is_verlet():
    henon = PROBLEMS["henon-heiles"]
    q, p, h = np.array(henon.state.g), np.array(henon.state.mu), 0.1

    def force(q):
        x, y = q
        return np.array([-x - 2 * x * y, -y - x**2 + y**2])

    for _ in range(10):
        p = p + 0.5 * h * force(q)
        q = q + h * p
        p = p + 0.5 * h * force(q)
    end = march(henon.system, nd.Variational(), henon.state, dt=h, steps=10)
    np.testing.assert_allclose(end.g, q, atol=1e-15)
    np.testing.assert_allclose(end.mu, p, atol=1e-15)


@pytest.mark.parametrize("name", ["heavy-top", "body-in-potential"])
def test_adjoint_discrete_lagrangian_inverts_the_step_by_minus_h(name):
    problem, method = PROBLEMS[name], nd.Variational(nd.Cayley(), nd.Left())
    there = march(problem.system, nd.Adjoint(method), problem.state, dt=0.1, steps=1, t0=0.2)
    back = march(problem.system, method, there, dt=-0.1, steps=1, t0=0.3)
    for one, other in zip(jax.tree.leaves(back), jax.tree.leaves(problem.state), strict=True):
        np.testing.assert_allclose(one, other, atol=3e-15)


def test_adjoint_of_left_is_right_where_the_lagrangian_separates():
    problem = PROBLEMS["heavy-top"]
    adjoint = march(problem.system, nd.Adjoint(nd.Variational(nd.Cayley(), nd.Left())), problem.state, dt=0.1, steps=5)
    right = march(problem.system, nd.Variational(nd.Cayley(), nd.Right()), problem.state, dt=0.1, steps=5)
    np.testing.assert_allclose(adjoint.mu, right.mu, atol=1e-14)


@pytest.mark.parametrize("rule", [nd.Left(), nd.Right(), nd.Trapezoid(), nd.Midpoint()], ids=lambda r: type(r).__name__)
def test_work_of_a_constant_force_in_space_changes_the_momentum_by_exactly_its_impulse(rule):
    class Pushed(nd.LagrangianSystem):
        K: Any
        group = nd.SE3()

        def lagrangian(self, g, xi, t):
            return 0.5 * xi @ (self.K * xi)

        def force(self, g, xi, t):
            return jnp.concatenate([jnp.zeros(3), g.R.T @ jnp.array([0.3, -0.2, 0.5])])

    system = Pushed(np.array([1.0, 2.0, 3.0, 1.5, 1.5, 1.5]))
    state = system.state(Omega=(0.3, 0.2, 0.4), v=(0.1, 0.0, 0.2))
    end = march(system, nd.Variational(nd.Cayley(), rule), state, dt=0.1, steps=20)
    gained = system.momentum(end)[3:] - system.momentum(state)[3:]
    np.testing.assert_allclose(gained, 2.0 * np.array([0.3, -0.2, 0.5]), atol=1e-14)


class TwoBodies(nd.EulerPoincareSystem):
    """Two free bodies that know nothing of each other."""

    group = nd.Product(R1=nd.SO3(), R2=nd.SO3())

    def reduced_lagrangian(self, xi):
        return 0.5 * xi @ (jnp.array([1.0, 2.0, 3.0, 1.0, 2.0, 3.0]) * xi)


def test_each_factor_moves_by_its_own_retraction():
    two = TwoBodies()
    method = nd.Variational(nd.PerFactor(R1=nd.Cayley(), R2=nd.Exponential()))
    end = march(two, method, two.state(mu=(0.7, 0.8, -1.5, 0.7, 0.8, -1.5)), dt=0.01, steps=1000)
    np.testing.assert_allclose(end.mu[:3], (-0.6017715025617, 1.0730676874051, -1.3661613363552), atol=6e-14)
    np.testing.assert_allclose(end.mu[3:], (-0.6016783795649, 1.0732796386425, -1.3660358504957), atol=6e-14)


@pytest.mark.parametrize("rule", [nd.Left(), nd.Midpoint()], ids=lambda rule: type(rule).__name__)
def test_velocity_and_energy_of_a_step(rule):
    """`first_step` undoes `step_velocity`; the discrete energy is the energy of the step's velocity where ell is."""
    problem, h, t, tau = PROBLEMS["heavy-top"], 0.1, 0.3, nd.Cayley()
    system, group, method, g = problem.system, problem.system.group, nd.Variational(tau, rule), problem.state.g

    @jax.jit
    def measured(state):
        xi = method.step_velocity(system, state, t, h)
        return xi, method.first_step(system, state.g, xi, t, h).mu, method.discrete_energy(system, state, t, h)

    xi, mu, energy = measured(problem.state)
    np.testing.assert_allclose(mu, problem.state.mu, rtol=0, atol=4e-15)
    after = march(system, method, problem.state, dt=h, steps=1, t0=t)
    np.testing.assert_allclose(after.g, g @ tau.tau(group, h * xi), rtol=0, atol=1e-15)
    at = g @ tau.tau(group, tau.half(group, h * xi)) if isinstance(rule, nd.Midpoint) else g
    assert energy == pytest.approx(float(0.5 * xi @ system.J @ xi + system.mgl * at[2, 2]), abs=1e-14)


class PushedBody(nd.EulerPoincareSystem):
    """A free body on which a moment acts: forces are as accurate as the rule that takes them."""

    group = nd.SO3()

    def reduced_lagrangian(self, xi):
        return 0.5 * xi @ (jnp.array([1.0, 2.0, 2.5]) * xi)

    def force(self, g, xi, t):
        return jnp.array([0.3, -0.2, 0.5]) * jnp.cos(t)


def test_forces_take_part_in_the_order():
    pushed, free = PushedBody(), nd.models.RigidBody((1.0, 2.0, 2.5))
    for method in (nd.Variational(nd.Cayley(), nd.Left()), nd.VPRK("symplectic-euler-a")):
        assert (method.order(free), method.symmetric(free)) == (2, True)
        assert (method.order(pushed), method.symmetric(pushed)) == (1, False)
    state = pushed.state(Omega=(0.4, 0.3, -0.5))
    found = nd.diagnostics.convergence(
        pushed, nd.Variational(nd.Cayley(), nd.Left()), state, t1=1.0, steps=(20, 40, 80)
    )
    assert found.order == pytest.approx(1.0, abs=0.2)
