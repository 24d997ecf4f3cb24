"""Every study runs with small numbers, gives what it says that it gives, and draws its figures.

What a study finds is measured by tests of its own, many of them long; here a study that is broken is noticed at once.
"""

import matplotlib
import numpy as np
import pytest
from matplotlib import pyplot

from naiad import studies
from naiad.studies.progress import Progress
from tests.record.small_studies import SMALL

DEAR = {
    "argon-cluster",
    "buoyant-vehicle",
    "crane",
    "eel",
    "falling-plate",
    "fish-school",
    "fish-vortices",
    "gait-energy",
    "identify-vehicle",
    "interacting-bodies",
    "mpc-docking",
    "near-wall",
    "passing-spheres",
    "smooth-fish",
    "string-pendulum",
    "swimming-robot",
    "swing-up",
    "three-link-fish",
    "vehicle-docking",
    "vortex-body",
}
"""What takes ten seconds or more, or some and has tests of its own among the ordinary ones."""


@pytest.fixture(autouse=True)
def _no_windows():
    matplotlib.use("Agg")
    yield
    pyplot.close("all")


def test_none_is_left_out():
    assert set(SMALL) == set(studies.STUDIES)


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.long) if name in DEAR else name for name in SMALL]
)
def test_it_runs_and_draws(name):
    found = studies.find(name)(**SMALL[name]).run(Progress())
    assert found.results
    for key, value in found.results.items():
        numbers = np.asarray(value)
        assert numbers.dtype.kind in "OUS" or not np.any(np.isnan(numbers)), key
        assert not key.endswith("balance_error_max") or key in found.units
    for draw in found.figures.values():
        draw().canvas.draw()
