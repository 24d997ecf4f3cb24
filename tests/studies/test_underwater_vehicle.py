import numpy as np
import pytest

from naiad.errors import InputError
from naiad.studies.progress import Progress
from naiad.studies.vehicles.underwater_vehicle import UnderwaterVehicle

EXACT_PI = (-0.44245239288961, 4.98942788347545, -0.36327840998173)
EXACT_P = (3.81963542986239, 0.59198561417995, 3.47849654528274)


def results(**parameters):
    return UnderwaterVehicle(**parameters).run(Progress()).results


def test_a_composition_reaches_the_exact_motion():
    found = results(method="compose8", dt=0.01)
    np.testing.assert_allclose(found["Pi"], EXACT_PI, atol=2e-13)
    np.testing.assert_allclose(found["p"], EXACT_P, atol=2e-13)
    np.testing.assert_allclose(found["R"] @ found["p"], (5.2, 0.0, 0.0), atol=1e-13)
    np.testing.assert_allclose(
        found["R"] @ found["Pi"] + np.cross(found["x"], found["R"] @ found["p"]),
        (0.0, 3.807047861195724, 1.0),
        atol=1e-12,
    )
    np.testing.assert_allclose(found["Omega"], found["Pi"] / np.array([1.4726, 7.0306, 4.7969]), rtol=1e-13)


def test_the_error_falls_by_four_when_the_step_is_halved():
    coarse, fine = (np.abs(results(dt=dt)["Pi"] - EXACT_PI) for dt in (0.05, 0.025))
    np.testing.assert_allclose(coarse / fine, 4.0, rtol=0.05)


def test_the_energy_swings_without_drift_and_the_casimirs_stay():
    found = results(t1=2e4)
    assert 4.0 * found["energy_error_max"] == pytest.approx(1.41e-3, rel=0.01)
    assert abs(found["energy_drift"]) < 1e-6
    assert found["casimir_error_max"] < 1e-13
    assert found["momentum_error_max"] < 1e-9
    drifting = results(t1=2e4, method="rk4")
    assert drifting["energy_drift"] == pytest.approx(-drifting["energy_error_max"], rel=0.02)
    assert drifting["energy_drift"] == pytest.approx(-4.8e-5, rel=0.02)  # a fifth of -2.4e-4 over 1e5 s
    assert drifting["casimir_error_max"] > 1e-5


def test_matrices_with_coupling_turn_the_motion_with_their_axes():
    """The same body described in axes that are turned has the same motion, turned."""
    turn = np.linalg.qr(np.random.default_rng(3).standard_normal((3, 3)))[0]
    turn *= np.linalg.det(turn)
    I, M, S = np.diag([1.5, 2.0, 3.0]), np.diag([2.0, 3.0, 4.0]), 0.1 * np.arange(9.0).reshape(3, 3)  # noqa: E741
    Pi, p = np.array([2.0, -0.4, -0.9]), np.array([4.4, -0.2, -1.1])
    plain = results(I=I, M=M, S=S, Pi0=Pi, p0=p, t1=2.0)
    turned = results(I=turn @ I @ turn.T, M=turn @ M @ turn.T, S=turn @ S @ turn.T, Pi0=turn @ Pi, p0=turn @ p, t1=2.0)
    np.testing.assert_allclose(turned["Pi"], turn @ plain["Pi"], atol=1e-13)
    np.testing.assert_allclose(turned["R"], turn @ plain["R"] @ turn.T, atol=1e-13)
    np.testing.assert_allclose(turned["x"], turn @ plain["x"], atol=1e-12)
    uncoupled = results(I=I, M=M, Pi0=Pi, p0=p, t1=2.0)
    assert np.abs(uncoupled["Pi"] - plain["Pi"]).max() > 0.01


def test_inertias_that_are_none_are_refused():
    with pytest.raises(InputError, match=r"not positive definite \(smallest eigenvalue -"):
        UnderwaterVehicle(S="1,2,3;4,5,6;9,9,9")


def test_a_body_at_rest_in_translation_is_a_rigid_body():
    found = results(p0="0,0,0", Pi0="1,2,3", t1=5.0)
    assert found["casimir_error_max"] == 0.0
    np.testing.assert_array_equal(found["p"], np.zeros(3))
    assert np.linalg.norm(found["Pi"]) == pytest.approx(np.sqrt(14.0), rel=1e-14)


def test_a_shape_stands_for_its_inertias():
    """The defaults are those of the ellipsoid (2, 1, 1/2), to four decimals."""
    default, shaped = results(), results(axes="2,1,0.5")
    np.testing.assert_allclose(shaped["Pi"], default["Pi"], atol=2e-3)
    assert np.abs(shaped["Pi"] - default["Pi"]).max() > 1e-6
    dense = results(axes=(2.0, 1.0, 0.5), density=3.0, Pi0=(0.0, 3 * 3.807047861195724, 3.0), p0=(15.6, 0.0, 0.0))
    np.testing.assert_allclose(dense["Pi"], 3.0 * shaped["Pi"], rtol=1e-11)
    with pytest.raises(InputError, match="both axes and M are given"):
        UnderwaterVehicle(axes="2,1,0.5", M="1,2,3")
    with pytest.raises(InputError, match="density is given without axes"):
        UnderwaterVehicle(density=2.0)
    with pytest.raises(InputError, match="axes=1,-1,2: expected 3 finite numbers"):
        UnderwaterVehicle(axes="1,-1,2")
