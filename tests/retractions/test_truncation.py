"""The truncated dexp^-1 of the methods of Munthe-Kaas type."""

import numpy as np
import pytest

from naiad.groups import SO3
from naiad.retractions import Exponential
from tests.sampling import EPS, GROUPS, batched, distance, vectors

# B_3 = B_5 = 0, so that a truncation after ad^2 or ad^3 errs by ad^4.
FIRST_NEGLECTED = {0: 1, 1: 2, 2: 4, 3: 4, 4: 6}


@pytest.mark.parametrize("name", ["SE2", "SO3", "SE3", "SO(4)"])
def test_orders(name):
    """The error of the truncation after ad^order falls as the first neglected power of x."""
    G, rng = GROUPS[name], np.random.default_rng(0)
    x, y = vectors(G, rng, 1.0), vectors(G, rng, 1.0)
    scales = (0.4, 0.2) if name != "SO(4)" else (0.8, 0.4)

    def all_orders(x, y):
        return [Exponential(order).dtau_inv(G, x, y) - Exponential().dtau_inv(G, x, y) for order in FIRST_NEGLECTED]

    run = batched(all_orders)
    coarse, fine = (run(scale * x, y) for scale in scales)
    for (order, power), e1, e2 in zip(FIRST_NEGLECTED.items(), coarse, fine, strict=True):
        slope = np.log2(np.max(np.abs(e1)) / np.max(np.abs(e2)))
        assert slope == pytest.approx(power, abs=0.1), order


def test_a_long_truncation_is_exact():
    G, rng = SO3(), np.random.default_rng(1)
    x, y = vectors(G, rng, 1.0), vectors(G, rng, 1.0)
    assert (
        distance(*batched(lambda x, y: [Exponential(order).dtau_inv(G, x, y) for order in (None, 20)])(x, y)) <= 4 * EPS
    )


def test_only_dtau_inv_is_truncated():
    G, rng = SO3(), np.random.default_rng(2)
    x, y = vectors(G, rng, 1.0), vectors(G, rng, 1.0)
    for exact, truncated in zip(*(results(order)(x, y) for order in (None, 1)), strict=True):
        assert distance(exact, truncated) == 0


def results(order):
    G, T = SO3(), Exponential(order)
    return batched(lambda x, y: (f := T.tau(G, x), T.inverse(G, f), T.half(G, x), T.dtau(G, x, y)))
