"""Optimal control against closed forms and against Pontryagin's equations, converged by shooting elsewhere."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import naiad as nd

UNIT = nd.models.RigidBody((1.0, 1.0, 1.0))
BODY = nd.models.RigidBody((1.0, 2.0, 3.0))
AXIS = np.ones(3) / np.sqrt(3.0)
BODY_COST = 11.383254610319  # rest to rest, 2 rad about (1, 1, 1) in 2 s


def turned(body, angle, axis):
    with jax.enable_x64(True):
        return body.state(R=np.asarray(body.group.exp(angle * jnp.asarray(axis))))


def turn(order, N, **options):
    return nd.control.solve(BODY, BODY.state(), turned(BODY, 2.0, AXIS), 2.0, N, order=order, **options)


@pytest.mark.parametrize("order", [2, 4])
def test_least_effort_of_a_sphere_has_its_closed_form(order):
    body = nd.models.RigidBody((2.0, 2.0, 2.0))
    costs = [
        nd.control.solve(body, body.state(), turned(body, 1.5, AXIS), 3.0, N, order=order).cost for N in (8, 16, 32)
    ]
    exact = 6.0 * 2.0**2 * 1.5**2 / 3.0**3
    errors = np.array(costs) - exact
    assert np.log2(errors[1] / errors[2]) == pytest.approx(order, abs=0.1)
    assert abs(errors[2]) < {2: 3e-3, 4: 1e-8}[order] * exact


@pytest.mark.parametrize("order", [2, 4])
def test_optimal_cost_has_the_order_and_its_error_is_estimated(order):
    found = turn(order, 32, estimate=True)
    assert found.solved
    error = abs(found.cost - BODY_COST)
    assert error < {2: 7e-3, 4: 4e-7}[order] * BODY_COST
    assert 1 / 3 < found.error_estimate / error < 3


def test_order_four_is_on_a_par_with_rk4_and_linear_controls_by_the_exponential_map():
    found = turn(4, 8, method=nd.VPRK("gauss2", nd.Exponential()))
    assert abs(found.cost / BODY_COST - 1) < 7.0e-5
