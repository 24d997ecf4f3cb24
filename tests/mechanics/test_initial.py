"""Initial states: assembled by name, and refused with one clear message."""

import numpy as np
import pytest

import naiad as nd
from tests.verification.problems import PROBLEMS, HeavyTop

TOP = HeavyTop(np.diag([1.0, 2.0, 3.0]), 1.3)
VEHICLE = PROBLEMS["vehicle"].system


def test_state_by_names_and_as_a_whole_agree():
    by_name = VEHICLE.state(x=(1.0, 2.0, 3.0), Omega=(0.1, 0.2, 0.3), v=(1.0, 0.0, -1.0))
    whole = VEHICLE.state(g=(np.eye(3), (1.0, 2.0, 3.0)), xi=(0.1, 0.2, 0.3, 1.0, 0.0, -1.0))
    np.testing.assert_array_equal(by_name.mu, VEHICLE.K @ np.array([0.1, 0.2, 0.3, 1.0, 0.0, -1.0]))
    np.testing.assert_array_equal(by_name.mu, whole.mu)
    np.testing.assert_array_equal(by_name.g.x, whole.g.x)
    again = VEHICLE.state(x=(1.0, 2.0, 3.0), Pi=by_name.mu[:3], p=by_name.mu[3:])
    np.testing.assert_array_equal(again.mu, by_name.mu)


def test_state_of_a_power_joins_what_split_takes_apart():
    rotors = PROBLEMS["rotor-chain"].system
    Omega = np.arange(9.0).reshape(3, 3)
    np.testing.assert_allclose(rotors.state(Omega=Omega).mu, (Omega @ rotors.J).reshape(-1))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"Omega": (1.0, 2.0)}, r"Omega has shape \(2,\); expected \(3,\)"),
        ({"omega": (1.0, 2.0, 3.0)}, r"unknown component 'omega'; this system has R, Omega, Pi"),
        ({"Omega": (1, 2, 3), "Pi": (1, 2, 3)}, r"both velocities and momenta were given"),
        ({"xi": (1, 2, 3), "mu": (1, 2, 3)}, r"both xi and mu were given"),
        ({"g": np.eye(3), "R": np.eye(3)}, r"both g and R were given"),
        ({"R": np.eye(3) * 1.1}, r"off the group by 0\.36.*Orthonormalise"),
        ({"R": "upright"}, r"R = 'upright' is not an array of numbers; expected shape \(3, 3\)"),
        ({"Omega": (np.nan, 0, 0)}, r"NaN or infinite"),
        ({"R": np.eye(4)}, r"R has shape \(4, 4\); expected \(3, 3\)"),
    ],
)
def test_bad_states_are_refused(arguments, message):
    with pytest.raises(nd.InputError, match=message):
        TOP.state(**arguments)


def test_an_inertia_that_is_not_positive_definite_is_refused():
    with pytest.raises(nd.InputError, match=r"not positive definite at the initial state \(smallest eigenvalue -1\)"):
        HeavyTop(np.diag([1.0, -1.0, 2.0]), 1.0).state(Omega=(0.1, 0.2, 0.3))


@pytest.mark.parametrize(
    ("J", "message"),
    [
        ((1.0, 2.0), r"J has shape \(2,\); expected 3 numbers"),
        ((1.0, 2.0, -3.0), r"J is not positive definite \(smallest eigenvalue -3\)"),
        (((1.0, 0.5, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)), r"J is not symmetric"),
        ((1.0, np.nan, 1.0), r"J holds NaN"),
        ("heavy", r"J = 'heavy' is not an array of numbers"),
    ],
)
def test_bad_inertias_of_models_are_refused(J, message):
    with pytest.raises(nd.InputError, match=message):
        nd.models.RigidBody(J)


def test_a_state_off_the_constraint_is_refused():
    from tests.integrators.test_constrained import Pendulum

    with pytest.raises(nd.InputError, match=r"violates the constraint \(value 0\.5"):
        Pendulum(1.0).state(q=(1.0, 1.0, 0.0))
    with pytest.raises(nd.InputError, match=r"violates the constraint \(value 0, rate 1"):
        Pendulum(1.0).state(q=(1.0, 0.0, 0.0), v=(1.0, 0.0, 0.0))
