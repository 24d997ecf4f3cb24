"""Connected bodies against the printed equations, relative coordinates, and limits that are known otherwise."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.integrate import solve_ivp

import naiad as nd
from naiad.compiler import execute
from naiad.models import ConnectedBodies, Weight
from naiad.studies.trees.three_ellipsoids import OMEGA, XDOT, three_ellipsoids
from naiad.trees import Tree, TreeRule
from tests.trees.relative_bodies import RelativeBodies

CAYLEY = nd.Cayley()
LAGRANGIANS = {
    "lgvi": TreeRule(nd.Left(), correction=True),
    "trapezoid": TreeRule(nd.Trapezoid(), correction=True),
    "midpoint": TreeRule(nd.Midpoint()),
}


def turned(bodies: ConnectedBodies, seed: int) -> nd.State:
    """A state with random attitudes and velocities, as arrays."""
    rng = np.random.default_rng(seed)
    R = np.stack([nd.SO3().random(rng) for _ in range(bodies.tree.count)])
    return bodies.replaced(overlap=True).state(
        R=R, x=rng.standard_normal(3), R_Omega=rng.standard_normal((bodies.tree.count, 3)), x_v=rng.standard_normal(3)
    )


def skew(w: np.ndarray) -> np.ndarray:
    """The matrix of w x, or those of rows of vectors."""
    return np.cross(np.asarray(w)[..., None, :], -np.eye(3))


def printed_inertia(bodies: ConnectedBodies, R: np.ndarray) -> np.ndarray:
    """The matrix (5) of the paper, in the order (Omega0, x', Omega1, Omega2)."""
    tree = bodies.tree
    D = {i: skew(tree.other[i]) for i in (1, 2)}
    E = {i: skew(tree.own[i]) for i in (1, 2)}
    S = {i: R[i] @ tree.M[i] @ R[i].T for i in (0, 1, 2)}
    A = np.zeros((12, 12))
    A[:3, :3] = tree.J[0] - sum(D[i] @ R[0].T @ S[i] @ R[0] @ D[i] for i in (1, 2))
    A[:3, 3:6] = sum(D[i] @ R[0].T @ S[i] for i in (1, 2))
    A[3:6, 3:6] = S[0] + S[1] + S[2]
    for i, rows in ((1, slice(6, 9)), (2, slice(9, 12))):
        A[:3, rows] = D[i] @ R[0].T @ R[i] @ tree.M[i] @ E[i]
        A[3:6, rows] = R[i] @ tree.M[i] @ E[i]
        A[rows, rows] = tree.J[i] - E[i] @ tree.M[i] @ E[i]
    return np.triu(A) + np.triu(A, 1).T


PLACES = np.r_[0:3, 9:12, 3:9]  # from our order (Omega0, Omega1, Omega2, x') to the paper's


def test_legendre_is_the_printed_inertia():
    bodies = three_ellipsoids()
    state = turned(bodies, 1)
    inertia = nd.double(jax.jacfwd(lambda xi: bodies.legendre(state.g, xi)))(np.zeros(12))
    expected = printed_inertia(bodies, np.asarray(state.g.R))
    np.testing.assert_allclose(np.asarray(inertia)[np.ix_(PLACES, PLACES)], expected, atol=1e-12)


def printed_rates(bodies: ConnectedBodies, R: np.ndarray, p: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The velocities (Omega0, x', Omega1, Omega2) and the rates of their momenta by (25)-(28), as printed."""
    tree, xi = bodies.tree, np.linalg.solve(printed_inertia(bodies, R), p)
    Omega, v, spins = (xi[:3], xi[6:9], xi[9:]), xi[3:6], (p[:3], p[6:9], p[9:])
    V0 = R[0].T @ v
    rates = [-np.cross(Omega[0], spins[0]) - np.cross(V0, tree.M[0] @ V0), np.zeros(3)]
    for i in (1, 2):
        lever = np.cross(tree.other[i], Omega[0])
        before = R[i].T @ (v - R[0] @ lever)
        push = tree.M[i] @ (before + np.cross(tree.own[i], Omega[i]))
        rates[0] = rates[0] - np.cross(lever, R[0].T @ R[i] @ push)
        rates.append(-np.cross(Omega[i], spins[i]) + np.cross(push, before))
    return xi, np.concatenate(rates)


def _rates(bodies, state, t):
    return bodies.equations(state, t)


def test_equations_are_the_printed_ones():
    """(25)-(28)."""
    bodies = three_ellipsoids()
    state = turned(bodies, 2)
    rates = execute(_rates, bodies, state, 0.0, parameters=(0,))
    xi, change = printed_rates(bodies, np.asarray(state.g.R), np.asarray(state.mu)[PLACES])
    np.testing.assert_allclose(np.asarray(rates.xi)[PLACES], xi, atol=1e-12)
    np.testing.assert_allclose(np.asarray(rates.mu)[PLACES], change, atol=1e-12)


@pytest.mark.parametrize(("tolerance", "gain"), [(1e-3, 0.911), pytest.param(1e-6, -5.63e-4, marks=pytest.mark.long)])
def test_runge_kutta_on_the_printed_equations_gains_energy_at_a_large_tolerance(tolerance, gain):
    """SciPy's RK45 in the entries of R, with the levers constant in the bodies off the rotations too: whether the
    energy rises or falls in 100 s is a matter of the tolerance. The right side of naiad loses 2.5 J at 1e-3."""
    bodies = three_ellipsoids()
    start = bodies.state(R_Omega=OMEGA, x_v=XDOT)

    def parts(y):
        R = y[:27].reshape(3, 3, 3)
        return R, *printed_rates(bodies, R, y[30:])

    def slope(t, y):
        R, xi, change = parts(y)
        return np.concatenate([np.ravel(R @ skew([xi[:3], xi[6:9], xi[9:]])), xi[3:6], change])

    y = np.concatenate([np.ravel(start.g.R), np.zeros(3), np.asarray(start.mu)[PLACES]])
    end = solve_ivp(slope, (0.0, 100.0), y, rtol=tolerance, atol=tolerance).y[:, -1]
    energies = [0.5 * y[30:] @ parts(y)[1] for y in (y, end)]
    assert energies[0] == pytest.approx(9.203817003436, abs=1e-12)
    assert energies[1] - energies[0] == pytest.approx(gain, rel=0.02)


def _legs(bodies, g, xi, h):
    legs = nd.Variational(CAYLEY, LAGRANGIANS["lgvi"]).legs(bodies, g, xi, 0.0, h)
    increment = CAYLEY.increment(bodies.group, h * xi)
    return legs.mu_minus, bodies.group.Ad_dual_advance(increment, legs.mu_minus + legs.minus)


def test_legs_are_the_printed_discrete_equations():
    """(48)-(50) without the stray 1/h of (49), and (54)-(56); every piece written out with F."""
    bodies, h = three_ellipsoids(), 0.05
    state = turned(bodies, 3)
    xi = np.random.default_rng(4).standard_normal(12)
    minus, plus = execute(_legs, bodies, state.g, xi, h, parameters=(0,))
    tree, R = bodies.tree, np.asarray(state.g.R)
    F = np.stack([np.asarray(nd.double(CAYLEY.tau)(nd.SO3(), h * xi[3 * i : 3 * i + 3])) for i in range(3)])
    dx = h * xi[9:]
    vee = lambda X: 0.5 * np.array([X[2, 1] - X[1, 2], X[0, 2] - X[2, 0], X[1, 0] - X[0, 1]])  # noqa: E731
    half = lambda J: 0.5 * np.trace(J) * np.eye(3) - J  # noqa: E731
    B = {i: dx + R[0] @ (F[0] - np.eye(3)) @ tree.other[i] for i in (1, 2)}
    A = {i: R[i] @ tree.M[i] @ (R[i].T @ B[i] - (F[i] - np.eye(3)) @ tree.own[i]) for i in (1, 2)}
    Jd = half(tree.J[0])
    y = R[0].T @ dx
    p0 = 2 * vee(F[0] @ Jd) - np.cross(tree.M[0] @ y, y) + sum(np.cross(tree.other[i], R[0].T @ A[i]) for i in (1, 2))
    end = 2 * vee(Jd @ F[0]) + sum(np.cross(tree.other[i], (R[0] @ F[0]).T @ A[i]) for i in (1, 2))
    np.testing.assert_allclose(h * minus[:3], p0, atol=1e-12)
    np.testing.assert_allclose(h * plus[:3], end, atol=1e-12)
    for i in (1, 2):
        a = tree.own[i]
        J = half(tree.J[i] - skew(a) @ tree.M[i] @ skew(a))
        seen = tree.M[i] @ R[i].T @ B[i]
        start = 2 * vee(F[i] @ J) - np.cross(F[i] @ a, seen) - R[i].T @ np.cross(A[i], B[i])
        np.testing.assert_allclose(h * minus[3 * i : 3 * i + 3], start, atol=1e-12)
        np.testing.assert_allclose(
            h * plus[3 * i : 3 * i + 3], 2 * vee(J @ F[i]) - np.cross(a, F[i].T @ seen), atol=1e-12
        )
    np.testing.assert_allclose(h * minus[9:], R[0] @ tree.M[0] @ y + A[1] + A[2], atol=1e-12)


def small_tree(joints, root, seed=5):
    """Two or three bodies with full inertias, joints anywhere, attitudes at rest anyhow."""
    rng = np.random.default_rng(seed)
    count = 2 if isinstance(joints, str) else 1 + len(joints)
    L = rng.standard_normal((2, count, 3, 3))
    J, M = 0.3 * L @ L.swapaxes(-1, -2) + np.eye(3)
    own, other = rng.standard_normal((2, count, 3))
    if root == "free":
        own[0] = other[0] = 0.0
    rest = np.stack([np.eye(3), *(nd.SO3().random(rng) for _ in range(count - 1))])
    chain = tuple(range(-1, count - 1))
    return Tree(chain, J, M, own=own, other=other, joints=joints, root=root, axis=(0.6, 0.0, 0.8), rest=rest)


def joint_start(bodies):
    count = bodies.tree.count
    turns = np.array([[0.3, -0.2, 0.5], [0.2, 0.4, -0.3], [0.1, 0.2, 0.3]])[:count]
    rates = np.array([[0.5, 0.1, -0.4], [-0.3, 0.6, 0.2], [0.4, -0.1, 0.3]])[:count]
    for i, kind in enumerate(bodies.tree.joints):
        if kind == "hinge":
            turns[i], rates[i] = 0.4 * bodies.tree.axis[i], 0.7 * bodies.tree.axis[i]
    return bodies.joint_state(turns, rates, v=(0.1, 0.2, -0.3))


def swing(g, xi, t):
    return 0.3 * jnp.sin(2.0 * t + jnp.arange(float(g.R.size // 3)).reshape(-1, 3))


CASES = [
    ("hinge", "pinned", "midpoint"),
    ("hinge", "free", "trapezoid"),
    (("ball", "ball"), "free", "lgvi"),
    (("ball", "hinge"), "free", "midpoint"),
]


@pytest.mark.long
@pytest.mark.parametrize(("joints", "root", "scheme"), CASES)
def test_relative_attitudes_give_the_same_motion(joints, root, scheme):
    """The same discrete Lagrangian in relative attitudes, hinges as angles: the same steps, to round-off, without
    multipliers."""
    weight = Weight((0.1, 0.3, -1.0), 0.7, 0.3, (0.0, 0.0, 0.1))
    bodies = ConnectedBodies(small_tree(joints, root), weight=weight, stiffness=2.0, torque=swing)
    state = joint_start(bodies)
    rule = LAGRANGIANS[scheme]
    relative = RelativeBodies(bodies, rule)
    run = nd.simulate(bodies, state, t1=0.4, dt=0.04, method=nd.Variational(CAYLEY, rule))
    other = nd.simulate(relative, relative.from_absolute(state), t1=0.4, dt=0.04, method=nd.Variational(CAYLEY))
    assert not run.outcome.failed
    assert not other.outcome.failed
    end = jax.tree.map(np.asarray, nd.double(jax.jit(relative.absolute))(other.final.g))
    for mine, its in zip(run.final.g, end, strict=True):
        np.testing.assert_allclose(mine, its, rtol=0, atol=5e-14)


def _change(bodies, state, t):
    """The velocity, and the rates of the energy and of both momenta along the continuous motion."""
    rates = bodies.equations(state, t)
    moving = nd.State(bodies.group.tangent(state.g, rates.xi), rates.mu)
    watched = (
        lambda s: bodies.energy(s, t),
        lambda s: bodies.tree.angular_momentum(s.g, s.mu),
        lambda s: bodies.tree.linear_momentum(s.g, s.mu),
    )
    return rates.xi, *(jax.jvp(f, (state,), (moving,))[1] for f in watched)


def test_energy_is_the_work_of_torques_and_dampers():
    """dE/dt = sum tau . w - w . C w, w the relative angular velocities, along the continuous motion; and the total
    momenta do not feel what acts inside."""
    bodies = ConnectedBodies(small_tree("ball", "free"), stiffness=2.0, damping=[(0.2, 0.3, 0.4)], torque=swing)
    state, t = joint_start(bodies), 0.3
    xi, power, *changes = execute(_change, bodies, state, t, parameters=(0,))
    R, Omega = np.asarray(state.g.R), xi[:6].reshape(2, 3)
    w = Omega[1] - R[1].T @ R[0] @ Omega[0]
    tau = np.asarray(nd.double(swing)(state.g, xi, t))[1]
    assert float(power) == pytest.approx(tau @ w - w @ (np.array([0.2, 0.3, 0.4]) * w), abs=1e-13)
    np.testing.assert_allclose(changes, 0.0, atol=1e-13)


@pytest.mark.long
def test_forced_hinged_tree_is_second_order():
    """All at once: hinge, spring, damper, torque, weight, pinned root, against DOP853."""
    weight = Weight((0.1, 0.3, -1.0), 1.0, 0.3, (0.0, 0.0, 0.1))
    tree = small_tree("hinge", "pinned")
    bodies = ConnectedBodies(tree, weight=weight, stiffness=1.0, damping=0.2, torque=swing)
    measured = nd.diagnostics.convergence(
        bodies, nd.Variational(CAYLEY, LAGRANGIANS["midpoint"]), joint_start(bodies), t1=0.5, steps=(20, 40, 80)
    )
    assert measured.order == pytest.approx(2.0, abs=0.1), measured


@pytest.mark.long
def test_the_rule_of_the_method_decides():
    """The general integrator and the sweeps take the same step by a rule, another by another; the model has none."""
    bodies = ConnectedBodies(small_tree("ball", "free"), stiffness=2.0)
    state = joint_start(bodies)

    def end(method):
        return nd.simulate(bodies, state, t1=0.06, dt=0.02, method=method).final

    sweeps = end(nd.TreeVariational(nd.Midpoint()))
    np.testing.assert_allclose(end(nd.Variational(CAYLEY, nd.Midpoint())).mu, sweeps.mu, rtol=0, atol=1e-13)
    assert np.abs(end(nd.TreeVariational()).mu - sweeps.mu).max() > 1e-7
    with pytest.raises(nd.InputError, match="unexpected keyword argument 'scheme'"):
        ConnectedBodies(bodies.tree, scheme="midpoint")


def test_one_pinned_body_is_the_heavy_top():
    """A body that hangs on a pin: the inertia about the pin is J + m (|a|^2 I - a a^T), and the weight pulls at -a."""
    J, m, a = np.diag([1.0, 1.4, 0.7]), 1.3, np.array([0.2, -0.1, -0.8])
    tree = Tree((-1,), J, m * np.eye(3), own=[a], other=[(0.0, 0.0, 0.0)], root="pinned")
    hanging = ConnectedBodies(tree, weight=Weight((0.0, 0.0, -9.81), m))

    class Top(nd.LagrangianSystem):
        group = nd.SO3()

        def lagrangian(self, g, xi, t):
            about = J + m * (a @ a * np.eye(3) - np.outer(a, a))
            return 0.5 * xi @ about @ xi + m * 9.81 * (g @ a)[2]

    R = nd.SO3().random(np.random.default_rng(6))
    ours = hanging.state(g=(R[None],), xi=(0.3, -0.2, 1.0))
    end = nd.diagnostics.reference(hanging, ours, t1=1.0)
    top = Top()
    expected = nd.diagnostics.reference(top, top.state(R=R, Omega=(0.3, -0.2, 1.0)), t1=1.0)
    np.testing.assert_allclose(end.g.R[0], expected.g, atol=1e-11)
    np.testing.assert_allclose(end.mu, expected.mu, atol=1e-11)


def test_weight_and_spring_energies():
    bodies = ConnectedBodies(
        small_tree(("ball", "ball"), "free"),
        weight=Weight((0.0, 0.0, -9.81), (1.0, 2.0, 3.0), (0.5, 0.0, 1.0), ((0, 0, 0.1), (0, 0, 0), (0.2, 0, 0))),
        stiffness=[(1.0, 2.0, 3.0)],
    )
    turn = 1e-4 * np.array([0.3, -0.5, 0.7])
    state = bodies.joint_state(np.stack([np.zeros(3), turn, turn]))
    spring = ConnectedBodies(bodies.tree, stiffness=[(1.0, 2.0, 3.0)])
    assert float(nd.double(spring.potential)(state.g, 0.0)) == pytest.approx(
        turn @ (np.array([1, 2, 3]) * turn), rel=1e-7
    )
    z = np.asarray(bodies.tree.centres(state.g))[:, 2]
    levers = [state.g.R[0][2] @ (0, 0, 0.1), 0.0, state.g.R[2][2] @ (0.2, 0, 0)]
    heights = 1.0 * z[0] + 2.0 * z[1] + 3.0 * z[2] - 0.5 * (z[0] + levers[0]) - 1.0 * (z[2] + levers[2])
    both = float(nd.double(bodies.potential)(state.g, 0.0))
    assert both - float(nd.double(spring.potential)(state.g, 0.0)) == pytest.approx(9.81 * heights, rel=1e-12)


@pytest.mark.long
def test_schemes_at_t1():
    """The exact motion at t = 1, and the digits of (30) at h = 0.001."""
    bodies = three_ellipsoids()
    state = bodies.state(R_Omega=OMEGA, x_v=XDOT)
    assert float(bodies.energy(state)) == pytest.approx(9.203817003436, abs=2e-12)
    exact = nd.diagnostics.reference(bodies, state, t1=1.0)
    np.testing.assert_allclose(exact.g.x, (-0.193141991261, -0.466734823173, -0.599769677380), atol=2e-12)
    velocity = np.asarray(bodies.velocity(exact.g, exact.mu))
    np.testing.assert_allclose(velocity[6:9], (-1.474834718367, 0.156664066862, 0.239170793863), atol=2e-11)


@pytest.mark.long
@pytest.mark.parametrize(
    ("scheme", "error", "order"), [("lgvi", 1.07e-2, 1), ("trapezoid", 6.19e-5, 2), ("midpoint", 1.04e-5, 2)]
)
def test_orders_and_errors_of_the_schemes(scheme, error, order):
    """The errors in g at t = 1 and h = 0.01, and the orders."""
    bodies = three_ellipsoids()
    state = bodies.state(R_Omega=OMEGA, x_v=XDOT)
    exact = nd.diagnostics.reference(bodies, state, t1=1.0)
    method = nd.Variational(CAYLEY, LAGRANGIANS[scheme])

    def off(dt):
        end = nd.simulate(bodies, state, t1=1.0, dt=dt, method=method, save_every=10**6).final
        return max(float(np.max(np.abs(mine - its))) for mine, its in zip(end.g, exact.g, strict=True))

    coarse, fine = off(0.01), off(0.005)
    assert np.log2(coarse / fine) == pytest.approx(order, abs=0.05)
    assert coarse == pytest.approx(error, rel=0.01)


@pytest.mark.long
def test_both_engines_give_the_same_motion():
    bodies = three_ellipsoids()
    state = bodies.state(R_Omega=OMEGA, x_v=XDOT)
    ends = [
        nd.diagnostics.march(
            bodies, nd.Variational(CAYLEY, LAGRANGIANS["trapezoid"]), state, dt=0.01, steps=20, engine=engine
        )
        for engine in ("xla", "compiled")
    ]
    for one, other in zip(*map(jax.tree.leaves, ends), strict=True):
        np.testing.assert_allclose(one, other, rtol=0, atol=1e-12)


@pytest.mark.long
def test_a_composition_of_the_symmetric_scheme_is_of_fourth_order():
    bodies = three_ellipsoids()
    state = bodies.state(R_Omega=OMEGA, x_v=XDOT)
    method = nd.Composition(nd.Variational(CAYLEY, LAGRANGIANS["midpoint"]), 4)
    measured = nd.diagnostics.convergence(bodies, method, state, t1=1.0, steps=(20, 40, 80))
    assert measured.order == pytest.approx(4.0, abs=0.15), measured
