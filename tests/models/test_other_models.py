"""Pendulum, point masses and satellite: known motions and derivatives by autodiff."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import naiad as nd
from naiad.numerics import double


@double
def test_the_oblate_field_has_no_sources_and_the_curvature_is_its_second_derivative():
    satellite = nd.models.OblateSatellite(2.0, (1.0, 2.0, 2.5), GM=1.3, J2=0.1, radius=0.7)
    x = jnp.array([0.9, -0.4, 0.6])
    curvature = satellite._curvature(x)
    np.testing.assert_allclose(curvature, jax.hessian(satellite.field)(x), atol=1e-14)
    assert float(jnp.trace(curvature)) == pytest.approx(0.0, abs=1e-14)
    # a ring of mass a^2/2 J2-wise: Phi of J2 at the pole, -GM/r (1 - J2 (a/r)^2)
    pole = satellite.field(jnp.array([0.0, 0.0, 2.0]))
    assert float(pole) == pytest.approx(-1.3 / 2 * (1 - 0.1 * (0.7 / 2) ** 2), rel=1e-15)


def test_the_gravity_gradient_torque_is_that_of_the_textbook():
    """T = 3 GM / r^3 u x J u for a round planet, u the direction to it in the body."""
    satellite = nd.models.OblateSatellite(2.0, (1.0, 2.0, 2.5), GM=1.3, J2=0.0)
    R = nd.SO3().random(np.random.default_rng(1))
    x = np.array([1.5, -0.5, 1.0])
    rates = satellite.equations(satellite.state(R=R, x=x))
    u = R.T @ x / np.linalg.norm(x)
    torque = 3 * 1.3 / np.linalg.norm(x) ** 3 * np.cross(u, np.array([1.0, 2.0, 2.5]) * u)
    np.testing.assert_allclose(rates.mu[:3], torque, atol=1e-15)


def test_the_pendulum_without_perturbation_is_the_spherical_one():
    """Constant tilt: Omega^2 = gravity / (l cos tilt) about the vertical."""
    tilt, l, gravity = 0.7, 1.3, 2.1  # noqa: E741
    pendulum = nd.models.SphericalPendulum(0.8, l, gravity)
    rate = np.sqrt(gravity / (l * np.cos(tilt)))
    u = np.array([np.sin(tilt), 0.0, -np.cos(tilt)])
    state = pendulum.from_rod(u, (0.0, rate * np.sin(tilt), 0.0))
    t1 = 3.0
    end = nd.diagnostics.reference(pendulum, state, t1=t1)
    angle = rate * t1
    np.testing.assert_allclose(
        end.g[:, 2], (np.sin(tilt) * np.cos(angle), np.sin(tilt) * np.sin(angle), u[2]), atol=1e-11
    )
    assert abs(end.mu[2]) < 1e-15


def test_the_perturbation_has_the_symmetry_of_the_polygon():
    pendulum = nd.models.SphericalPendulum(epsilon=0.4, n=5)
    u = np.array([0.5, -0.3, -0.8])
    turn = np.asarray(nd.SO3().exp(np.array([0.0, 0.0, 2 * np.pi / 5])))
    value = float(pendulum.potential(u))
    assert value == pytest.approx(-0.8 + 0.4 * ((0.5 - 0.3j) ** 5).real, rel=1e-14)
    assert float(pendulum.potential(turn @ u)) == pytest.approx(value, rel=1e-14)
    assert float(pendulum.potential(u * np.array([1, -1, 1]))) == pytest.approx(value, rel=1e-14)
    with pytest.raises(nd.InputError, match="n = 0; expected a whole number of at least 1"):
        nd.models.SphericalPendulum(n=0)


def test_two_point_masses_close_their_ellipse():
    system = nd.models.PointMasses((1.0, 0.5), G=2.0)
    semi_major, mass = 1.2, 1.5
    distance, speed = 0.9, np.sqrt(2.0 * mass * (2 / 0.9 - 1 / semi_major))
    q, v = np.zeros((2, 3)), np.zeros((2, 3))
    q[1, 0], v[1, 1] = distance, speed
    period = 2 * np.pi * np.sqrt(semi_major**3 / (2.0 * mass))
    state = system.state(q=q, v=v)
    end = nd.diagnostics.march(system, nd.Composition(nd.Variational(), 8), state, dt=period / 400, steps=400)
    np.testing.assert_allclose(end.g[1] - end.g[0], q[1], atol=1e-10)
    np.testing.assert_allclose(system.noether(end), system.noether(state), atol=1e-13)
