"""Optimal control of an elastic string."""

import jax.numpy as jnp
import numpy as np
import pytest

import naiad as nd
from naiad.models import HangingBody, StringPendulum

STRING = StringPendulum(
    length=1.0, mass_per_length=0.2, stiffness=60.0, elements=2, gravity=(0.0, 0.0, 9.81), body=HangingBody(0.5)
)
PUSH = np.eye(6)[:, 3:4]
"""Along e_1, on the body at the end."""
MIDPOINT = nd.Variational(rule=nd.Midpoint())


def still(state, t):
    return jnp.stack([state.g.q[-1, 0], state.mu[3]])


@pytest.mark.long
def test_a_swing_is_stopped_with_least_effort_and_the_plan_is_a_motion_of_the_simulator():
    start = STRING.straight((0.3, 0.0, 1.0))
    plan = nd.control.solve(
        STRING, start, None, T=2.0, N=40, order=2, method=MIDPOINT, actuation=PUSH, ending=still, tolerance=1e-10
    )
    assert plan.solved
    state = start
    for k in range(40):
        driven = nd.control.Actuated(STRING, plan.u[k, 0], PUSH)
        state = nd.simulate(driven, state, t1=0.05, dt=0.05, method=MIDPOINT, progress=False).final
        np.testing.assert_allclose(state.g.q, plan.states.g.q[k + 1], atol=1e-7)
    np.testing.assert_allclose(still(state, 2.0), 0.0, atol=1e-7)
    assert plan.cost == pytest.approx(0.05 / 2.0 * np.sum(plan.u**2), rel=1e-6)
    assert plan.cost == pytest.approx(0.159, abs=5e-4)
