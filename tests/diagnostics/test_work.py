"""The balance of energy: work of friction, forces and time in closed form, and what is said to keep its energy."""

import jax.numpy as jnp
import numpy as np
import pytest

import naiad as nd
from naiad.diagnostics import WorkRate, energy_balance, work
from naiad.errors import InputError
from naiad.mechanics import keeps_energy
from naiad.simulation.work import integral_over_time, quadrature_error
from naiad.viz.conservation import energy_error


class Sliding(nd.LagrangianSystem):
    """A unit mass on a plane that is pulled by cos t and slowed by - c v: its motion is known."""

    c: float
    group = nd.Rn(1)

    def lagrangian(self, q, v, t):
        return 0.5 * v @ v

    def force(self, q, v, t):
        return jnp.cos(t) - self.c * v


class Growing(nd.LagrangianSystem):
    """A free mass m = exp(t): p is constant, E = p^2 exp(-t)/2, with nothing but time in the Lagrangian."""

    group = nd.Rn(1)

    def lagrangian(self, q, v, t):
        return 0.5 * jnp.exp(t) * v @ v


class Rubbed(nd.LagrangianSystem):
    """A free mass with a declared friction - c v."""

    dissipation: np.ndarray
    group = nd.Rn(1)

    def lagrangian(self, q, v, t):
        return 0.5 * v @ v


class Lifted(nd.LagrangianSystem):
    """A point on a circle in the plane whose centre goes up as t^2: the constraint does work."""

    group = nd.Rn(2)

    def lagrangian(self, q, v, t):
        return 0.5 * v @ v

    def constraint(self, q, t):
        return jnp.array([q[0] ** 2 + (q[1] - t**2) ** 2 - 1.0])


def sliding_velocity(c, t):
    """v' = cos t - c v from 1."""
    drive = (c * np.cos(t) + np.sin(t)) / (1.0 + c**2)
    return drive + (1.0 - c / (1.0 + c**2)) * np.exp(-c * t)


def test_the_work_of_a_force_and_of_friction():
    system = Sliding(0.3)
    state = system.state(v=[1.0])
    run = nd.simulate(
        system, state, t1=6.0, dt=0.01, save_every=10, outputs={"power": WorkRate(system)}, output_every=1
    )
    v = sliding_velocity(0.3, run.t.to_numpy())
    exact = 0.5 * v**2 - 0.5
    assert np.ptp(exact) > 0.5
    np.testing.assert_allclose(work(run), exact, atol=3e-5)  # the method's own error, of second order
    np.testing.assert_allclose(work(run, "power"), exact, atol=3e-5)
    assert np.max(np.abs(energy_balance(run, "power"))) < 5e-5
    error = float(run.work.attrs["quadrature_error"])
    assert np.max(np.abs(work(run) - work(run, "power"))) < 10 * error < 1e-4
    dataset = run.dataset
    np.testing.assert_array_equal(dataset["work_done"], run.work)
    missing, label = energy_error(dataset) or ((), "")
    assert label.startswith("energy balance")
    E, W = run.energy.to_numpy(), run.work.to_numpy()
    np.testing.assert_allclose(missing, (E - E[0] - W) / np.max(np.abs([E, W])), atol=1e-16)
    with pytest.raises(InputError, match="the run has no output 'force' of one number; expected one of"):
        work(run, "force")


def test_the_work_of_time_and_of_declared_friction():
    growing = Growing()
    run = nd.simulate(growing, growing.state(p=[1.0]), t1=2.0, dt=0.01)
    np.testing.assert_allclose(run.work, 0.5 * (np.exp(-run.t) - 1.0), atol=1e-9)
    rubbed = Rubbed(np.array([[0.5]]))
    state = rubbed.state(v=[1.0])
    assert float(nd.double(nd.mechanics.power)(rubbed, state)) == -0.5
    assert not keeps_energy(rubbed)


def test_the_work_of_a_constraint_that_is_moved():
    system = Lifted()
    run = nd.simulate(system, system.state(q=[1.0, 0.0], v=[0.0, 0.5]), t1=1.5, dt=0.002)
    E, W = run.energy.to_numpy(), run.work.to_numpy()
    assert np.max(np.abs(W)) > 0.1
    np.testing.assert_allclose(E - E[0], W, atol=1e-3 * np.max(np.abs(W)))


def test_where_the_energy_is_constant():
    assert keeps_energy(nd.models.RigidBody((1.0, 2.0, 3.0)))
    assert keeps_energy(nd.models.SphericalPendulum())
    assert not keeps_energy(Sliding(0.0))
    assert not keeps_energy(Growing())
    assert not keeps_energy(Lifted())
    assert not keeps_energy(nd.models.IsothermalRigidBody((1.0, 1.0, 1.0), (0.1, 0.1, 0.1), 0.2))
    pendulum = nd.models.SphericalPendulum()
    run = nd.simulate(pendulum, pendulum.from_rod((0.6, 0.0, -0.8), (0.0, 0.5, 0.0)), t1=0.2, dt=0.05)
    np.testing.assert_array_equal(run.work, 0.0)
    assert "work_done" not in run.dataset
    assert (energy_error(run.dataset) or ((), ""))[1].startswith("energy error")


def test_the_energy_in_a_heat_bath_is_no_error():
    body = nd.models.IsothermalRigidBody((1.0, 1.0, 1.0), (0.5, 0.5, 0.5), 0.2)
    run = nd.simulate(body, body.state(Omega=(1.0, 0.0, 0.0)), t1=0.5, dt=0.05, noise=nd.Noise(1))
    assert np.isnan(run.work).all()
    assert "work_done" not in run.dataset
    assert energy_error(run.dataset) is None
    labels = [ax.get_ylabel() for ax in run.plot().axes]
    assert "energy [J]" in labels
    assert not any("error" in label and "energy" in label for label in labels)


def test_integrals_are_of_fourth_order_and_end_where_numbers_do():
    def error(count):
        time = np.linspace(0.0, 2.0, count)
        return np.max(np.abs(integral_over_time(time, np.cos(3 * time), time) - np.sin(3 * time) / 3))

    assert error(41) / error(81) > 14.0
    time = np.arange(6.0)
    lost = integral_over_time(time, np.array([1.0, 1.0, 1.0, np.nan, 1.0, 1.0]), time)
    np.testing.assert_allclose(lost, [0.0, 1.0, 2.0, np.nan, np.nan, np.nan])
    np.testing.assert_array_equal(integral_over_time(time[:1], np.ones(1), time[:1]), [0.0])


def test_the_error_of_the_quadrature_is_not_less_than_it_is():
    """A transient between two nodes: leaving out every other one doubles the error, and does not make 16 of it."""
    time = np.arange(0.0, 40.0, 0.4)
    power = np.exp(-time / 0.05) + 0.1 * np.sin(time)
    off = np.abs(integral_over_time(time, power, time) - 0.05 * (1.0 - np.exp(-time / 0.05)) - 0.1 * (1 - np.cos(time)))
    assert off.max() > 0.03
    assert 0.5 * off.max() < quadrature_error(time, power) < 2.0 * off.max()
    smooth = 0.1 * np.sin(time)
    off = np.abs(integral_over_time(time, smooth, time) - 0.1 * (1.0 - np.cos(time)))
    assert 0.3 * off.max() < quadrature_error(time, smooth) < 3.0 * off.max() < 1e-3


def test_an_energy_error_where_work_is_done_is_told():
    system = Sliding(0.3)
    run = nd.simulate(system, system.state(v=[1.0]), t1=1.0, dt=0.01)
    with pytest.warns(nd.RunWarning, match="work on Sliding, so its energy need not be constant; energy_balance"):
        changed = nd.diagnostics.energy_error(run)
    assert changed.max() > 0.1
