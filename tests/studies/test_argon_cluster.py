"""The study of clusters of argon: published minima, and a turn without angular momentum."""

import numpy as np
import pytest

import naiad as nd
from naiad.studies.atoms.argon_cluster import ArgonCluster, isomers, start_state
from naiad.studies.progress import Progress


def test_six_atoms_have_the_published_isomers():
    """An octahedron and a bicapped tetrahedron, whose atoms have 4 neighbours each and 3, 4 or 5."""
    cluster = ArgonCluster().cluster()
    lowest, second = isomers(cluster, 600, 0)
    assert lowest.energy == pytest.approx(-12.712062, abs=5e-7)
    assert second.energy == pytest.approx(-12.302928, abs=5e-7)
    assert second.count > 50 * lowest.count
    for isomer, neighbours in ((lowest, [4] * 6), (second, [3, 3, 4, 4, 5, 5])):
        x = np.asarray(cluster.jacobi) @ isomer.q
        near = np.linalg.norm(x[:, None] - x, axis=2) < 1.3
        assert sorted(near.sum(axis=1) - 1) == neighbours
    state = start_state(cluster, lowest.q, -11.0, (0.2, 0.0, 0.7), 4)
    assert float(cluster.energy(state)) == pytest.approx(-11.0, rel=1e-13)
    np.testing.assert_allclose(np.cross(state.g, state.mu.reshape(-1, 3)).sum(axis=0), (0.2, 0.0, 0.7), atol=1e-14)
    with pytest.raises(nd.InputError, match="expected more than"):
        start_state(cluster, lowest.q, -13.0, (0.0, 0.0, 0.0), 4)


@pytest.mark.long
def test_argon_six_turns_without_angular_momentum_and_changes_its_isomer():
    study = ArgonCluster(t1=20.0, dts=(0.02, 0.01))
    findings = study.run(Progress())
    results = findings.results
    assert max(results["lowest_energy_error"], results["second_energy_error"]) < 1e-7
    assert results["vibration_turn"] == pytest.approx(results["vibration_turn_by_area"], rel=3e-3)
    assert results["vibration_turn"] == pytest.approx(-0.0150608, rel=1e-4)
    assert results["vibration_dynamic_phase"] < 1e-12
    assert results["circle_turn"] == pytest.approx(-0.876266, rel=1e-5)
    assert results["energy_error_max"] < 3e-4
    assert max(results["angular_momentum_error_max"], results["angular_momentum_at_rest_max"]) < 1e-13
    assert results["difference_from_verlet"] < 1e-12
    assert results["isomer_changes"] >= 1
    errors = results["step_error"]
    assert errors["reduced"] == pytest.approx(errors["verlet"], rel=1e-9)
    assert errors["trapezoid"] == pytest.approx(errors["verlet"], rel=0.1)
    for draw in findings.figures.values():
        assert draw().axes
