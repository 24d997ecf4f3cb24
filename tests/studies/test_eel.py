"""The eel: what its torques put in, and what stays."""

import numpy as np
import pytest

from naiad.errors import InputError
from naiad.studies.progress import Progress
from naiad.studies.trees.eel import Eel


def test_torques_do_work_and_leave_the_momenta_alone():
    """Without damping the energy that the eel has is what the torques put in, to the order of the method; it moves."""
    found = Eel(N=2, damping=0.0, t1=2.0, dt=0.005).run(Progress()).results
    assert found["energy0"] == 0.0
    assert found["work"] > 0.1
    assert found["energy"] == pytest.approx(found["work"], rel=1e-4)
    assert found["energy_balance_error_max"] < 1e-4 * found["work"]
    assert "energy_error_max" not in found  # the energy is not to stay
    assert found["linear_momentum_error_max"] < 1e-12
    assert found["angular_momentum_error_max"] < 1e-12
    assert np.linalg.norm(found["displacement"]) > 1e-3
    assert abs(found["displacement"][2]) < 1e-12


@pytest.mark.long
def test_a_hinged_eel_on_its_springs_keeps_its_energy():
    found = Eel(N=3, joints="hinge", amplitude=0.0, damping=0.0, bend=0.4, t1=20.0).run(Progress()).results
    assert found["work"] == 0.0
    assert found["energy0"] > 0.1
    assert found["energy_error_max"] < 1e-3 * found["energy0"]
    assert found["angular_momentum_error_max"] < 1e-11


def test_lengths_are_whole_numbers():
    with pytest.raises(InputError, match="expected whole numbers of links"):
        Eel(lengths="2,3.5")
