"""What notebooks show: a table and a picture, small, safe, and never an error."""

import base64
import io
import re
import subprocess
import sys

import jax
import numpy as np
import pytest
from PIL import Image

import naiad as nd
from naiad.errors import InputError
from naiad.studies.study import Findings
from tests.viz.test_animation import Page


class Top(nd.LagrangianSystem):
    """A heavy top with a name that somebody chose."""

    J: jax.Array
    mgl: float
    words: str = "plain"
    group = nd.SO3()

    def lagrangian(self, R, Omega, t):
        return 0.5 * Omega @ self.J @ Omega - self.mgl * R[2, 2]


TOP = Top(np.diag([1.0, 1.0, 0.5]), 1.25)
HOSTILE = '"><script>alert(1)</script>'


@pytest.fixture(scope="module")
def run():
    return nd.simulate(TOP, TOP.state(R=(0.9, 0.0, 0.0), Omega=(0.0, 0.0, 5.0)), t1=1.0, dt=0.01)


def images(shown):
    """The pictures of a card, with their sizes."""
    found = re.findall(r'src="data:image/png;base64,([^"]+)"', shown)
    return [Image.open(io.BytesIO(base64.b64decode(each))) for each in found]


def test_a_system_has_its_fields_and_its_body():
    shown = TOP._repr_html_()
    for part in ("Top", "SO3(), of dimension 3", "mgl", "1.25", "[[1. , 0. , 0. ]"):
        assert part in shown
    (image,) = images(shown)
    assert image.size == (260, 180)
    assert len(shown) < 15_000


def test_a_run_has_its_method_its_error_and_a_curve(run):
    shown = run._repr_html_()
    worst = np.abs(nd.diagnostics.energy_error(run)).max()
    for part in ("Variational, dt = 0.01 s", "0 .. 1 s", "100, 101 nodes saved", "completed", f"{worst:.3g} at most"):
        assert part in shown
    assert len(images(shown)) == 1
    (curve,) = re.findall(r'<polyline points="([^"]+)"', shown)
    heights = [float(point.split(",")[1]) for point in curve.split()]
    assert min(heights) == 6.0
    assert max(heights) == 68.0
    assert len(shown) < 20_000


def test_an_ensemble_has_its_cases_and_the_spread():
    cases = nd.grid(tilt=[0.2, 0.4, 0.6])
    start = TOP.state(R=(0.5, 0.0, 0.0), Omega=(0.0, 0.0, 5.0))
    ensemble = nd.simulate_many(TOP, [start] * 3, t1=0.5, dt=0.01, cases=cases)
    shown = ensemble._repr_html_()
    for part in ("3: 3 completed", "tilt", "0.2, 0.4, 0.6", "median and 5 to 95 per cent"):
        assert part in shown
    assert shown.count("<polygon") == 1


def test_names_and_values_are_shown_as_text():
    shown = TOP.replaced(words=HOSTILE)._repr_html_()
    assert "<script" not in shown
    assert "&lt;script&gt;" in shown
    assert not [tag for tag, _ in Page(shown).tags if tag == "script"]


def test_what_is_broken_is_shown_as_it_can_be(run, monkeypatch):
    class Odd(Top):
        def __repr__(self):
            raise RuntimeError("no words")

        @property
        def picture(self):
            raise RuntimeError("no picture")

    assert Odd(TOP.J, 1.0)._repr_html_() == "<pre>Odd</pre>"
    monkeypatch.setattr(type(run), "dataset", property(lambda self: 1 / 0))
    assert "completed" in run._repr_html_()
    with pytest.raises(InputError, match="int is no system, run or ensemble"):
        nd.viz.card(3)


def test_systems_that_cannot_be_drawn_have_a_table():
    class Spring(nd.LagrangianSystem):
        group = nd.Rn(1)

        def lagrangian(self, q, v, t):
            return 0.5 * v @ v - 0.5 * q @ q

    shown = Spring()._repr_html_()
    assert "Rn(n=1), of dimension 1" in shown
    assert not images(shown)


def test_findings_are_their_results_and_the_first_figure():
    figure = nd.viz.errors_over_time([0.0, 1.0], {"": [0.0, 1.0]}, "size")
    shown = Findings({HOSTILE: 2.5}, figures={"size": lambda: figure, "other": lambda: 1 / 0})._repr_html_()
    assert "2.5" in shown
    assert "<script" not in shown
    assert len(images(shown)) == 1
    assert Findings({"a": 1}, figures={"bad": lambda: 1 / 0})._repr_html_() == "<pre>{&#x27;a&#x27;: 1}</pre>"


def test_nothing_is_loaded_for_it_before_it_is_shown():
    code = "import naiad as nd, sys; nd.models.RigidBody((1.0, 2.0, 3.0)); print(*sorted(sys.modules))"
    loaded = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout.split()
    assert not {"naiad.viz", "PIL", "matplotlib"} & set(loaded)
