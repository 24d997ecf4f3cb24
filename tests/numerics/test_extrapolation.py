import jax
import numpy as np
import pytest

from naiad.numerics import extrapolate, history, remember


@pytest.fixture(autouse=True)
def double():
    with jax.enable_x64(True):
        yield


def test_polynomials_of_degree_five_go_on_exactly_and_the_sixth_power_does_not():
    past = history(np.zeros(7))
    for value in np.arange(-6.0, 0.0)[:, None] ** np.arange(7):
        past = remember(past, value)
    np.testing.assert_allclose(extrapolate(past), [1.0, *np.zeros(5), -720.0], rtol=0, atol=1e-9)


def test_what_was_constant_stays_so():
    np.testing.assert_allclose(extrapolate(history(np.array([0.3, -7.0]))), [0.3, -7.0], rtol=1e-14)
