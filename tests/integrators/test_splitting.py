"""Lie-Poisson splitting: exact flows, orders, what is kept, and what is refused."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import naiad as nd
from naiad.errors import InputError
from naiad.integrators import check_method
from naiad.integrators.flows import AlongAxis, Kick, Screw, Sphere, Turns
from naiad.numerics.series import stumpff, stumpff_below, stumpff_polynomial, times_stumpff_below
from naiad.numerics.splittings import BLANES_MOAN_RKN_4, schedule

rng = np.random.default_rng(3)
COUPLED = nd.models.KirchhoffBody(
    np.diag([1.5, 2.0, 3.0]) + 0.2, (2.0, 3.0, 4.0), 0.2 * np.arange(9.0).reshape(3, 3) / 9
)
DIAGONAL = nd.models.KirchhoffBody((1.5, 2.0, 3.0), (2.0, 3.0, 4.0))
BODY = nd.models.RigidBody((1.0, 2.0, 3.0))
START = {"Pi": (2.0, -0.4, -0.9), "p": (4.4, -0.2, -1.1)}


def symmetric_matrix(n):
    A = rng.standard_normal((n, n))
    return A + A.T


FLOWS = {
    "screw on SE(3)": (nd.SE3(), Screw(0.7, rng.standard_normal(6))),
    "screw on SO(3)": (nd.SO3(), Screw(-0.4, rng.standard_normal(3))),
    "screw on S^3": (nd.S3(), Screw(0.9, rng.standard_normal(3))),
    "screw on SO(4)": (nd.SOn(4), Screw(0.3, rng.standard_normal(6))),
    "axis": (nd.SE3(), AlongAxis(1, symmetric_matrix(6))),
    "kick": (nd.SE3(), Kick(symmetric_matrix(3))),
    "sphere on SE(3)": (nd.SE3(), Sphere(0.6)),
    "sphere on SO(3)": (nd.SO3(), Sphere(0.6)),
}


def hamiltonian(flow, mu):
    """The part of the Hamiltonian, written down anew."""
    if isinstance(flow, Screw):
        return 0.5 * flow.rate * (flow.axis @ mu) ** 2
    if isinstance(flow, AlongAxis):
        at = np.array([flow.i, flow.i + 3])
        return 0.5 * mu[at] @ flow.A[np.ix_(at, at)] @ mu[at]
    if isinstance(flow, Kick):
        return 0.5 * mu[3:] @ flow.m @ mu[3:]
    return 0.5 * flow.rate * mu[:3] @ mu[:3]


@pytest.mark.parametrize("name", FLOWS)
@pytest.mark.parametrize("reach", [None, 1.9])
def test_flow_solves_the_equations_of_its_hamiltonian(name, reach):
    """d/dh of the flow is the field at its end, g' = g xi, mu' = ad*_xi mu with xi = dH/dmu, at a finite time."""
    group, flow = FLOWS[name]
    own = np.random.default_rng(8)
    state = nd.State(group.random(own), 0.6 * own.standard_normal(group.dim))
    with jax.enable_x64(True):
        state = jax.tree.map(jnp.asarray, state)
        (end, u), (moving, _) = jax.jvp(lambda h: flow.flow(Turns(group, reach), state, h), (0.3,), (1.0,))
        xi = jax.grad(lambda mu: hamiltonian(flow, mu))(end.mu)
        expected = nd.State(group.tangent(end.g, xi), group.ad_dual(xi, end.mu))
        start = flow.flow(Turns(group, reach), state, 0.0)[0]
    assert flow.pace(0.3) ** 2 * float(u) < 1.9**2
    for ours, theirs in zip(jax.tree.leaves(moving), jax.tree.leaves(expected), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=3e-14)
    for ours, theirs in zip(jax.tree.leaves(start), jax.tree.leaves(state), strict=True):
        np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize("k", [1, 2, 3])
@pytest.mark.parametrize("limit", [0.01, 0.25, 4.0])
def test_short_series_are_exact_to_round_off(k, limit):
    u = np.linspace(0.0, limit, 1001)
    with jax.enable_x64(True):
        np.testing.assert_allclose(stumpff_below(k, u, 1.0, limit), stumpff(k, u), rtol=5e-16, atol=0)
        np.testing.assert_allclose(stumpff_below(k, u / 0.3, 0.3, limit), stumpff(k, u), rtol=1e-15, atol=0)
        np.testing.assert_allclose(stumpff_below(k, u, 1.0, limit, 0.3), 0.3 * stumpff(k, u), rtol=1e-15, atol=0)
        product = times_stumpff_below(0.7, k, u / 0.3, 0.3, limit)
        np.testing.assert_allclose(product, 0.7 * stumpff(k, u), rtol=1e-15, atol=0)
        product = times_stumpff_below(0.7, k, u / 0.3, 0.3, limit, -0.2)
        np.testing.assert_allclose(product, -0.14 * stumpff(k, u), rtol=1e-15, atol=0)
    assert len(stumpff_polynomial(k, limit)) <= {0.01: 5, 0.25: 6, 4.0: 9}[limit]


def test_schedule_merges_neighbours():
    assert schedule(3, (0.5, 0.5)) == [(0, 0.5), (1, 0.5), (2, 1.0), (1, 0.5), (0, 0.5)]
    assert len(schedule(3, BLANES_MOAN_RKN_4)) == 25
    assert len(schedule(3, nd.Splitting(6).coefficients)) == 41


CASES = {
    "screws 2, coupled": (COUPLED, nd.Splitting(2)),
    "screws 4, coupled": (COUPLED, nd.Splitting(4)),
    "axes 6": (DIAGONAL, nd.Splitting(6, "axes")),
    "top 8": (DIAGONAL, nd.Splitting(8, "top")),
    "kicked top 4": (DIAGONAL, nd.Splitting(4, "kicked-top", BLANES_MOAN_RKN_4, axes=(1, 0, 2))),
    "rotations 6": (BODY, nd.Splitting(6, "axes")),
}


def error(system, method, dt):
    """The distance of mu and g from a much finer run of another method."""
    state = system.state(**{name: START[name] for name in system.group.names.momentum})
    fine = nd.simulate(system, state, t1=2.0, dt=0.01, method=nd.Composition(nd.Variational(nd.Exponential()), 8))
    coarse = nd.simulate(system, state, t1=2.0, dt=dt, method=method)
    ends = zip(jax.tree.leaves(coarse.final), jax.tree.leaves(fine.final), strict=True)
    return max(np.max(np.abs(ours - theirs)) for ours, theirs in ends)


@pytest.mark.parametrize("name", CASES)
def test_order_of_momentum_and_configuration(name):
    system, method = CASES[name]
    dts = {2: (0.1, 0.05), 4: (0.2, 0.1), 6: (0.2, 0.1), 8: (0.4, 0.2)}[method.target]
    coarse, fine = (error(system, method, dt) for dt in dts)
    assert np.log2(coarse / fine) == pytest.approx(method.target, abs=0.25)


def test_casimirs_and_momentum_in_space_are_exact():
    state = COUPLED.state(**START)
    run = nd.simulate(COUPLED, state, t1=200.0, dt=0.2, method=nd.Splitting(4))
    Pi, p = run.states.mu[:, :3], run.states.mu[:, 3:]
    np.testing.assert_allclose(np.sum(p * p, axis=1), state.mu[3:] @ state.mu[3:], rtol=2e-13)
    np.testing.assert_allclose(np.sum(Pi * p, axis=1), state.mu[:3] @ state.mu[3:], rtol=1e-12)
    assert nd.diagnostics.momentum_error(run).max() < 5e-12  # of x cross p, which grows to 100 times its start
    assert nd.diagnostics.energy_error(run).max() < 1e-4


def test_a_turn_beyond_the_reach_is_taken_with_the_full_functions():
    """The short series would be wrong by far: the angle is 40 times what they hold for."""
    state = BODY.state(Pi=(2.0, -0.4, -0.9))
    runs = [
        nd.diagnostics.march(BODY, nd.Splitting(2, "axes", reach=reach), state, dt=2.0, steps=2).mu
        for reach in (0.05, 2.0)
    ]
    np.testing.assert_allclose(*runs, rtol=0, atol=1e-14)


def test_what_the_translation_takes_is_not_left_for_the_rotation():
    """With p along the axis of the largest mass, it moves the body and cannot turn it."""
    Pi, method = START["Pi"], nd.Splitting(6, "top")
    alone, with_p = (method.fitted(DIAGONAL, DIAGONAL.state(Pi=Pi, p=p), 0.24) for p in ((0, 0, 0), (0.0, 0.0, 4.4)))
    across = method.fitted(DIAGONAL, DIAGONAL.state(Pi=Pi, p=(4.4, 0.0, 0.0)), 0.24)
    assert with_p.reach == alone.reach
    assert max(across.reach) > max(alone.reach)


def test_fitted_covers_the_whole_motion():
    """Along a run no angle leaves the reach, and no part has a reach of twice what it needs."""
    state, dt = DIAGONAL.state(**START), 0.24
    method = nd.Splitting(6, "top").fitted(DIAGONAL, state, dt)
    run = nd.simulate(DIAGONAL, state, t1=1000.0, dt=dt, method=method, save_every=1)
    Pi = np.abs(run.states.mu[:, :3]).max(axis=0)
    norm = np.linalg.norm(run.states.mu[:, :3], axis=1).max()
    flows = schedule(3, method.coefficients)
    longest = [max(abs(a) for number, a in flows if number == i) for i in range(3)]
    turns = [
        longest[0] * Pi[0] * abs(1 / 1.5 - 1 / 2),
        0.0,
        longest[2] * norm / 2,
        longest[2] * Pi[2] * (1 / 2 - 1 / 3),
    ]
    needed = dt * np.array(turns)
    assert np.all(needed <= method.reach)
    assert method.reach[2] < 2 * needed[2]


class Quartic(nd.EulerPoincareSystem):
    group = nd.SO3()

    def reduced_lagrangian(self, xi):
        return 0.5 * xi @ xi + 0.1 * (xi @ xi) ** 2


class Top(nd.LagrangianSystem):
    group = nd.SO3()

    def lagrangian(self, g, xi, t):
        return 0.5 * xi @ xi - g[2, 2]


@pytest.mark.parametrize(
    ("system", "method", "words"),
    [
        (Quartic(), nd.Splitting(2), "quadratic in xi; that of Quartic is not"),
        (Top(), nd.Splitting(2), "needs an EulerPoincareSystem; Top"),
        (COUPLED, nd.Splitting(2, "axes"), "needs I diagonal and S diagonal"),
        (COUPLED, nd.Splitting(2, "top"), "needs I diagonal and S zero"),
        (nd.models.RigidBody((1.0, 2.0, 3.0), group=nd.S3()), nd.Splitting(2, "axes"), "is for SO(3) and SE(3)"),
        (DIAGONAL, nd.Splitting(2, reach=(0.1, 0.2)), "reach has 2 angles; expected one, or 4"),
    ],
)
def test_what_does_not_fit_is_refused(system, method, words):
    with pytest.raises(InputError, match=words.replace("(", r"\(").replace(")", r"\)")):
        check_method(method, system)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"order": 3}, "order = 3; expected 2, 4, 6 or 8"),
        ({"parts": "thirds"}, "parts = 'thirds'; expected one of 'screws'"),
        ({"coefficients": (0.5, 0.4)}, "an even palindrome that sums to 1"),
        ({"axes": (0, 0, 1)}, "the numbers 0, 1, 2 in some order"),
        ({"reach": 3.0}, "expected angles in"),
    ],
)
def test_bad_options(options, words):
    with pytest.raises(InputError, match=words):
        nd.Splitting(**options)
