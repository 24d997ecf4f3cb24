"""Kicks and drifts: the same as Verlet without a solver, orders, what is kept, and what is refused."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import naiad as nd
from naiad.diagnostics import convergence, reversibility_defect, symplecticity_defect
from naiad.integrators import check_method
from naiad.studies.planets.outer_solar_system import MASSES, POSITIONS, VELOCITIES, G
from tests.verification.problems import PROBLEMS, BallOnASphere, DrivenPendulum, HeavyTop

PLANETS = nd.models.PointMasses(MASSES, G)
START = PLANETS.state(q=POSITIONS, v=VELOCITIES)


class Dipole(nd.LagrangianSystem):
    """A ball with equal moments of inertia that carries a dipole, on a spring, in fields that change with time."""

    J: Any
    m: float
    force_size: float = 0.0
    group = nd.Product(R=nd.SO3(), x=nd.Rn(2), beta=nd.SO2())

    def lagrangian(self, g, xi, t):
        Omega, v, rate = self.group.split(xi)
        kinetic = 0.5 * (Omega @ self.J @ Omega + self.m * v @ v + 0.7 * rate**2)
        field = jnp.array([0.4 * jnp.sin(t), 0.3 * g.x[0], 1.0])
        return kinetic + field @ g.R[:, 2] - 0.5 * g.x @ g.x - 0.2 * g.x[0] ** 2 * g.x[1] + jnp.cos(g.beta - g.x[1])

    def force(self, g, xi, t):
        return self.force_size * jnp.concatenate([g.R[0], jnp.array([g.x[1], jnp.cos(t)]), g.x[:1]])


BALL = np.diag([0.8, 0.8, 0.8])
DIPOLE, PUSHED = Dipole(BALL, 1.3), Dipole(BALL, 1.3, 0.5)


def dipole_state(system):
    R = np.asarray(nd.SO3().exp(np.array([0.5, -0.3, 0.8])))
    return system.state(R=R, x=(0.5, -0.2), beta=0.4, R_Omega=(0.6, 0.2, -0.7), x_v=(0.3, 0.4), beta_Omega=0.5)


def test_order_2_is_verlet_to_round_off():
    """`Variational` with `Trapezoid` solves for the same step; 400 steps of the outer planets."""
    runs = [nd.simulate(PLANETS, START, t1=4000.0, dt=10.0, method=m) for m in (nd.Nystrom(2), nd.Variational())]
    np.testing.assert_allclose(runs[0].states.g, runs[1].states.g, rtol=0, atol=1e-12)
    np.testing.assert_allclose(runs[0].states.mu, runs[1].states.mu, rtol=0, atol=1e-15)
    assert runs[0].statistics["newton_iterations_mean"] == 0


@pytest.mark.parametrize("order", [2, 8])
def test_a_stage_takes_one_gradient_and_no_solve(order):
    """15 pairs of bodies: 15 roots and as many divisions, besides the six masses', in a program that does not grow."""
    method = nd.Nystrom(order)

    def step(system, carry, h):
        return method.step(system, carry, 0.0, h)[:2]

    compiled = nd.compile(step, parameters=(0,), cache=False)
    with jax.enable_x64(True):
        carry = method.init(PLANETS, START, 0.0, 10.0)
    compiled(PLANETS, carry, 10.0)
    operations = compiled.stats["operations"]
    assert operations["sqrt"] == 15
    assert operations["div"] == 15 + 6
    assert sum(operations.values()) < 600


@pytest.mark.parametrize(("order", "steps"), [(2, (40, 80)), (4, (20, 40)), (6, (12, 18)), (8, (12, 16))])
def test_order_with_time_rotations_and_a_force(order, steps):
    measured = convergence(PUSHED, nd.Nystrom(order), dipole_state(PUSHED), t1=3.0, steps=steps)
    assert measured.order == pytest.approx(order, abs=0.3), measured


@pytest.mark.parametrize("order", [2, 4, 6, 8])
def test_steps_are_symplectic_and_reversible(order):
    state, method = dipole_state(DIPOLE), nd.Nystrom(order)
    assert symplecticity_defect(DIPOLE, method, state, dt=0.2) < 5e-15
    assert reversibility_defect(DIPOLE, method, state, dt=0.2) < 5e-15


@pytest.mark.parametrize(("order", "error"), [(4, 9.3e-8), (6, 1.8e-9), (8, 5.7e-10)])
def test_planets_keep_momenta_and_energy(order, error):
    run = nd.simulate(PLANETS, START, t1=200_000.0, dt=200.0, method=nd.Nystrom(order), save_every=5)
    q, p = run.states.g, np.reshape(run.states.mu, (-1, 6, 3))
    angular = np.sum(np.cross(q, p), axis=1)
    assert np.max(np.abs(angular - angular[0])) < 1e-13 * np.linalg.norm(angular[0])
    assert np.max(np.abs(np.sum(p, axis=1) - np.sum(p[0], axis=0))) < 1e-18
    assert nd.diagnostics.energy_error(run).max() == pytest.approx(error, rel=0.15)


def test_own_coefficients_and_what_they_must_be():
    method = nd.Nystrom(2, coefficients=(0.25, 0.25, 0.25, 0.25))
    whole, halves = (nd.simulate(DIPOLE, dipole_state(DIPOLE), t1=0.4, dt=dt, method=m) for dt, m in
                     ((0.4, method), (0.2, nd.Nystrom(2))))  # fmt: skip
    np.testing.assert_allclose(whole.final.mu, halves.final.mu, rtol=0, atol=1e-15)
    with pytest.raises(nd.InputError, match="Nystrom: order = 5; expected 2, 4, 6 or 8"):
        nd.Nystrom(5)
    with pytest.raises(nd.InputError, match=r"Nystrom: the coefficients .* must be an even palindrome"):
        nd.Nystrom(2, coefficients=(0.3, 0.7))


class OfMass(nd.LagrangianSystem):
    """A particle whose mass may change with place, speed and time, each on a scale of its own, and a magnetic field."""

    place: float = 0.0
    speed: float = 0.0
    time: float = 0.0
    magnet: float = 0.0
    group = nd.Rn(2)

    def lagrangian(self, q, v, t):
        mass = 1.0 + self.place * q @ q + self.speed * v @ v + self.time * t
        return 0.5 * mass * v @ v + self.magnet * (q[0] * v[1]) - 0.5 * q @ q


@pytest.mark.parametrize("name", ["place", "speed", "time", "magnet"])
@pytest.mark.parametrize("size", [1.0, 1e-10])
def test_another_form_is_refused_on_every_scale(name, size):
    nd.Nystrom().check(OfMass())
    with pytest.raises(
        nd.InputError, match=r"needs a Lagrangian xi . M xi / 2 - V\(g, t\) .* OfMass .* Use Variational"
    ):
        nd.Nystrom().check(OfMass(**{name: size}))


@pytest.mark.parametrize(
    ("system", "said"),
    [
        (BallOnASphere(1.4), "BallOnASphere has a constraint, which Nystrom does not honour"),
        (HeavyTop(np.diag([1.0, 2.0, 3.0]), 1.3), "a momentum that stays .* that of HeavyTop turns"),
        (DrivenPendulum(0.15), "forces that depend on g and t alone; that of DrivenPendulum depends on the velocity"),
        (PROBLEMS["double-pendulum"].system, "that of DoubleSphericalPendulum is of another form"),
    ],
)
def test_what_does_not_fit_is_refused(system, said):
    with pytest.raises(nd.InputError, match=said):
        check_method(nd.Nystrom(), system)
