"""Advected parameters on other groups than that of turns: the plane, products, powers, and fields as parameters."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.flatten_util import ravel_pytree
from scipy.integrate import solve_ivp

import naiad as nd
from naiad.diagnostics import action_defect, bracket_matrix, march, reference
from naiad.groups.so2 import rotation
from naiad.mechanics import ReducedState, diamond, generator

E3 = np.array([0.0, 0.0, 1.0])
PAIR = nd.groups.Product(one=nd.SO3(), two=nd.SO3())


class TwoTops(nd.AdvectedSystem):
    """Two tops: each has a vertical of its own, and both share R_1^T R_2, which a spring holds: a tuple of three."""

    J: Any
    a0: Any
    spring: Any
    weights: Any
    base = PAIR

    def act_on_a(self, g, a):
        return g.one @ a[0], g.two @ a[1], g.one @ a[2] @ g.two.T

    def reduced_lagrangian(self, xi, n, nu, a, t):
        turned = 0.5 * jnp.sum(self.J * xi**2)
        return turned - self.weights[0] * a[0][2] - self.weights[1] * a[1][0] + jnp.sum(self.spring * a[2])


class OwnTops(nd.AdvectedSystem):
    """Two tops with the natural action of a product: a vector for each."""

    J: Any
    a0: Any
    base = PAIR

    def reduced_lagrangian(self, xi, n, nu, a, t):
        return 0.5 * jnp.sum(self.J * xi**2) - a[0][2] - 0.7 * a[1][0] - 0.4 * a[0] @ a[1]


class Swarm(nd.AdvectedSystem):
    """Three tops on a power of SO(3): a row for each."""

    J: Any
    a0: Any
    base = nd.groups.Power(nd.SO3(), 3)

    def reduced_lagrangian(self, xi, n, nu, a, t):
        return 0.5 * jnp.sum(self.J * xi**2) - jnp.sum(jnp.arange(1.0, 4.0) * a[:, 2]) + 0.3 * a[0] @ a[1]


class FieldPlate(nd.AdvectedSystem):
    """A plate in a potential of second degree in the place: x' A x with x = (x, y, 1), six numbers, moved by SE(2).

    Spots of its mass are at `spots` in the body."""

    K: Any
    a0: Any
    spots: Any
    base = nd.SE2()

    def act_on_a(self, g, a):
        back = nd.SE2().inverse(g)
        G = jnp.concatenate([jnp.column_stack([rotation(back.beta), back.x]), jnp.array([[0.0, 0.0, 1.0]])])
        return G.T @ a @ G

    def reduced_lagrangian(self, xi, n, nu, a, t):
        x = jnp.column_stack([self.spots, jnp.ones(len(self.spots))])
        return 0.5 * xi @ self.K @ xi - jnp.sum(x @ a * x)


class Quadrupole(nd.AdvectedSystem):
    """A body on SO(3) in a field that is a tensor: a = R^T A R."""

    J: Any
    a0: Any
    base = nd.SO3()

    def act_on_a(self, g, a):
        return g @ a @ g.T

    def reduced_lagrangian(self, xi, n, nu, a, t):
        return 0.5 * xi @ (self.J * xi) - 0.5 * jnp.sum(jnp.array([1.0, 2.0, 3.5]) * jnp.diag(a))


def cases() -> dict[str, tuple[Any, nd.State]]:
    rng = np.random.default_rng(5)
    six = np.array([1.0, 2.0, 3.0, 2.0, 1.5, 2.5])
    tops = TwoTops(six, (E3, E3, np.eye(3)), 0.4 * rng.standard_normal((3, 3)), np.array([1.3, 0.6]))
    own = OwnTops(six, (E3, np.array([0.6, 0.0, 0.8])))
    swarm = Swarm(np.array([*six, 1.0, 1.2, 1.4]), np.array([E3, [0.6, 0.0, 0.8], E3]))
    A = rng.standard_normal((3, 3))
    field = FieldPlate(np.diag([0.8, 1.0, 2.5]), 0.5 * (A + A.T), np.array([[0.5, 0.1], [-0.3, 0.2], [0.0, -0.4]]))
    tensor = Quadrupole(np.array([1.0, 2.0, 2.6]), np.array([[1.0, 0.3, 0.0], [0.3, -0.4, 0.2], [0.0, 0.2, 0.7]]))
    plate = nd.models.HeavyPlate(
        [[0.8, 0.0, 0.3], [0.0, 1.5, 0.0], [0.3, 0.0, 1.5]],
        (0.2, 0.1, 1.9),
        displaced=0.9,
        buoyancy_centre=(0.05, -0.1),
        gravity=(0.6, -1.6),
    )
    return {
        name: (system, system.state(g=system.group.random(rng), xi=0.6 * rng.standard_normal(system.group.dim)))
        for name, system in {
            "two-tops": tops, "own-tops": own, "swarm": swarm, "field": field, "tensor": tensor, "plate": plate,
        }.items()
    }  # fmt: skip


CASES = cases()


def few(*names: str, of: Any = CASES) -> list[Any]:
    """All of them, these in the ordinary suite."""
    return [name if name in names else pytest.param(name, marks=pytest.mark.long) for name in of]


@pytest.fixture(autouse=True)
def _double():
    with jax.enable_x64(True):
        yield


@pytest.mark.parametrize("case", few("plate", "own-tops", "field"))
def test_reduced_equations_are_the_derivative_of_the_reduced_exact_motion(case):
    system, state = CASES[case]
    h = 1e-3
    ahead, further = (system.reduce(reference(system, state, t1=k * h)) for k in (1, 2))
    now, rates = system.reduce(state), system.reduced_equations(system.reduce(state))
    for here, one, two, rate in zip(*map(jax.tree.leaves, (now, ahead, further, rates)), strict=True):
        np.testing.assert_allclose((-3.0 * here + 4.0 * one - two) / (2.0 * h), rate, atol=4e-5)


@pytest.mark.parametrize("case", few("plate", "two-tops", "field"))
def test_full_step_step_with_g_and_step_without_g_give_the_same_motion(case):
    system, state = CASES[case]
    rule, steps, h = nd.Midpoint() if case in ("plate", "two-tops") else nd.Trapezoid(), 25, 0.02
    method = nd.Reduced(nd.Cayley(), rule)
    full = march(system, nd.Variational(nd.Cayley(), rule), state, dt=h, steps=steps)
    beside = march(system, method, state, dt=h, steps=steps)
    for one, other in zip(jax.tree.leaves(full), jax.tree.leaves(beside), strict=True):
        np.testing.assert_allclose(one, other, atol=3e-13)
    alone = without_g(system, method, system.reduce(state), h, steps)
    for one, other in zip(jax.tree.leaves(alone), jax.tree.leaves(system.reduce(full)), strict=True):
        np.testing.assert_allclose(one, other, atol=3e-13)
    assert np.max(np.abs(alone.mu - state.mu)) > 1e-2


def without_g(system: Any, method: nd.Reduced, start: ReducedState, h: float, steps: int) -> ReducedState:
    def step(reduced, _):
        return method.reduced_step(system, reduced, 0.0, h), None

    return nd.compile(lambda start: jax.lax.scan(step, start, None, length=steps)[0])(start)


@pytest.mark.parametrize("case", few("plate", of=("plate", "field", "tensor", "two-tops")))
def test_the_step_without_g_is_a_poisson_map_of_the_semidirect_product(case):
    """D P D^T = P', with P of the Lie-Poisson bracket: mu' = ad*_xi mu - dH/da <> a, a' = -xi a."""
    system, state = CASES[case]
    start = system.reduce(state)
    size = system.base.dim
    flat, back = ravel_pytree((start.mu, start.a))

    def poisson(z):
        mu, a = back(z)
        L = jax.vmap(lambda x: ravel_pytree(generator(system.base, system.act_a, x, a))[0])(jnp.eye(size))
        C = bracket_matrix(system.base, mu)
        return jnp.block([[C.T, L], [-L.T, jnp.zeros((L.shape[1], L.shape[1]))]])

    def step(z):
        mu, a = back(z)
        end = nd.Reduced().reduced_step(system, start._replace(mu=mu, a=a), 0.0, 0.1)
        return ravel_pytree((end.mu, end.a))[0]

    D, P, image = nd.compile(lambda z: (jax.jacfwd(step)(z), poisson(z), poisson(step(z))))(flat)
    np.testing.assert_allclose(D @ P @ D.T, image, atol=1e-13)
    assert np.linalg.norm(D - np.eye(len(D))) > 0.05


CASIMIRS = {
    "plate": lambda mu, a: [a[:2] @ a[:2], mu[1] * a[1] - mu[2] * a[0]],
    "two-tops": lambda mu, a: [a[0] @ a[0], jnp.sum(a[2] ** 2), a[0] @ a[2] @ a[1], mu[:3] @ a[0] + mu[3:] @ a[1]],
    "own-tops": lambda mu, a: [a[0] @ a[0], a[1] @ a[1], mu[:3] @ a[0], mu[3:] @ a[1]],
    "tensor": lambda mu, a: [jnp.trace(a), jnp.sum(a**2), jnp.linalg.det(a)],
    "field": lambda mu, a: [a[0, 0] + a[1, 1], a[0, 0] * a[1, 1] - a[0, 1] ** 2, jnp.linalg.det(a)],
}  # fmt: skip


@pytest.mark.parametrize("case", few("plate", "two-tops", of=CASIMIRS))
def test_casimirs_are_those_of_the_bracket_and_are_kept_by_steps_without_g(case):
    """dC is in the kernel of P: ad*_x mu = u <> a and x a = 0 for (x, u) = dC; whatever the Hamiltonian."""
    system, state = CASES[case]
    start, casimirs = system.reduce(state), CASIMIRS[case]

    def moved(mu, a):
        found = []
        for index in range(len(casimirs(mu, a))):
            x, u = jax.grad(lambda mu, a, index=index: casimirs(mu, a)[index], argnums=(0, 1))(mu, a)
            torque = system.base.ad_dual(x, mu) - diamond(system.base, system.act_a, u, a)
            found.append((torque, generator(system.base, system.act_a, x, a)))
        return found

    for leaf in jax.tree.leaves(nd.compile(moved)(start.mu, start.a)):
        np.testing.assert_allclose(leaf, 0.0, atol=1e-13)
    end = without_g(system, nd.Reduced(), start, 0.05, 200)
    np.testing.assert_allclose(casimirs(end.mu, end.a), casimirs(start.mu, start.a), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("case", few("field", of=("field", "two-tops")))
def test_the_step_is_of_second_order_and_reversible(case):
    system, state = CASES[case]
    measured = nd.diagnostics.convergence(system, nd.Reduced(), state, t1=1.0, steps=(20, 40, 80))
    assert measured.order == pytest.approx(2.0, abs=0.1)
    assert nd.diagnostics.reversibility_defect(system, nd.Reduced(), state, dt=0.05, steps=3) < 1e-13


def test_a_shared_parameter_alone_keeps_the_total_momentum_in_space():
    """c_0 = (e, e) leaves R_1^T R_2 = 1 alone; with weights, only the vertical one of them does."""
    system, state = CASES["two-tops"]
    free = system.replaced(weights=np.zeros(2))
    for one, axes in ((free, np.eye(3)), (system, E3[None])):
        run = nd.simulate(one, state, t1=2.0, dt=0.02, method=nd.Reduced(), save_every=1)
        for axis in axes:
            values = run.evaluate(nd.diagnostics.KelvinNoether(one, np.tile(axis, 2)))
            total = np.einsum("tij,tj->ti", run.g.one, run.states.mu[:, :3])
            total += np.einsum("tij,tj->ti", run.g.two, run.states.mu[:, 3:])
            np.testing.assert_allclose(values, total @ axis, atol=1e-12)
            assert np.ptp(values) < 1e-12
        defect = nd.diagnostics.kelvin_noether_defect(run, np.array([1.0, 0.3, 0.0, -0.5, 0.2, 0.7]))
        assert np.max(np.abs(defect)) < 1e-13
    assert np.ptp(total[:, 0]) > 0.1  # with the weights


def test_a_field_of_second_degree_is_that_of_the_equations_in_space():
    """The plate in the potential, by its angle and place in space: m x'' = -grad V, I beta'' = torque, by DOP853."""
    _, state = CASES["field"]
    system = CASES["field"][0].replaced(K=np.diag([0.8, 1.7, 1.7]))
    A, spots = np.asarray(system.a0), np.asarray(system.spots)

    def rates(_, y):
        beta, x = y[0], y[1:3]
        c, s = np.cos(beta), np.sin(beta)
        arms = spots @ np.array([[c, -s], [s, c]]).T
        pulls = -2.0 * ((x + arms) @ A[:2, :2] + A[:2, 2])
        torque = np.sum(arms[:, 0] * pulls[:, 1] - arms[:, 1] * pulls[:, 0])
        return np.concatenate([y[3:], [torque / 0.8], pulls.sum(axis=0) / 1.7])

    c, s = np.cos(state.g.beta), np.sin(state.g.beta)
    v = np.array([[c, -s], [s, c]]) @ state.mu[1:] / 1.7
    y0 = np.concatenate([[state.g.beta], state.g.x, [state.mu[0] / 0.8], v])
    state = system.state(g=state.g, xi=np.concatenate([y0[3:4], state.mu[1:] / 1.7]))
    exact = solve_ivp(rates, (0.0, 1.0), y0, method="DOP853", rtol=1e-12, atol=1e-12).y[:, -1]
    run = nd.simulate(system, state, t1=1.0, dt=0.01, method=nd.Composition(nd.Reduced(rule=nd.Midpoint()), 6))
    np.testing.assert_allclose([run.final.g.beta, *run.final.g.x], exact[:3], atol=2e-10)


def test_an_action_that_is_none_is_told():
    class Backwards(Quadrupole):
        def act_on_a(self, g, a):
            return g.T @ a @ g

    class Cut(Quadrupole):
        def act_on_a(self, g, a):
            return (g @ a)[:2]

    system, state = CASES["tensor"]
    for one, _ in CASES.values():
        assert action_defect(one.base, one.act_a, one.a0) < 1e-14
    wrong = Backwards(system.J, system.a0)
    assert action_defect(wrong.base, wrong.act_a, wrong.a0) > 0.1
    found = {finding.name: finding for finding in nd.audit(wrong, state, nd.Reduced(), steps=10).findings}
    assert found["action on a"].good is False
    assert "correct act_on_a" in found["action on a"].remark
    with pytest.raises(nd.InputError, match=r"the action makes \(2, 3\) of a parameter of shape \(3, 3\)"):
        Cut(system.J, system.a0).state(Omega=(0.1, 0.0, 0.0))
    with pytest.raises(nd.InputError, match=r"Product has no natural action on a0 of shape \(6,\); define act_on_a"):
        OwnTops(np.ones(6), np.ones(6)).state(one_Omega=(0.1, 0.0, 0.0))
    pushed = nd.models.BuoyantVehicle(1.0, (1.0, 1.0, 1.0), (1.0, 1.0, 1.0), 1.0, forces=nd.models.Drag(np.ones(6)))
    with pytest.raises(nd.InputError, match="reduced_step: a force acts on BuoyantVehicle"):
        nd.Reduced().reduced_step(pushed, pushed.reduce(pushed.state()), 0.0, 0.1)
