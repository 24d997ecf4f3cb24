"""Where Newton's method has little to go by: at rest, at scales far from one, at half a turn, at steps too long.

Every run says how it ended, and what it gives is compared with the same motion in other units or seen from elsewhere.
"""

import warnings

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import naiad as nd
from naiad.trees import TreeVariational
from tests.integrators.test_constrained import Pendulum
from tests.trees.trees import HeavyBodies, random_state, random_tree
from tests.verification.problems import PROBLEMS, HeavyTop

J = np.array([[1.0, 0.1, 0.0], [0.1, 2.0, -0.2], [0.0, -0.2, 2.6]])
R = np.asarray(PROBLEMS["heavy-top"].state.g)
CHORD = nd.Newton(jacobian="inertia")


class Hanging(nd.LagrangianSystem):
    """Three masses on stiff springs, one below the other: at rest large forces cancel at each of them."""

    m: float
    k: float
    group = nd.Rn(3)

    def lagrangian(self, q, v, t):
        gaps = jnp.concatenate([q[:1], q[1:] - q[:-1]])
        return 0.5 * self.m * v @ v - 0.5 * self.k * jnp.sum((gaps - 1.0) ** 2) + 9.81 * self.m * jnp.sum(q)


class BalancedTop(nd.LagrangianSystem):
    """A body between two pulls that cancel."""

    J: np.ndarray
    group = nd.SO3()

    def lagrangian(self, R, Omega, t):
        a, b = jnp.array([0.3, 0.5, 0.7]), jnp.array([0.1, -0.4, 0.2])
        return 0.5 * Omega @ self.J @ Omega - 1e3 * jnp.sum((R @ a - a) ** 2) - 1e3 * jnp.sum((R @ b - b) ** 2)


class BalancedBodies(HeavyBodies):
    """Bodies between springs to space and weights, which cancel."""

    def potential(self, g, t):
        pulls = jnp.array([[0.3, 0.5, 0.7], [0.1, -0.4, 0.2]])
        gaps = jnp.einsum("nij,kj->nki", g.R - jnp.asarray(R), pulls)
        return 1e3 * jnp.sum(gaps**2)


def hanging():
    system = Hanging(1.0, 1e4)
    return system, np.cumsum(1.0 + np.array([3.0, 2.0, 1.0]) * 9.81 / 1e4)


METHODS = {
    "trapezoid": nd.Variational(),
    "midpoint": nd.Variational(nd.Cayley(), nd.Midpoint()),
    "chord": nd.Variational(nd.Cayley(), nd.Midpoint(), newton=CHORD),
    "vprk": nd.VPRK("gauss2"),
    "implicit-euler": nd.ImplicitEuler(),
    "adjoint": nd.Adjoint(nd.RK4("euler")),
}


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("noise", [0.0, pytest.param(1e-300, marks=pytest.mark.long), 1e-17])
def test_a_system_at_rest_under_forces_stays_there(name, noise):
    system, q = hanging()
    dt = 0.002 if name == "chord" else 0.01  # which converges at all where h^2 k/m is well below 1
    run = nd.simulate(system, system.state(q=q, p=noise * np.ones(3)), t1=1.0, dt=dt, method=METHODS[name])
    assert run.outcome is nd.Outcome.COMPLETED
    np.testing.assert_allclose(run.final.g, q, rtol=0, atol=4e-15)
    top = BalancedTop(J)
    run = nd.simulate(top, top.state(R=R, Pi=noise * np.ones(3)), t1=1.0, dt=0.01, method=METHODS[name])
    assert run.outcome is nd.Outcome.COMPLETED


class Bead(nd.LagrangianSystem):
    """A mass at the origin between springs to places far away: nothing tells how large the parts are that cancel."""

    k: float
    group = nd.Rn(3)

    def lagrangian(self, q, v, t):
        place = jnp.array([1.0, 2.0, 3.0])
        return 0.5 * v @ v - 0.5 * self.k * (jnp.sum((q - place) ** 2) + jnp.sum((q + place) ** 2))


@pytest.mark.parametrize(("name", "k"), [("midpoint", 1e4), ("vprk", 1e6)])
def test_rest_at_the_origin_is_rest_too(name, k):
    """Where |q| is 0 the level of rounding is not, and the user says it: the iterations were 17 and never ending."""
    bead = Bead(k)
    start = bead.state(q=np.zeros(3), p=1e-17 * np.array([1.0, 1.3, 0.7]))
    run = nd.simulate(bead, start, t1=0.5, dt=0.01, method=METHODS[name].replaced(newton=nd.Newton(floor=1e-10)))
    assert run.outcome is nd.Outcome.COMPLETED
    assert run.statistics["newton_iterations_max"] <= 4


class SmallHenonHeiles(nd.LagrangianSystem):
    """Henon's and Heiles' potential in lengths of the size L."""

    L: float
    group = nd.Rn(2)

    def lagrangian(self, q, v, t):
        (x, y), u = q / self.L, v / self.L
        return 0.5 * u @ u - 0.5 * (x**2 + y**2) - x**2 * y + y**3 / 3.0


def test_the_motion_does_not_depend_on_the_unit_of_length():
    """Steps so large that Newton's corrections shrink slowly at first: a level of rounding of 1 m would end them."""
    ends = []
    for L in (1.0, 1e-9, 1e-12):
        system = SmallHenonHeiles(L)
        start = system.state(q=L * np.array([0.3, 0.2]), v=L * np.array([0.2, -0.3]))
        run = nd.simulate(system, start, t1=3.9, dt=1.3, method=nd.Variational(rule=nd.Midpoint()))
        assert run.outcome is nd.Outcome.COMPLETED
        ends.append(run.final.g / L)
    np.testing.assert_allclose(ends[1:], [ends[0]] * 2, rtol=0, atol=1e-13)


@pytest.mark.parametrize("rule", [nd.Trapezoid(), nd.Midpoint()])
def test_a_tree_at_rest_under_forces_stays_there(rule):
    tree = random_tree((-1, 0), root="pinned")
    system = BalancedBodies(tree, np.zeros(2))
    start = system.state(R=np.stack([R, R]), R_Pi=1e-17 * np.ones((2, 3)))
    run = nd.simulate(system, start, t1=1.0, dt=0.01, method=TreeVariational(rule))
    assert run.outcome is nd.Outcome.COMPLETED
    np.testing.assert_allclose(run.final.g.R, start.g.R, rtol=0, atol=1e-13)


def scaled(name, s):
    """A problem whose masses, inertias and forces are s times as large: its motion is the same."""
    if name == "top":
        system = HeavyTop(J * s, 1.3 * s)
        return system, system.state(R=R, Omega=(0.5, 0.2, 1.0))
    if name == "pendulum":
        system = Pendulum(1.3 * s)
        return system, system.state(q=(0.6, 0.0, -0.8), v=(0.0, 1.0, 0.0))
    tree = random_tree((-1, 0), root="pinned")
    system = HeavyBodies(tree.replaced(J=tree.J * s, M=tree.M * s), np.array([2.0, 1.0]) * s, 0.5 * s)
    return system, random_state(system, size=0.5)


@pytest.mark.parametrize(
    ("name", "method"),
    [
        *(("top", each) for each in ("trapezoid", "adjoint")),
        *(
            pytest.param("top", each, marks=pytest.mark.long)
            for each in ("midpoint", "chord", "vprk", "implicit-euler")
        ),
        ("pendulum", "trapezoid"),
        pytest.param("tree", TreeVariational(), marks=pytest.mark.long),
    ],
    ids=str,
)
def test_masses_of_any_size_move_alike(name, method):
    """From 1e-12 to 1e12, and with steps that are long for the Newton iteration; a thousandth of a unit is rounding."""
    method = METHODS.get(method, method) if isinstance(method, str) else method
    ends = []
    for s in (1.0, 1e-12, 1e12):
        system, state = scaled(name, s)
        run = nd.simulate(system, state, t1=1.2, dt=0.1, method=method)
        assert run.outcome is nd.Outcome.COMPLETED
        ends.append((*jax.tree.leaves(run.final.g), run.final.mu / s))
    for other in ends[1:]:
        for one, two in zip(ends[0], other, strict=True):
            np.testing.assert_allclose(two, one, rtol=0, atol=2e-13)


@pytest.mark.parametrize("method", ["trapezoid", "vprk", "adjoint"])
@pytest.mark.parametrize("axis", [0, *(pytest.param(k, marks=pytest.mark.long) for k in (1, 2))])
def test_half_a_turn_is_nothing_special(method, axis):
    """A free body that starts at exactly pi about an axis moves as one that starts upright, seen from elsewhere."""
    half = 2.0 * np.outer(np.eye(3)[axis], np.eye(3)[axis]) - np.eye(3)
    body = nd.models.RigidBody(J)
    runs = [
        nd.simulate(body, body.state(R=start, Omega=(0.5, 0.2, 1.0)), t1=4.0, dt=0.1, method=METHODS[method])
        for start in (np.eye(3), half)
    ]
    np.testing.assert_allclose(runs[1].final.g, half @ runs[0].final.g, rtol=0, atol=1e-14)
    np.testing.assert_allclose(runs[1].final.mu, runs[0].final.mu, rtol=0, atol=1e-14)


@pytest.mark.parametrize("method", ["trapezoid", "midpoint", "chord", "vprk", "implicit-euler"])
@pytest.mark.parametrize("dt", [3.0, 1e6])
def test_a_step_that_is_too_long_says_so_or_solves_its_equations(method, dt):
    system = HeavyTop(J, 1.3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        run = nd.simulate(
            system, system.state(R=R, Omega=(0.5, 0.2, 1.0)), t1=8 * dt, dt=dt, method=METHODS[method], save_every=1
        )
    assert run.outcome in (nd.Outcome.COMPLETED, nd.Outcome.NEWTON_FAILED, nd.Outcome.NOT_FINITE)
    reached = np.abs(np.asarray(run.states.mu)).max() + dt * 1.3
    if run.outcome is nd.Outcome.COMPLETED:
        assert run.statistics["residual_max"] <= 1e-10 * reached
    assert np.all(np.isfinite(np.asarray(run.states.mu)))
