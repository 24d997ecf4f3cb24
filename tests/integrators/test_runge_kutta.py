"""Explicit Runge-Kutta on the entries: the order of each tableau."""

import numpy as np
import pytest

import naiad as nd
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


def test_an_unknown_tableau_is_refused():
    with pytest.raises(InputError, match="not known"):
        nd.RK4("rk5")
