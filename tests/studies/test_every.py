"""Every study runs with small numbers, gives what it says that it gives, and draws its figures.

What a study finds is measured by tests of its own, many of them long; here a study that is broken is noticed at once.
"""

import matplotlib
import numpy as np
import pytest
from matplotlib import pyplot

from naiad import studies
from naiad.studies.progress import Progress

SMALL = {
    "added-inertia": {"points": 32},
    "argon-cluster": {"starts": 20, "periods": 1, "t1": 1.0, "dts": "0.02,0.01", "methods": "verlet,reduced"},
    "buoyant-vehicle": {"t1": 1.0},
    "connected-bodies": {"t1": 0.1, "dt": 0.01},
    "crane": {"elements": 2, "shapers": "plain", "t_after": 1.0, "dt": 0.02},
    "curvature": {},
    "eel": {"N": 3, "t1": 0.5},
    "falling-plate": {"grid": 2, "t1": 0.02},
    "fish-school": {"fish": 2, "degree": 2, "steps": 8},
    "fish-vortices": {"steps": 8, "count": 2},
    "gait-energy": {"harmonics": 1, "distance": 1.0},
    "gait-optimiser": {"harmonics": 1, "starts": 1},
    "heavy-top": {"t1": 0.5},
    "identify-vehicle": {"steps": 20, "t1": 1.0},
    "interacting-bodies": {"N": 2, "t1": 0.5},
    "isothermal-rigid-body": {"t1": 10.0, "warm_up": 1.0},
    "light-body": {"t1": 0.1},
    "lumped-string": {"elements": 2, "t1": 0.02, "compare": "lumped-variational"},
    "mesh-vehicle": {"t1": 0.2, "tolerance": 0.2},
    "mpc-docking": {"steps": 5, "samples": 3},
    "near-wall": {"t1": 0.1},
    "oblate-earth": {"t1": 600.0},
    "outer-solar-system": {"t1": 1000.0, "methods": "euler"},
    "passing-spheres": {"t1": 0.2},
    "poincare-section": {"orbits": 2, "t1": 50.0},
    "reorientation": {"steps": 8, "order": 2},
    "rigid-body": {"t1": 0.5},
    "rotor-spacecraft": {"t1": 0.5, "compare": "rk4", "orbits": 2, "section_t1": 20.0},
    "sliding-disk": {"t1": 10.0, "warm_up": 1.0},
    "smooth-fish": {},
    "spatial-fish": {"widths": "2,5"},
    "spherical-pendulum": {"orbits": 2, "t1": 10.0, "dt_implicit": 0.02},
    "streamlines": {"points": 32},
    "string-pendulum": {"elements": 2, "t1": 0.02},
    "swimmer-dynamics": {"t1": 0.5, "hydro": "decoupled"},
    "swimming-robot": {"t1": 0.2},
    "swing-up": {"steps": 8, "order": 2, "mass": "1", "length": "1"},
    "tethered-satellite": {"elements": 2},
    "three-link-fish": {},
    "underwater-vehicle": {"t1": 0.5},
    "variable-steps": {"methods": "constant,reversible", "periods": 1, "steps": 50},
    "vehicle-docking": {"steps": 8, "order": 2},
    "vortex-body": {"t1": 0.2},
    "work-precision": {"dts": "0.1,0.05", "t1": 1.0, "methods": "cay,rk4"},
}
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
