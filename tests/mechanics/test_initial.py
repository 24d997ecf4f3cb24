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
        ({"R": np.diag((1.0, 1.0, -1.0))}, r"initial attitude is not a rotation: .* = 0, det R = -1; expected 0 and 1"),
        ({"R": np.eye(3, dtype=np.float32)}, r"R is float32; naiad computes in float64"),
        ({"Pi": np.ones(3, complex)}, r"Pi is complex128; naiad computes in float64"),
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
        ((1.0, 1.0, 5.0), r"principal moments 1, 1, 5: no body has them.*unphysical=True"),
        ((1.0, 1.0, np.float32(1.1)), r"argument 1 is float32"),
        ("heavy", r"J = 'heavy' is not an array of numbers"),
    ],
)
def test_bad_inertias_of_models_are_refused(J, message):
    with pytest.raises(nd.InputError, match=message):
        nd.models.RigidBody(J)


def test_moments_that_no_body_has_are_taken_on_the_users_word():
    assert nd.models.RigidBody((1.0, 1.0, 5.0), unphysical=True).J[2, 2] == 5.0
    assert nd.models.IsothermalRigidBody((1.0, 1.0, 5.0), (1.0, 1.0, 1.0), 0.5, unphysical=True).J[2, 2] == 5.0
    pair = nd.models.InteractingBodies((1.0, 2.0), [(1.0, 1.0, 5.0)], nd.models.Gravity(), unphysical=True)
    assert pair.J[1, 2, 2] == 5.0
    nd.models.RigidBody((1.0, 2.0, 3.0))  # flat
    nd.models.KirchhoffBody((1.0, 1.0, 5.0), (1.0, 2.0, 3.0))  # with the fluid's


@pytest.mark.parametrize(
    "make",
    [
        lambda J: nd.models.IsothermalRigidBody(J, (1.0, 1.0, 1.0), 0.5),
        lambda J: nd.models.InteractingBodies((1.0, 2.0), [J], nd.models.Gravity()),
        lambda J: nd.models.OblateSatellite(1.0, J),
        lambda J: nd.models.RotorSpacecraft(J, 1e-9, 0.3),
        lambda J: nd.models.HangingBody(1.0, inertia=J),
        lambda J: nd.hydro.rigid_inertia(1.0, J),
    ],
)
def test_every_dry_body_has_moments_that_a_body_can_have(make):
    make((1.0, 2.0, 2.5))
    with pytest.raises(nd.InputError, match=r"principal moments 1, 1, 5"):
        make((1.0, 1.0, 5.0))


class _Attitudes(nd.LagrangianSystem):
    """Attitudes in every group that has them."""

    group: nd.groups.AbstractGroup

    def lagrangian(self, g, xi, t):
        return 0.5 * xi @ xi


@pytest.mark.parametrize(
    "group",
    [nd.SO3(), nd.SE3(), nd.SOn(4), nd.Power(nd.SO3(), 2), nd.Power(nd.SE3(), 2), nd.Product(x=nd.Rn(1), R=nd.SE3())],
)
def test_a_reflection_is_refused_on_every_group(group):
    system = _Attitudes(group)
    g = group.random(np.random.default_rng(1))
    system.state(g)
    for R in group.rotations(g):
        R[..., 0] *= -1.0
    with pytest.raises(nd.InputError, match=r"not a rotation: .*det R = -1; expected 0 and 1"):
        system.state(g)


def test_a_reflection_is_refused_wherever_an_attitude_is_given():
    mirror, ball = np.diag((1.0, 1.0, -1.0)), nd.hydro.Ellipsoid((3.0, 2.0, 1.0))
    joints = {"own": np.zeros((2, 3)), "other": np.zeros((2, 3))}
    swimmer = nd.locomotion.spatial_swimmer([ball] * 2, (-1, 0), joints="ball", density=1.0, **joints)
    shape = swimmer.links.shape
    for make in (
        lambda: ball.placed(R=mirror),
        lambda: nd.models.Drag(np.ones(6), R=mirror),
        lambda: nd.Tree((-1, 0), [np.ones(3)], 1.0, rest=np.stack([mirror] * 2), **joints),
        lambda: swimmer.start(pose=nd.SE3().identity()._replace(R=mirror)),
        lambda: swimmer.inertias(nd.mechanics.identity(shape)._replace(turns=mirror[None])),
    ):
        with pytest.raises(nd.InputError, match=r"not a rotation: .*det R = -1"):
            make()


def test_a_state_off_the_constraint_is_refused():
    from tests.integrators.test_constrained import Pendulum

    with pytest.raises(nd.InputError, match=r"violates the constraint \(value 0\.5"):
        Pendulum(1.0).state(q=(1.0, 1.0, 0.0))
    with pytest.raises(nd.InputError, match=r"violates the constraint \(value 0, rate 1"):
        Pendulum(1.0).state(q=(1.0, 0.0, 0.0), v=(1.0, 0.0, 0.0))
