"""Compositions: their weights, and what they refuse."""

import numpy as np
import pytest

import naiad as nd
from naiad.numerics.composition import COMPOSITIONS
from naiad.numerics.tableaux import TABLEAUX
from tests.verification.problems import PROBLEMS


@pytest.mark.parametrize("order", COMPOSITIONS)
def test_weights_fulfil_the_first_order_conditions(order):
    weights = np.array(COMPOSITIONS[order])
    assert np.sum(weights) == pytest.approx(1.0, abs=4e-16)
    assert np.sum(weights**3) == pytest.approx(0.0, abs=2e-15)
    if order > 4:
        assert np.sum(weights**5) == pytest.approx(0.0, abs=2e-15)
    if order > 6:
        assert np.sum(weights**7) == pytest.approx(0.0, abs=2e-15)


@pytest.mark.parametrize("name", TABLEAUX)
def test_tableaux_fulfil_the_order_conditions(name):
    tableau = TABLEAUX[name]
    size = len(tableau.b)
    a, b, c = np.zeros((size, size)), np.array(tableau.b), np.array(tableau.c)
    for i, row in enumerate(tableau.a):
        a[i, : len(row)] = row
    conditions = [
        (1, b.sum(), 1),
        (2, b @ c, 1 / 2),
        (3, b @ c**2, 1 / 3),
        (3, b @ a @ c, 1 / 6),
        (4, b @ c**3, 1 / 4),
        (4, b @ (c * (a @ c)), 1 / 8),
        (4, b @ a @ c**2, 1 / 12),
        (4, b @ a @ a @ c, 1 / 24),
    ]
    for order, value, expected in conditions:
        if order <= tableau.order:
            assert value == pytest.approx(expected, abs=1e-15)


def test_what_does_not_fit_is_refused():
    top = PROBLEMS["heavy-top"]
    one_sided = nd.Variational(nd.Cayley(), nd.Left())
    with pytest.raises(nd.InputError, match=r"needs a symmetric method; Variational is not symmetric.*Symmetrised"):
        nd.simulate(top.system, top.state, t1=1.0, dt=0.1, method=nd.Composition(one_sided, 4))
    nd.Composition(nd.Symmetrised(one_sided), 4).check(top.system)
    with pytest.raises(nd.InputError, match=r"order 5 was asked for; expected 4, 6 or 8"):
        nd.Composition(nd.Variational(), 5)
    with pytest.raises(nd.InputError, match=r"must sum to 1 and read the same backwards"):
        nd.Composition(nd.Variational(), 4, weights=(0.5, 0.25, 0.25))
    with pytest.raises(nd.InputError, match=r"tableau 'rk5' is not known; expected one of euler"):
        nd.RKMK("rk5")


def test_a_composition_fails_in_the_words_of_its_method():
    string = nd.StringVariational(nd.Implicit())
    assert nd.Composition(string, 4).failure == string.failure
    assert "the string on the reel ran out" in string.failure
