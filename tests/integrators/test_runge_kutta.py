"""Explicit Runge-Kutta methods, on the entries and of Munthe-Kaas: their orders."""

import numpy as np
import pytest

import naiad as nd
from naiad.diagnostics import march, reference
from naiad.errors import InputError
from naiad.models import RigidBody


@pytest.mark.parametrize(("tableau", "order"), [("heun2", 2), ("rk4", 4)])
def test_the_order_is_that_of_the_tableau(tableau, order):
    body = RigidBody((1.0, 2.0, 3.0))
    start, method = body.state(Pi=(0.7, 0.8, -1.5)), nd.RK4(tableau)
    exact = (-0.601679461673720, 1.073278762298076, -1.366036062408285)  # at t = 10
    off = [
        np.max(np.abs(nd.simulate(body, start, t1=10.0, dt=dt, method=method, save_every=10**9).final.mu - exact))
        for dt in (0.02, 0.01)
    ]
    assert method.order(body) == order
    np.testing.assert_allclose(np.log2(off[0] / off[1]), order, atol=0.15)


@pytest.mark.parametrize(("kept", "order"), [(0, 2), (1, 3), (2, 4), (3, 4)])
def test_munthe_kaas_with_a_truncated_dexp_has_the_order_of_the_tableau_from_its_order_less_two_on(kept, order):
    """[bourabee2007, theorem 4.2.2], with the classical tableau, in the attitude: the momentum needs no dexp."""
    body, method = RigidBody((1.0, 2.0, 3.0)), nd.RKMK(retraction=nd.Exponential(order=kept))
    start = body.state(Pi=(0.7, 0.8, -1.5))
    exact = reference(body, start, t1=2.0).g
    off = [np.linalg.norm(march(body, method, start, dt=2.0 / n, steps=n).g - exact) for n in (20, 40)]
    assert method.order(body) == order
    assert np.log2(off[0] / off[1]) == pytest.approx(order, abs=0.05)


def test_an_unknown_tableau_is_refused():
    with pytest.raises(InputError, match="not known"):
        nd.RK4("rk5")
