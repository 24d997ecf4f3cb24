"""A falling plate: what is known of its swings, and how often it turns over."""

import numpy as np
import pytest
from scipy.special import gamma, jv

from naiad.errors import InputError
from naiad.studies.progress import Progress
from naiad.studies.vehicles.falling_plate import FallingPlate, exponent, swings


def results(**parameters):
    return FallingPlate(**{"grid": 0} | parameters).run(Progress()).results


def test_small_swings_are_bessels():
    """theta'' = -k^2 t^2 theta from rest, and the centre falls as m_2 y'' = -W does."""
    found = results(beta0=1e-3, Omega0=0.0, t1=0.5, method="compose4")
    k = found["swing_rate"]
    m, displaced = 2700.0 * np.pi * 0.05 * 0.005, 1000.0 * np.pi * 0.05 * 0.005
    W, m_1, m_2 = (m - displaced) * 9.81, m + 1000.0 * np.pi * 0.005**2, m + 1000.0 * np.pi * 0.05**2
    inertia = m * (0.05**2 + 0.005**2) / 4 + 1000.0 * np.pi * (0.05**2 - 0.005**2) ** 2 / 8
    assert k == pytest.approx(W * np.sqrt((1 / m_1 - 1 / m_2) / inertia), rel=1e-12)
    theta = 1e-3 * gamma(0.75) * (k / 4) ** 0.25 * np.sqrt(0.5) * jv(-0.25, k * 0.5**2 / 2)
    assert found["beta"] == pytest.approx(theta, abs=2e-8)
    assert found["x"][1] == pytest.approx(-0.5 * W / m_2 * 0.5**2, rel=1e-5)


def test_the_swings_fall_as_the_root_of_time_and_the_reduced_step_is_the_full_one():
    reduced, full = (results(Omega0=0.0, t1=2.0, method=name) for name in ("reduced", "midpoint"))
    assert reduced["swing_exponent"] == pytest.approx(-0.5, abs=0.03)
    assert reduced["beta"] == pytest.approx(full["beta"], abs=1e-9)
    assert reduced["half_turns"] == 0
    assert reduced["level_momentum_error_max"] < 1e-11


def test_a_plate_that_spins_tumbles_first():
    findings = FallingPlate(grid=3, dt=0.001).run(Progress())
    assert findings.results["half_turns"] == 4
    for draw in findings.figures.values():
        draw()
    assert results(Omega0=-30.0, beta0=-0.6, dt=0.001)["half_turns"] == -4  # its mirror image
    assert results(offset=0.01, Omega0=0.0, dt=0.001)["x"][0] != pytest.approx(0.0, abs=1e-3)


def test_swings_are_found_and_bad_values_told():
    t = np.linspace(0.01, 20.0, 20001)
    peaks = swings(t, np.pi * 3 + t**-0.5 * np.cos(t**2))
    assert exponent(peaks) == pytest.approx(-0.5, abs=1e-3)
    assert exponent(peaks[:3]) is None
    with pytest.raises(InputError, match="a plate is wider than it is thick"):
        FallingPlate(a=0.01, b=0.02)
    with pytest.raises(InputError, match="less than a step"):
        FallingPlate(t1=0.0001)
