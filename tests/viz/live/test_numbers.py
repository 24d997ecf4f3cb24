"""The numbers that a live page shows: few digits, zeros as zero, and units."""

import json
import re

import jax.numpy as jnp
import numpy as np
import pytest

import naiad as nd
from benchmarks.javascript import engines
from naiad import hydro
from naiad.errors import InputError
from naiad.viz.animation import resource
from naiad.viz.live.controls import as_slider, with_value
from tests.viz.live.modules import PageText


def called(file: str, name: str, *calls: str) -> list[str]:
    """What calls of a function of a page's script give."""
    source = re.search(rf"^function {name}\(.*?^}}", resource(file), re.DOTALL | re.MULTILINE)[0]
    run = next(iter(engines().values()))
    return json.loads(run(f"{source}\nreport(JSON.stringify([{', '.join(calls)}]).replaceAll('\u2212', '-'));"))


@pytest.mark.parametrize(
    ("low", "high", "log", "value", "shown"),
    [
        (-1, 1, False, 4.12682e-19, "0"),
        (-1, 1, False, -2.4e-18, "0"),
        (-1, 1, False, -1 / 3, "-0.333"),
        (0, 1, False, 0.00041234567, "0.000412"),
        (0, 10, False, 9.8066, "9.81"),
        (0, 2000, False, 1025.0, "1025"),
        (1000, 1010, False, 1003.25, "1003.25"),
        (0.001, 0.1, True, 0.0125, "0.0125"),
        (0.001, 1000.0, True, 31.6227766, "31.6"),
        (0, 1e-6, False, 1.25e-7, "1.25e-7"),
    ],
)
def test_controls_show_three_digits_and_zero(low, high, log, value, shown):
    about = json.dumps({"low": low, "high": high, "log": log})
    assert called("live-controls.js", "shortened", f"shortened({about}, {value!r})") == [shown]


def test_ticks_are_told_apart():
    ticks = [-2.2404, -2.2402, -2.24, 0.0, 1e-19, 0.05, 1234567.0, 2e-7]
    steps = [2e-4, 2e-4, 2e-4, 0.1, 0.1, 0.05, 1.0, 1e-7]
    calls = [f"brief({tick!r}, {step!r})" for tick, step in zip(ticks, steps, strict=True)]
    shown = called("live-plots.js", "brief", *calls)
    assert shown == ["-2.2404", "-2.2402", "-2.24", "0", "0", "0.05", "1.234567e6", "2e-7"]


def in_a_current():
    """A vehicle at rest, whose velocity in the water is not zero."""
    dry = hydro.rigid_inertia(11.5, (0.16, 0.16, 0.16), centre=(0, 0, 0.02))
    added = hydro.angular_first(np.diag([5.5, 12.7, 14.57, 0.12, 0.12, 0.12]))
    body = nd.models.SubmergedBody(dry, added, displaced=11.7, gravity=(0, 0, 9.82), current=(0.1, 0.05, 0.0))
    return body, body.state(R=(0.1, 0.2, 0.5))


@pytest.fixture(scope="module")
def resting(tmp_path_factory):
    body, state = in_a_current()
    outputs = {
        "v": lambda system, state, t: system.velocity(state.g, state.mu)[3:],
        "depth": lambda state, t: -state.g.x[2],
        "tilt": lambda state, t: jnp.arccos(state.g.R[2, 2]),
    }
    path = tmp_path_factory.mktemp("resting") / "resting.html"
    controls = {"v": (-1.0, 1.0), "Omega": (-1.0, 1.0)}
    return nd.live(body, state, path, controls=controls, outputs=outputs, units={"depth": "m"}, dt=0.01, span=1.0)


def test_a_state_at_rest_in_a_current_begins_at_zeros_with_units(resting):
    live = PageText(resting.read_text()).data["live"]
    body, state = in_a_current()
    found = np.linalg.solve(np.eye(6), body.velocity(state.g, state.mu))
    assert np.max(np.abs(found)) < 1e-16
    assert {slider["name"]: slider["value"] for slider in live["sliders"]} == {"v": [0.0] * 3, "Omega": [0.0] * 3}
    assert [slider["low"] for slider in live["sliders"]] == [-1.0, -1.0]
    assert {each["name"]: each.get("unit") for each in live["series"][-3:]} == {"v": "m/s", "depth": "m", "tilt": None}


def test_the_page_of_a_state_at_rest_shows_no_round_off(browser, resting):
    page = browser.page(resting)
    page.wait("engines.length === 1")
    subtitle = page.run("document.getElementById('about').textContent")
    assert subtitle.startswith("v = (0, 0, 0) m/s")
    texts = page.run("[...document.querySelectorAll('#controls input[type=text]')].map((each) => each.value)")
    assert texts[:6] == ["0"] * 6
    captions = page.run(
        "[...document.querySelectorAll('#plots figcaption > span:first-child')].map((e) => e.textContent)"
    )
    assert captions[-3:] == ["v [m/s]", "depth [m]", "tilt"]
    assert page.complaints == []


def test_round_off_of_a_range_is_zero_and_widens_it_by_nothing():
    slider = with_value("v", as_slider("v", (0.0, 2.0)), [-3e-19, 1e-11])
    assert (slider.low, slider.high) == (0.0, 2.0)
    np.testing.assert_array_equal(slider.value, [0.0, 1e-11])
    small = with_value("dt", nd.Slider(1e-15, 1.0, log=True), 1e-14)
    assert small.value == 1e-14


def test_units_of_what_is_no_output_are_refused(tmp_path):
    body, state = in_a_current()
    with pytest.raises(InputError, match=r"live: units has 'speed'; expected names of outputs: none"):
        nd.live(body, state, tmp_path / "a.html", dt=0.01, units={"speed": "m/s"})


class Level(nd.LagrangianSystem):
    """A spring whose energy begins at zero."""

    group = nd.Rn(2)

    def lagrangian(self, q, v, t):
        return 0.5 * v @ v - 0.5 * q @ q + 0.5 * 0.3**2 + 1e-18


def test_an_energy_that_begins_at_round_off_has_a_scale(tmp_path):
    level = Level()
    path = nd.live(level, level.state(q=[0.3, 0.0]), tmp_path / "level.html", dt=0.01, span=10.0)
    series = PageText(path.read_text()).data["live"]["series"][0]
    assert series["name"] == "energy error, of kinetic + range of potential"
    assert series["scale"] == pytest.approx(2 * 0.5 * 0.3**2, rel=1e-3)
    assert called("live-plots.js", "sizeOf", f"sizeOf({json.dumps(series)}, [0, 1e-18], [1])") == [series["scale"]]
    assert called("live-plots.js", "sizeOf", f"sizeOf({json.dumps(series)}, [0, -1e-3], [1])") == [1e-3]
