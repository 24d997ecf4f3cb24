"""Feedback along a motion: against the infinite horizon, least squares of all steps, and a turn that is disturbed."""

import numpy as np
import pytest

import naiad as nd
from naiad.errors import InputError
from tests.control.test_linear import Cart


def driven(plant, state, u, dt):
    """The nodes of a motion under controls."""
    nodes = [state]
    for each in u:
        run = nd.simulate(plant.replaced(u=np.asarray(each)), nodes[-1], t1=dt, dt=dt, progress=False)
        nodes.append(run.final)
    return nd.State(*(np.stack([getattr(node, name) for node in nodes]) for name in ("g", "mu")))


def test_a_long_motion_begins_with_the_feedback_of_the_infinite_horizon():
    cart = Cart()
    plant, dt, N = nd.control.Actuated(cart, [0.0]), 0.1, 200
    rest = nd.State(np.zeros((N + 1, 1)), np.zeros((N + 1, 1)))
    found = nd.control.tracking(plant, rest, np.zeros((N, 1)), (1.0, 1.0), 1.0, dt=dt)
    step = nd.control.linear_step(plant, cart.state(), dt=dt)
    np.testing.assert_allclose(found.K[0], nd.control.lqr(step.A, step.B, (1.0, 1.0), 1.0).K, rtol=1e-10)
    np.testing.assert_allclose(found.V[0], nd.control.lqr(step.A, step.B, (1.0, 1.0), 1.0).V, rtol=1e-10)


def test_the_feedback_is_the_least_squares_solution_of_all_steps():
    """Along a motion that turns a rigid body: the first controls and the cost of the whole linear problem at once."""
    body = nd.models.RigidBody(J=(1.0, 2.0, 3.0))
    plant, dt = nd.control.Actuated(body, np.zeros(3)), 0.1
    rng = np.random.default_rng(0)
    u = rng.standard_normal((5, 3))
    states = driven(plant, body.state(Omega=(0.3, -0.2, 0.5)), u, dt)
    Q, R, end = rng.uniform(0.5, 2.0, 6), rng.uniform(0.5, 2.0, 3), 10.0
    found = nd.control.tracking(plant, states, u, Q, R, dt=dt, end=end)
    x0 = rng.standard_normal(6)
    free, forced, rows, right = np.eye(6), np.zeros((6, 15)), [], []
    for k in range(5):
        forced = found.A[k] @ forced
        forced[:, 3 * k : 3 * k + 3] += found.B[k]
        free = found.A[k] @ free
        weigh = np.sqrt(Q if k < 4 else np.full(6, end))[:, None]
        rows.append(weigh * forced)
        right.append(-weigh[:, 0] * (free @ x0))
    rows.append(np.diag(np.sqrt(np.tile(R, 5))))
    right.append(np.zeros(15))
    du, residual, *_ = np.linalg.lstsq(np.vstack(rows), np.concatenate(right), rcond=None)
    np.testing.assert_allclose(du[:3], -found.K[0] @ x0, atol=1e-12)
    np.testing.assert_allclose(residual[0] + x0 @ (Q * x0), x0 @ found.V[0] @ x0, rtol=1e-12)


def test_a_disturbed_turn_comes_back_to_its_motion():
    body = nd.models.RigidBody(J=(1.0, 2.0, 3.0))
    dt, N = 0.05, 60
    plant = nd.control.Actuated(body, np.zeros(3))
    u = np.stack([np.sin(0.1 * np.arange(N)), np.cos(0.07 * np.arange(N)), np.full(N, 0.2)], axis=1)
    states = driven(plant, body.state(), u, dt)
    found = nd.control.tracking(plant, states, u, (100.0,) * 3 + (1.0,) * 3, 0.1, dt=dt)
    off = {}
    for closed in (False, True):
        state = body.state(Omega=(0.1, -0.1, 0.1), R=nd.double(body.group.exp)(np.array([0.2, 0.1, -0.2])))
        for k in range(N):
            held = found.control(k, state) if closed else u[k]
            state = nd.simulate(plant.replaced(u=held), state, t1=dt, dt=dt, progress=False).final
        off[closed] = np.max(np.abs(state.g - states.g[-1]))
    assert off[False] > 0.3
    assert off[True] < 1e-3 * off[False]


def test_what_is_no_motion_is_refused():
    cart = Cart()
    plant = nd.control.Actuated(cart, [0.0])
    rest = nd.State(np.zeros((3, 1)), np.zeros((3, 1)))
    with pytest.raises(InputError, match=r"expected \(2, 1\)"):
        nd.control.tracking(plant, rest, np.zeros((3, 1)), 1.0, 1.0, dt=0.1)
    with pytest.raises(InputError, match="node 1 is off by"):
        nd.control.tracking(plant, rest, np.ones((2, 1)), 1.0, 1.0, dt=0.1)
    with pytest.raises(InputError, match="end is not positive semidefinite"):
        nd.control.tracking(plant, rest, np.zeros((2, 1)), 1.0, 1.0, dt=0.1, end=-1.0)
    found = nd.control.tracking(plant, rest, np.zeros((2, 1)), 1.0, 1.0, dt=0.1)
    with pytest.raises(InputError, match="0 to 1"):
        found.control(2, cart.state())
