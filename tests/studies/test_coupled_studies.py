"""Bodies that the water couples: two spheres that pass each other, and a vehicle near a plane."""

import numpy as np
import pytest

from naiad import hydro
from naiad.errors import InputError
from naiad.studies.progress import Progress
from naiad.studies.vehicles.near_wall import NearWall
from naiad.studies.vehicles.passing_spheres import PassingSpheres
from tests.hydro import two_spheres

CLOSE = {"x2": (2.6, 1.3, 0.2), "v1": (0.8, 0.0, 0.1), "v2": (-0.8, 0.2, 0.0), "m2": 3.0, "rho": 1.4}


def run(study, **parameters):
    return study(**parameters).run(Progress()).results


def reference(t1, **parameters):
    given = {"a": 1.0, "b": 0.7, "m1": 4.2, "m2": 0.3, "rho": 1.0, **parameters}
    order = ("a", "b", "m1", "m2", "x2", "v1", "v2")
    return two_spheres.motion(*(given[name] for name in order), t1, density=given["rho"])


def test_the_series_of_two_spheres():
    along, across = two_spheres.inertias(1.0, 1.0, 3.0)
    np.testing.assert_allclose([*along[0], *across[0]], [2.10670483, -0.23339113, 2.09780740, 0.11646307], atol=6e-9)


def test_the_pull_between_spheres():
    """The force of the water on two unlike spheres that move, xi . dM xi / 2, against multipoles."""
    a, b, density = 1.0, 0.7, 1.4
    r, v = np.array([1.9, 0.8, -0.6]), np.array([(0.8, 0.1, -0.3), (-0.4, 0.5, 0.2)])
    fluid = hydro.SpatialBodies([hydro.Sphere(a), hydro.Sphere(b)], density, degree=10)
    M, dM = fluid.added_inertia_with_derivative([(0.0, 0.0, 0.0), r])
    xi = np.concatenate([np.zeros((2, 3)), v], axis=1).ravel()
    found = 0.5 * np.einsum("a,abkc,b->kc", xi, dM, xi)
    pull = two_spheres.pull(a, b, r, v, density)
    np.testing.assert_allclose(found[:, 3:], [-pull, pull], atol=1e-6)
    turned = np.cross(v, (M @ xi).reshape(2, 6)[:, 3:])  # the velocities turn with the bodies, and nothing else does
    np.testing.assert_allclose(found[:, :3], turned, atol=1e-6)


@pytest.mark.long
def test_spheres_pass():
    """Against multipoles and a method of order 8, to the error of the step; momenta of the whole to round-off."""
    found = run(PassingSpheres, t1=0.4, dt=0.025, **CLOSE)
    x, v = reference(0.4, **CLOSE)
    np.testing.assert_allclose([found["x1"], found["x2"]], x, atol=3e-6)
    np.testing.assert_allclose([found["v1"], found["v2"]], v, atol=5e-5)
    assert found["momentum_error_max"] < 2e-15
    assert found["energy_error_max"] < 1e-5
    assert found["ended"] == "reached t1"


@pytest.mark.long
def test_spheres_pass_with_order_two():
    """Closest at 0.6 of the smaller radius: errors fall by 4 with half the step, and order 4 composed is far better.
    What is left of that is the error of the harmonics, which the study says."""
    past = {**CLOSE, "x2": (2.6, 1.8, 0.2)}
    x, _ = reference(2.4, **past)
    errors = []
    for options in ({"dt": 0.2}, {"dt": 0.1}, {"dt": 0.2, "method": "compose4"}):
        found = run(PassingSpheres, t1=2.4, **options, **past)
        errors.append(np.abs(np.stack([found["x1"], found["x2"]]) - x).max())
        assert found["momentum_error_max"] < 1e-14
    assert errors[0] < 1e-4
    assert 3.8 < errors[0] / errors[1] < 4.2
    assert errors[2] < 0.06 * errors[0]
    assert 0.2 * errors[2] < found["harmonics_error"] < 5.0 * errors[2]


@pytest.mark.long
def test_spheres_that_meet_end_the_run():
    """Head-on: the run ends where they nearly touch, says so, and what was computed until then is right."""
    head_on = {"x2": (2.2, 0.0, 0.0), "v1": (0.5, 0.0, 0.0), "v2": (-0.5, 0.0, 0.0)}
    found = run(PassingSpheres, t1=2.0, dt=0.02, **head_on)
    assert found["ended"] == "near contact"
    assert 0.03 < found["gap_min"] < 0.06
    x, _ = reference(found["t"], **head_on)
    np.testing.assert_allclose([found["x1"], found["x2"]], x, atol=1e-4)


def test_spheres_that_touch_are_refused():
    with pytest.raises(InputError, match=r"the spheres are -0\.2 m apart"):
        PassingSpheres(x2=(1.5, 0.0, 0.0))


@pytest.mark.long
def test_a_vehicle_near_a_wall():
    """It is drawn to a wall that it passes, and pushed away from a free surface; far away nothing happens. Kept are the
    momenta along the plane and about its normal."""
    wall = run(NearWall, t1=0.5)
    assert wall["force"] < 0.0
    assert wall["x"][2] < 1.2
    assert wall["momentum_error_max"] < 1e-14
    assert wall["energy_error_max"] < 1e-6
    assert np.all(np.linalg.eigvalsh(wall["added"] - wall["added_alone"]) > -1e-9 * np.max(wall["added"]))
    surface = run(NearWall, t1=0.5, plane="surface")
    assert surface["force"] > 0.0
    assert surface["x"][2] > 1.2
    assert np.all(np.linalg.eigvalsh(surface["added_alone"] - surface["added"]) > -1e-9 * np.max(wall["added"]))


def test_the_ground_effect_of_a_sphere():
    """At 1.5 radii from a wall, and the force on a sphere that moves along it against a difference of its inertia."""
    study = NearWall(axes=(1.0, 1.0, 1.0), height=1.5)
    fluid = study.system().fluid
    M, dM = fluid.added_inertia_with_derivative([(0.0, 0.0, 1.5)])
    scale = 2.0 / 3.0 * np.pi * 1000.0
    np.testing.assert_allclose(np.diag(M)[3:] / scale, [1.05723627, 1.05723627, 1.11731352], atol=1e-7)
    slope = (fluid.added_inertia([(0.0, 0.0, 1.501)]) - fluid.added_inertia([(0.0, 0.0, 1.499)]))[3, 3] / 0.002
    assert dM[3, 3, 0, 5] == pytest.approx(slope, rel=1e-5)
    assert slope < 0.0  # drawn to the wall
    heights, ratios = study.ratios()
    assert np.all(np.diff(ratios[:, 5]) < 0.0)
    assert heights[-1] == pytest.approx(7.0)
    with pytest.raises(InputError, match="are left below the vehicle"):
        NearWall(height=0.5)
