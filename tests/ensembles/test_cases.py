"""Labelled sets of parameters."""

import itertools

import numpy as np
import pytest
from scipy import stats

import naiad as nd
from naiad.errors import InputError


def test_a_grid_has_every_combination_in_order():
    cases = nd.grid(mass=[1.0, 2.0], kind=["long", "flat", "round"], count=[3, 4])
    expected = list(itertools.product([1.0, 2.0], ["long", "flat", "round"], [3, 4]))
    assert len(cases) == 12
    assert [tuple(row.values()) for row in cases] == expected
    assert [tuple(cases[k].values()) for k in range(-12, 0)] == expected
    assert cases["kind"].tolist() == [row[1] for row in expected]
    assert [tuple(row.values()) for row in cases[3:5]] == expected[3:5]
    assert cases.build(lambda count, mass: (mass, count)) == [(row[0], row[2]) for row in expected]
    assert cases.build(lambda **row: row["kind"]) == [row[1] for row in expected]


@pytest.mark.parametrize("scheme", ["latin", "sobol", "random"])
def test_a_sample_follows_its_priors(scheme):
    cases = nd.sample(1024, seed=5, scheme=scheme, a=(2.0, 6.0), b=stats.norm(1.0, 0.5))
    a, b = cases["a"], cases["b"]
    assert len(cases) == 1024
    assert 2.0 <= a.min() <= a.max() <= 6.0
    loose = {"latin": 2e-3, "sobol": 5e-3, "random": 0.1}[scheme]
    assert a.mean() == pytest.approx(4.0, abs=loose)
    assert [b.mean(), b.std()] == pytest.approx([1.0, 0.5], abs=loose)
    assert abs(np.corrcoef(a, b)[0, 1]) < 0.08
    again = nd.sample(1024, seed=5, scheme=scheme, a=(2.0, 6.0), b=stats.norm(1.0, 0.5))
    np.testing.assert_array_equal(again["b"], b)
    assert not np.array_equal(nd.sample(1024, seed=6, scheme=scheme, a=(2.0, 6.0))["a"], a)
    if scheme == "latin":
        np.testing.assert_array_equal(np.sort(np.floor((a - 2.0) / 4.0 * 1024)), np.arange(1024))


def test_a_count_that_is_no_power_of_two():
    assert len(nd.sample(100, scheme="sobol", a=(0.0, 1.0))) == 100


def test_cases_are_coordinates_and_sides_of_a_grid():
    cases = nd.grid(J=[2.1, 2.2, 2.5], spin=[0.5, 1.0])
    bodies = cases.build(lambda J: nd.models.RigidBody(J=(1.0, J, 3.0)))
    states = cases.build(lambda J, spin: nd.models.RigidBody(J=(1.0, J, 3.0)).state(Omega=(0.1, spin, 0.0)))
    many = nd.simulate_many(bodies, states, t1=1.0, dt=0.1, cases=cases)
    sides = cases.unstack(many.energy)
    assert dict(sides.sizes) == {"time": 11, "J": 3, "spin": 2}
    for row, run in zip(cases, many, strict=True):
        assert sides.sel(row).isel(time=0).item() == run.energy[0].item()
        assert sides.sel(row).isel(time=0).item() == pytest.approx(0.5 * (0.01 + row["J"] * row["spin"] ** 2))
    assert many.dataset["J"].dims == ("run",)
    assert many.runs.where(many.runs["spin"] == 1.0, drop=True).sizes["run"] == 3


@pytest.mark.parametrize(
    ("make", "match"),
    [
        (lambda: nd.grid(), "no parameter was given"),
        (lambda: nd.grid(a=3.0), "a = 3.0; expected a list of numbers"),
        (lambda: nd.grid(a=[]), "expected a list of numbers or of words, at least one"),
        (lambda: nd.grid(a=[1.0, np.nan]), "a holds NaN"),
        (lambda: nd.grid(a=[[1.0, 2.0], [3.0]]), "expected a list of numbers"),
        (lambda: nd.Cases({"a": [1, 2], "b": [1]}), "one number of rows for all"),
        (lambda: nd.grid(a=[1])["b"], "there is no parameter 'b'; there are a"),
        (lambda: nd.sample(0, a=(0.0, 1.0)), "count = 0"),
        (lambda: nd.sample(3), "no parameter was given"),
        (lambda: nd.sample(3, seed=-1, a=(0.0, 1.0)), "seed = -1"),
        (lambda: nd.sample(3, a=(1.0, 1.0)), "expected low < high"),
        (lambda: nd.sample(3, a=2.0), "a = 2.0; expected .low, high."),
        (lambda: nd.sample(3, scheme="halton", a=(0.0, 1.0)), "scheme = 'halton'"),
        (lambda: nd.sample(3, a=(0.0, 1.0)).unstack(None), "these rows are no grid"),
    ],
)
def test_bad_input(make, match):
    with pytest.raises(InputError, match=match):
        make()
