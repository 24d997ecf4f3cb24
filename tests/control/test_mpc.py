"""Model predictive control."""

import numpy as np

import naiad as nd

BODY = nd.models.RigidBody((1.0, 2.0, 3.0))
QUARTER = np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])


def test_a_loop_with_one_iteration_a_sample_ends_where_the_plan_ends():
    """A horizon that moves along with a goal at its end comes to rest there, though the plant is heavier by a tenth,
    which without feedback would end 0.15 short."""
    goal = BODY.state(R=QUARTER)
    steer = nd.control.MPC(BODY, goal, 2.0, 10, bounds=4.0)
    plant = nd.models.RigidBody((1.1, 2.2, 3.3))
    run = steer.run(BODY.state(), 30, plant=plant, substeps=2)
    assert np.all(run.iterations[1:] == 1)
    assert np.abs(run.u).max() < 4.0
    assert np.abs(run.states.g[-1] - QUARTER).max() < 0.01
    assert np.abs(run.states.mu[-1]).max() < 0.05
    assert run.seconds.shape == (30,)
