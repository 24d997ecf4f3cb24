"""The momentum methods: known numbers, what each keeps exactly, and what they refuse."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import naiad as nd
from naiad.diagnostics import march
from naiad.integrators import check_method
from tests.verification.problems import PROBLEMS

J = np.array([1.0, 2.0, 3.0])
BODY = nd.models.RigidBody(J)
START = BODY.state(Pi=(0.7, 0.8, -1.5))
H = 0.05
INERTIA, MASS = np.array([1.4726, 7.0306, 4.7969]), np.array([4.7190, 5.8566, 10.5476])
VEHICLE = nd.models.KirchhoffBody(INERTIA, MASS)
TORUS = VEHICLE.state(Pi=(0.0, 3.807047861195724, 1.0), p=(5.2, 0.0, 0.0))

# MLN and FLV: known from another program. KR: the recursion in 40 digits.
KNOWN = [
    (nd.MidpointLieNewmark(), (-0.6016838132585, 1.0732690042346, -1.3660418124684), 1e-13),
    (nd.FastLieVerlet(), (-0.6016368564693, 1.0733682376829, -1.3659831820617), 1e-13),
    (nd.Krysl(), (-0.6015365578588176, 1.073599123619921, -1.365847243040708), 5e-12),
]


def path(system, method, state, steps):
    """The states at the nodes, as arrays over time."""
    run = nd.simulate(system, state, t1=steps * H, dt=H, method=method, save_every=1, progress=False)
    return run.mu.to_numpy(), run.g


def half_cayley(Omega):
    """The rotation whose square is cay(h Omega)."""
    with jax.enable_x64(True):
        turn = jax.vmap(lambda x: nd.Cayley().tau(nd.SO3(), nd.Cayley().half(nd.SO3(), x)))
        return np.asarray(turn(jnp.asarray(H * Omega)))


def spread(values):
    return np.max(np.abs(values - values[0]))


@pytest.mark.parametrize(("method", "expected", "tolerance"), KNOWN, ids=lambda value: type(value).__name__)
def test_the_known_momentum(method, expected, tolerance):
    end = march(BODY, method, START, dt=0.01, steps=1000)
    np.testing.assert_allclose(end.mu, expected, rtol=0, atol=tolerance)


def test_midpoint_keeps_casimir_energy_and_momentum():
    Pi, R = path(BODY, nd.MidpointLieNewmark(), START, 200)
    assert spread(np.sum(Pi**2, axis=1)) < 1e-14
    assert spread(np.sum(Pi**2 / J, axis=1)) < 1e-14
    assert spread(np.einsum("kij,kj->ki", R, Pi)) < 1e-14


def test_trapezoid_keeps_the_same_half_a_step_before_the_node():
    Pi, R = path(BODY, nd.TrapezoidalLieNewmark(), START, 200)
    assert spread(np.sum(Pi**2, axis=1)) > 1e-5
    before = Pi - 0.5 * H * np.cross(Pi, Pi / J)
    attitude = np.einsum("kij,klj->kil", R, half_cayley(Pi / J))
    assert spread(np.sum(before**2, axis=1)) < 1e-14
    assert spread(np.sum(before**2 / J, axis=1)) < 1e-14
    assert spread(np.einsum("kij,kj->ki", attitude, before)) < 1e-14


def test_verlet_fulfils_its_recursion_and_keeps_what_lives_between_the_nodes():
    Pi, R = path(BODY, nd.FastLieVerlet(), START, 200)
    Omega = Pi / J
    middle = 0.5 * (Pi[1:] + Pi[:-1])
    pushed = H * np.cross(middle[1:] + middle[:-1], Omega[1:-1])
    np.testing.assert_allclose(Pi[2:] - Pi[:-2], pushed, rtol=0, atol=1e-15)
    assert spread(np.sum(middle**2, axis=1)) < 1e-14
    assert spread(np.sum(Pi[1:] * Omega[:-1], axis=1)) < 1e-14
    attitude = np.einsum("kij,klj->kil", R, half_cayley(Omega))[1:]  # at k - 1/2, as `middle`
    assert spread(np.einsum("kij,kj->ki", attitude, middle)) < 1e-14


@pytest.mark.parametrize(("method", "energy"), [(nd.SimoWong(), 1e-4), (nd.SimoWongPerp(), 0), (nd.Krysl(), 0)])
def test_coadjoint_methods_keep_casimir_and_momentum_and_two_of_them_energy(method, energy):
    Pi, R = path(BODY, method, START, 200)
    assert spread(np.sum(Pi**2, axis=1)) < 1e-14
    assert spread(np.einsum("kij,kj->ki", R, Pi)) < 1e-14
    change = spread(0.5 * np.sum(Pi**2 / J, axis=1))
    assert change > 0.1 * energy if energy else change < 4e-15


@pytest.mark.parametrize(
    ("method", "low", "high"),
    [
        (nd.TrapezoidalLieNewmark(), 1.44e-3, 1.46e-3),
        (nd.FastLieVerlet(), 2.92e-3, 2.95e-3),
        (nd.MidpointLieNewmark(), 0.0, 1e-12),
        (nd.SimoWong(), 0.1, 0.2),
    ],
    ids=lambda value: type(value).__name__,
)
def test_energy_of_a_vehicle_on_a_torus(method, low, high):
    energy = {"energy": VEHICLE.energy}
    run = nd.simulate(VEHICLE, TORUS, t1=2000.0, dt=H, method=method, monitors=energy, progress=False)
    start, seen = float(VEHICLE.energy(TORUS)), run.monitors["energy"]
    assert low <= max(seen.max - start, start - seen.min) <= high


@pytest.mark.parametrize("method", [nd.SimoWongPerp(), nd.Krysl()], ids=lambda value: type(value).__name__)
@pytest.mark.parametrize("Pi", [(0.0, 0.0, 0.0), (0.0, 0.0, 1.0), (0.0, 1.0, 1e-9)], ids=str)
def test_energy_methods_at_rest_and_near_steady_rotations(method, Pi):
    """Every length of the step keeps the energy there, and near the middle axis the body leaves it in time."""
    state = BODY.state(Pi=Pi)
    run = nd.simulate(BODY, state, t1=200.0, dt=0.1, method=method, monitors={"energy": BODY.energy}, progress=False)
    assert run.outcome is nd.Outcome.COMPLETED
    seen = run.monitors["energy"]
    assert seen.max - seen.min < 5e-14
    assert np.linalg.norm(run.final.mu) == pytest.approx(np.linalg.norm(Pi), abs=1e-14)


def test_krysl_says_that_there_is_no_root():
    """A scan of the energy over multiples of the predicted twist finds none either."""
    state = VEHICLE.state(Omega=(0.7, 0.4, -0.5), v=(0.6, 0.2, -0.4))
    dt = 4.0
    with pytest.warns(RuntimeWarning, match="Krysl's equation for the length of the step has no root near 1"):
        run = nd.simulate(VEHICLE, state, t1=400.0, dt=dt, method=nd.Krysl(), progress=False)
    assert run.outcome is nd.Outcome.NEWTON_FAILED
    assert run.ending.startswith("Krysl's equation")
    with jax.enable_x64(True):
        group, last = VEHICLE.group, run.final
        xi = last.mu / np.concatenate([INERTIA, MASS])
        Theta = dt * xi + 0.5 * dt**2 * np.asarray(group.ad_dual(xi, last.mu)) / np.concatenate([INERTIA, MASS])
        stretches = jnp.linspace(0.5, 1.5, 2001)
        moved = jax.vmap(lambda s: group.Ad_dual(group.exp(s * Theta), last.mu))(stretches)
    changes = np.sum(np.asarray(moved) ** 2 / np.concatenate([INERTIA, MASS]), axis=1) - last.mu @ xi
    assert np.all(changes > 0) or np.all(changes < 0)


def test_verlet_starts_anew_when_the_step_changes():
    """The last step is shorter: it is one of the midpoint rule, and so is the first after it."""
    method = nd.FastLieVerlet()
    end = march(BODY, method, START, dt=0.1, steps=10)
    expected = march(BODY, nd.MidpointLieNewmark(), end, dt=0.05, steps=1)
    run = nd.simulate(BODY, START, t1=1.05, dt=0.1, method=method, progress=False)
    np.testing.assert_allclose(run.final.mu, expected.mu, rtol=0, atol=1e-15)
    np.testing.assert_allclose(run.final.g, expected.g, rtol=0, atol=1e-15)


@pytest.mark.parametrize(
    "method",
    [
        nd.MidpointLieNewmark(),
        nd.TrapezoidalLieNewmark(),
        nd.FastLieVerlet(),
        nd.SimoWong(),
        nd.SimoWongPerp(),
        nd.Krysl(),
        nd.MoserVeselov(),
    ],
    ids=lambda value: type(value).__name__,
)
def test_systems_that_are_not_free_are_refused(method):
    name = type(method).__name__
    with pytest.raises(
        nd.InputError, match=rf"{name} needs an EulerPoincareSystem.*HeavyTop was given. Use Variational"
    ):
        check_method(method, PROBLEMS["heavy-top"].system)

    class Damped(nd.models.RigidBody):
        def force(self, g, xi, t):
            return -xi

    with pytest.raises(nd.InputError, match=rf"Damped has a force, which {name} does not honour"):
        check_method(method, Damped(J))


def test_krysl_refuses_commutative_groups():
    class Drift(nd.EulerPoincareSystem):
        group = nd.Product(x=nd.Rn(2), beta=nd.SO2())

        def reduced_lagrangian(self, xi):
            return 0.5 * xi @ xi

    with pytest.raises(nd.InputError, match=r"which is commutative.*Use SimoWong"):
        nd.Krysl().check(Drift())
    state = Drift().state(xi=(0.1, 0.2, 0.3))
    end = march(Drift(), nd.SimoWong(), state, dt=0.5, steps=4)
    np.testing.assert_allclose(end.g.x, (0.2, 0.4), rtol=1e-15)
    assert end.g.beta == pytest.approx(0.6)
