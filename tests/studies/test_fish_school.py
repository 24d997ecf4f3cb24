"""Fish beside each other: mirror images, what is kept, and what company does."""

import numpy as np
import pytest

from naiad import studies
from naiad.errors import InputError
from naiad.studies.progress import Progress

FishSchool = studies.find("fish-school")


def test_places_and_gaits():
    study = FishSchool(fish=3, spacing=(0.5, 0.0, 1.0), lag=0.3)
    np.testing.assert_allclose(study.places, [(-0.5, 0.0, -1.0), (0.0, 0.0, 0.0), (0.5, 0.0, 1.0)])
    first, third = study.gait(0), study.gait(2)
    np.testing.assert_allclose(np.asarray(third(1.0)), np.asarray(first(0.4)), atol=1e-14)
    np.testing.assert_allclose(np.asarray(first(0.4)), [-0.6 * np.cos(0.4), 0.6 * np.sin(0.4)], atol=1e-14)


def test_a_fish_alone_is_refused():
    with pytest.raises(InputError, match="fish=1 without an obstacle"):
        FishSchool(fish=1)


@pytest.mark.long
def test_fish_side_by_side_draw_together():
    """Two above each other, in phase: mirror images, that come nearer to each other than they were."""
    findings = FishSchool(fish=2, steps=8, degree=2).run(Progress())
    results = findings.results
    one, other = results["displacement"]
    np.testing.assert_allclose(one, other * [1.0, 1.0, -1.0], atol=1e-12)
    assert one[2] > 0.01 > abs(results["displacement_alone"]).max(axis=0)[2]
    assert results["momentum_error_max"] < 1e-14
    assert findings.dataset()["x"].shape == (9, 6, 3)
    assert [*findings.figures] == ["school", "company"]
