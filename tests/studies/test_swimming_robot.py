"""A robot from a file that swims: what it keeps, and what it says."""

import numpy as np
import pytest

from naiad.errors import InputError
from naiad.studies.progress import Progress
from naiad.studies.trees.swimming_robot import SwimmingRobot, joint_angles
from tests.trees.robots import EEL


@pytest.mark.long
def test_the_eel_swims_and_keeps_its_momenta():
    study = SwimmingRobot(t1=4.0)
    findings = study.run(Progress())
    found = findings.results
    assert found["bodies"] == 6
    assert np.linalg.norm(found["displacement"]) > 1e-3
    assert found["displacement"][2] == 0.0
    assert found["linear_momentum_error_max"] < 1e-13
    assert found["angular_momentum_error_max"] < 1e-13
    assert found["energy_balance_error_max"] < 1e-3
    assert 0.2 < found["angle_max"] < 1.5
    assert found["beyond_limits"] == "none"
    for draw in findings.figures.values():
        draw()


def test_a_file_is_read_and_its_limits_are_watched(tmp_path):
    (tmp_path / "eel.urdf").write_text(EEL)
    study = SwimmingRobot(file=str(tmp_path / "eel.urdf"), amplitude=3.0, t1=2.0, wavelength=2.0)
    findings = study.run(Progress())
    assert findings.results["mass"] == pytest.approx(7.5)
    assert findings.results["beyond_limits"] == "tail"
    assert "Joint 'neck': its limits do not act." in findings.notes


@pytest.mark.long
def test_a_hinge_gives_its_angle_back():
    import naiad as nd

    study = SwimmingRobot(torques="none")
    bodies = study.bodies()
    turns = np.zeros((6, 3))
    turns[1:, 2] = (0.3, -0.2, 0.1, 2.0, -1.0)
    run = nd.simulate(bodies, bodies.joint_state(turns), t1=0.02, dt=0.01)
    assert np.allclose([values[0] for values in joint_angles(bodies, run).values()], turns[1:, 2])


def test_bad_values(tmp_path):
    (tmp_path / "robot.txt").write_text("robot")
    with pytest.raises(InputError, match=r"expected \.urdf"):
        SwimmingRobot(file=str(tmp_path / "robot.txt")).run(Progress())
    with pytest.raises(InputError, match="there is no such file"):
        SwimmingRobot(file=str(tmp_path / "none.urdf")).run(Progress())
    one = EEL[: EEL.index('  <link name="camera">')] + "</robot>"
    (tmp_path / "one.urdf").write_text(one)
    with pytest.raises(InputError, match="no joints to drive"):
        SwimmingRobot(file=str(tmp_path / "one.urdf")).run(Progress())
