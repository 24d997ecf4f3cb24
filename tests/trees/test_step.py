"""The O(N) step of a tree of bodies: equal to the dense step, and keeping what it should keep."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import naiad as nd
from naiad.mechanics import State
from naiad.trees import Tree, TreeRule, TreeVariational
from tests.trees.trees import (
    EIGHT,
    FIVE,
    RULES,
    Bodies,
    DampedBodies,
    HeavyBodies,
    Written,
    coupled_tree,
    mixed_tree,
    random_state,
    random_tree,
)

H = 0.02


def equations_of_a_step(system, rule, correction, state, steps=6):
    """How far steps of the sweeps are off the legs by automatic differentiation: at the start, at the end."""
    method = TreeVariational(rule, correction=correction, renormalise=False)
    run = nd.simulate(system, state, t1=steps * H, dt=H, method=method, save_every=1)
    written, dense = Written(system.tree, system, rule, correction), nd.Variational(nd.Cayley())
    group = system.group

    def off(before, after, t):
        xi = dense.retraction.inverse(group, group.compose(group.inverse(before.g), after.g)) / H
        legs = dense.legs(written, before.g, xi, t, H)
        increment = dense.retraction.increment(group, H * xi)
        plus = group.Ad_dual_advance(increment, legs.kinetic) + legs.plus
        return legs.mu_minus - before.mu, plus - after.mu

    with jax.enable_x64(True):
        states = jax.tree.map(np.asarray, run.states)
        before = jax.tree.map(lambda leaf: jnp.asarray(leaf[:-1]), states)
        after = jax.tree.map(lambda leaf: jnp.asarray(leaf[1:]), states)
        minus, plus = jax.jit(jax.vmap(off))(before, after, H * jnp.arange(steps))
    return np.asarray(minus), np.asarray(plus), states


CASES = [
    ((-1,), nd.Trapezoid(), False),
    ((-1, 0), nd.Midpoint(), False),
    *((FIVE, *rule) for rule in RULES[1:]),
    pytest.param(FIVE, nd.Left(), False, marks=pytest.mark.long),
    (EIGHT, nd.Trapezoid(), False),
]


@pytest.mark.parametrize(("parents", "rule", "correction"), CASES)
def test_steps_satisfy_the_equations_of_the_discrete_lagrangian(parents, rule, correction):
    system = Bodies(random_tree(parents))
    minus, plus, states = equations_of_a_step(system, rule, correction, random_state(system))
    scale = np.abs(states.mu).max()
    assert np.abs(minus).max() < 2e-14 * scale
    assert np.abs(plus).max() < 2e-14 * scale
    assert np.abs(states.g.R[-1] - states.g.R[0]).max() > 0.05


@pytest.mark.parametrize(("make", "root"), [("heavy", "pinned"), ("damped", "free")])
def test_steps_with_potentials_and_forces_satisfy_the_equations(make, root):
    tree = random_tree(FIVE, root=root)
    system = HeavyBodies(tree, np.arange(1.0, 6.0), 2.0) if make == "heavy" else DampedBodies(tree, 0.7)
    minus, plus, states = equations_of_a_step(system, nd.Trapezoid(), False, random_state(system))
    scale = np.abs(states.mu).max()
    assert np.abs(minus).max() < 2e-14 * scale
    assert np.abs(plus).max() < 2e-14 * scale


@pytest.mark.parametrize(
    ("rule", "correction", "root", "make"),
    [
        (nd.Trapezoid(), False, "pinned", random_tree),
        (nd.Trapezoid(), False, "hinge", random_tree),
        pytest.param(nd.Left(), True, "free", random_tree, marks=pytest.mark.long),
        pytest.param(nd.Midpoint(), False, "free", random_tree, marks=pytest.mark.long),
        pytest.param(nd.Midpoint(), False, "free", coupled_tree, marks=pytest.mark.long),
    ],
)
def test_hinges_and_welds_satisfy_the_equations_but_for_the_forces_of_their_constraints(rule, correction, root, make):
    system = Bodies(mixed_tree(root=root, make=make))
    minus, plus, states = equations_of_a_step(system, rule, correction, random_state(system, size=0.3))
    scale = np.abs(states.mu).max()
    with jax.enable_x64(True):
        g = jax.tree.map(jnp.asarray, states.g)
        normals = np.asarray(jax.jit(jax.vmap(lambda g: system.constraint_jacobian(g, 0.0)))(g)).swapaxes(1, 2)
        held = np.asarray(jax.jit(jax.vmap(system.tree.constraint))(g))
        velocities = jax.jit(jax.vmap(system.velocity))(g, jnp.asarray(states.mu))
        rates = np.einsum("kni,kn->ki", normals, np.asarray(velocities))
    for errors, at in ((minus, normals[:-1]), (plus, normals[1:])):
        for error, normal in zip(errors, at, strict=True):
            multipliers = np.linalg.lstsq(normal, error, rcond=None)[0]
            assert np.abs(error - normal @ multipliers).max() < 1e-13 * scale
            assert np.abs(multipliers).max() > 1e-6  # the joints do hold
    assert np.abs(held).max() < 1e-14
    assert np.abs(rates).max() < 1e-13


@pytest.mark.parametrize(("rule", "correction"), RULES)
def test_the_action_for_the_general_integrator_is_that_of_the_definition(rule, correction):
    system = HeavyBodies(random_tree(FIVE), np.arange(1.0, 6.0), 0.5)
    state = random_state(system)
    written = Written(system.tree, system, rule, correction)
    with jax.enable_x64(True):
        xi = jnp.cos(jnp.arange(system.group.dim * 1.0))
        g = jax.tree.map(jnp.asarray, state.g)
        ours = TreeRule(rule, correction).action(system, nd.Cayley(), g, xi, 0.3, 0.2)
        expected = written.discrete_lagrangian(g, xi, 0.3, 0.2, nd.Cayley())
    assert float(ours) == pytest.approx(float(expected), rel=1e-12)


@pytest.mark.long
@pytest.mark.parametrize(("rule", "correction"), [(nd.Left(), True), (nd.Trapezoid(), False)])
def test_equals_the_dense_variational_integrator(rule, correction):
    system = Bodies(random_tree((-1, 0, 0)))
    state, until = random_state(system), {"t1": 20 * H, "dt": H}
    sweeps = nd.simulate(system, state, method=TreeVariational(rule, correction=correction), **until)
    on_xla = nd.simulate(system, state, method=TreeVariational(rule, correction=correction), **until, engine="xla")
    dense = nd.simulate(Written(system.tree, system, rule, correction), state, method=nd.Variational(), **until)
    scale = np.abs(state.mu).max()
    for other in (on_xla, dense):
        for one, two in zip(jax.tree.leaves(sweeps.final), jax.tree.leaves(other.final), strict=True):
            assert np.abs(one - two).max() < 2e-14 * max(1.0, scale)


@pytest.mark.long
def test_hinges_equal_the_dense_integrator_with_constraints():
    tree = random_tree((-1, 0, 1), joints=("hinge", "weld"), axis=(1.0, 2.0, -1.0))
    system = Bodies(tree)
    state, until = random_state(system), {"t1": 10 * H, "dt": H}
    sweeps = nd.simulate(system, state, method=TreeVariational(), **until).final
    dense = nd.simulate(Written(tree, system), state, method=nd.Variational(), **until).final
    assert np.abs(sweeps.g.R - dense.g.R).max() < 2e-14
    assert np.abs(sweeps.mu - dense.mu).max() < 1e-13 * np.abs(state.mu).max()


PAPER = Tree(  # the three ellipsoids of [lee2009], with its four decimals and the joints outwards
    (-1, 0, 0),
    [(1.3480, 20.15, 25.3276), *[(0.1961, 1.7889, 2.921)] * 2],
    [(1.0659, 2.1696, 1.6641), *[(0.2664, 0.6551, 0.3677)] * 2],
    own=[(0.0, 0.0, 0.0), (-5.5, 0.0, 0.0), (5.5, 0.0, 0.0)],
    other=[(0.0, 0.0, 0.0), (8.8, 0.0, 0.0), (-8.8, 0.0, 0.0)],
)
PAPER_VELOCITY = (0.2, 0.1, 0.5, 0.1, -0.3, -0.2, -0.1, 0.4, -0.6, 0.0, -0.4142, -0.59)


def test_the_run_of_the_paper():
    system = Bodies(PAPER)
    state = system.state(xi=PAPER_VELOCITY)
    assert float(system.energy(state)) == pytest.approx(9.203817003436, abs=1e-12)
    run = nd.simulate(system, state, t1=1.0, dt=0.001, method=TreeVariational(nd.Left(), correction=True))
    np.testing.assert_allclose(run.final.g.x, (-0.193309680615, -0.467002332589, -0.599864012225), rtol=0, atol=2e-12)
    Omega2 = np.asarray(run.xi)[-1, 6:9]
    np.testing.assert_allclose(Omega2, (-1.469231903722, 0.156164656255, 0.239553337713), rtol=0, atol=5e-12)


@pytest.mark.long
@pytest.mark.parametrize(("rule", "error"), [(nd.Trapezoid(), 6.19e-5), (nd.Midpoint(), 1.04e-5)])
def test_errors_of_the_symmetric_rules_on_the_bodies_of_the_paper(rule, error):
    """The error in g at t = 1 with h = 0.01; the trapezoid there is that of (30), with the correction."""
    system = Bodies(PAPER)
    state = system.state(xi=PAPER_VELOCITY)
    method = TreeVariational(rule, correction=isinstance(rule, nd.Trapezoid))
    exact = nd.simulate(system, state, t1=1.0, dt=0.01, method=nd.Composition(method, 6), save_every=100).final
    coarse = nd.simulate(system, state, t1=1.0, dt=0.01, method=method, save_every=100).final
    apart = [np.abs(one - two).max() for one, two in zip(coarse.g, exact.g, strict=True)]
    assert max(apart) == pytest.approx(error, rel=0.3)


@pytest.mark.parametrize(
    ("rule", "order", "root"),
    [
        (nd.Trapezoid(), 2, "pinned"),
        *(
            pytest.param(*case, marks=pytest.mark.long)
            for case in [(nd.Left(), 1, "pinned"), (nd.Midpoint(), 2, "free")]
        ),
    ],
)
def test_order(rule, order, root):
    system = HeavyBodies(mixed_tree(root=root), np.linspace(0.5, 1.5, 8), 1.0)
    state = random_state(system, size=0.2)
    method = TreeVariational(rule)
    assert method.order(system) == order
    fine = nd.simulate(
        system, state, t1=0.5, dt=0.5 / 4096, method=TreeVariational(nd.Midpoint()), save_every=4096
    ).final
    errors = []
    for steps in (64, 128) if order == 2 else (256, 512):
        end = nd.simulate(system, state, t1=0.5, dt=0.5 / steps, method=method, save_every=steps).final
        errors.append(max(np.abs(end.g.R - fine.g.R).max(), np.abs(end.mu - fine.mu).max()))
    assert np.log2(errors[0] / errors[1]) == pytest.approx(order, abs=0.1)


def chain(count: int) -> Tree:
    """Links of length one in a fluid."""
    own, other = np.tile((-0.5, 0.0, 0.0), (count, 1)), np.tile((0.5, 0.0, 0.0), (count, 1))
    own[0] = other[0] = 0.0
    return Tree(range(-1, count - 1), [(0.02, 0.1, 0.1)], [(1.0, 1.6, 1.4)], own=own, other=other)


def thermal(system: Bodies, size: float) -> State:
    """A nearly straight start, whose momenta have the inertia as their covariance."""
    rng, tree = np.random.default_rng(4), system.tree
    R = [np.eye(3)]
    for parent in tree.parents[1:]:
        R.append(R[parent] @ Rotation.from_rotvec(0.3 * rng.normal(size=3)).as_matrix())
    with jax.enable_x64(True):
        g = tree.group.random(rng)._replace(R=np.stack(R))

        def velocities(xi):
            V = jnp.einsum("nji,nj->ni", g.R, tree.velocities(g, xi))
            return V, xi[: 3 * tree.count].reshape(-1, 3)

        noise = [
            np.einsum("nij,nj->ni", np.linalg.cholesky(A), rng.normal(size=(tree.count, 3))) for A in (tree.M, tree.J)
        ]
        pull_back = jax.jit(lambda noise: jax.vjp(velocities, jnp.zeros(tree.group.dim))[1](noise)[0])
        mu = pull_back(tuple(map(jnp.asarray, noise)))
    return system.state(g=g, mu=size * np.asarray(mu))


@pytest.mark.long
@pytest.mark.parametrize("rule", [nd.Left(), nd.Trapezoid(), nd.Midpoint()])
def test_momenta_and_attitudes_over_many_steps(rule):
    system = Bodies(chain(32))
    state = thermal(system, 0.5)
    run = nd.simulate(system, state, t1=100.0, dt=0.01, method=TreeVariational(rule))
    assert run.outcome.name == "COMPLETED"
    assert run.statistics["steps"] == 10_000
    before, after = np.asarray(system.noether(state)), np.asarray(system.noether(run.final))
    assert np.abs(after[:3] - before[:3]).max() < 1e-13 * np.abs(before[:3]).max()
    assert np.abs(after[3:] - before[3:]).max() == 0.0
    assert float(system.group.error(run.final.g)) < 1e-13
    assert np.abs(np.asarray(run.energy) / float(system.energy(state)) - 1.0).max() < (
        0.5 if isinstance(rule, nd.Left) else 0.05
    )


def waving(system: Bodies) -> State:
    """Angular velocities that change slowly along a straight chain."""
    phase = np.arange(system.tree.count) / 40.0
    Omega = 0.3 * np.stack([np.sin(phase), np.cos(phase), np.sin(2.0 * phase)], axis=1)
    return system.state(R_Omega=Omega)


def test_a_thousand_links():
    system = Bodies(chain(1000))
    state = waving(system)
    run = nd.simulate(system, state, t1=0.1, dt=0.001, method=TreeVariational(), save_every=50)
    assert run.outcome.name == "COMPLETED"
    assert run.statistics["newton_iterations_mean"] < 3.0
    before, after = np.asarray(system.noether(state)), np.asarray(system.noether(run.final))
    assert np.abs(after - before).max() < 1e-12 * np.abs(before).max()
    assert np.abs(np.asarray(run.energy) / float(system.energy(state)) - 1.0).max() < 1e-4


def test_the_velocity_of_a_long_crumpled_chain_has_the_momentum():
    """Rounding must not grow from link to link on the way to the root."""
    system, rng = Bodies(chain(300)), np.random.default_rng(1)
    state = waving(system)
    crumpled = state.g._replace(R=np.stack([nd.SO3().exp(x) for x in 0.5 * rng.standard_normal((300, 3))]))
    mu = rng.standard_normal(state.mu.shape)
    back = nd.compile(lambda system, g, mu: system.legendre(g, system.velocity(g, mu, 0.0), 0.0))
    np.testing.assert_allclose(back(system, crumpled, mu), mu, rtol=0, atol=1e-10)


def test_the_program_does_not_grow_with_the_tree():
    def operations(count):
        system = Bodies(chain(count))
        method = TreeVariational()

        def step(system, state):
            return method.state(system, method.step(system, method.init(system, state, 0.0, 0.01), 0.0, 0.01))

        program = nd.compile(step)
        program(system, waving(system))
        return sum(program.stats["operations"].values())

    assert operations(100) == operations(40)


def test_a_step_that_cannot_be_solved_is_reported_and_not_taken():
    system = Bodies(chain(16))
    state = thermal(system, 0.5)
    with pytest.warns(RuntimeWarning, match="Newton"):
        run = nd.simulate(system, state, t1=4.0, dt=0.4, method=TreeVariational())
    assert run.outcome.name == "NEWTON_FAILED"
    assert run.statistics["steps"] < 10
    np.testing.assert_array_equal(run.final.g.R, run.states.g.R[-1])
    assert np.isfinite(np.asarray(run.energy)).all()


@pytest.mark.long
def test_large_steps_that_can_be_solved_are():
    """h |Omega| = 0.35: Newton's method begins again with a new Jacobian for each correction."""
    system = Bodies(chain(32))
    with pytest.warns(nd.RunWarning, match="turns by up to"):
        run = nd.simulate(system, thermal(system, 0.5), t1=20.0, dt=0.1, method=TreeVariational(nd.Midpoint()))
    assert run.outcome.name == "COMPLETED"
    assert 4.0 < run.statistics["newton_iterations_mean"] < 8.0


@pytest.mark.long
def test_composition_raises_the_order():
    system = Bodies(random_tree((-1, 0, 0)))
    state = random_state(system, size=0.5)
    method = nd.Composition(TreeVariational(), 4)
    ends = [nd.simulate(system, state, t1=0.8, dt=0.8 / n, method=method, save_every=n).final for n in (8, 16, 64)]
    errors = [np.abs(end.g.R - ends[-1].g.R).max() for end in ends[:-1]]
    assert np.log2(errors[0] / errors[1]) == pytest.approx(4.0, abs=0.3)


def test_bad_input():
    with pytest.raises(nd.InputError, match=r"rule = Right\(\); expected Left\(\), Trapezoid\(\) or Midpoint"):
        TreeVariational(nd.Right())
    with pytest.raises(nd.InputError, match="no correction for the midpoint"):
        TreeVariational(nd.Midpoint(), correction=True)
    body = nd.models.RigidBody((1.0, 2.0, 3.0))
    with pytest.raises(nd.InputError, match="needs a TreeSystem; RigidBody"):
        nd.simulate(body, body.state(), t1=1.0, dt=0.1, method=TreeVariational())


def test_kappa_is_measured_again_after_some_steps():
    """An old kappa may promise too much: after REFRESH steps a second correction measures it."""
    from naiad.trees.solve import REFRESH

    system = Bodies(random_tree((-1, 0)))
    method = TreeVariational()
    with jax.enable_x64(True):
        carry = method.init(system, random_state(system), 0.0, H)
        step = jax.jit(lambda carry: method.step(system, carry, 0.0, H))
        for _ in range(6):
            carry = step(carry)
        young, old = (
            step(carry._replace(memory=carry.memory._replace(kappa=jnp.zeros(()), age=jnp.asarray(age))))
            for age in (0, REFRESH)
        )
    assert int(young.info.iterations) == 1
    assert float(young.memory.kappa) == 0.0
    assert int(old.info.iterations) > 1
    assert float(old.memory.kappa) > 0.0
    assert int(old.memory.age) == 0


def test_one_correction_is_enough_where_a_second_is_rounding():
    """Of a long chain that turns slowly the second correction, 1e-13 of a turn, is rounding, not a measure of kappa."""
    from naiad.trees.solve import REFRESH

    system, method, h, steps = Bodies(chain(128)), TreeVariational(nd.Left()), 0.001, 200
    fast = waving(system)
    state = State(fast.g, 0.2 * np.asarray(fast.mu))

    @nd.compile(parameters=(0,))
    def march(system, state, always):
        """The end, and the corrections: three in every step if kappa is `always` measured again, as it is at first."""

        def step(k, last):
            carry, count = last
            age = jnp.where(always | (k < 8), REFRESH, carry.memory.age)
            carry = method.step(system, carry._replace(memory=carry.memory._replace(age=age)), 0.0, h)
            return carry, count + carry.info.iterations

        carry, count = jax.lax.fori_loop(0, steps, step, (method.init(system, state, 0.0, h), 0))
        return carry.state, count

    (end, few), (same, many) = (march(system, state, always) for always in (False, True))
    assert few < 1.3 * steps
    assert many > 2.5 * steps
    for one, other in zip(jax.tree.leaves(end), jax.tree.leaves(same), strict=True):  # apart as by an ulp at the start
        np.testing.assert_allclose(one, other, rtol=0, atol=3e-12 * max(1.0, np.abs(other).max()))


def test_a_hinge_that_turns_far_is_corrected_by_its_angle():
    """T = tan(angle/2) n, so that a small turn d about n gives tan(angle/2 + d/2) n, to the first order in d."""
    from naiad.trees import sweeps

    axis, half, small = np.array([0.6, 0.0, 0.8]), 0.7, 1e-6
    with jax.enable_x64(True):
        work = jnp.zeros((2, sweeps.MIXED_WIDTH))
        for place, value in ((sweeps.n, axis), (sweeps.n1, axis), (sweeps.T, np.tan(half) * axis)):
            work = place.write(work, 1, jnp.asarray(value))
        work, new = sweeps._correct_hinge(
            work, 1, 0, jnp.asarray(sweeps.HINGE), jnp.asarray(np.tan(half) * axis), jnp.asarray(small * axis)
        )
        kept = np.asarray(sweeps.T.read(work, 1))
    np.testing.assert_allclose(kept, np.tan(half + 0.5 * small) * axis, rtol=0, atol=2e-12)
    np.testing.assert_allclose(new, kept, rtol=0, atol=1e-15)


def test_a_tree_that_is_not_a_number_ends_at_once():
    system = Bodies(random_tree((-1, 0)))
    method = TreeVariational()
    state = random_state(system)
    with jax.enable_x64(True):
        carry = method.init(system, State(state.g, state.mu * jnp.nan), 0.0, H)
        end = jax.jit(lambda carry: method.step(system, carry, 0.0, H))(carry)
    assert not bool(end.info.converged)
    assert int(end.info.iterations) <= 2
