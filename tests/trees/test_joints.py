"""The joints of a run, by kind: what `joint_state` was given, and hinges that go round."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import naiad as nd
from naiad.errors import InputError

OPTIONS = {"J": [(1.0, 2.0, 2.5)], "M": 1.0}


def test_a_run_gives_back_the_joints_that_it_was_given():
    rest = np.stack([Rotation.from_rotvec(v).as_matrix() for v in ([0.1, 0, 0], [0, 0.4, 0], [0, 0, 0.7])])
    tree = nd.Tree((-1, 0, 0), **OPTIONS, own=[(0.0, 0, 0), (1.0, 0, 0), (0, 1.0, 0)], other=np.eye(3) - np.eye(3)[:1],
                   joints=("ball", "hinge"), axis=(0.0, 0.6, 0.8), rest=rest)  # fmt: skip
    bodies = nd.models.ConnectedBodies(tree, overlap=True)
    turns = np.array([(0.2, -0.1, 0.3), (0.5, 0.4, -1.0), (0.0, 0.6 * 2.5, 0.8 * 2.5)])
    rates = np.array([(0.3, 0.1, 0.2), (1.0, -2.0, 0.5), (0.0, -0.6, -0.8)])
    run = nd.simulate(bodies, bodies.joint_state(turns, rates), t1=0.02, dt=0.01)
    joints = run.joints()
    np.testing.assert_allclose(joints["turn"][0], turns, atol=1e-12)
    np.testing.assert_allclose(joints["rate"][0], rates, atol=1e-12)
    np.testing.assert_allclose(joints["angle"][0], [2.5], atol=1e-12)
    np.testing.assert_allclose(joints["angle_rate"][0], [-1.0], atol=1e-12)
    assert joints["hinge"].to_numpy().tolist() == [2]
    assert joints["joint"].to_numpy().tolist() == ["free", "ball", "hinge"]
    q = run.joints("quaternion")["turn"][0]
    np.testing.assert_allclose(q, Rotation.from_rotvec(turns).as_quat(canonical=True, scalar_first=True), atol=1e-12)
    with pytest.raises(InputError, match="form = 'euler'; expected one of 'vector', 'quaternion'"):
        run.joints("euler")
    assert run.dataset["x"].dims == ("time", "body", "axis")
    np.testing.assert_allclose(run.dataset["x"], bodies.places(run.g), atol=1e-14)


def test_the_angle_of_a_hinge_goes_on_beyond_a_turn():
    tree = nd.Tree((-1, 0), **OPTIONS, own=np.zeros((2, 3)), other=np.zeros((2, 3)), joints="hinge", axis=(0.0, 0, 1.0))
    bodies = nd.models.ConnectedBodies(tree, overlap=True)
    state = bodies.joint_state([(0, 0, 0.0), (0, 0, 0.3)], [(0, 0, 0.0), (0, 0, 5.0)])
    joints = nd.simulate(bodies, state, t1=3.0, dt=0.002).joints()
    np.testing.assert_allclose(joints["angle"][:, 0], 0.3 + 5.0 * joints["time"], atol=4e-4)
    assert float(joints["angle"].max()) > 15.0
    np.testing.assert_allclose(joints["angle_rate"], 5.0, rtol=1e-9)


def test_a_system_without_joints_says_so():
    body = nd.models.RigidBody((1.0, 2.0, 3.0))
    run = nd.simulate(body, body.state(Omega=(0.1, 0.2, 0.3)), t1=0.1, dt=0.05)
    with pytest.raises(InputError, match=r"RigidBody has no joints; .* run\.attitude\(\)"):
        run.joints()


def test_velocities_and_all_else_in_an_output():
    body = nd.models.KirchhoffBody((1.5, 2.0, 3.0), (2.0, 3.0, 4.0))
    outputs = {"speeds": lambda state, t: body.named(state, t)["v"], "rest": lambda s, t: body.named(s, t)["Omega"] * t}
    run = nd.simulate(body, body.state(Omega=(0.3, 0.2, 0.1), v=(1.0, 0.5, 0.2)), t1=0.1, dt=0.05, outputs=outputs)
    np.testing.assert_allclose(run.record["speeds"], run.xi[:, 3:], rtol=1e-13)
    np.testing.assert_allclose(run.record["rest"], run.xi[:, :3] * run.t, rtol=1e-13)
    assert list(body.named(run.final)) == ["R", "x", "Omega", "v", "Pi", "p"]


def test_a_wheel_that_turns_more_than_once_between_saved_nodes_is_counted():
    tree = nd.Tree(
        (-1, 0), J=[(1.0, 1.0, 1.0)], M=1.0, own=np.zeros((2, 3)), other=np.zeros((2, 3)), joints="hinge",
        axis=(0, 0, 1),
    )  # fmt: skip
    bodies = nd.models.ConnectedBodies(tree)
    state = bodies.joint_state(rates=((0, 0, 0), (0, 0, 50.0)))
    joints = nd.simulate(bodies, state, t1=3.0, dt=1e-3, save_every=250).joints()
    np.testing.assert_allclose(joints["angle"][:, 0], 50.0 * joints["time"], rtol=1e-3)  # two turns from node to node


def test_a_hinge_that_swings_faster_than_it_is_saved_does_not_turn_round():
    """Its rates tell nothing of what is between: the angle goes the shorter way."""
    from naiad.simulation.joints import with_whole_turns

    time = np.arange(0.0, 20.0, 0.5)
    angle, speed = 0.3 * np.sin(41.0 * time)[:, None], 0.3 * 41.0 * np.cos(41.0 * time)[:, None]
    np.testing.assert_allclose(with_whole_turns(time, angle, speed), angle, atol=1e-12)


def test_joints_have_the_names_of_the_bodies():
    class Named(nd.models.ConnectedBodies):
        @property
        def picture(self):
            return super().picture._replace(names=("bus", "wheel"))

    tree = nd.Tree((-1, 0), J=[(1.0, 1.0, 1.0)], M=1.0, own=np.zeros((2, 3)), other=np.zeros((2, 3)))
    bodies = Named(tree)
    run = nd.simulate(bodies, bodies.state(), t1=0.1, dt=0.05)
    assert run.joints()["turn"].sel(body="wheel").shape == (3, 3)
