"""Periodic orbits: periods in closed form, normal modes, multipliers in pairs, families."""

import jax.numpy as jnp
import numpy as np
import pytest
from scipy.special import ellipk

import naiad as nd
from naiad.diagnostics import reference
from naiad.errors import InputError, RunWarning
from naiad.studies.bodies.heavy_top import HeavyTop

FOURTH = nd.Composition(nd.Variational(), 4)


class Pendulum(nd.LagrangianSystem):
    """Of unit length and mass, in unit gravity."""

    group = nd.Rn(1)

    def lagrangian(self, x, v, t):
        return 0.5 * v @ v + jnp.cos(x[0])


class Coupled(nd.LagrangianSystem):
    """Two masses on hardening springs, coupled."""

    group = nd.Rn(2)

    def lagrangian(self, x, v, t):
        springs = 0.5 * x @ x + 0.25 * jnp.sum(x**4)
        return 0.5 * v @ v - springs - 0.3 * (x[0] - x[1]) ** 2


def period(amplitude):
    return 4.0 * ellipk(np.sin(0.5 * amplitude) ** 2)


def test_periods_of_a_pendulum_grow_with_its_energy_as_the_elliptic_integral_says():
    pendulum = Pendulum()
    first = nd.control.periodic_orbit(pendulum, pendulum.state(q=[0.32]), 6.2, steps=100, method=FOURTH)
    assert first.miss < 1e-9
    amplitudes = np.array([0.5, 1.2, 2.0])
    family = nd.control.orbit_family(pendulum, first, -np.cos(amplitudes), steps=100, method=FOURTH)
    np.testing.assert_allclose([each.T for each in family], period(amplitudes), rtol=2e-6)
    np.testing.assert_allclose([each.energy for each in family], -np.cos(amplitudes), atol=1e-9)
    np.testing.assert_allclose(family[1].multipliers, 1.0, atol=1e-2)  # a double one: as the root of the rounding


def test_a_family_of_a_mode_has_its_frequency_and_multipliers_in_pairs():
    """x_1 = - x_2 = q is a hardening spring, Duffing's, whose period is an elliptic integral."""
    coupled, small = Coupled(), 2.0 * np.pi / np.sqrt(1.0 + 4.0 * 0.3)
    first = nd.control.periodic_orbit(coupled, coupled.state(q=[0.011, -0.009]), small, steps=100, method=FOURTH)
    assert pytest.approx(small, rel=1e-4) == first.T
    (large,) = nd.control.orbit_family(coupled, first, [2.0], steps=100, method=FOURTH)
    top = np.sqrt(8.84) - 2.2  # the square of the amplitude: q'' = - 2.2 q - q^3
    exact = 4.0 * ellipk(0.5 * top / (2.2 + top)) / np.sqrt(2.2 + top)
    assert pytest.approx(exact, rel=1e-6) == large.T
    end = reference(coupled, large.state, t1=large.T)
    np.testing.assert_allclose(end.g, large.state.g, atol=1e-5)
    np.testing.assert_allclose(end.mu, large.state.mu, atol=1e-5)
    np.testing.assert_allclose(np.prod(large.multipliers), 1.0, atol=1e-8)
    others = large.multipliers[np.argsort(np.abs(large.multipliers - 1.0))][2:]
    np.testing.assert_allclose(others[0] * others[1], 1.0, atol=1e-6)
    assert np.max(np.abs(large.state.g[0] + large.state.g[1])) < 1e-6


@pytest.mark.long
def test_a_top_that_swings_in_a_plane_is_a_pendulum_on_the_group():
    top = HeavyTop(np.diag([1.0, 1.0, 0.4]), 1.0)
    angle = 1.2
    R = np.array([[1, 0, 0], [0, -np.cos(angle), np.sin(angle)], [0, -np.sin(angle), -np.cos(angle)]])  # hanging
    given = {"steps": 100, "method": FOURTH, "energy": -np.cos(angle)}
    found = nd.control.periodic_orbit(top, top.state(R=R), 6.6, **given)
    assert pytest.approx(period(angle), rel=1e-5) == found.T


def test_what_does_not_come_back_is_told():
    class Free(nd.LagrangianSystem):
        group = nd.Rn(1)

        def lagrangian(self, x, v, t):
            return 0.5 * v @ v - x[0]

    free = Free()
    with pytest.raises(InputError, match="no periodic orbit"):
        nd.control.periodic_orbit(free, free.state(q=[1.0], v=[0.3]), 1.0, steps=20)
    with pytest.raises(InputError, match="steps = 0"):
        nd.control.periodic_orbit(free, free.state(), 1.0, steps=0)
    pendulum = Pendulum()
    orbit = nd.control.periodic_orbit(pendulum, pendulum.state(q=[0.3]), 6.3, steps=50)
    with pytest.warns(RunWarning, match="0 of 1 orbits"):
        assert nd.control.orbit_family(pendulum, orbit, [-1.5], steps=50) == []  # below the lowest energy
