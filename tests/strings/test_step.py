"""The O(N) step of a string: the paper's numbers, equality with the general step, and what it keeps."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import naiad as nd
from naiad.compiler import execute, execute_rows
from naiad.diagnostics import convergence, march, reversibility_defect, symplecticity_defect
from naiad.models import HangingBody, StringPendulum
from naiad.strings import StringRule, StringVariational
from naiad.strings.landing import kicked
from naiad.strings.linear import _checked
from naiad.strings.problem import Problem, Velocities, tip_legs
from naiad.strings.variational import _kicked_ends
from tests.strings.strings import moving_case, paper_case

H = 0.0005


PAPER = nd.Left()


def run(case, rule=PAPER, t1=1.0, dt=H, **options):
    pendulum, state = paper_case(case, **options)
    return pendulum, nd.simulate(
        pendulum, state, t1=t1, dt=dt, method=StringVariational(rule), save_every=10**9, engine="compiled"
    )


def test_fixed_length_gives_the_papers_numbers():
    pendulum, found = run(1)
    np.testing.assert_allclose(found.energy[0], 10.7180298101, atol=5e-11)
    np.testing.assert_allclose(found.momentum[0], 0.5457291666667, atol=5e-14)
    np.testing.assert_allclose(pendulum.stretched_length(found.final.g), 10.677315697, atol=1e-9)
    np.testing.assert_allclose(found.xi[-1, -3:], (0.306151149, 0.296032412, -0.407678558), atol=1e-9)
    np.testing.assert_allclose(found.momentum[-1], found.momentum[0], atol=1e-13)


@pytest.mark.parametrize(("case", "s", "length"), [(2, 98.774676209, 1.238945239), (3, 90.087595989, 10.434450107)])
def test_the_reel_gives_the_papers_numbers(case, s, length):
    pendulum, found = run(case)
    np.testing.assert_allclose(found.final.g.s[0], s, atol=1e-9)
    np.testing.assert_allclose(pendulum.stretched_length(found.final.g), length, atol=1e-9)


def off_the_legs(about, before, after, t):
    """How far a step is off the legs by automatic differentiation: at its start, at its end."""
    pendulum, dense, h = about
    group, tau = pendulum.group, dense.retraction
    xi = tau.inverse(group, group.compose(group.inverse(before.g), after.g)) / h
    legs = dense.legs(pendulum, before.g, xi, t, h)
    plus = group.Ad_dual_advance(tau.increment(group, h * xi), legs.kinetic) + legs.plus
    return legs.mu_minus - before.mu, plus - after.mu


@pytest.mark.parametrize(
    ("case", "rule", "options"),
    [
        (1, nd.Implicit(), {}),
        (3, nd.Left(), {}),
        (3, nd.Midpoint(), {"kinetic": "exact"}),
        pytest.param(1, nd.Left(), {}, marks=pytest.mark.long),
        pytest.param(2, nd.Implicit(), {"carnot": "dissipative"}, marks=pytest.mark.long),
    ],
)
def test_the_step_is_that_of_the_general_integrator(case, rule, options):
    pendulum, state = moving_case(case, **options)
    h = 0.002
    found = nd.simulate(
        pendulum, state, t1=6 * h, dt=h, method=StringVariational(rule), save_every=1, engine="compiled"
    )
    dense = nd.Variational(nd.Cayley(), StringRule(rule))
    before, after = (jax.tree.map(lambda leaf, part=part: leaf[part], found.states) for part in (np.s_[:-1], np.s_[1:]))
    off = execute_rows(off_the_legs, (pendulum, dense, h), before, after, found.t.to_numpy()[:-1], parameters=(0,))
    assert np.max(np.abs(off)) < 3e-11  # the round-off of s = 90 m over h, times its inertia


def left_over(about, state, xi):
    """What is left of the equations of a step at any velocities, as the step finds it and by automatic
    differentiation."""
    pendulum, method, h = about
    rule, (rows, ends) = method.discrete, pendulum.split(state.mu)
    nodes, reel = kicked(pendulum, rule, state.g, rows, 0.0, 0.5 * h)
    nodes, ends = _kicked_ends(pendulum, rule, state.g, nodes, ends, reel, 0.0, 0.5 * h)
    problem = Problem(pendulum, rule, state.g, nodes, ends, 0.0, h)
    velocities = Velocities(*pendulum.split(xi))
    found = _checked(problem, velocities, tip_legs(problem, velocities.tip), 1.0)
    legs = nd.Variational(nd.Cayley(), StringRule(method.rule)).legs(pendulum, state.g, xi, 0.0, h)
    return *found, jnp.max(jnp.abs(legs.mu_minus - state.mu))


@pytest.mark.parametrize("rule", [nd.Left(), nd.Midpoint()])
def test_what_is_left_of_the_equations_is_that_of_the_general_integrator(rule):
    """They are looked at where a correction is not small: at other velocities they are not met."""
    pendulum, state = moving_case(3)
    xi = np.random.default_rng(1).normal(size=pendulum.group.dim)
    residual, met, expected = execute(left_over, (pendulum, StringVariational(rule), 0.002), state, xi, parameters=(0,))
    assert not met
    np.testing.assert_allclose(residual, expected, rtol=1e-10)


def free_case(case, **options):
    """A case on which no force acts, so that the flow is symplectic."""
    return moving_case(case, elements=2, carnot="none", moment=0.0, **options)


@pytest.mark.long  # the order of the energy balance is a quick test of the study
@pytest.mark.parametrize(
    ("case", "rule", "order"),
    [(3, nd.Midpoint(), 2), (1, nd.Left(), 2), (3, nd.Left(), 1), (2, nd.Midpoint(), 2), (3, nd.Implicit(), 2)],
)
def test_orders_against_the_exact_motion(case, rule, order):
    pendulum, state = moving_case(case, elements=2)
    steps = (40, 80, 160) if order == 2 else (320, 640, 1280)
    t1 = 0.1 if case != 2 else 0.02
    found = convergence(pendulum, StringVariational(rule), state, t1=t1, steps=steps)
    assert found.order == pytest.approx(order, abs=0.1), found


@pytest.mark.long
@pytest.mark.parametrize("rule", [nd.Midpoint(), nd.Implicit()])
def test_symmetric_schemes_with_forces_are_reversible(rule):
    pendulum, state = moving_case(3, elements=2, carnot="none")
    assert reversibility_defect(pendulum, StringVariational(rule), state, dt=0.002, steps=1) < 1e-12
    assert reversibility_defect(pendulum, StringVariational(nd.Left()), state, dt=0.002, steps=1) > 1e-9


@pytest.mark.long
@pytest.mark.parametrize("rule", [nd.Left(), nd.Midpoint(), nd.Implicit()])
def test_the_flow_is_symplectic_and_keeps_the_angular_momentum(rule):
    pendulum, state = free_case(2, kinetic="exact")
    assert symplecticity_defect(pendulum, StringVariational(rule), state, dt=0.002, steps=1) < 1e-12
    end = march(pendulum, StringVariational(rule), state, dt=0.001, steps=1000)
    np.testing.assert_allclose(pendulum.noether(end), pendulum.noether(state), atol=1e-13)


@pytest.mark.long
def test_fixed_length_over_a_million_steps():
    pendulum, state = paper_case(1)
    monitors = {
        "energy": lambda state, t: pendulum.energy(state, t),
        "pi3": lambda state, t: pendulum.noether(state)[0],
    }
    found = nd.simulate(
        pendulum, state, t1=1e6 * H, dt=H, method=StringVariational(nd.Left()), monitors=monitors, save_every=10**6
    )
    energy, pi3 = found.monitors["energy"], found.monitors["pi3"]
    assert abs(energy.slope) * 1e6 * H < 1e-3  # of a swing of some 1e-2 J
    assert max(pi3.max - 0.5457291666667, 0.5457291666667 - pi3.min) < 1e-12
    assert energy.max - energy.min < 0.05


@pytest.mark.long
def test_waves_along_a_straight_string_keep_their_energy_at_any_step():
    string = StringPendulum(length=10.0, mass_per_length=0.025, stiffness=4000.0, elements=20, body=HangingBody(0.1))
    state = string.straight((0.0, 0.0, 1.0), strain=0.05)
    swing = {}
    for rule, dt in ((nd.Midpoint(), 0.0005), (nd.Implicit(), 0.005)):
        found = nd.simulate(string, state, t1=2.0, dt=dt, method=StringVariational(rule), save_every=1)
        swing[type(rule)] = np.ptp(found.energy.to_numpy())
    assert swing[nd.Midpoint] > 1e-3
    assert swing[nd.Implicit] < 1e-11
