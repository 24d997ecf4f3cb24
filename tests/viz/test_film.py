"""Films: what they show, how long they are, and what is refused."""

import os
import sys

import numpy as np
import pytest
import xarray as xr
from PIL import Image

from naiad.errors import InputError, RunError
from naiad.viz import animate
from naiad.viz.motion import describe_motion
from naiad.viz.still import TINTS, Still

SMALL = {"size": (160, 120), "fps": 5, "seconds": 1.0}


def flight(frames=11):
    """A ball that moves along x, from -2 to 2."""
    time = np.linspace(0.0, 1.0, frames)
    x = np.stack([4 * time - 2, 0 * time, 0 * time], 1)
    return xr.Dataset({"x": (("time", "axis"), x)}, {"time": time}, {"shapes": [[0.3, 0.3, 0.3]]})


def ball_at(image):
    """Where the ball is: the middle of what is of its hue and not pale like its trail."""
    pixels = np.asarray(image.convert("RGB"), float)
    blue = (pixels[..., 2] - pixels[..., 0] > 60) & (pixels[..., 0] < 110)
    return np.argwhere(blue).mean(0)[::-1]


def test_a_still_has_the_body_where_it_is():
    still = Still(describe_motion(flight()), (320, 200))
    places = np.array([ball_at(still.at(t)) for t in (0.0, 0.5, 1.0)])
    np.testing.assert_allclose(places[1], [160, 102], atol=8)
    steps = np.diff(places[:, 0])
    assert (steps > 60).all()  # from left to right, across most of the image
    assert steps[0] == pytest.approx(steps[1], rel=0.25)  # but for what perspective does


def test_every_kind_is_drawn(case):
    name, data = case
    if name in {"SO5", "R1", "R4"}:
        return
    motion = describe_motion(data)
    image = np.asarray(Still(motion, (240, 160)).at(3.0), float)
    assert image.shape == (160, 240, 3)
    assert np.abs(image - TINTS[0]).sum(-1).min() < 120  # there is something of the first body's colour
    other = np.asarray(Still(motion, (240, 160)).at(9.0), float)
    assert (np.abs(image - other).max() > 50) == (data.sizes["time"] > 1)


def test_a_gif_has_its_images_and_its_pace(tmp_path):
    assert animate(flight(), tmp_path / "a.gif", **SMALL) == tmp_path / "a.gif"
    with Image.open(tmp_path / "a.gif") as film:
        assert film.n_frames == 5
        assert film.size == (160, 120)
        assert film.info["duration"] == 200
        assert film.info["loop"] == 0
        first, last = film.copy(), (film.seek(4), film.copy())[1]
    assert ball_at(last)[0] - ball_at(first)[0] > 60
    assert os.listdir(tmp_path) == ["a.gif"]


def test_an_mp4_needs_ffmpeg(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(InputError, match=r"ffmpeg, which is not on the path; install it .* name the film .*a\.gif"):
        animate(flight(), tmp_path / "a.mp4")
    assert not os.listdir(tmp_path)


FFMPEG = """#!{python}
import sys
arguments = sys.argv[1:]
size = [int(side) for side in arguments[arguments.index("-s") + 1].split("x")]
raw = sys.stdin.buffer.read()
if "{mood}" == "bad":
    print("what is this?", file=sys.stderr)
    raise SystemExit(1)
open(arguments[-1], "w").write(str(len(raw) / (3 * size[0] * size[1])) + " " + arguments[arguments.index("-r") + 1])
"""


@pytest.mark.parametrize("mood", ["good", "bad"])
def test_ffmpeg_gets_every_image(tmp_path, monkeypatch, mood):
    """By a program in its place, which counts the images that it is given."""
    program = tmp_path / "bin" / "ffmpeg"
    program.parent.mkdir()
    program.write_text(FFMPEG.format(python=sys.executable, mood=mood))
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(program.parent))
    if mood == "bad":
        with pytest.raises(RunError, match="ffmpeg could not make the film: what is this"):
            animate(flight(), tmp_path / "a.mp4", **SMALL)
        assert os.listdir(tmp_path) == ["bin"]
        return
    animate(flight(), tmp_path / "a.mp4", size=(161, 121), fps=5, seconds=1.0)
    assert (tmp_path / "a.mp4").read_text() == "5.0 5"


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("a.avi", {}, r"a web page or a film; name it .*a\.html, a\.gif or a\.mp4"),
        ("a.html", {"fps": 3}, "are those of a film"),
        ("a.gif", {"fps": 0}, "1 to 120 images a second"),
        ("a.gif", {"seconds": -1.0}, "up to 3600 seconds"),
        ("a.gif", {"size": (10, 10)}, "64 to 4096 pixels"),
    ],
)
def test_refusals(tmp_path, name, options, message):
    with pytest.raises(InputError, match=message):
        animate(flight(), tmp_path / name, **options)
    assert not os.listdir(tmp_path)
