"""The studies of gaits: numbers of the command line, figures, refusals."""

import numpy as np
import pytest

from naiad.errors import InputError
from naiad.studies.fish.curvature import Curvature
from naiad.studies.fish.gait_energy import GaitEnergy
from naiad.studies.fish.gait_optimiser import GaitOptimiser
from naiad.studies.progress import Progress


def results(study):
    return study.run(Progress()).results


def test_curvature_at_a_shape():
    found = results(Curvature(theta1=1.0, theta2=-0.5))
    np.testing.assert_allclose(found["curvature"], (0.0613162395, 0.7156480971, 1.6005500699), rtol=0, atol=1e-9)
    np.testing.assert_allclose(found["net_motion"], (0.0, 41.4127260433, -16.2821494068), rtol=0, atol=1e-8)
    assert found["area_rule_errors"] == sorted(found["area_rule_errors"], reverse=True)


def test_mass_is_a_name_or_a_ratio():
    named, given = (results(Curvature(mass=mass, theta1=0.3))["curvature"] for mass in ("neutral", 1.0))
    np.testing.assert_array_equal(named, given)
    assert results(Curvature(theta1=0.3))["curvature"][1] > 1.2 * named[1]
    for bad in ("heavy", -1.0):
        with pytest.raises(InputError, match="massless, neutral"):
            Curvature(mass=bad)


def test_the_optimiser_beats_the_paper():
    found = results(GaitOptimiser(harmonics=1, starts=2))
    np.testing.assert_allclose(found["paper_displacement"], 44.4985647818, rtol=1e-9)
    np.testing.assert_allclose(found["displacement"], 78.1501109, rtol=1e-6)
    assert found["improvement"] == pytest.approx(78.1501109 / 44.4985647818, rel=1e-6)
    assert found["agreeing"] == 2
    assert abs(found["turning"]) < 1e-9
    assert found["cosines"].shape == (1, 2)


def test_the_cheapest_gait_and_its_limit():
    found = results(GaitEnergy(distance=0.5, period=2.0))
    assert found["status"] == "solved"
    assert found["over_limit"] == pytest.approx(1.02048, abs=1e-4)
    assert found["displacement"] == pytest.approx(0.5, rel=1e-6)
    one = results(GaitEnergy(harmonics=1))
    assert one["error_estimate"] == pytest.approx(one["cost"] - 345.541, rel=0.1)  # 345.541 with 7 harmonics
    assert results(GaitEnergy(cost="work", harmonics=1))["work"] < one["work"]


@pytest.mark.parametrize(
    "study",
    [
        Curvature(mass=0.5),
        GaitEnergy(harmonics=1),
        GaitOptimiser(harmonics=1, starts=1, objective="efficiency"),
    ],
)
def test_the_figures_are_drawn(study, tmp_path):
    findings = study.run(Progress())
    for name, make in findings.figures.items():
        make().savefig(tmp_path / f"{name}.png", dpi=40)
        assert (tmp_path / f"{name}.png").stat().st_size > 3000
    assert findings.dataset is not None
    assert findings.dataset().sizes


@pytest.mark.long
def test_the_cheapest_gait_of_coupled_links():
    """One harmonic, whose cost settles before the search ends by itself: the fluid between the links makes it cheaper,
    and a small loop takes little more than the limit."""
    alone, coupled = (
        results(GaitEnergy(hydro=hydro, distance=1.0, harmonics=1, span=1.0)) for hydro in ("decoupled", "coupled")
    )
    assert coupled["cost"] < 0.95 * alone["cost"]
    for each in (alone, coupled):
        assert each["displacement"] == pytest.approx(1.0, abs=1e-3)
        assert abs(each["turning"]) < 1e-8
        assert 1.0 < each["over_limit"] < 1.1
