"""The crane, the tethered satellite and the lumped string."""

import numpy as np
import pytest
from scipy.integrate import quad

from naiad.errors import InputError
from naiad.studies.progress import Progress
from naiad.studies.strings.crane import Crane
from naiad.studies.strings.lumped_string import PAPER, LumpedString
from naiad.studies.strings.tethered_satellite import TetheredSatellite


@pytest.mark.long
def test_a_crane_swings_as_the_linear_theory_says_and_shaping_stops_it():
    """Fixed length, a gentle move: the amplitude left is |int a(t) e^{i omega t} dt|/(g/omega)."""
    study = Crane(shapers="plain,zv", L0=10.0, L1=10.0, distance=1.0, t_move=4.0, t_after=8.0, elements=2, dt=0.02)
    findings = study.run(Progress())
    found = findings.results
    table = findings.tables["moves"]()
    assert [row[0] for row in table.rows] == ["plain", "zv"]
    assert float(table.rows[1][3]) == pytest.approx(found["zv"]["residual_swing"], rel=1e-4)
    omega, T = 2.0 * np.pi / found["period"], 4.0

    def acceleration(t):
        x = t / T
        return 60.0 * x * (1.0 + x * (2.0 * x - 3.0)) / T**2

    left = np.hypot(*(quad(lambda t, f=f: acceleration(t) * f(omega * t), 0.0, T)[0] for f in (np.cos, np.sin)))
    assert found["plain"]["residual_swing"] == pytest.approx(np.degrees(left * omega / 9.81), rel=5e-3)
    assert found["zv"]["residual_swing"] < 0.01 * found["plain"]["residual_swing"]
    assert found["plain"]["energy_balance_error_max"] < 1e-2 * found["plain"]["energy_gain"]
    assert found["zv"]["moment_max"] == pytest.approx(0.3 * (1000.0 + 10.0) * 9.81, rel=0.02)


def test_a_tether_leans_and_librates():
    """The lean of the theory without mass, and Lindstedt's frequency for the amplitude."""
    findings = TetheredSatellite(l1=600.0, fade=400.0, elements=3, orbits=1.2, tilt=0.0, dt=2.0).run(Progress())
    found = findings.results
    assert findings.dataset is not None
    shown = findings.dataset()
    ahead, _, down = shown.x.to_numpy().T  # in axes that turn with the orbit
    assert np.max(np.abs(np.degrees(np.arctan2(ahead, down)))) == pytest.approx(found["libration_amplitude"], abs=1.0)
    np.testing.assert_allclose(np.linalg.norm(shown.nodes, axis=2), np.linalg.norm(shown.q_fixed_axes, axis=2))
    assert found["lean_mean"] == pytest.approx(found["lean_expected"], abs=0.2)
    amplitude = 2.0 * np.radians(found["libration_amplitude"])  # 2 theta is a pendulum of rate sqrt(3) n
    assert found["libration_frequency"] == pytest.approx(np.sqrt(3.0) * (1.0 - amplitude**2 / 16.0), rel=3e-3)
    assert found["tension_mean"] == pytest.approx(found["tension_expected"], rel=0.1)
    assert found["slack_steps"] == 0
    assert found["jacobi_error_max"] < 1e-4


def test_a_tether_that_cannot_be_deployed_is_refused():
    with pytest.raises(InputError, match="expected more than l0"):
        TetheredSatellite(l1=100.0)
    with pytest.raises(InputError, match="stop before it has begun"):
        TetheredSatellite(l1=210.0)


@pytest.mark.long
def test_table_one():
    """The paper's rows to the factor that the tableau leaves open, and the rotation matrix closer. By Runge-Kutta the
    means are those of an error that is larger than what chaos makes of round-off."""
    found = LumpedString().run(Progress()).results
    variational, rival = found["elements-variational"], found["lumped-rk2"]
    assert variational["mean_pi3_error"] < 1e-12
    assert variational["mean_orthogonality_error"] < 1e-14
    assert rival["mean_energy_error"] == pytest.approx(6.901e-3, rel=1e-3)
    assert rival["mean_pi3_error"] == pytest.approx(1.628e-6, rel=1e-3)
    assert rival["mean_orthogonality_error"] == pytest.approx(2.589e-6, rel=1e-3)
    assert found["lumped-variational"]["mean_pi3_error"] < 1e-12
    assert found["paper"] == PAPER


@pytest.mark.long
def test_the_mean_energy_error_is_chaos_after_five_seconds():
    """Lengths that differ by less than any measurement: the same mean over 5 s, others over 10 s."""
    half, whole = [], []
    for change in (0.0, 1e-12, 1e-10):
        run = LumpedString(L=10.0 * (1.0 + change)).motion("elements-variational", Progress())
        energy = run.record["observed"].to_numpy()[:, 0]
        error = np.abs(energy - energy[0])
        half.append(np.mean(error[: len(error) // 2 + 1]))
        whole.append(np.mean(error))
    np.testing.assert_allclose(half, 7.4993e-6, rtol=1e-5)
    assert 1.05 < max(whole) / min(whole) < 2.0
    np.testing.assert_allclose(whole, 3e-4, rtol=0.4)
