"""Stores whose places differ from lane to lane, among loads and stores of the same memory: random programs of them, in
branches and loops that some lanes take, beside the same in NumPy."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from naiad.compiler import Compiled

SIZE = 5
ROWS = 37


class Line(NamedTuple):
    """A store of `weight` times the number so far plus `number`, or a load that is added to it, at a place of the row's
    own or at the same for all; or a branch or a loop with lines in it."""

    kind: str
    own: bool
    place: int
    number: float
    inner: tuple["Line", ...] = ()


def drawn(rng: np.random.Generator, depth: int = 2) -> tuple[Line, ...]:
    kinds = ["store", "store", "load", "branch", "loop"] if depth else ["store", "store", "load"]
    return tuple(
        Line(kind, bool(rng.integers(2)), int(rng.integers(SIZE)), float(rng.integers(-9, 9)), inner)
        for kind in rng.choice(kinds, rng.integers(2, 6))
        for inner in [drawn(rng, depth - 1) if kind in ("branch", "loop") else ()]
    )


def traced(lines: tuple[Line, ...], places: Any, memory: Any, total: Any) -> tuple[Any, Any]:
    for line in lines:
        place = places[line.place] if line.own else line.place
        if line.kind == "store":
            memory = memory.at[place].set(0.5 * total + line.number)
        elif line.kind == "load":
            total = total + memory[place]
        elif line.kind == "branch":
            memory, total = jax.lax.cond(
                places[line.place] > 2,
                lambda memory, total, line=line: traced(line.inner, places, memory, total),
                lambda memory, total: (memory, total + 1.0),
                memory,
                total,
            )
        else:
            turns = places[line.place] if line.own else 2
            memory, total = jax.lax.fori_loop(
                0,
                turns,
                lambda _, at, line=line: traced(line.inner, places, *at),
                (memory, total),
            )
    return memory, total


def computed(lines: tuple[Line, ...], places: np.ndarray, memory: np.ndarray, total: float) -> float:
    for line in lines:
        place = places[line.place] if line.own else line.place
        if line.kind == "store":
            memory[place] = 0.5 * total + line.number
        elif line.kind == "load":
            total = total + memory[place]
        elif line.kind == "branch":
            total = computed(line.inner, places, memory, total) if places[line.place] > 2 else total + 1.0
        else:
            for _ in range(places[line.place] if line.own else 2):
                total = computed(line.inner, places, memory, total)
    return total


@pytest.mark.parametrize("seed", range(24))
def test_stores_at_places_of_the_lanes_own(seed):
    rng = np.random.default_rng(seed)
    lines = drawn(rng)
    places, first = rng.integers(0, SIZE, (ROWS, SIZE)), rng.integers(-9, 9, (ROWS, SIZE)).astype(float)
    wanted = first.copy()
    totals = [computed(lines, *row, 1.0) for row in zip(places, wanted, strict=True)]
    for lanes in (1, 2, 16):
        compiled = Compiled(lambda p, m: traced(lines, p, m, jnp.ones(())), lanes=lanes, cache=False, most_scalars=2)
        memory, total = compiled.batch(places, first)
        np.testing.assert_array_equal(memory, wanted)
        np.testing.assert_array_equal(total, totals)
