"""`naiad swim`: a robot from a file."""

import json

import pytest

from tests.trees.robots import EEL


@pytest.mark.long
def test_a_robot_swims(naiad, tmp_path):
    (tmp_path / "eel.urdf").write_text(EEL)
    done = naiad("swim", "eel.urdf", "--water", 1000, "--torques", "none", "--t1", 0.2, "--dt", 0.02, "--json")
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    assert found["study"] == "swimming-robot"
    assert found["results"]["bodies"] == 2
    assert found["params"]["water"] == 1000.0
    assert not (tmp_path / "out").exists()


@pytest.mark.long
def test_all_files_are_written(naiad, tmp_path):
    (tmp_path / "eel.urdf").write_text(EEL)
    done = naiad("swim", "eel.urdf", "--t1", 0.2, "--dt", 0.02, "--amplitude", 0.5, "--live")
    assert done.exit_code == 0, done.output
    files = {path.name for path in (tmp_path / "out" / "eel").iterdir()}
    assert {"report.html", "motion.html", "live.html", "result.zarr", "study.toml", "robot.png", "joints.png"} <= files


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("none.urdf",), "none.urdf: there is no such file"),
        (("eel.urdf", "--torques", "prayer"), "torques"),
        (("eel.urdf", "--water", "-1"), "water"),
        (("eel.urdf", "--wet", "dry"), "wet"),
    ],
)
def test_mistakes_are_told_in_a_line(naiad, tmp_path, arguments, says):
    (tmp_path / "eel.urdf").write_text(EEL)
    done = naiad("swim", *arguments)
    assert done.exit_code == 2
    assert says in done.stderr
    assert "Traceback" not in done.stderr
