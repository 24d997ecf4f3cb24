"""Trees of bodies with full 6 x 6 inertias: the step, what it keeps, and other routes to the same motion."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.integrate import solve_ivp

import naiad as nd
from naiad.diagnostics import symplecticity_defect
from naiad.errors import InputError
from naiad.hydro import moved
from naiad.models import KirchhoffBody
from naiad.numerics import hat
from naiad.trees import Tree, TreeRule, TreeVariational
from naiad.trees.balance import balanced
from naiad.trees.rules import Turned, body_rule
from tests.trees.test_step import equations_of_a_step
from tests.trees.trees import FIVE, RULES, Bodies, HeavyBodies, Written, coupled_tree, random_state


@pytest.mark.parametrize(
    ("rule", "correction"),
    [
        pytest.param(nd.Left(), False, marks=pytest.mark.long),
        pytest.param(nd.Trapezoid(), True, marks=pytest.mark.long),
        (nd.Trapezoid(), False),
        pytest.param(nd.Midpoint(), False, marks=pytest.mark.long),
    ],
)
def test_steps_satisfy_the_equations_of_the_discrete_lagrangian(rule, correction):
    system = Bodies(coupled_tree(FIVE))
    minus, plus, states = equations_of_a_step(system, rule, correction, random_state(system, size=0.5))
    scale = np.abs(states.mu).max()
    assert np.abs(minus).max() < 2e-14 * scale
    assert np.abs(plus).max() < 2e-14 * scale


@pytest.mark.parametrize("rule", [nd.Left(), nd.Trapezoid(), nd.Midpoint()])
def test_the_blocks_are_the_derivatives_of_the_momenta(rule):
    rng = np.random.default_rng(5)
    S, J, D = (A + A.T for A in rng.normal(size=(3, 3, 3)))
    C, u, a = 0.3 * rng.normal(size=(3, 3))
    body = body_rule("test", rule, correction=False)
    with jax.enable_x64(True):
        at = Turned(*map(jnp.asarray, (S, J, D, a, C, np.zeros(3), u)), jnp.asarray(2.0))

        def momenta(du, w):
            turned = C + 0.5 * (w - jnp.cross(C, w) + C * (C @ w))
            return body.momenta(at._replace(C=turned, u=u + du))

        zero = jnp.zeros(3)
        by_u, by_w = jax.jacfwd(momenta, (0, 1))(zero, zero).P, jax.jacfwd(momenta, (0, 1))(zero, zero).ell
        found = body.blocks(at)
    for block, expected in zip(found, (*by_u, *by_w), strict=True):
        np.testing.assert_allclose(block, expected, atol=1e-13)


@pytest.mark.parametrize(("size", "kept"), [(1e-12, True), (1e-14, False), (0.0, False)])
def test_couplings_are_left_out_only_where_they_are_rounding(size, kept):
    J, M, D = (
        np.diag([1.0, 2.0, 2.5]),
        np.diag([4.0, 5.0, 6.0]),
        np.array([[1.0, 2.0, 0.0], [2.0, 3.0, 1.0], [0, 1.0, 4]]),
    )
    D = size * np.sqrt(np.trace(J) * np.trace(M)) * D
    found = balanced(np.block([[J, D], [D.T, M]])[None])
    np.testing.assert_allclose(found.J[0], J, atol=1e-15)
    assert (found.D is not None) is kept
    if kept:
        np.testing.assert_allclose(found.D[0], D, rtol=1e-10)


@pytest.mark.long
@pytest.mark.parametrize(("rule", "correction"), RULES)
def test_the_action_for_the_general_integrator_is_that_of_the_definition(rule, correction):
    system = HeavyBodies(coupled_tree(FIVE), np.arange(1.0, 6.0), 0.5)
    state = random_state(system)
    with jax.enable_x64(True):
        xi, g = jnp.cos(jnp.arange(system.group.dim * 1.0)), jax.tree.map(jnp.asarray, state.g)
        ours = TreeRule(rule, correction).action(system, nd.Cayley(), g, xi, 0.3, 0.2)
        expected = Written(system.tree, system, rule, correction).discrete_lagrangian(g, xi, 0.3, 0.2, nd.Cayley())
    assert float(ours) == pytest.approx(float(expected), rel=1e-12)


@pytest.mark.long
def test_the_velocity_of_a_momentum_inverts_the_derivative_of_the_energy():
    system = Bodies(coupled_tree(FIVE))
    state = random_state(system)
    with jax.enable_x64(True):
        g = jax.tree.map(jnp.asarray, state.g)
        xi = system.velocity(g, jnp.asarray(state.mu))
        back = np.asarray(jax.grad(lambda xi: system.tree.kinetic_energy(g, xi))(xi))
    assert np.abs(back - state.mu).max() < 1e-12 * np.abs(state.mu).max()


def extrapolated(system, state, t1, steps):
    """The end of a run with steps of h and h/2, extrapolated, and how much of the difference is left."""
    coarse, fine = (nd.simulate(system, state, t1=t1, dt=t1 / n).final.g for n in (steps, 2 * steps))
    return jax.tree.map(lambda one, two: (4.0 * two - one) / 3.0, coarse, fine), coarse


@pytest.mark.long
def test_one_body_is_a_kirchhoff_body():
    K = np.array(coupled_inertias(1)[0])
    tree = Tree.of_inertias((-1,), K, own=[[0, 0, 0]], other=[[0, 0, 0]])
    assert tree.D is not None
    xi = np.array([0.3, -0.2, 0.5, 0.4, 0.1, -0.3])
    body = KirchhoffBody.from_matrix(K)
    exact = nd.simulate(body, body.state(xi=xi), t1=2.0, dt=0.01, method=nd.Composition(nd.Variational(), 6)).final.g
    spin, at = xi[:3], np.array(tree.at[0])
    start = Bodies(tree).state(R=np.eye(3)[None], R_Omega=spin[None], x=at, x_v=xi[3:] + np.cross(spin, at))
    ours, coarse = extrapolated(Bodies(tree), start, 2.0, 200)
    assert np.abs(coarse.R[0] - exact.R).max() > 1e-6  # a step of second order
    assert np.abs(ours.R[0] - exact.R).max() < 3e-9
    assert np.abs(ours.x - exact.R @ at - exact.x).max() < 3e-9


def coupled_inertias(count, seed=4):
    """Such as bodies of no symmetry have, about points that are no centres."""
    A = np.random.default_rng(seed).normal(size=(count, 6, 6))
    return A @ A.swapaxes(1, 2) + 2.0 * np.eye(6)


def pushed_and_held(K, own, other, axis, t1, start):
    """Three bodies in a chain, a ball joint and a hinge, by the Newton-Euler equations of each body in its given frame
    and forces that hold the joints: R, x of each, by an explicit method of order 8."""

    def joints(R, x):
        points = [x[i - 1] + R[i - 1] @ other[i] - x[i] - R[i] @ own[i] for i in (1, 2)]
        return jnp.concatenate([*points, jnp.cross(R[1] @ axis, R[2] @ axis)])

    def moved_by(R, x, xi):
        return jnp.stack([R[i] @ hat(xi[i, :3]) for i in range(3)]), jnp.einsum("nij,nj->ni", R, xi[:, 3:])

    @jax.jit
    def rates(y):
        R, x, xi = y[:27].reshape(3, 3, 3), y[27:36].reshape(3, 3), y[36:].reshape(3, 6)

        def held(R, x, xi):
            return jax.jvp(joints, (R, x), moved_by(R, x, xi))[1]

        A = jax.jacobian(lambda xi: held(R, x, xi))(xi).reshape(-1, 18)
        _, bent = jax.jvp(lambda R, x: held(R, x, xi), (R, x), moved_by(R, x, xi))
        mu = jnp.einsum("nij,nj->ni", K, xi)
        turn = jnp.cross(mu[:, :3], xi[:, :3]) + jnp.cross(mu[:, 3:], xi[:, 3:])
        right = jnp.concatenate([turn, jnp.cross(mu[:, 3:], xi[:, :3])], axis=1).reshape(-1)
        inverse = jax.scipy.linalg.block_diag(*jnp.linalg.inv(K))
        free = inverse @ right
        force = jnp.linalg.lstsq(A @ inverse @ A.T, -bent - A @ free)[0]  # the hinge has one row too many
        dR, dx = moved_by(R, x, xi)
        return jnp.concatenate([dR.reshape(-1), dx.reshape(-1), free + inverse @ A.T @ force])

    with jax.enable_x64(True):
        solution = solve_ivp(lambda t, y: np.asarray(rates(y)), (0.0, t1), start, "DOP853", rtol=1e-11, atol=1e-12)
    return solution.y[:27, -1].reshape(3, 3, 3), solution.y[27:36, -1].reshape(3, 3)


@pytest.mark.long
def test_a_chain_moves_as_newton_and_euler_say():
    K, axis = coupled_inertias(3), np.array([0.0, 0.6, 0.8])
    own = np.array([[0.0, 0.0, 0.0], [0.4, 0.1, -0.2], [-0.5, 0.3, 0.1]])
    other = np.array([[0.0, 0.0, 0.0], [-0.6, 0.2, 0.3], [0.5, -0.4, 0.2]])
    tree = Tree.of_inertias((-1, 0, 1), K, own=own, other=other, joints=("ball", "hinge"), axis=axis)
    system = nd.models.ConnectedBodies(tree)
    turns, rates = (np.array([[0.1, 0.3, -0.2], [0.5, -0.4, 0.3], k * axis]) for k in (0.7, -0.9))
    state = system.joint_state(turns, rates, v=(0.3, -0.1, 0.2))
    with jax.enable_x64(True):
        R, x = np.asarray(state.g.R), np.asarray(tree.origins(state.g))
        velocity = np.asarray(system.velocity(state.g, jnp.asarray(state.mu)))
        spins = velocity[:9].reshape(3, 3)
        centres = np.asarray(tree.velocities(state.g, jnp.asarray(velocity)))
    V = np.einsum("nji,nj->ni", R, centres) - np.cross(spins, tree.at)
    start = np.concatenate([R.ravel(), x.ravel(), np.concatenate([spins, V], axis=1).ravel()])
    R1, x1 = pushed_and_held(K, own, other, axis, 1.0, start)
    ours, coarse = extrapolated(system, state, 1.0, 200)
    with jax.enable_x64(True):
        ends = np.asarray(tree.origins(ours))
    assert np.abs(coarse.R - R1).max() > 1e-6
    assert np.abs(ours.R - R1).max() < 2e-8
    assert np.abs(ends - x1).max() < 2e-8


@pytest.mark.parametrize("rule", [nd.Trapezoid(), pytest.param(nd.Midpoint(), marks=pytest.mark.long)])
def test_momenta_are_kept_to_rounding_and_the_energy_nearly(rule):
    system = Bodies(coupled_tree(FIVE))
    state = random_state(system, size=0.2)
    run = nd.simulate(system, state, t1=20.0, dt=0.01, method=TreeVariational(rule), save_every=20)
    momentum = np.asarray(run.momentum)
    assert np.abs(momentum - momentum[0]).max() < 1e-13 * np.abs(momentum[0]).max() * 10
    assert run.statistics["newton_iterations_mean"] < 3.0  # the blocks are the derivatives
    energy = np.asarray(run.energy)
    error = np.abs(energy / energy[0] - 1.0)
    assert error.max() < 2e-3
    assert error[-20:].mean() < 3.0 * error[10:30].mean()  # it does not drift


@pytest.mark.long
def test_a_step_is_symplectic():
    system = Bodies(coupled_tree((-1, 0), seed=2))
    defect = symplecticity_defect(system, TreeVariational(newton=nd.Newton()), random_state(system, size=0.5), dt=0.05)
    assert float(defect) < 1e-11


def test_another_point_of_reference_changes_nothing():
    rng, K = np.random.default_rng(7), coupled_inertias(5)
    parents, shift = FIVE, rng.normal(size=(5, 3))
    own, other = rng.normal(size=(2, 5, 3))
    own[0] = other[0] = 0.0
    one = Tree.of_inertias(parents, K, own=own, other=other)
    elsewhere = own + shift, other + shift[np.maximum(parents, 0)]
    for ends in elsewhere:
        ends[0] = 0.0
    two = Tree.of_inertias(
        parents, [moved(k, x=x) for k, x in zip(K, shift, strict=True)], own=elsewhere[0], other=elsewhere[1]
    )
    assert np.abs(two.at - one.at - shift).max() < 1e-13
    state = random_state(Bodies(one), size=0.3)
    method = TreeVariational(nd.Trapezoid())
    ends = [
        nd.simulate(Bodies(tree), state, t1=5.0, dt=0.05, method=method, save_every=20).final for tree in (one, two)
    ]
    for first, second in zip(*map(jax.tree.leaves, ends), strict=True):
        assert np.abs(first - second).max() < 1e-11 * max(1.0, np.abs(first).max())
    assert np.abs(ends[0].g.R - state.g.R).max() > 0.3


def test_dry_bodies_have_no_coupling_about_their_centres():
    K = nd.hydro.rigid_inertia(2.0, (0.3, 0.4, 0.5), (0.1, -0.2, 0.3))
    tree = Tree.of_inertias((-1, 0), K, own=np.zeros((2, 3)), other=[[0, 0, 0], [1.0, 0, 0]])
    assert tree.D is None
    assert np.allclose(tree.at, (0.1, -0.2, 0.3))
    assert np.allclose(tree.J, np.diag([0.3, 0.4, 0.5]), atol=1e-15)
    assert np.allclose(tree.own, [[0, 0, 0], [-0.1, 0.2, -0.3]])
    assert np.allclose(tree.other, [[0, 0, 0], [0.9, 0.2, -0.3]])


def test_a_pin_stays_where_it_is_in_space():
    tree = Tree.of_inertias((-1,), coupled_inertias(1), own=[[0.1, 0.2, 0.3]], other=[[1.0, 2.0, 3.0]], root="pinned")
    assert np.allclose(tree.other, [[1.0, 2.0, 3.0]])
    assert np.allclose(tree.own + tree.at, [[0.1, 0.2, 0.3]])


@pytest.mark.parametrize(
    ("D", "says"),
    [
        (np.array([[0, 1.0, 0], [0, 0, 0], [0, 0, 0]]), "not symmetric"),
        (2.0 * np.eye(3), "not positive definite"),
        (np.ones(3), "3 x 3"),
    ],
)
def test_couplings_that_are_none_are_refused(D, says):
    with pytest.raises(InputError, match=says):
        Tree((-1,), [np.ones(3)], 1.0, D=D, own=[[0, 0, 0]], other=[[0, 0, 0]])


def test_inertias_that_are_none_are_refused():
    K = [np.eye(6), np.diag([1.0, 1.0, 1.0, 1.0, -1.0, 1.0])]
    with pytest.raises(InputError, match="K\\[1\\] is not positive definite"):
        Tree.of_inertias((-1, 0), K, own=np.zeros((2, 3)), other=np.zeros((2, 3)))
    with pytest.raises(InputError, match="6 x 6"):
        Tree.of_inertias((-1, 0), np.ones((3, 6, 6)), own=np.zeros((2, 3)), other=np.zeros((2, 3)))
