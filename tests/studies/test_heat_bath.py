"""The studies of systems in a heat bath."""

import numpy as np
import pytest

from naiad.errors import InputError, RunError
from naiad.studies.heat.isothermal_rigid_body import IsothermalRigidBody, alignment_density, mean_alignment
from naiad.studies.heat.sliding_disk import SlidingDisk
from naiad.studies.progress import Progress


def test_the_disk_comes_to_equipartition_within_its_standard_errors():
    findings = SlidingDisk(dt=0.05, t1=10_000.0, method="midpoint").run(Progress())
    results = findings.results
    assert results["kT"] == 0.5
    assert results["steps"] == 200_000
    for name in ("kinetic_v_over_kT", "kinetic_omega_over_kT"):
        error = results[f"{name}_standard_error"]
        assert 0.005 < error < 0.06
        assert abs(results[name] - 1) < 4 * error
    assert results["difference_change_max"] > 1.0
    assert findings.dataset is not None
    data = findings.dataset()
    times = data["time"].to_numpy()
    assert times[0] == pytest.approx(100.0)
    assert times[-1] == pytest.approx(10_100.0)
    assert np.all(np.diff(times) > 0)
    same = SlidingDisk(dt=0.05, t1=10_000.0, method="midpoint").run(Progress()).results
    assert same == results


def test_without_a_potential_the_disk_remembers_how_it_began():
    results = SlidingDisk(potential="none", dt=0.2, t1=10_000.0, method="midpoint", v0=0.0).run(Progress()).results
    assert results["difference_change_max"] < 1e-12
    error = results["kinetic_v_over_kT_standard_error"]
    assert results["kinetic_v_over_kT"] == pytest.approx(1 / 3, abs=4 * error)  # 1/(1 + m r^2/J)
    assert error < 0.02


def test_the_rigid_body_has_gibbs_distribution():
    results = IsothermalRigidBody(dt=0.05, t1=10_000.0, method="midpoint").run(Progress()).results
    errors = np.array(results["equipartition_standard_error"])
    assert np.all(np.abs(np.array(results["equipartition"]) - 1) < 4 * errors)
    assert np.all(errors < 0.04)
    error = results["alignment_standard_error"]
    assert abs(results["alignment"] - results["alignment_exact"]) < 4 * error < 0.05
    assert results["orthogonality_error_max"] < 1e-14


def test_langevins_function_by_quadrature():
    u = np.linspace(-1.0, 1.0, 200_001)
    for ratio in (-3.0, -1e-3, 0.0, 5e-3, 1.5, 40.0):
        density = alignment_density(ratio)(u)
        assert np.trapezoid(density, u) == pytest.approx(1.0, rel=1e-7)
        assert np.trapezoid(density * u, u) == pytest.approx(mean_alignment(ratio), rel=1e-6, abs=1e-12)


def test_what_is_refused():
    with pytest.raises(InputError, match="is too short for averages; give at least 100 steps"):
        SlidingDisk(t1=0.5)
    with pytest.raises(InputError, match="C=1,-1,1: expected 3 not negative numbers"):
        IsothermalRigidBody(C="1,-1,1")
    IsothermalRigidBody(C="1,0,0")
    with pytest.raises(RunError, match="the run stopped at t ="):
        SlidingDisk(dt=10.0, t1=10_000.0, potential="quartic").run(Progress())
