"""The study smooth-fish: the fish under the cloth gets further than the hinged one, and what is kept is kept."""

import numpy as np
import pytest

from naiad.errors import InputError
from naiad.studies.fish.smooth_fish import SmoothFish
from naiad.studies.progress import Progress

THICK = {"a": 2.0, "b": 0.8, "c": 0.5, "width": 1.5, "amplitude": 0.6, "points": 96}


def test_a_thick_fish_of_each_kind():
    found = SmoothFish(**THICK, mass="neutral", taper=0.2, growth=0.3).run(Progress())
    results = found.results
    assert results["area_error"] < 1e-9
    assert max(results["cloth_momentum_error"], results["wave_momentum_error"]) < 1e-4
    assert results["wave_net"][1] > 0.5  # ahead, as the wave runs to the tail
    assert abs(results["wave_net"][0]) < 1e-9
    assert found.dataset is not None
    data = found.dataset()
    assert data["cloth_outline_1"].shape == (49, 96, 2)
    assert data["hinged_outline_3"].shape[1:] == (160, 2)
    assert {"hinged", "cloth", "wave"} == {name.split("_")[0] for name in results if name.endswith("_distance")}
    assert set(found.units) <= set(results)


def test_a_number_of_points_that_cannot_be_is_refused():
    with pytest.raises(InputError, match="multiple of 8"):
        SmoothFish(points=100)


@pytest.mark.long
@pytest.mark.parametrize(
    ("mass", "hinged", "cloth", "wave"),
    [("massless", 47.53672, 56.73004, 50.61473), ("neutral", 18.64948, 21.49854, 35.30876)],
)
def test_the_fish_under_the_cloth_swims_further_than_the_hinged_one(mass, hinged, cloth, wave):
    results = SmoothFish(mass=mass).run(Progress()).results
    for name, expected in (("hinged", hinged), ("cloth", cloth), ("wave", wave)):
        assert results[f"{name}_distance"] == pytest.approx(expected, rel=2e-5)
    assert results["cloth_momentum_error"] < 1e-10
    assert results["wave_momentum_error"] < 1e-10
    np.testing.assert_allclose([results[f"{name}_net"][0] for name in ("hinged", "cloth", "wave")], 0.0, atol=1e-9)
