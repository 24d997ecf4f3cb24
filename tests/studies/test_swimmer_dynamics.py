"""The study swimmer-dynamics: what the fluid and the hinges keep, release, coupling, and what it says of bad input."""

import numpy as np
import pytest

from naiad.errors import InputError, RunError
from naiad.studies.fish.swimmer_dynamics import SwimmerDynamics
from naiad.studies.progress import Progress

DECOUPLED = {"hydro": "decoupled", "t1": 8.0}


def found(**values):
    return SwimmerDynamics(**values).run(Progress())


def test_the_balance_of_energy_and_momentum():
    results = found(**DECOUPLED, momentum=(200.0, 30.0, -20.0)).results
    assert results["energy_balance_error"] < 1e-8
    assert results["momentum_error_max"] < 1e-13
    np.testing.assert_allclose(results["momentum"], (200.0, 30.0, -20.0), rtol=1e-12)
    assert results["work"] > 500.0
    assert results["loss"] > 100.0
    assert results["steps"] == 400


def test_from_rest_the_momentum_is_zero_and_the_fish_swims():
    results = found(**DECOUPLED).results
    assert results["momentum_error_max"] == 0.0
    assert results["displacement"] > 1.0


@pytest.mark.long
def test_after_the_release_no_work_is_done():
    values = {**DECOUPLED, "damping": (0.0, 0.0), "release": 3.01}
    study = SwimmerDynamics(**values)
    results = study.run(Progress())
    short = found(**{**values, "t1": 3.01}).results
    assert results.results["work"] == pytest.approx(short["work"], rel=1e-12)
    assert results.results["energy"] == pytest.approx(short["energy"], rel=1e-6)
    assert results.results["energy_balance_error"] < 1e-6
    data = results.dataset()
    assert np.all(np.diff(data["time"]) > 0.0)
    after = data["work"].to_numpy()[data["time"].to_numpy() > 3.02]
    assert np.ptp(after) < 1e-9 * abs(results.results["work"])
    assert data["x"].shape[1:] == (3, 2)


@pytest.mark.long
def test_nothing_moves_without_torques_from_rest():
    results = found(**DECOUPLED, amplitude=(0.0, 0.0), rest=(0.0, 0.0)).results
    assert results["displacement"] == 0.0
    assert results["energy_balance_error"] == 0.0


@pytest.mark.long
def test_a_constant_torque_turns_massless_free_hinges():
    results = found(
        hydro="decoupled", t1=1.0, mass="massless", torque=(50.0, 0.0), amplitude=(0.0, 0.0), stiffness=(0.0, 0.0)
    ).results
    assert results["theta"][0] > 0.0
    assert results["work"] == pytest.approx(50.0 * results["theta"][0], rel=1e-8)


@pytest.mark.long
def test_coupled_and_decoupled_fish_differ():
    coupled, alone = found(t1=8.0).results, found(**DECOUPLED).results
    assert coupled["energy_balance_error"] < 1e-8
    assert coupled["momentum_error_max"] == 0.0
    assert 0.0 < coupled["inertia_error"] < 1e-10
    assert 0.01 < abs(coupled["x"] - alone["x"]) < 3.0


def test_leaving_the_table_is_said():
    with pytest.raises(RunError, match=r"theta_max = 0\.3"):
        found(theta_max=0.3, t1=8.0)
    with pytest.raises(InputError, match="below theta_max"):
        SwimmerDynamics(theta0=(2.0, 0.0))
