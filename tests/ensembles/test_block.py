"""Crossings that come in pieces."""

import jax
import numpy as np

from naiad.ensembles.block import Crossings, Met
from naiad.mechanics import State


def pieces(rng, count):
    """Crossings of some of 7 runs in each, those of a run together, numbered in the order in which they come."""
    number = 0
    for _ in range(count):
        whose = np.sort(rng.integers(0, 7, rng.integers(0, 9)))
        times = number + np.arange(len(whose), dtype=float)
        number += len(whose)
        yield Crossings(whose, times, State(None, np.outer(times, [1.0, 2.0])))


def test_crossings_in_pieces_are_put_together_in_the_order_of_the_runs():
    first, *more = given = list(pieces(np.random.default_rng(3), 6))
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
