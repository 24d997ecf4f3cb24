"""Live pages: what they compute is what `simulate` computes, and what they say is safe."""

import html
import re

import numpy as np
import pytest

import naiad as nd
from naiad.errors import InputError
from naiad.studies.bodies.heavy_top import HeavyTopStudy
from naiad.studies.live import study_page
from naiad.studies.progress import Progress
from naiad.viz.live.controls import as_model
from naiad.viz.live.page import live_page
from tests.viz.live.modules import PageText
from tests.viz.live.systems import DT, METHODS, PENDULUM, SECTION, TOP, HeavyTop, tilted

AFRESH, AGAIN, AT_POINT = 1, 2, 3


@pytest.fixture(scope="module")
def study_text() -> str:
    return study_page(HeavyTopStudy())


def started(page: PageText, method: int = 0, **given):
    module = page.module(method)
    return module, module.run(**{"begin": AFRESH, "t0": 0.0, "h": DT, "count": 0, "every": 1, **given})


def native(system, state, steps, dt=DT, method=METHODS["variational"]):
    return nd.simulate(system, state, t1=steps * dt, dt=dt, method=method, progress=False)


def test_the_state_after_a_thousand_steps_is_the_native_one(top_page):
    run = native(TOP, tilted(TOP, 0.6), 1000)
    for method, name in enumerate(METHODS):
        module, _ = started(top_page, method)
        end = module.run(count=1000, every=10)
        want = run if name == "variational" else native(TOP, tilted(TOP, 0.6), 1000, method=METHODS[name])
        np.testing.assert_allclose(end["end.carry.state.g"], want.final.g, rtol=0, atol=2e-12)
        np.testing.assert_allclose(end["end.carry.state.mu"], want.final.mu, rtol=0, atol=2e-12)
        assert end["end.node"] == 1000
        assert end["end.outcome"] == 0
        assert end["frames.count"] == 100
        energies = end["frames.rows.outputs.energy"][:100]
        np.testing.assert_allclose(energies[-1], float(want.energy[-1]), rtol=1e-13)
        swing = np.max(np.abs(energies / energies[0] - 1.0))
        assert swing <= 1.01 * np.max(np.abs(want.energy.to_numpy() / float(want.energy[0]) - 1.0)) + 1e-15


def test_sliders_change_system_state_and_step(top_page):
    assert [each["name"] for each in top_page.data["live"]["sliders"]] == ["mgl", "J[2,2]", "tilt"]
    module, _ = started(top_page, values={0: 2.5, 1: 1.5, 2: 1.1})
    end = module.run(count=300, every=300)
    other = HeavyTop(np.diag([2.0, 2.0, 1.5]), 2.5)
    np.testing.assert_allclose(end["end.carry.state.mu"], native(other, tilted(other, 1.1), 300).final.mu, atol=1e-12)
    module.run(begin=AFRESH, h=0.02, count=0)
    end = module.run(count=50, every=50)
    want = native(other, tilted(other, 1.1), 50, dt=0.02).final.mu
    np.testing.assert_allclose(end["end.carry.state.mu"], want, atol=1e-12)


def test_time_runs_back_to_the_start_of_a_symmetric_method_only(top_page):
    off = []
    for method in range(2):
        module, first = started(top_page, method, h=0.05)
        there = module.run(count=400, every=400)
        module.run(begin=AGAIN, t0=20.0, h=-0.05, count=0)
        back = module.run(count=400, every=400)
        assert np.max(np.abs(there["end.carry.state.g"] - first["first.state.g"])) > 0.1
        off.append(np.max(np.abs(back["end.carry.state.g"] - first["first.state.g"])))
    assert off[0] < 1e-10
    assert off[1] > 1e-6


def test_a_step_that_fails_is_told(top_page):
    module, _ = started(top_page, 1, h=3.0)
    end = module.run(count=2000, every=2000)
    outcome = int(end["end.outcome"])
    assert outcome == nd.Outcome.NOT_FINITE
    assert end["end.node"] < 2000
    assert np.all(np.isfinite(end["end.carry.state.mu"]))
    words = top_page.data["live"]["methods"][1]["failures"]
    assert "smaller dt" in words[str(outcome)]


def test_poses_are_those_of_the_viewer(top_page):
    from scipy.spatial.transform import Rotation

    module, _ = started(top_page)
    end = module.run(count=200, every=1)
    poses, R = end["frames.rows.outputs.bodies"][:200, 0], end["frames.rows.state.g"][:200]
    turned = Rotation.from_quat(poses[:, :4], scalar_first=True).as_matrix()
    np.testing.assert_allclose(turned, R, atol=1e-12)
    assert [body["name"] for body in top_page.data["bodies"]] == list(METHODS)
    assert [(body["method"], body["row"]) for body in top_page.data["bodies"]] == [(0, 0), (1, 0)]


def test_the_page_of_the_heavy_top_is_small_and_needs_nothing_else(study_text):
    assert len(study_text.encode()) < 300_000
    policy = (
        "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline' 'wasm-unsafe-eval'; img-src data:"
    )
    assert f'content="{policy}"' in study_text
    asks = r"https?:|//[a-z]+\.|@import|url\(|\bimport\s*\(|fetch\(|XMLHttpRequest|WebSocket|\beval\(|new Function"
    assert not re.findall(asks, study_text)
    assert "{{" not in study_text
    page = PageText(study_text)
    assert not any(attrs.get("src") for _, attrs in page.tags)
    assert page.texts["h1"] == page.texts["title"] == "Heavy top: precession and nutation under gravity"
    assert page.texts["subtitle"] == "variational, Cayley map"
    sliders = {each["name"]: each for each in page.data["live"]["sliders"]}
    assert sliders["mgl"]["unit"] == "N m"
    assert (sliders["tilt"]["low"], sliders["tilt"]["high"]) == (0.0, np.pi)
    assert sliders["Omega0"]["value"] == [0.0, 0.3, 8.0]


def test_the_page_of_a_study_computes_what_the_study_does(study_text):
    page = PageText(study_text)
    module, _ = started(page)
    end = module.run(count=1000, every=1000)
    findings = HeavyTopStudy(t1=5.0).run(Progress())
    np.testing.assert_allclose(end["end.carry.state.mu"], findings.results["Pi"], atol=2e-12)
    np.testing.assert_allclose(end["end.carry.state.g"], findings.results["R"], atol=2e-12)


def test_hostile_names_are_text():
    bad = "</script><script>alert(1)</script><b>"
    text = live_page(
        as_model(TOP, tilted, {"mgl": nd.Slider(0.0, 5.0, unit=bad, label=bad, help=bad)}),
        title=bad,
        subtitle=bad,
        methods={bad: nd.RK4()},
        dt=DT,
        outputs={bad: lambda state, t: state.mu[0]},
        span=0.1,
    )
    page = PageText(text)
    assert sum(tag == "script" for tag, _ in page.tags) == 2
    assert sum(tag == "b" for tag, _ in page.tags) == 0
    assert page.texts["title"] == page.texts["h1"] == page.texts["subtitle"] == bad
    live = page.data["live"]
    assert live["methods"][0]["name"] == live["sliders"][0]["label"] == live["series"][-1]["name"] == bad


def test_components_of_the_initial_state_are_sliders():
    vehicle = nd.models.KirchhoffBody((1.5, 2.0, 3.0), (2.0, 3.0, 4.0))
    state = vehicle.state(x=(1.0, 2.0, 3.0), Omega=(0.1, 0.2, 0.3), v=(1.0, 0.5, 0.0))
    model = as_model(vehicle, state, {"v[0]": (0.0, 2.0), "Omega": (-1.0, 1.0), "x": (-5.0, 5.0), "K[1,1]": (1.0, 3.0)})
    assert model.sliders["v[0]"].unit == "m/s"
    np.testing.assert_allclose(model.values["Omega"], [0.1, 0.2, 0.3], rtol=1e-14)
    values = {"v[0]": 0.7, "Omega": np.array([0.3, 0.2, 0.1]), "x": np.array([0.0, 1.0, 0.0]), "K[1,1]": 2.5}
    made, start = model.build(values)
    want = made.state(x=(0.0, 1.0, 0.0), Omega=(0.3, 0.2, 0.1), v=(0.7, 0.5, 0.0))
    assert np.asarray(made.K)[1, 1] == 2.5
    np.testing.assert_allclose(start.mu, want.mu, rtol=1e-13)
    np.testing.assert_array_equal(start.g.x, want.g.x)


def test_momenta_are_held_where_no_velocity_is_a_slider():
    body = nd.models.RigidBody((1.0, 2.0, 3.0))
    model = as_model(body, body.state(Pi=(0.7, 0.8, -1.5)), {"J[0,0]": (0.5, 3.0), "Pi[2]": (-2.0, 2.0)})
    _, start = model.build({"J[0,0]": 2.0, "Pi[2]": -1.0})
    np.testing.assert_array_equal(start.mu, [0.7, 0.8, -1.0])


@pytest.mark.parametrize(
    ("controls", "words"),
    [
        ({"nonsense": (0.0, 1.0)}, "there is nothing of that name; there are tilt, J, mgl, dt"),
        ({"mgl": (1.0, 0.0)}, "the lower one first"),
        ({"mgl": 3.0}, "expected \\(low, high\\), or a Slider"),
        ({"mgl": nd.Slider(0.0, 1.0, log=True)}, "both above 0"),
        ({"mgl": (0.0, float("inf"))}, "two finite numbers"),
        ({"J": (0.0, 1.0)}, "of a matrix name an element"),
        ({"J[3,3]": (0.0, 1.0)}, "there is no such element"),
        ({"tilt": nd.Slider(0.0, 1.0, "steep")}, "expected a finite number"),
    ],
)
def test_wrong_controls_are_refused(controls, words):
    with pytest.raises(InputError, match=words):
        as_model(TOP, tilted, controls)


def test_what_cannot_be_a_page_is_refused(tmp_path):
    state = tilted(TOP, 0.6)
    with pytest.raises(InputError, match=r"name it .*top\.html"):
        nd.live(TOP, state, tmp_path / "top.txt", dt=DT)
    with pytest.raises(InputError, match="one method, or several by name"):
        nd.live(TOP, state, tmp_path / "top.html", dt=DT, method=nd.RK4(), methods=METHODS)
    with pytest.raises(InputError, match="a step above 0"):
        nd.live(TOP, state, tmp_path / "top.html", dt=0.0)
    with pytest.raises(InputError, match="is an attitude"):
        nd.live(TOP, state, tmp_path / "top.html", dt=DT, controls={"R[0,0]": (0.0, 1.0)})
    with pytest.raises(InputError, match="no control for the argument tilt"):
        nd.live(TOP, lambda top, tilt: tilted(top, tilt), tmp_path / "top.html", dt=DT)
    with pytest.raises(InputError, match=r"compute with jax\.numpy, and do not branch"):
        nd.live(
            TOP,
            lambda top, tilt=0.6: tilted(top, tilt if tilt > 0.0 else -tilt),
            tmp_path / "top.html",
            dt=DT,
            controls={"tilt": (0.0, 1.0)},
        )
    bath = nd.models.IsothermalRigidBody((1.0, 2.0, 3.0), (0.1, 0.1, 0.1), 1.0)
    with pytest.raises(InputError, match="has noise, and no random increments are given"):
        nd.live(bath, bath.state(Pi=(1.0, 0.0, 0.0)), tmp_path / "bath.html", dt=DT)
    with pytest.raises(InputError, match="touch is for motions in a plane"):
        nd.live(TOP, state, tmp_path / "top.html", dt=DT, touch=lambda system, state, x, y: state)
    assert not list(tmp_path.iterdir())


def test_a_run_makes_a_page_that_goes_as_it_went(tmp_path):
    body = nd.models.RigidBody((1.0, 2.0, 3.0), group=nd.S3())
    run = nd.simulate(body, body.state(Pi=(0.7, 0.8, -1.5)), t1=2.0, dt=0.01, method=nd.MoserVeselov(), progress=False)
    run.live(tmp_path / "body.html", controls={"Pi[0]": (-2.0, 2.0)}, title="A body")
    page = PageText((tmp_path / "body.html").read_text(encoding="utf-8"))
    assert page.texts["title"] == "A body"
    module = page.module()
    module.run(begin=AFRESH, t0=0.0, h=0.01, count=0)
    np.testing.assert_allclose(module.run(count=200, every=200)["end.carry.state.mu"], run.final.mu, atol=1e-12)


def test_sections_are_those_of_a_run_and_orbits_begin_where_one_points(pendulum_file):
    page = PageText(pendulum_file.read_text(encoding="utf-8"))
    module = page.module()
    first = module.run(begin=AT_POINT, at=(0.3, 0.1), t0=0.0, h=0.05, count=0)
    assert first["first.state.g"][1, 2] == pytest.approx(0.0, abs=1e-15)
    assert first["first.state.g"][0, 2] == pytest.approx(0.3, abs=1e-15)
    end = module.run(count=2000, every=2000)
    points = end["points.rows"][: int(end["points.count"])]
    state = nd.State(first["first.state.g"].copy(), first["first.state.mu"].copy())
    run = nd.simulate(PENDULUM, state, t1=100.0, dt=0.05, sections={"s": SECTION}, progress=False)
    crossings = run.crossings["s"]
    assert len(points) == crossings.sizes["crossing"] > 10
    np.testing.assert_allclose(points[:, 0], crossings["R"].to_numpy()[:, 0, 2], atol=1e-10)
    nowhere = module.run(begin=AT_POINT, at=(0.99, 3.0), count=0)
    assert np.isnan(nowhere["first.state.mu"]).any()


def test_bad_calls_are_refused_in_a_line(tmp_path, monkeypatch):
    from tests.test_door import BAD

    monkeypatch.setattr("naiad.viz.live.page.Plan.described", lambda plan: {})
    good = {"system": TOP, "state": tilted(TOP, 0.6), "path": tmp_path / "top.html", "dt": DT, "controls": {}}
    others = ("method", "methods", "outputs", "units", "section", "title", "span", "time_unit")
    failures = []
    for name in (*good, *others):
        for value in BAD:
            for given in (value, {"mgl": value}) if name == "controls" else (value,):
                try:
                    nd.live(**{**good, name: given})
                except nd.NaiadError as error:
                    if "\n" in str(error):
                        failures.append(f"{name}={given!r:.40}: {error}")
                except Exception as error:
                    failures.append(f"{name}={given!r:.40}: {type(error).__name__}: {error}")
    assert not failures, "\n".join(failures)


def test_a_notebook_shows_the_page_itself(top_file):
    """In a frame that may run scripts and nothing else, with no tag of the page outside of it."""
    shown = top_file._repr_html_()
    assert shown.startswith('<iframe sandbox="allow-scripts allow-downloads" style=')
    found = re.fullmatch(r'<iframe [^<>]*srcdoc="([^<>"]*)"></iframe>', shown)
    assert found is not None
    assert html.unescape(found[1]) == top_file.read_text(encoding="utf-8")
