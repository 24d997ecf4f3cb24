"""The rotor spacecraft against its equations written by hand."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import naiad as nd

I_FULL = np.array([[2.0, 0.1, 0.0], [0.1, 1.5, -0.2], [0.0, -0.2, 1.0]])
AXIS = np.array([1.0, -2.0, 2.0])


def by_hand(I, J_r, kappa, n):  # noqa: E741
    def slope(t, y):
        Pi, alpha, p = y[:3], y[3], y[4]
        Omega = np.linalg.solve(I, Pi - p * n)
        return np.concatenate([np.cross(Pi, Omega), [p / J_r - Omega @ n, -kappa * alpha]])

    return slope


@pytest.mark.parametrize(("I", "n"), [((2.0, 1.5, 1.0), (0.0, 0.0, 1.0)), (I_FULL, AXIS)], ids=["paper", "general"])
def test_the_lagrangian_gives_the_known_equations(I, n):  # noqa: E741
    craft = nd.models.RotorSpacecraft(I, 0.4, 1.2, n)
    state = craft.state(alpha=[0.3], R_Pi=(0.6, 0.9, -0.7), alpha_p=[0.2])
    rates = craft.equations(state)
    matrix, axis = (np.diag(I) if np.ndim(I) == 1 else I), np.asarray(n) / np.linalg.norm(n)
    expected = by_hand(matrix, 0.4, 1.2, axis)(0.0, np.array([0.6, 0.9, -0.7, 0.3, 0.2]))
    np.testing.assert_allclose(rates.mu, expected[[0, 1, 2, 4]], atol=1e-15)
    np.testing.assert_allclose(rates.xi[3], expected[3], atol=1e-15)
    Omega = np.linalg.solve(matrix, np.array([0.6, 0.9, -0.7]) - 0.2 * axis)
    H = 0.5 * Omega @ matrix @ Omega + 0.2**2 / 0.8 + 0.6 * 0.3**2
    assert float(craft.energy(state)) == pytest.approx(H, rel=1e-15)


def test_the_step_converges_to_the_equations_at_second_order():
    craft = nd.models.RotorSpacecraft(I_FULL, 0.4, 1.2, AXIS)
    state = craft.state(alpha=[0.3], R_Pi=(0.6, 0.9, -0.7), alpha_p=[0.2])
    slope = by_hand(I_FULL, 0.4, 1.2, AXIS / 3.0)
    exact = solve_ivp(slope, (0, 2), (0.6, 0.9, -0.7, 0.3, 0.2), "DOP853", rtol=1e-13, atol=1e-13).y[:, -1]
    errors = []
    for steps in (50, 100):
        end = nd.diagnostics.march(craft, nd.Variational(), state, dt=2.0 / steps, steps=steps)
        errors.append(np.max(np.abs(np.append(end.mu[:3], [end.g.alpha[0], end.mu[3]]) - exact)))
    assert errors[1] < 2e-4
    assert errors[0] / errors[1] == pytest.approx(4.0, abs=0.05)


def test_bad_values_are_refused():
    with pytest.raises(nd.InputError, match=r"J_r = -1; expected a finite number above 0"):
        nd.models.RotorSpacecraft((2, 1.5, 1), -1, 1.2)
    with pytest.raises(nd.InputError, match=r"n = \(0, 0, 0\) is not a direction; expected three finite numbers"):
        nd.models.RotorSpacecraft((2, 1.5, 1), 0.4, 1.2, (0, 0, 0))
    with pytest.raises(nd.InputError, match="kappa = 'stiff'; expected a number"):
        nd.models.RotorSpacecraft((2, 1.5, 1), 0.4, "stiff")
