"""Gauss's collocation: its order, what it keeps, its iteration, and its derivative."""

import itertools
import warnings
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import naiad as nd
from naiad.diagnostics import convergence, march, reference, symplecticity_defect
from naiad.numerics.tableaux import collocation
from tests.integrators.test_gradients import objective
from tests.verification.problems import PROBLEMS

BODY = nd.models.KirchhoffBody((1.5, 2.0, 3.0), (2.0, 3.0, 4.0))
START = BODY.state(mu=(2.0, -0.4, -0.9, 4.4, -0.2, -1.1))
TIGHT = nd.Newton(tolerance=1e-13)


class Spring(nd.LagrangianSystem):
    """A mass on a spring that hangs in a field."""

    mass: float
    stiffness: float
    weight: float = 0.0
    group = nd.Rn(1)

    def lagrangian(self, q, v, t):
        return 0.5 * self.mass * v[0] ** 2 - 0.5 * self.stiffness * q[0] ** 2 - self.weight * q[0]


class Held(nd.LagrangianSystem):
    """A mass in the plane between springs whose forces cancel at the origin."""

    stiffness: Any
    ends: Any
    group = nd.Rn(2)

    @classmethod
    def at_random(cls, rng):
        stiffness, ends = rng.uniform(5.0, 30.0, 4), rng.normal(size=(4, 2))
        ends[3] = -stiffness[:3] @ ends[:3] / stiffness[3]
        return cls(stiffness, ends)

    def lagrangian(self, q, v, t):
        return 0.5 * v @ v - 0.5 * jnp.sum(self.stiffness[:, None] * (q - self.ends) ** 2)


@pytest.mark.parametrize("stages", range(1, 17))
def test_the_coefficients_integrate_polynomials(stages):
    """b and c every one of degree below 2 s from 0 to 1, a those below s from 0 to c."""
    a, b, c = (np.asarray(part) for part in collocation(stages)[:1] + collocation(stages)[-2:])
    for degree in range(2 * stages):
        assert b @ c**degree == pytest.approx(1 / (degree + 1), rel=3e-14)
    for degree in range(stages):
        np.testing.assert_allclose(a @ c**degree, c ** (degree + 1) / (degree + 1), rtol=0, atol=1e-14)


@pytest.mark.parametrize(
    ("problem", "stages", "steps", "tau"),
    [
        ("heavy-top", 3, (5, 8, 12), nd.Cayley()),
        ("heavy-top", 4, (4, 6, 8), nd.Exponential()),
        ("heavy-top", 6, (2, 3, 4), nd.Exponential()),
        ("vehicle", 5, (2, 3, 4), nd.Cayley()),
        ("henon-heiles", 6, (1, 2, 3), nd.Exponential()),
    ],
)
def test_the_order_is_twice_the_stages(problem, stages, steps, tau):
    case = PROBLEMS[problem]
    exact = reference(case.system, case.state, t1=case.t1)
    measured = convergence(case.system, nd.Collocation(stages, tau), case.state, t1=case.t1, steps=steps, exact=exact)
    assert min(measured.error_g.min(), measured.error_mu.min()) > 1e-13  # above round-off, where there is an order
    assert measured.order == pytest.approx(2 * stages, abs=0.15 * stages), measured


def test_the_usual_steps_are_exact_to_round_off():
    """Those of 8 stages, where variational steps of the same size have three digits."""
    case = PROBLEMS["heavy-top"]
    exact = reference(case.system, case.state, t1=case.t1)
    errors = {}
    for name, method in {"collocation": nd.Collocation(), "variational": nd.Variational()}.items():
        end = march(case.system, method, case.state, dt=case.t1 / 20, steps=20)
        errors[name] = max(np.max(np.abs(end.g - exact.g)), np.max(np.abs(end.mu - exact.mu)))
    assert errors["collocation"] < 2e-13
    assert errors["variational"] > 1e-3


@pytest.mark.parametrize("stages", [1, 2, 8])
def test_quadratic_invariants_of_a_vehicle_are_exact(stages):
    """The energy and both Casimirs, over steps that are far from exact where the stages are few."""
    run = nd.simulate(BODY, START, t1=200.0, dt=0.5, method=nd.Collocation(stages), save_every=20, progress=False)
    mu = np.asarray(run.mu)
    Pi, p = mu[:, :3], mu[:, 3:]
    weights = 1 / np.array([1.5, 2.0, 3.0, 2.0, 3.0, 4.0])
    for kept in (0.5 * mu**2 @ weights, np.sum(Pi * p, axis=1), np.sum(p * p, axis=1)):
        np.testing.assert_allclose(kept, kept[0], rtol=3e-13)
    if stages == 1:
        exact = nd.simulate(BODY, START, t1=200.0, dt=0.1, method=nd.Collocation(), save_every=100, progress=False)
        assert np.max(np.abs(exact.mu - mu)) > 0.1


@pytest.mark.parametrize("stages", [1, 2, 3, 8])
def test_it_is_symplectic_and_keeps_angular_momentum_on_vectors(stages):
    case = PROBLEMS["henon-heiles"]
    assert symplecticity_defect(case.system, nd.Collocation(stages), case.state, dt=case.t1 / 8, steps=1) < 2e-15
    planets = PROBLEMS["planets"]
    end = march(planets.system, nd.Collocation(stages), planets.state, dt=planets.t1 / 20, steps=40)
    before, after = (nd.compile(planets.system.noether)(each) for each in (planets.state, end))
    np.testing.assert_allclose(after, before, rtol=0, atol=1e-13 * planets.scale)


def test_only_the_momentum_is_as_with_g():
    method = nd.Collocation(newton=TIGHT)
    both, alone = (
        nd.simulate(BODY, START, t1=50.0, dt=0.5, method=method, reconstruct=reconstruct, progress=False)
        for reconstruct in (True, False)
    )
    np.testing.assert_allclose(alone.mu, both.mu, rtol=0, atol=1e-12)
    exact = march(BODY, nd.Splitting(8), START, dt=0.01, steps=5000)
    for one, other in zip(jax.tree.leaves(both.g), jax.tree.leaves(exact.g), strict=True):
        np.testing.assert_allclose(one[-1], other, rtol=0, atol=1e-9)


def one_step(system, state, h=0.5, method=None, **known):
    """The state after a step, and how it went, where this is known from the step before."""
    method = nd.Collocation() if method is None else method

    def step(state, memory):
        return method.advance(system, state, memory, 0.0, h, None)

    end, _, info = nd.compile(step)(state, method.memory(system, state, 0.0)._replace(**known))
    return end, info


def test_a_bad_start_of_the_iteration_costs_a_second_one():
    """What the last step left is no more than a guess: one that leads nowhere is left for zero."""
    good, info = one_step(BODY, START)
    bad, other = one_step(BODY, START, slopes=np.full((8, 6), 1e200))
    assert bool(other.converged)
    assert int(other.iterations) > int(info.iterations)
    np.testing.assert_allclose(bad.mu, good.mu, rtol=0, atol=1e-14)
    stretched, _ = one_step(BODY, START, slopes=1e5 * np.random.default_rng(1).standard_normal((8, 6)))
    np.testing.assert_allclose(stretched.mu, good.mu, rtol=0, atol=1e-14)


def test_rounds_that_go_ahead_change_nothing_but_the_rounds():
    good, info = one_step(BODY, START)
    for ahead in (0, 3, int(info.iterations), 97):
        end, other = one_step(BODY, START, ahead=ahead)
        assert bool(other.converged)
        assert int(other.iterations) >= max(ahead + 3, int(info.iterations) - 1)
        np.testing.assert_allclose(end.mu, good.mu, rtol=0, atol=1e-14)


def test_rounds_go_ahead_as_far_as_the_last_step_needed():
    """Of a steady motion: as many rounds as at the first step, whose slopes are all known, but one look at them."""
    method = nd.Collocation(6, newton=nd.Newton(tolerance=1e-9, max_iterations=100))
    carry = method.init(BODY, START, 0.0, 0.5)
    step = nd.compile(lambda carry, t: method.step(BODY, carry, t, 0.5))
    needed = []
    for k in range(200):
        carry = step(carry, 0.5 * k)
        needed.append(int(carry.info.iterations))
        ahead = int(carry.memory.ahead)
        assert ahead in (needed[-1] - 3, needed[-1] - 4)
    assert 4 <= min(needed[1:]) < max(needed) <= 12
    assert max(abs(a - b) for a, b in itertools.pairwise(needed[1:])) <= 3


def test_a_step_back_undoes_a_step():
    end, _ = one_step(BODY, START, h=0.3)
    back, _ = one_step(BODY, end, h=-0.3)
    for one, other in zip(jax.tree.leaves(back), jax.tree.leaves(START), strict=True):
        np.testing.assert_allclose(one, other, rtol=0, atol=1e-13)


@pytest.mark.parametrize(
    ("system", "start"),
    [
        (BODY, BODY.state(mu=np.zeros(6))),
        (Spring(1.0, 1.0), Spring(1.0, 1.0).state(q=[0.0])),
        (Spring(2.0, 3e3, 9.81), Spring(2.0, 3e3, 9.81).state(q=[-9.81 / 3e3])),
        (nd.models.SphericalPendulum(), nd.models.SphericalPendulum().state(R=np.diag([1.0, -1.0, -1.0]))),
        (nd.models.SphericalPendulum(), nd.models.SphericalPendulum().state(R=np.eye(3))),
    ],
    ids=["body", "spring", "hanging", "pendulum", "upside-down"],
)
def test_what_is_at_rest_stays(system, start):
    """Where forces cancel, their rounding is all that there is to iterate on."""
    run = nd.simulate(system, start, t1=1.0, dt=0.01, method=nd.Collocation(4), progress=False)
    assert run.outcome is nd.Outcome.COMPLETED
    np.testing.assert_allclose(run.mu, 0.0, rtol=0, atol=1e-12)


def test_what_starts_from_rest_moves():
    spring = Spring(2.0, 3.0)
    run = nd.simulate(spring, spring.state(q=[1.0]), t1=10.0, dt=0.5, method=nd.Collocation(), progress=False)
    np.testing.assert_allclose(run.g[:, 0], np.cos(np.sqrt(1.5) * run.t), rtol=0, atol=1e-13)


@pytest.mark.parametrize("unit", [1e-9, 1.0, 1e9])
def test_the_units_do_not_matter(unit):
    """Masses of any size: what is rounding is told by the inertia."""
    spring = Spring(2.0 * unit, 3.0 * unit, 5.0 * unit)
    run = nd.simulate(spring, spring.state(q=[1.0]), t1=4.0, dt=0.5, method=nd.Collocation(), progress=False)
    middle = -5.0 / 3.0
    exact = middle + (1.0 - middle) * np.cos(np.sqrt(1.5) * run.t)
    np.testing.assert_allclose(run.g[:, 0], exact, rtol=0, atol=2e-13)


def test_a_floor_lets_the_rounding_of_forces_be():
    """At the origin, where forces cancel, nothing else says how small is nothing."""
    rng, outcomes = np.random.default_rng(0), {0.0: set(), 1e-14: set()}
    for _ in range(6):
        held = Held.at_random(rng)
        for floor, found in outcomes.items():
            method = nd.Collocation(4, newton=nd.Newton(floor=floor))
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", nd.RunWarning)
                run = nd.simulate(held, held.state(q=[0.0, 0.0]), t1=1.0, dt=0.1, method=method, progress=False)
            found.add(run.outcome)
            np.testing.assert_allclose(run.mu, 0.0, rtol=0, atol=1e-14)
    assert outcomes == {0.0: {nd.Outcome.COMPLETED, nd.Outcome.NEWTON_FAILED}, 1e-14: {nd.Outcome.COMPLETED}}


def test_a_step_that_is_too_long_is_refused():
    """Also where the iteration runs away to numbers that are none."""
    stiff = Spring(1.0, 1e4)
    for system, state, dt in ((stiff, stiff.state(q=[1.0]), 10.0), (BODY, START, 10.0), (BODY, START, 100.0)):
        with pytest.warns(nd.RunWarning, match="too long for the motion; take a smaller dt"):
            run = nd.simulate(system, state, t1=1000.0, dt=dt, method=nd.Collocation(), progress=False)
        assert run.outcome is nd.Outcome.NEWTON_FAILED


def test_a_looser_tolerance_costs_less_and_keeps_less():
    found = []
    for tolerance in (1e-15, 1e-11, 1e-7):
        method = nd.Collocation(newton=nd.Newton(tolerance=tolerance))
        run = nd.simulate(BODY, START, t1=100.0, dt=0.5, method=method, progress=False, reconstruct=False)
        energy = 0.5 * np.asarray(run.mu) ** 2 @ (1 / np.array([1.5, 2.0, 3.0, 2.0, 3.0, 4.0]))
        found.append((run.statistics["newton_iterations_mean"], np.max(np.abs(energy / energy[0] - 1))))
    (most, exact), (fewer, near), (least, loose) = found
    assert most > fewer + 1.5 > least + 3.0
    assert exact < 1e-13 < near < 1e-8 < loose < 1e-4


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"stages": 0}, "stages = 0; expected a whole number from 1 to 16"),
        ({"stages": 17}, "stages = 17"),
        ({"stages": 2.0}, "stages = 2.0"),
        ({"stages": True}, "stages = True"),
        ({"newton": nd.Newton(jacobian="inertia")}, "jacobian='inertia'"),
    ],
)
def test_what_it_cannot_do_is_refused(given, words):
    with pytest.raises(nd.InputError, match=words):
        nd.Collocation(**given)


def test_its_gradients_equal_those_of_a_finer_method():
    with jax.enable_x64(True):
        at = (jnp.array([1.0, 2.0, 3.0]), jnp.array(1.3), jnp.array([0.3, 0.2, 1.5]), jnp.array(0.05))
        found, other = (
            jax.jit(jax.grad(lambda p, method=method: objective(p, method)))(at)
            for method in (nd.Collocation(3), nd.VPRK("gauss3"))
        )
        forward = jax.jvp(lambda p: objective(p, nd.Collocation(3)), (at,), (jax.tree.map(jnp.ones_like, at),))[1]
    for one, finer in zip(jax.tree.leaves(found), jax.tree.leaves(other), strict=True):
        np.testing.assert_allclose(one, finer, rtol=1e-7, atol=1e-8)
    assert float(forward) == pytest.approx(sum(np.sum(np.asarray(leaf)) for leaf in jax.tree.leaves(found)), rel=1e-12)


@pytest.mark.parametrize("stages", [4, 8])
def test_the_stages_go_side_by_side(stages):
    """In the lanes of vector registers, from round to round."""
    method = nd.Collocation(stages)
    step = nd.compile(lambda state, memory: method.advance(BODY, state, memory, 0.0, 0.5, None)[0].mu)
    step(START, method.memory(BODY, START, 0.0))
    lines = [line for line in step.ir.splitlines() if f"f64*{stages} = " in line or f"f*{stages} = " in line]
    kinds = {line.split(" = ")[1].split()[0] for line in lines}
    assert {"mul", "fma", "param"} <= kinds or {"mul", "add"} <= kinds
    assert len(lines) > 100


def test_many_runs_and_both_engines_are_one_alone():
    states = [BODY.state(mu=np.asarray(START.mu) * (1 + 0.04 * k)) for k in range(11)]
    options = {"t1": 20.0, "dt": 0.5, "method": nd.Collocation(), "progress": False, "save_every": 10}
    many = nd.simulate_many(BODY, states, **options)
    for state, run in itertools.islice(zip(states, many, strict=True), 0, None, 5):
        for engine in ("xla", "auto"):
            alone = nd.simulate(BODY, state, engine=engine, **options)
            np.testing.assert_allclose(alone.mu, run.mu, rtol=0, atol=2e-12 if engine == "xla" else 0.0)
