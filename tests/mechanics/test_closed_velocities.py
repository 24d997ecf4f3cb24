"""The velocities that models give in closed form, against the general inverse of the Legendre transform."""

import jax
import numpy as np
import pytest

import naiad as nd
from tests.verification.problems import PROBLEMS


@pytest.mark.parametrize("problem", ["free-body", "free-body-s3", "vehicle", "planets"])
def test_closed_velocity_is_the_inverse_of_the_legendre_transform(problem):
    system, (g, mu) = PROBLEMS[problem].system, PROBLEMS[problem].state
    with jax.enable_x64(True):
        closed, general = system.velocity(g, mu), nd.LagrangianSystem.velocity(system, g, mu)
        np.testing.assert_allclose(closed, general, rtol=0, atol=1e-15)
        np.testing.assert_allclose(system.legendre(g, closed), mu, rtol=0, atol=4e-15)
