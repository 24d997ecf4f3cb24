"""A solution of another problem as a guess, and estimates of the error where coarse grids fail."""

import dataclasses
import pickle

import jax.numpy as jnp
import numpy as np
import pytest

import naiad as nd
from naiad.control import solving
from naiad.errors import InputError
from tests.control.test_linear import Cart


def solved(**options):
    cart = Cart()
    return nd.control.solve(cart, cart.state(), cart.state(q=[1.0]), 2.0, 8, **options)


def test_a_solution_of_another_order_or_without_inequalities_is_a_guess():
    """A cart of a unit mass over a unit of length: least effort is 6 / T^3, at order 4 exactly."""
    plain = solved(order=2)
    finer = solved(order=4, guess=plain)
    assert finer.cost == pytest.approx(0.75, rel=1e-9)
    assert finer.iterations <= 3
    back = solved(order=2, guess=finer)
    assert back.cost == pytest.approx(plain.cost, rel=1e-12)

    def slow(x, v, u, t):
        return jnp.stack([v[0] - 0.6])

    bounded = solved(order=2, guess=plain, path=slow)
    assert bounded.solved
    assert bounded.cost == pytest.approx(solved(order=2, path=slow).cost, rel=1e-6)
    assert bounded.cost > 1.01 * plain.cost


def test_a_guess_that_cannot_be_one_is_refused():
    cart, plain = Cart(), solved(order=2)
    with pytest.raises(InputError, match="guess has 1 controls and 0 constants"):
        nd.control.solve(cart, cart.state(), cart.state(q=[1.0]), 2.0, 8, order=2, free_time=True, guess=plain)


@pytest.mark.parametrize("failing", [(2, 4), (2, 4, 16)])
def test_where_coarse_grids_fail_a_finer_one_tells_the_error_or_none_is_given(monkeypatch, failing):
    """Order 2 errs by 12 / T^3 / N^2 / 2 here, to leading order, which the finer grid sees."""
    best = solving._best

    def refusing(task, start, goal, N, *rest):
        found = best(task, start, goal, N, *rest)
        return dataclasses.replace(found, status=nd.control.Status.STALLED) if N in failing else found

    monkeypatch.setattr(solving, "_best", refusing)
    plan = solved(order=2, estimate=True)
    assert plan.solved
    if 16 in failing:
        assert plan.error_estimate is None
        assert plan.message.startswith("there is no estimate of the error: with 2, 4 and 16 steps")
    else:
        assert plan.message == ""
        assert plan.error_estimate == pytest.approx(abs(plan.cost - 0.75), rel=0.05)
        assert np.isfinite(plan.error_estimate)


@pytest.mark.parametrize("steps", [2, 8, 9])
def test_a_solution_keeps_its_numbers_when_another_problem_is_solved(steps):
    """Tables are used again; those of a few steps are one group of rows, of which views are possible."""
    cart = Cart()
    first = nd.control.solve(cart, cart.state(), cart.state(q=[1.0]), 2.0, steps, order=2)
    u, lam = first.u.copy(), first.costates.g.copy()
    nd.control.solve(cart, cart.state(), cart.state(q=[-3.0]), 2.0, steps, order=2)
    np.testing.assert_array_equal(first.u, u)
    np.testing.assert_array_equal(first.costates.g, lam)
    assert np.abs(u).max() > 0.5


def test_a_solution_can_be_taken_to_another_process():
    plan = solved(order=2)
    again = pickle.loads(pickle.dumps(plan))
    np.testing.assert_array_equal(again.u, plan.u)
    assert again.cost == plan.cost


def test_controls_are_given_for_the_times_of_a_plan_only():
    plan = solved(order=4)
    np.testing.assert_allclose(plan.control(plan.t_u), plan.u, atol=1e-12)
    assert plan.control(2.0).shape == (1,)
    for t in (-0.1, 2.1, np.nan, "noon"):
        with pytest.raises(InputError, match="expected times of the plan, from 0 to 2"):
            plan.control(t)
