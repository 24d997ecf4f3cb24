"""The studies that are shipped: their numbers by other routes."""

import numpy as np
import pytest

from naiad.errors import InputError, RunError
from naiad.studies.bodies.heavy_top import HeavyTopStudy
from naiad.studies.bodies.rigid_body import RigidBody
from naiad.studies.progress import Progress


def test_rigid_body_gives_the_known_numbers():
    results = RigidBody().run(Progress()).results
    np.testing.assert_allclose(results["Pi"], (-0.6017715025617, 1.0730676874051, -1.3661613363552), atol=6e-14)
    np.testing.assert_allclose(results["Omega"], results["Pi"] / np.array([1.0, 2.0, 3.0]), rtol=1e-14)
    np.testing.assert_allclose(results["R"] @ results["Pi"], (0.7, 0.8, -1.5), atol=1e-14)
    assert results["energy_error_max"] == pytest.approx(4.083e-6, rel=1e-3)
    assert results["momentum_error_max"] < 1e-14
    assert results["casimir_error_max"] < 1e-14
    assert results["orthogonality_error_max"] < 1e-14
    assert results["newton_iterations_mean"] == 1.006  # two in the first six of 1000 steps
    assert results["steps"] == 1000


def test_rigid_body_from_its_velocity_and_a_full_inertia():
    J = "1,0.1,0;0.1,2,0;0,0,3"
    results = RigidBody(method="rk4", J=J, Omega0="0.2,0.3,0.4", t1=1.0).run(Progress()).results
    matrix = np.array([[1, 0.1, 0], [0.1, 2, 0], [0, 0, 3]])
    np.testing.assert_allclose(matrix @ results["Omega"], results["Pi"], rtol=1e-13)
    assert 1e-15 < results["orthogonality_error_max"] < 1e-8
    assert results["newton_iterations_mean"] == 0.0
    with pytest.raises(InputError, match="Pi0 and Omega0 are both given; give one of them"):
        RigidBody(Pi0="1,0,0", Omega0="1,0,0")


def test_rigid_body_with_quaternions():
    """The exponential is the same map on both groups; Cayley's is another one, with half the energy error here."""
    turned, quaternion = (RigidBody(method="exp", group=group).run(Progress()).results for group in ("so3", "s3"))
    np.testing.assert_allclose(quaternion["Pi"], (-0.6016783795649, 1.0732796386425, -1.3660358504957), atol=6e-14)
    np.testing.assert_allclose(quaternion["R"], turned["R"], atol=1e-13)
    w, x, y, z = quaternion["q"]
    assert w**2 + x**2 + y**2 + z**2 == pytest.approx(1.0, abs=1e-15)
    assert turned["R"][2, 1] - turned["R"][1, 2] == pytest.approx(4 * w * x, abs=1e-13)
    assert "q" not in turned
    half = RigidBody(group="s3").run(Progress()).results
    assert half["energy_error_max"] == pytest.approx(4.083e-6 / 2, rel=1e-3)
    assert half["momentum_error_max"] < 1e-14
    with pytest.raises(InputError, match=r"Newmark was given S3\(\), but it lives on SO3"):
        RigidBody(method="new", group="s3").run(Progress())


def test_a_step_that_is_far_too_large_is_a_failed_run():
    with pytest.raises(RunError, match=r"the run stopped at t = 0 s of 10 s: The state became NaN or infinite; take a"):
        RigidBody(method="new", Pi0="70,80,-150", dt=1.0).run(Progress())


def turning_points(J1, J3, mgl, tilt, Omega):
    """The extreme tilts of a symmetric top: roots of (1 - u^2)(a - b u) = (c - d u)^2, u = cos(tilt)."""
    u0 = np.cos(tilt)
    energy = 0.5 * (J1 * (Omega[0] ** 2 + Omega[1] ** 2)) + mgl * u0
    spin = J3 * Omega[2]
    vertical = -np.sin(tilt) * J1 * Omega[0] + u0 * spin
    a, b, c, d = 2 * energy / J1, 2 * mgl / J1, vertical / J1, spin / J1
    roots = np.roots([b, -a - d**2, 2 * c * d - b, a - c**2])
    inside = sorted(root.real for root in roots if abs(root.imag) < 1e-9 and -1 <= root.real <= 1)
    return np.arccos(inside[1]), np.arccos(inside[0])


def test_heavy_top_nutates_between_the_turning_points_of_the_textbook():
    results = HeavyTopStudy(t1=10.0, method="compose4").run(Progress()).results
    lowest, highest = turning_points(2.0, 1.0, 4.0, 0.6, (0.0, 0.3, 8.0))
    assert results["tilt_min"] == pytest.approx(lowest, abs=1e-5)
    assert results["tilt_max"] == pytest.approx(highest, abs=1e-5)
    assert results["energy_error_max"] < 1e-9
    assert results["vertical_momentum_error_max"] < 1e-13
    assert results["Pi"][2] == pytest.approx(8.0, abs=1e-12)
