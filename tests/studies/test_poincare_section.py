import numpy as np
import pytest
from scipy.integrate import solve_ivp

import naiad as nd
from naiad.errors import InputError, RunError
from naiad.studies.progress import Progress
from naiad.studies.vehicles import section_panels
from naiad.studies.vehicles.poincare_section import LevelSet, PoincareSection
from naiad.studies.vehicles.section_panels import Coordinate, Sections

COUPLED = nd.models.KirchhoffBody((1.5, 2.0, 3.0), (2.0, 3.0, 4.0), 0.1 * np.arange(9.0).reshape(3, 3))


def found(**parameters):
    return PoincareSection(**parameters).run(Progress())


@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("direction", [-1, 0, 1])
def test_states_spread_over_the_level_set_have_its_integrals(axis, direction):
    level = LevelSet(np.asarray(COUPLED.K), axis, pi_dot_p=0.7, p_norm=3.0, energy=4.0)
    mu = level.spread(50, direction)
    Pi, p = mu[:, :3], mu[:, 3:]
    np.testing.assert_array_equal(p[:, axis], 0.0)
    np.testing.assert_allclose(np.linalg.norm(p, axis=1), 3.0, rtol=1e-14)
    np.testing.assert_allclose(np.sum(Pi * p, axis=1), 0.7, atol=1e-13)
    xi = np.linalg.solve(COUPLED.K, mu.T).T
    np.testing.assert_allclose(0.5 * np.sum(mu * xi, axis=1), 4.0, rtol=1e-13)
    assert np.all(direction * np.cross(p, xi[:, :3])[:, axis] >= 0.0)
    angles = np.unwrap(np.sort(np.arctan2(p[:, (axis + 2) % 3], p[:, (axis + 1) % 3])))
    assert np.diff(angles).max() < 1.0  # all around where there are states


@pytest.mark.long
def test_a_crossing_is_where_dop853_has_it():
    """The first crossings of an orbit, by event location on the continuous equations."""
    parameters = {"method": "compose6", "dt": 0.01, "t1": 40.0, "orbits": 2, "pi_dot_p": 1.0}
    points = found(**parameters).dataset()
    study = PoincareSection(**parameters)
    body = nd.models.KirchhoffBody(study.I, study.M)
    K = np.asarray(body.K)

    def slope(t, mu):
        xi = np.linalg.solve(K, mu)
        return np.concatenate([np.cross(mu[:3], xi[:3]) + np.cross(mu[3:], xi[3:]), np.cross(mu[3:], xi[:3])])

    def p_z(t, mu):
        return mu[5]

    p_z.direction = 1.0
    starts = study._level().spread(2, 1)
    for orbit in range(2):
        assert slope(0.0, starts[orbit])[5] > 0.0
        exact = solve_ivp(slope, (0.0, 40.0), starts[orbit], "DOP853", rtol=1e-12, atol=1e-12, events=p_z)
        later = exact.t_events[0] > 1e-6  # it starts on the section
        here = points.orbit.to_numpy() == orbit
        assert np.count_nonzero(here) == np.count_nonzero(later) > 3
        np.testing.assert_allclose(points.t.to_numpy()[here], exact.t_events[0][later], atol=1e-9)
        np.testing.assert_allclose(points.Pi.to_numpy()[here], exact.y_events[0][later][:, :3], atol=1e-8)
        np.testing.assert_allclose(points.p.to_numpy()[here], exact.y_events[0][later][:, 3:], atol=1e-8)


def test_a_section_by_the_variational_method_keeps_its_level_set():
    results = found(t1=2000.0, orbits=3).results
    assert results["casimir_error_max"] < 1e-13
    assert 1e-3 < results["energy_error_max"] < 2e-3
    assert "rows" not in results
    drifting = found(t1=2000.0, orbits=3, method="rk4").results
    assert drifting["energy_drift"] == pytest.approx(-drifting["energy_error_max"], rel=0.05)
    assert drifting["casimir_error_max"] > 1e-5


def thickness(method, t1):
    """How far the section of the known torus is from a closed curve: the scatter about a Fourier series."""
    study = PoincareSection()
    body = nd.models.KirchhoffBody(study.I, study.M)
    start = np.array([[0.0, 3.807047861195724, 1.0, 5.2, 0.0, 0.0]])
    panel = Sections(body, start, nd.Section(Coordinate(5)), t1).panel(method, 0.05, Progress())
    x, z = panel.mu[:, 0] / 0.4023, panel.mu[:, 2]
    angle, radius = np.arctan2(z, x), np.hypot(x, z)
    waves = np.stack([np.ones_like(angle), *(f(k * angle) for k in range(1, 16) for f in (np.cos, np.sin))], axis=1)
    return float(np.std(radius - waves @ np.linalg.lstsq(waves, radius, rcond=None)[0]))


@pytest.mark.long
def test_a_torus_stays_thin_with_structure_and_becomes_a_band_without():
    """Over T = 1e6 the scatter is 3.8e-7 for CAY and 3.4e-3 for RK4; RK4's grows with time."""
    assert thickness("cay", 1e5) < 1e-6
    assert 2e-4 < thickness("rk4", 1e5) < 6e-4


def test_methods_and_steps_side_by_side(tmp_path):
    findings = found(t1=200.0, orbits=2, compare="rk4,cay", dt=0.04)
    rows = findings.results["rows"]
    assert [(row["method"], row["dt"]) for row in rows] == [
        (name, dt) for name in ("rk4", "cay") for dt in (0.01, 0.02, 0.04)
    ]
    errors = {(row["method"], row["dt"]): row["energy_error_max"] for row in rows}
    assert errors["cay", 0.04] / errors["cay", 0.02] == pytest.approx(4.0, rel=0.1)
    assert errors["rk4", 0.04] / errors["rk4", 0.02] == pytest.approx(32.0, rel=0.2)
    data = findings.dataset()
    counts = np.bincount(data.panel.to_numpy())
    assert counts.tolist() == [findings.results["crossings"], *(row["crossings"] for row in rows)]
    assert data.method.to_numpy().tolist() == ["cay", *(row["method"] for row in rows)]
    np.testing.assert_allclose(data.p.to_numpy()[:, 2], 0.0, atol=1e-13)
    for figure in findings.figures.values():
        figure().savefig(tmp_path / "figure.png", dpi=30)


def test_equal_cpu_time(monkeypatch):
    """Each panel takes the wanted CPU time, by a clock on which long steps cost more: 10 us and 3e-4 dt."""
    clock, tried, simulate = [0.0], [], section_panels.Sections._simulate

    def counted(self, name, dt, t1, progress=None):
        tried.append((name, dt))
        runs = simulate(self, name, dt, t1, progress)
        clock[0] += 1e-3 + (1e-5 + 3e-4 * dt) * max(run.statistics["steps"] for run in runs)
        return runs

    monkeypatch.setattr(section_panels.Sections, "_simulate", counted)
    monkeypatch.setattr(section_panels.time, "process_time", lambda: clock[0])
    rows = found(t1=2000.0, orbits=2, compare="rk4,cay", cpu="1.6,0.8").results["rows"]
    for row, wanted in zip(rows, (1.6, 0.8, 1.6, 0.8), strict=True):
        assert row["seconds"] == pytest.approx(wanted, rel=0.05)
        trials = [dt for name, dt in tried if name == row["method"] and dt != row["dt"]]
        assert min(abs(dt / row["dt"] - 1.0) for dt in trials) < 0.05  # the last trial ran at the step that is chosen


def test_what_does_not_fit_is_told():
    with pytest.raises(InputError, match=r"compare=rk5: expected different names out of .*did you mean rk4"):
        PoincareSection(compare="rk5")
    with pytest.raises(InputError, match=r"there the least energy is 2\.3"):
        PoincareSection(energy=2.0)
    with pytest.raises(InputError, match="dts and cpu are both given"):
        PoincareSection(dts="0.1", cpu="1")
    with pytest.raises(InputError, match="Newmark was given SE3"):
        PoincareSection(compare="cay,new")
    with pytest.raises(RunError, match=r"orbit 0 stopped at t = .*Newton's method did not converge"):
        found(method="exp", dt=8.0, t1=100.0, orbits=1)
