"""Coefficients of splittings: the order conditions that they must satisfy, and the next ones, which they must not."""

import itertools
import math

import numpy as np
import pytest

from naiad.numerics.splittings import NEAR_INTEGRABLE, NYSTROM, schedule

Forest = tuple
"""Branches that grow from one stage: "c", or ("t", forest) for a kick of an earlier stage; it weighs 1, or 2 more."""


def forests(weight: int) -> list[Forest]:
    """All forests of a weight."""
    branches = [(1, "c")]
    found = {0: [()]}
    for w in range(1, weight + 1):
        if w >= 2:
            branches += [(w, ("t", forest)) for forest in found[w - 2]]
        found[w] = [tuple(b for _, b in pick) for pick in _picks(branches, w)]
    return found[weight]


def _picks(branches, weight, first=0):
    if weight == 0:
        return [()]
    return [
        (branches[i], *rest)
        for i in range(first, len(branches))
        if branches[i][0] <= weight
        for rest in _picks(branches, weight - branches[i][0], i)
    ]


def nystrom_defects(kicks: np.ndarray, drifts: np.ndarray, order: int) -> list[float]:
    """The conditions of an order for q'' = g(q), p = q' [hairer2006, section III.2.3], relative to their right-hand
    sides: kicks b_i at times c_i, positions Q_i = q + c_i h p + h^2 sum_j b_j (c_i - c_j) g(Q_j)."""
    c = np.concatenate([[0.0], np.cumsum(drifts)])
    A = np.tril((c[:, None] - c) * kicks, -1)

    def stages(forest):
        """The product of the branches at each stage, and its coefficient and power of t in the exact solution."""
        values, coefficient, power = np.ones_like(c), 1.0, 0
        for branch in forest:
            if branch == "c":
                values, power = values * c, power + 1
            else:
                inner, factor, k = stages(branch[1])
                values, coefficient, power = (
                    values * (A @ inner),
                    coefficient * factor / ((k + 1) * (k + 2)),
                    power + k + 2,
                )
        return values, coefficient, power

    defects = []
    for forest in forests(order - 1):
        values, coefficient, power = stages(forest)
        exact = coefficient / (power + 1)
        defects.append(abs(kicks @ values / exact - 1.0))
    return defects


@pytest.mark.parametrize("order", NYSTROM)
def test_nystrom_coefficients_have_their_order_and_no_more(order):
    flows = schedule(2, NYSTROM[order])
    kicks, drifts = (np.array([a for part, a in flows if part == number]) for number in (0, 1))
    assert len(kicks) == len(drifts) + 1
    assert len(drifts) == {2: 1, 4: 6, 6: 11, 8: 17}[order]
    assert np.sum(drifts) == pytest.approx(1.0, abs=1e-15)
    for lower in range(1, order + 1):
        assert max(nystrom_defects(kicks, drifts, lower)) < 3e-12, lower
    assert max(nystrom_defects(kicks, drifts, order + 1)) > 1e-4


def iterated_defect(drifts: np.ndarray, kicks: np.ndarray, powers: tuple[int, ...]) -> float:
    """sum over i_1 <= ... <= i_p of b_i1 c_i1^k1 ... b_ip c_ip^kp, equal indices by the exponential series, less the
    integral of t_1^k1 ... t_p^kp over 0 < t_1 < ... < t_p < 1: the word of the kicks in the picture of the orbits."""
    c = np.concatenate([[0.0], np.cumsum(drifts)])
    c = c[1:-1] if len(drifts) > len(kicks) else c
    total = 0.0
    for chosen in itertools.combinations_with_replacement(range(len(kicks)), len(powers)):
        repeats = [len(list(group)) for _, group in itertools.groupby(chosen)]
        term = math.prod(kicks[i] * c[i] ** k for i, k in zip(chosen, powers, strict=True))
        total += term / math.prod(map(math.factorial, repeats))
    exact = math.prod(1.0 / (sum(powers[: p + 1]) + p + 1) for p in range(len(powers)))
    return abs(total - exact)


@pytest.mark.parametrize("orders", NEAR_INTEGRABLE)
def test_splittings_near_integrable_have_their_orders_and_no_more(orders):
    """At epsilon^p every word of p kicks is right up to the order in h: all words at the first powers; those of four
    kicks of order four follow from the sum of the coefficients."""
    drifts, kicks = map(np.array, NEAR_INTEGRABLE[orders])
    assert np.sum(drifts) == pytest.approx(1.0, abs=1e-15)
    assert np.sum(kicks) == pytest.approx(1.0, abs=1e-15)
    for p, order in enumerate(orders, start=1):
        worst = {
            total: max(iterated_defect(drifts, kicks, powers) for powers in _exponents(p, total - p))
            for total in range(p, order + 2)
        }
        assert max(worst[total] for total in range(p, order + 1)) < 3e-15, (p, worst)
        assert worst[order + 1] > 1e-8, (p, worst)


def _exponents(count: int, total: int) -> list[tuple[int, ...]]:
    return [powers for powers in itertools.product(range(total + 1), repeat=count) if sum(powers) == total]
