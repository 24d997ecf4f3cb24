"""Variational partitioned Runge-Kutta methods: the stage equations by other routes, identities, known numbers."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.optimize import root

import naiad as nd
from naiad.diagnostics import convergence, march
from naiad.integrators import check_method
from naiad.mechanics import left_gradient
from tests.verification.problems import PROBLEMS

BODY = nd.models.RigidBody((1.0, 2.0, 3.0))
START = BODY.state(Pi=(0.7, 0.8, -1.5))
CAY, EXP = nd.Cayley(), nd.Exponential()


@pytest.fixture(autouse=True)
def _double():
    with jax.enable_x64(True):
        yield


def one_step(system, method, state, h, t=0.0):
    """The state after a step, and the slopes of its stages."""
    step = jax.jit(lambda state: method.step(system, method.init(system, state, t, h), t, h))
    carry = step(state)
    return carry.state, carry.memory[0].reshape(-1, system.group.dim)


def test_rigid_body_reaches_the_known_momentum():
    end = march(BODY, nd.VPRK("gauss2", CAY), START, dt=0.1, steps=20)
    np.testing.assert_allclose(end.mu, (0.6893515477001, -0.8361685141864, -1.4851318660532), rtol=0, atol=6e-14)


@pytest.mark.parametrize("tau", [CAY, EXP], ids=lambda tau: type(tau).__name__)
def test_step_solves_the_reduced_equations_with_multipliers_of_the_stages(tau):
    """[bourabee2007, eq. (7.1.2)], mended: Psi_i = h (d/dTheta dtau^-1_{-Theta} Xi_i)* w_i, w_i = sum_j a_ji Psi_j +
    b_i mu, and b_i ell'(Xi_i) = (dtau^-1_{-Theta_i})* w_i; all unknowns kept, by SciPy's solver."""
    h, group, J = 0.3, BODY.group, jnp.asarray(BODY.J)
    method = nd.VPRK("gauss2", tau)
    a, b, _ = (np.asarray(part) for part in method.tableau)

    def slope(Theta, Xi):
        return tau.dtau_inv(group, -Theta, Xi)

    @jax.jit
    def residual(unknowns):
        Xi, Theta, Psi, (mu, x) = unknowns.reshape(4, 2, 3)
        K = jax.vmap(slope)(Theta, Xi)
        weighted = a.T @ Psi + b[:, None] * mu
        back = jax.vmap(lambda Theta, Xi, w: jax.vjp(slope, Theta, Xi)[1](w))(Theta, Xi, weighted)
        rows = [Theta - h * a @ K, Psi - h * back[0], b[:, None] * (Xi @ J) - back[1]]
        ends = jnp.stack([x - h * b @ K, tau.dtau_inv_dual(group, x, mu) - START.mu])
        return jnp.concatenate([*rows, ends]).reshape(-1)

    Omega = np.linalg.solve(BODY.J, START.mu)
    guess = np.stack([[Omega, Omega], np.outer(method.tableau.c, h * Omega), np.zeros((2, 3)), [START.mu, h * Omega]])
    found = root(residual, guess.ravel(), jac=jax.jit(jax.jacfwd(residual)), tol=1e-15).x.reshape(4, 2, 3)
    assert np.max(np.abs(residual(found.ravel()))) < 1e-14
    mu, x = found[3]
    end, _ = one_step(BODY, method, START, h)
    np.testing.assert_allclose(end.mu, tau.dtau_inv_dual(group, -x, mu), rtol=0, atol=2e-14)
    np.testing.assert_allclose(end.g, tau.tau(group, x), rtol=0, atol=1e-14)


@pytest.mark.parametrize(
    ("name", "tableau", "tau"),
    [("heavy-top", "gauss2", CAY), ("heavy-top", "radau2-ia", nd.Skew()), ("planar-body", "lobatto3", EXP)],
    ids=lambda part: part if isinstance(part, str) else type(part).__name__,
)
def test_momenta_are_the_derivatives_of_the_action_in_its_end_points(name, tableau, tau):
    """mu_k = -D_1 and mu_{k+1} = D_2 of the action, extremal over the slopes; all slopes move alike with the end
    points, as any variation will do."""
    problem, h, t = PROBLEMS[name], 0.1, 0.3
    system, group, method = problem.system, problem.system.group, nd.VPRK(tableau, tau)
    a, b, c = (np.asarray(part) for part in method.tableau)
    after, found = one_step(system, method, problem.state, h, t)

    def action(g0, g1):
        x = tau.inverse(group, group.compose(group.inverse(g0), g1))
        K = found + x / h - b @ found
        total = jnp.zeros(())
        for i in range(len(b)):
            Theta = h * a[i] @ K
            point = group.compose(g0, tau.tau(group, Theta))
            total += h * b[i] * system.lagrangian(point, tau.dtau(group, -Theta, K[i]), t + c[i] * h)
        return total

    minus = -jax.jit(lambda g: left_gradient(group, lambda g: action(g, after.g), g))(problem.state.g)
    plus = jax.jit(lambda g: left_gradient(group, lambda g: action(problem.state.g, g), g))(after.g)
    np.testing.assert_allclose(minus, problem.state.mu, rtol=0, atol=3e-13)
    np.testing.assert_allclose(plus, after.mu, rtol=0, atol=3e-13)


class Polar(nd.LagrangianSystem):
    """Kepler's problem in polar coordinates: the kinetic energy depends on q."""

    group = nd.Rn(2)

    def lagrangian(self, q, v, t):
        return 0.5 * (v[0] ** 2 + (q[0] * v[1]) ** 2) + 1.0 / q[0]


@pytest.mark.parametrize("tableau", ["gauss3", "lobatto3", "radau2-iia", "symplectic-euler-b"])
def test_step_on_a_vector_space_is_the_partitioned_method(tableau):
    """[bourabee2007, eq. (2.5.1)], with a^ for the momenta of the stages."""
    system, h = Polar(), 0.2
    state, method = system.state(q=(1.1, 0.3), v=(0.2, 0.8)), nd.VPRK(tableau)
    end, V = one_step(system, method, state, h)
    a, b, _ = (np.asarray(part) for part in method.tableau)
    Q = state.g + h * a @ V
    F = jax.vmap(lambda q, v: jax.grad(system.lagrangian)(q, v, 0.0))(Q, V)
    P = jax.vmap(system.legendre)(Q, V)
    np.testing.assert_allclose(P, state.mu + h * np.asarray(method.tableau.a_hat) @ F, rtol=0, atol=2e-15)
    np.testing.assert_allclose(end.g, state.g + h * b @ V, rtol=0, atol=1e-15)
    np.testing.assert_allclose(end.mu, state.mu + h * b @ F, rtol=0, atol=1e-15)


@pytest.mark.parametrize(
    ("name", "tableau", "tau", "rule"),
    [
        ("free-body", "gauss1", EXP, None),
        ("heavy-top", "gauss1", EXP, nd.Midpoint()),
        ("heavy-top", "symplectic-euler-a", CAY, nd.Left()),
        ("heavy-top", "symplectic-euler-b", EXP, nd.Right()),
        ("henon-heiles", "stormer-verlet", CAY, nd.Trapezoid()),
        ("henon-heiles", "gauss1", CAY, nd.Midpoint()),
    ],
    ids=lambda part: part if isinstance(part, str) else type(part).__name__,
)
def test_one_stage_is_a_quadrature_of_the_variational_integrator(name, tableau, tau, rule):
    problem = PROBLEMS[name]
    one = march(problem.system, nd.VPRK(tableau, tau), problem.state, dt=0.1, steps=10)
    other = march(problem.system, nd.Variational(tau, rule), problem.state, dt=0.1, steps=10)
    for mine, its in zip(jax.tree.leaves(one), jax.tree.leaves(other), strict=True):
        np.testing.assert_allclose(mine, its, rtol=0, atol=1e-14)


def test_gauss1_with_cayley_is_not_the_cayley_integrator():
    """There the stage velocity is K / (1 + |h K|^2 / 16), not K."""
    end, K = one_step(BODY, nd.VPRK("gauss1", CAY), START, 0.1)
    other = march(BODY, nd.Variational(CAY), START, dt=0.1, steps=1)
    assert np.max(np.abs(end.mu - other.mu)) > 1e-5
    scaled = K[0] / (1.0 + 0.01 * K[0] @ K[0] / 16.0)
    np.testing.assert_allclose(CAY.dtau(BODY.group, -0.05 * K[0], K[0]), scaled, rtol=0, atol=1e-16)


def test_momentum_is_exact_whatever_the_solver_leaves():
    crude = nd.VPRK("gauss2", newton=nd.Newton(max_iterations=1))
    step = jax.jit(lambda carry: crude.step(BODY, carry, jnp.zeros(()), jnp.asarray(0.3)))
    carry = crude.init(BODY, START, jnp.zeros(()), jnp.asarray(0.3))
    for _ in range(20):
        carry = step(carry)
    assert float(crude.info(carry).residual) > 1e-11
    np.testing.assert_allclose(BODY.momentum(carry.state), START.mu, atol=1e-14)


class Pushed(nd.LagrangianSystem):
    """A body on SE(2) under a constant force in space."""

    group = nd.SE2()

    def lagrangian(self, g, xi, t):
        return 0.5 * xi @ (jnp.array([1.0, 2.0, 3.0]) * xi)

    def force(self, g, xi, t):
        c, s = jnp.cos(g.beta), jnp.sin(g.beta)
        return jnp.stack([0.0 * c, 0.3 * c - 0.2 * s, -0.3 * s - 0.2 * c])


def test_work_of_a_constant_force_in_space_changes_the_momentum_by_exactly_its_impulse():
    system = Pushed()
    state = system.state(beta=0.4, Omega=0.7, v=(0.1, 0.2))
    end = march(system, nd.VPRK("lobatto2"), state, dt=0.1, steps=20)
    gained = system.momentum(end)[1:] - system.momentum(state)[1:]
    np.testing.assert_allclose(gained, 2.0 * np.array([0.3, -0.2]), rtol=0, atol=1e-14)


@pytest.mark.parametrize(
    ("name", "tableau", "steps", "order"),
    [
        ("free-body", "gauss3", (4, 8, 16), 6),
        ("henon-heiles", "gauss3", (8, 16, 32), 6),
        ("henon-heiles", "lobatto2", (20, 40, 80), 2),
        ("henon-heiles", "radau3-iia", (8, 16, 32), 5),
        ("henon-heiles", "radau2-ia", (16, 32, 64), 3),
    ],
)
def test_order(name, tableau, steps, order):
    """Beside those of the verification; with the exponential."""
    problem, method = PROBLEMS[name], nd.VPRK(tableau, EXP)
    assert method.order(problem.system) == order
    measured = convergence(problem.system, method, problem.state, t1=problem.t1, steps=steps)
    assert measured.order == pytest.approx(order, abs=0.15), measured


def test_own_coefficients_are_taken():
    named = march(BODY, nd.VPRK("gauss1"), START, dt=0.1, steps=5)
    own = march(BODY, nd.VPRK(([[0.5]], [1.0])), START, dt=0.1, steps=5)
    np.testing.assert_array_equal(named.mu, own.mu)
    assert nd.VPRK(([[0.5]], [1.0])) == nd.VPRK("gauss1")


@pytest.mark.parametrize(("tableau", "complaint"), [("gauss9", "gauss3"), (3, "neither"), (([[1]], [2]), "sum to 2")])
def test_bad_tableaux_are_refused(tableau, complaint):
    with pytest.raises(nd.InputError, match=complaint):
        nd.VPRK(tableau)


class OnCircle(nd.LagrangianSystem):
    group = nd.Rn(2)

    def lagrangian(self, q, v, t):
        return 0.5 * v @ v

    def constraint(self, q, t):
        return q @ q - 1.0


def test_constraints_are_refused():
    with pytest.raises(nd.InputError, match="OnCircle has a constraint, which VPRK does not honour"):
        check_method(nd.VPRK(), OnCircle())
