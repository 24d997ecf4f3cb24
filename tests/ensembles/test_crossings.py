"""Crossings that come in pieces."""

import jax
import numpy as np
import pytest

from naiad.ensembles import crossings
from naiad.ensembles.crossings import Crossings, Met
from naiad.mechanics import State
from naiad.simulation.loop import Crossing, Rows


def pieces(rng, count, runs=7):
    """Crossings of some of the runs in each, those of a run together, numbered in the order in which they come."""
    number = 0
    for _ in range(count):
        counts = rng.integers(0, 3, runs)
        times = number + np.arange(counts.sum(), dtype=float)
        number += len(times)
        yield Crossings(counts, times, State(None, np.outer(times, [1.0, 2.0])))


@pytest.mark.parametrize("runs", [1, 7, 9 * 4 + 1])
def test_crossings_in_pieces_are_put_together_in_the_order_of_the_runs(runs, monkeypatch):
    monkeypatch.setattr(crossings, "RUNS", 4)
    first, *more = given = list(pieces(np.random.default_rng(3), 6, runs))
    met = Met(first)
    for piece in more:
        met = met.joined(piece)
    whose = np.concatenate([piece.whose for piece in given])
    order = np.argsort(whose, kind="stable")
    whole = met.whole()
    np.testing.assert_array_equal(whole.whose, whose[order])
    np.testing.assert_array_equal(whole.times, np.arange(float(len(whose)))[order])
    np.testing.assert_array_equal(whole.states.mu, np.outer(whole.times, [1.0, 2.0]))
    assert met.whole() is whole, "they are put together once"
    again = jax.tree.unflatten(jax.tree.structure(Met(first)), jax.tree.leaves(met))
    assert len(again.joined(given[1]).whole().whose) == len(whose) + len(given[1].whose)


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("most", [0, 5])
def test_the_rows_that_are_filled_are_taken_however_they_lie(order, most, monkeypatch):
    monkeypatch.setattr(crossings, "RUNS", 4)
    rng = np.random.default_rng(5)
    count = rng.integers(0, most + 1, 37)
    times, mu = (np.asarray(rng.random(shape), order=order) for shape in ((37, most), (37, most, 3)))
    found = Crossings.of(Rows(count, Crossing(times, State(None, mu))))
    filled = np.arange(most) < count[:, None]
    np.testing.assert_array_equal(found.times, times[filled])
    np.testing.assert_array_equal(found.states.mu, mu[filled])
    np.testing.assert_array_equal(found.whose, np.nonzero(filled)[0])
