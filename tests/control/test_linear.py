"""Linear analysis of controlled steps."""

import numpy as np
import pytest

import naiad as nd
from naiad.errors import InputError


class Cart(nd.LagrangianSystem):
    """A double integrator."""

    group = nd.Rn(1)

    def lagrangian(self, x, v, t):
        return 0.5 * v @ v


def test_the_step_of_a_double_integrator_and_its_regulator():
    cart = Cart()
    step = nd.control.linear_step(nd.control.Actuated(cart, [0.0]), cart.state(), dt=0.1)
    np.testing.assert_allclose(step.A, [[1.0, 0.1], [0.0, 1.0]], atol=1e-14)
    np.testing.assert_allclose(step.B, [[0.005], [0.1]], atol=1e-14)
    found = nd.control.lqr(step.A, step.B, (1.0, 1.0), 1.0)
    closed = step.A - step.B @ found.K
    assert np.abs(found.eigenvalues).max() < 1
    V = np.eye(2) + found.K.T @ found.K + closed.T @ found.V @ closed
    np.testing.assert_allclose(V, found.V, rtol=1e-10)


def test_what_can_be_steered_and_seen():
    A, B = np.array([[1.0, 0.1], [0.0, 1.0]]), np.array([[0.005], [0.1]])
    assert nd.control.controllability(A, B).rank == 2
    assert nd.control.observability(A, np.array([[1.0, 0.0]])).rank == 2
    blind = nd.control.observability(A, np.array([[0.0, 1.0]]))
    assert blind.rank == 1
    np.testing.assert_allclose(np.abs(blind.missing[:, 0]), [1.0, 0.0], atol=1e-12)
    with pytest.raises(InputError, match=r"expected \(n, n\)"):
        nd.control.controllability(A, np.ones(2))
    with pytest.raises(InputError, match="no stabilising feedback"):
        nd.control.lqr(np.diag([2.0, 0.5]), np.array([[0.0], [1.0]]), 1.0, 1.0)


def test_floquet_multipliers_of_an_oscillator_lie_on_the_circle():
    class Spring(nd.LagrangianSystem):
        group = nd.Rn(1)

        def lagrangian(self, x, v, t):
            return 0.5 * v @ v - 0.5 * x @ x

    spring = Spring()
    orbit = nd.control.floquet(spring, spring.state(q=[0.3]), 1.0, steps=200)
    np.testing.assert_allclose(np.abs(orbit.multipliers), 1.0, atol=1e-12)
    np.testing.assert_allclose(np.abs(np.angle(orbit.multipliers)), 1.0, atol=1e-5)


def test_weights_of_what_is_seen_are_weights():
    """C^T C of a row has an eigenvalue of zero, which rounding makes negative: it is a weight; NaN is none."""
    A, B = np.array([[1.0, 0.1], [0.0, 1.0]]), np.array([[0.005], [0.1]])
    C = np.array([[0.3, 0.1]])
    rounded = C.T @ C - 1e-16 * np.eye(2)
    assert np.linalg.eigvalsh(rounded)[0] < 0.0
    V = nd.control.lqr(A, B, C.T @ C + 1e-9 * np.eye(2), 1.0).V
    np.testing.assert_allclose(nd.control.lqr(A, B, rounded, 1.0).V, V, rtol=1e-3)
    with pytest.raises(InputError, match="Q holds NaN"):
        nd.control.lqr(A, B, np.nan, 1.0)
    with pytest.raises(InputError, match="not positive semidefinite"):
        nd.control.lqr(A, B, (1.0, -0.1), 1.0)
