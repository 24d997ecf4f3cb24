"""Holonomic constraints by multipliers, against the same motion without constraints."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import naiad as nd
from naiad.diagnostics import convergence, march, reference, reversibility_defect

GRAVITY = 9.81


class Pendulum(nd.LagrangianSystem):
    """A point mass in space held on the unit sphere."""

    m: float
    group = nd.Rn(3)

    def lagrangian(self, q, v, t):
        return 0.5 * self.m * v @ v - self.m * GRAVITY * q[2]

    def constraint(self, q, t):
        return 0.5 * (q @ q - 1.0)


class SlidingRing(nd.LagrangianSystem):
    """A rigid body on SE(3) whose reference point is driven along a moving line: two constraints, one in motion."""

    group = nd.SE3()

    def lagrangian(self, g, xi, t):
        Omega, v = self.group.split(xi)
        centre = g.x + g.R @ jnp.array([0.2, 0.0, -0.3])
        return 0.5 * (Omega @ (jnp.array([1.0, 1.4, 0.8]) * Omega) + 2.0 * v @ v) - 3.0 * centre[2]

    def constraint(self, g, t):
        return jnp.stack([g.x[1] - 0.3 * jnp.sin(t), g.x[2]])


PENDULUM = Pendulum(1.3)
START = PENDULUM.state(q=(0.6, 0.0, -0.8), v=(0.0, 1.0, 0.0))
RING = SlidingRing()
RING_START = RING.state(
    R=nd.SO3().exp(np.array([0.4, 0.1, 0.0])),
    Omega=(0.2, 0.3, 0.1),
    v=np.asarray(nd.SO3().exp(np.array([0.4, 0.1, 0.0]))).T @ np.array([0.5, 0.3, 0.0]),
)


@pytest.fixture(autouse=True)
def _double():
    with jax.enable_x64(True):
        yield


def exact_pendulum(t1):
    """The spherical pendulum q'' = -g e3 + lambda q with the multiplier of the textbook."""
    from scipy.integrate import solve_ivp

    def slope(t, y):
        q, v = y[:3], y[3:]
        return np.concatenate([v, -GRAVITY * np.array([0, 0, 1.0]) + (GRAVITY * q[2] - v @ v) * q / (q @ q)])

    return solve_ivp(slope, (0, t1), [0.6, 0, -0.8, 0, 1.0, 0], "DOP853", rtol=1e-13, atol=1e-13).y[:, -1]


def test_continuous_equations_follow_the_textbook_pendulum():
    exact, end = exact_pendulum(1.0), reference(PENDULUM, START, t1=1.0)
    np.testing.assert_allclose(end.g, exact[:3], atol=1e-11)
    np.testing.assert_allclose(end.mu / 1.3, exact[3:], atol=1e-11)


@pytest.mark.parametrize(("system", "state"), [(PENDULUM, START), (RING, RING_START)], ids=["pendulum", "ring"])
@pytest.mark.parametrize("rule", [nd.Trapezoid(), nd.Midpoint()], ids=lambda r: type(r).__name__)
def test_order_constraint_and_reversibility(system, state, rule):
    method = nd.Variational(nd.Cayley(), rule)
    assert convergence(system, method, state, t1=1.0, steps=(50, 100, 200)).order == pytest.approx(2.0, abs=0.1)
    end = march(system, method, state, dt=0.01, steps=500)
    xi = system.velocity(end.g, end.mu, 5.0)
    assert np.max(np.abs(system.constraint(end.g, 5.0))) < 1e-14
    assert np.max(np.abs(system.constraint_rate(end.g, xi, 5.0))) < 1e-14
    assert reversibility_defect(system, method, state, dt=0.02) < 2e-14


def test_vertical_momentum_and_energy_of_the_pendulum():
    run = nd.simulate(PENDULUM, START, t1=100.0, dt=0.01, monitors={"energy": PENDULUM.energy}, progress=False)
    momentum = np.cross(run.g, run.states.mu)[:, 2]
    assert np.max(np.abs(momentum - momentum[0])) < 1e-12 * abs(momentum[0])
    first, second = (np.ptp(part) for part in np.array_split(run.energy.to_numpy(), 2))
    assert run.monitors["energy"].max - run.monitors["energy"].min < 2e-2
    assert second < 1.05 * first
