"""The O(N) step of a string: the paper's numbers, equality with the general step, and what it keeps."""

import jax
import numpy as np
import pytest

import naiad as nd
from naiad.compiler import execute_rows
from naiad.integrators import StringQuadrature, StringVariational
from tests.integrators.strings import moving_case, paper_case

H = 0.0005


def run(case, scheme="paper", t1=1.0, dt=H, **options):
    pendulum, state = paper_case(case, **options)
    return pendulum, nd.simulate(
        pendulum, state, t1=t1, dt=dt, method=StringVariational(scheme), save_every=10**9, engine="compiled"
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
    ("case", "scheme", "options"),
    [
        (1, "paper", {}),
        (1, "imex", {}),
        (3, "paper", {}),
        (3, "symmetric", {"kinetic": "exact"}),
        (2, "imex", {"carnot": "dissipative"}),
    ],
)
def test_the_step_is_that_of_the_general_integrator(case, scheme, options):
    pendulum, state = moving_case(case, **options)
    h = 0.002
    found = nd.simulate(
        pendulum, state, t1=6 * h, dt=h, method=StringVariational(scheme), save_every=1, engine="compiled"
    )
    dense = nd.Variational(nd.Cayley(), StringQuadrature(scheme))
    before, after = (jax.tree.map(lambda leaf, part=part: leaf[part], found.states) for part in (np.s_[:-1], np.s_[1:]))
    off = execute_rows(off_the_legs, (pendulum, dense, h), before, after, found.t.to_numpy()[:-1])
    assert np.max(np.abs(off)) < 3e-11  # the round-off of s = 90 m over h, times its inertia
