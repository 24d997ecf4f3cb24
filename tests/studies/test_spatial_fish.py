"""The fish in space: what it tends to as it grows wider, and what is refused."""

import numpy as np
import pytest

from naiad.errors import InputError
from naiad.hydro import Ellipsoid, EllipticCylinder
from naiad.studies.fish.spatial_fish import TAPER, SpatialFish
from naiad.studies.progress import Progress
from naiad.viz.motion import describe_motion


@pytest.mark.parametrize("kind", ["added_inertia", "inertia"])
def test_wide_ellipsoids_have_four_fifths_of_the_moments_of_cylinders(kind):
    """Strip theory: the sections of an ellipsoid taper, so that masses sum up to 4 w / 3, moments to 16 w / 15."""
    width = 1e5
    wide = getattr(Ellipsoid((10.0, 1.0, width)), kind)(1.0)[2:5, 2:5]
    strips = 4.0 / 3.0 * width * getattr(EllipticCylinder(10.0, 1.0), kind)(1.0) @ TAPER
    np.testing.assert_allclose(wide, strips, rtol=1e-7)


def test_the_fish_of_growing_width():
    findings = SpatialFish(widths="5,40,640,1280").run(Progress())
    found = findings.results
    np.testing.assert_allclose(found["planar"], (0.0, 41.4127260433, -16.2821494068), atol=1e-9)
    off = found["difference_from_limit"]
    assert 1e-4 < off[3] < 5e-4 < off[0]
    # log(w)/w^2, with the coefficient of the logarithm small beside the constant
    assert 1.9 < found["rates"][-1] < 1.95
    assert found["difference_from_planar"][3] == pytest.approx(
        np.linalg.norm((found["limit"] - found["planar"])[1:]), rel=3e-3
    )
    swum = np.linalg.norm(found["displacement"][:, 1:], axis=1)
    assert np.all(np.diff(swum) > 0.0)
    assert found["out_of_plane_max"] < 1e-12
    shown = describe_motion(findings.dataset())["bodies"]
    assert [body["name"] for body in shown] == ["w = 5 m", "w = 40 m", "w = 640 m", "w = 1280 m"]
    ends = [[*body["beta"][-1:], *body["x"][-3:]] for body in shown]
    np.testing.assert_allclose(ends, np.insert(found["displacement"], 3, 0.0, axis=1), rtol=1e-5, atol=1e-9)


def test_the_turning_neutral_fish_has_its_limit_too():
    found = SpatialFish(widths="40,640,1280", gait="turning", mass="neutral", periods=2).run(Progress()).results
    np.testing.assert_allclose(found["displacement"][-1], found["limit"], rtol=1e-3)
    assert found["displacement"][-1][0] > 0.5
    assert 1.8 < found["rates"][-1] < 2.1


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"widths": "1,2"}, "widths holds b = 1: massless links"),
        ({"widths": "3,2"}, "expected numbers that grow"),
        ({"mass": "heavy"}, "mass=heavy: expected"),
        ({"mass": "-1"}, "mass=-1: expected"),
    ],
)
def test_what_is_refused(given, words):
    with pytest.raises(InputError, match=words):
        SpatialFish(**given)


def test_round_links_with_a_mass_swim():
    found = SpatialFish(widths="1,2", mass="0.5").run(Progress()).results
    assert np.all(np.isfinite(found["displacement"]))


@pytest.mark.long
def test_coupled_links():
    """The water that couples the links makes a narrow fish swim 2.4 % further, a third of what it does in the plane."""
    found = SpatialFish(coupling="fluid", widths=(2.0, 40.0), degree=5).run(Progress()).results
    assert found["widths"].tolist() == [2.0]
    np.testing.assert_allclose(found["displacement"][0], [0.0, 37.89749, -14.11555], atol=2e-4)
    np.testing.assert_allclose(found["displacement_alone"][0], [0.0, 37.05310, -13.67484], atol=2e-5)
    assert found["change"][0] == pytest.approx(0.02392, abs=2e-5)
    assert found["planar_change"] == pytest.approx(0.06828, abs=2e-5)
    assert found["out_of_plane_max"] < 1e-12
    with pytest.raises(InputError, match="links are at most as wide as long"):
        SpatialFish(coupling="fluid", widths=(20.0, 40.0))
