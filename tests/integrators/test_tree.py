"""The O(N) step of a tree of bodies: equal to the dense step, and keeping what it should keep."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import naiad as nd
from naiad.integrators import TreeVariational
from tests.integrators.trees import (
    EIGHT,
    FIVE,
    RULES,
    Bodies,
    DampedBodies,
    HeavyBodies,
    Written,
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
    ((-1,), "trapezoid", False),
    ((-1, 0), "midpoint", False),
    *((FIVE, *rule) for rule in RULES),
    (EIGHT, "one-sided", True),
    (EIGHT, "trapezoid", False),
]


@pytest.mark.parametrize(("parents", "rule", "correction"), CASES)
def test_steps_satisfy_the_equations_of_the_discrete_lagrangian(parents, rule, correction):
    system = Bodies(random_tree(parents))
    minus, plus, states = equations_of_a_step(system, rule, correction, random_state(system))
    scale = np.abs(states.mu).max()
    assert np.abs(minus).max() < 2e-14 * scale
    assert np.abs(plus).max() < 2e-14 * scale
    assert np.abs(states.g.R[-1] - states.g.R[0]).max() > 0.05


@pytest.mark.parametrize(("make", "root"), [("heavy", "free"), ("heavy", "pinned"), ("damped", "free")])
def test_steps_with_potentials_and_forces_satisfy_the_equations(make, root):
    tree = random_tree(FIVE, root=root)
    system = HeavyBodies(tree, np.arange(1.0, 6.0), 2.0) if make == "heavy" else DampedBodies(tree, 0.7)
    minus, plus, states = equations_of_a_step(system, "trapezoid", False, random_state(system))
    scale = np.abs(states.mu).max()
    assert np.abs(minus).max() < 2e-14 * scale
    assert np.abs(plus).max() < 2e-14 * scale


@pytest.mark.parametrize(
    ("rule", "correction", "root"),
    [("one-sided", True, "free"), ("trapezoid", False, "pinned"), ("midpoint", False, "free")],
)
def test_hinges_and_welds_satisfy_the_equations_but_for_the_forces_of_their_constraints(rule, correction, root):
    system = Bodies(mixed_tree(root=root))
    minus, plus, states = equations_of_a_step(system, rule, correction, random_state(system, size=0.3))
    scale = np.abs(states.mu).max()
    with jax.enable_x64(True):
        g = jax.tree.map(jnp.asarray, states.g)
        normals = np.asarray(jax.vmap(lambda g: system.constraint_jacobian(g, 0.0))(g)).swapaxes(1, 2)
        held = np.asarray(jax.vmap(system.tree.constraint)(g))
        velocities = jax.vmap(system.velocity)(g, jnp.asarray(states.mu))
        rates = np.einsum("kni,kn->ki", normals, np.asarray(velocities))
    for errors, at in ((minus, normals[:-1]), (plus, normals[1:])):
        for error, normal in zip(errors, at, strict=True):
            multipliers = np.linalg.lstsq(normal, error, rcond=None)[0]
            assert np.abs(error - normal @ multipliers).max() < 1e-13 * scale
            assert np.abs(multipliers).max() > 1e-6  # the joints do hold
    assert np.abs(held).max() < 1e-14
    assert np.abs(rates).max() < 1e-13


@pytest.mark.parametrize(("rule", "correction"), [("one-sided", True), ("trapezoid", False)])
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


def test_hinges_equal_the_dense_integrator_with_constraints():
    tree = random_tree((-1, 0, 1), joints=("hinge", "weld"), axis=(1.0, 2.0, -1.0))
    system = Bodies(tree)
    state, until = random_state(system), {"t1": 10 * H, "dt": H}
    sweeps = nd.simulate(system, state, method=TreeVariational(), **until).final
    dense = nd.simulate(Written(tree, system), state, method=nd.Variational(), **until).final
    assert np.abs(sweeps.g.R - dense.g.R).max() < 2e-14
    assert np.abs(sweeps.mu - dense.mu).max() < 1e-13 * np.abs(state.mu).max()
