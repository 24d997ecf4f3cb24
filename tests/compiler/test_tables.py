"""Functions over tables: the same as the function of every row, wherever rows lie, and from row to row."""

import subprocess
import sys
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from naiad.compiler.tables import Fields, OverTables, Table, chained, made_once
from naiad.errors import RunWarning

COUNT = 21


class Row(NamedTuple):
    """A row with a small and a large array and a number."""

    a: Any
    far: Any
    b: Any


class Given(NamedTuple):
    """What all rows share, a whole number among it, and something that is no number."""

    matrix: Any
    index: Any
    function: Any


def mixed(given: Given, row: Row, weight: Any) -> tuple[Row, Any]:
    """Small arrays, a loop over a large one with an index that is known when it runs, and an array that is put in
    memory and read again."""
    far = jnp.cumsum(row.far * weight)
    return Row(given.function(row.a @ given.matrix), far[::-1], row.far[given.index] * row.b), {"sum": far[-1]}


GIVEN = Given(np.arange(9.0).reshape(3, 3), np.array(2), jnp.tanh)


def drawn() -> tuple[Row, np.ndarray]:
    rng = np.random.default_rng(0)
    return Row(rng.normal(size=(COUNT, 3)), rng.normal(size=(COUNT, 40)), rng.normal(size=COUNT)), rng.normal(
        size=COUNT
    )


def fields(rows: Any) -> Fields:
    return Fields.of(jax.tree.map(lambda a: a[0], rows))


def table(rows: Any, groups: int, lanes: int) -> Table:
    made = Table(fields(rows), groups, lanes)
    made.fill(rows)
    return made


@pytest.mark.parametrize("apart", [(), ("out0",), ("in1", "out1"), ("in1", "in2", "out0", "out1")])
@pytest.mark.parametrize("lanes", [1, 2, 4, 8])
def test_rows_of_tables_are_those_of_the_function(lanes, apart):
    rows, weights = drawn()
    groups = -(-COUNT // lanes)
    run = OverTables(mixed, GIVEN, fields(rows), fields(weights), lanes=lanes, apart=apart)
    inputs = [
        table(each, groups * lanes if name in apart else groups, 1 if name in apart else lanes)
        for name, each in (("in1", rows), ("in2", weights))
    ]
    outputs = run.tables(groups)
    run.over(Table.same(GIVEN), inputs, outputs)()
    (first, second) = (each.rows(COUNT) for each in outputs)
    total = np.cumsum(rows.far * weights[:, None], axis=1)
    np.testing.assert_allclose(first.a, np.tanh(rows.a @ GIVEN.matrix), rtol=1e-12)
    np.testing.assert_allclose(first.far, total[:, ::-1], rtol=1e-12)
    np.testing.assert_allclose(first.b, rows.far[:, 2] * rows.b, rtol=1e-15)
    np.testing.assert_allclose(second["sum"], total[:, -1], rtol=1e-12)


def carried(given: Given, x: Any, row: Row) -> tuple[Any, Any]:
    return 0.9 * x * given.matrix[0, 1] + row.b, x + row.a[0]


@pytest.mark.parametrize("reverse", [False, True])
def test_a_scan_goes_from_row_to_row(reverse):
    rows, _ = drawn()
    run = OverTables(carried, GIVEN, Fields.of(0.0), fields(rows), lanes=1)
    x, found = Table(Fields.of(0.0), COUNT + 1, 1), Table(run.results[1], COUNT, 1)
    x.memory[-1 if reverse else 0] = 2.0
    run.scan(Table.same(GIVEN), x, [table(rows, COUNT, 1)], [found], reverse=reverse)()
    at = 2.0
    for k in reversed(range(COUNT)) if reverse else range(COUNT):
        np.testing.assert_allclose(found.memory[k, 0, 0], at + rows.a[k, 0], rtol=1e-14)
        at = 0.9 * at + rows.b[k]
    np.testing.assert_allclose(x.memory[0 if reverse else -1, 0, 0], at, rtol=1e-14)


def sorted_row(given: Given, row: Row) -> tuple[Any]:
    return (jnp.sort(row.a) @ given.matrix,)


def test_what_cannot_be_compiled_goes_through_xla():
    rows, _ = drawn()
    with pytest.warns(RunWarning, match="sort cannot be compiled"):
        run = OverTables(sorted_row, GIVEN, fields(rows), lanes=4)
    outputs, shared = run.tables(6), Table.same(GIVEN)
    run.over(shared, [table(rows, 6, 4)], outputs)()
    np.testing.assert_allclose(outputs[0].rows(COUNT), np.sort(rows.a) @ GIVEN.matrix, rtol=1e-12)


def scaled(given: Given, row: Row, weight: Any) -> tuple[Any]:
    return (weight * (row.a @ given.matrix),)


def sorted_scaled(given: Given, row: Row, weight: Any) -> tuple[Any]:
    return (weight * jnp.sort(row.a @ given.matrix),)


@pytest.mark.filterwarnings("ignore:.*goes through XLA")
@pytest.mark.parametrize("function", [scaled, sorted_scaled])
def test_a_row_may_be_the_same_for_all(function):
    """In lanes, and where XLA runs it; another number is another result without another call being made."""
    rows, _ = drawn()
    run = OverTables(function, GIVEN, fields(rows), Fields.of(0.0), lanes=4)
    same, outputs = Table(Fields.of(0.0), 1, 4, same=True), run.tables(6)
    call = run.over(Table.same(GIVEN), [table(rows, 6, 4), same], outputs)
    products = rows.a @ GIVEN.matrix
    for weight in (2.0, -3.0):
        same.memory[...] = weight
        call()
        expected = weight * (products if function is scaled else np.sort(products, axis=1))
        np.testing.assert_allclose(outputs[0].rows(COUNT), expected, rtol=1e-12)


def test_a_part_of_a_table_is_where_it_lies():
    rows, _ = drawn()
    run, whole = OverTables(summed, GIVEN, fields(rows), lanes=1), Table(Fields.of(0.0), 4, 1)
    run.over(Table.same(GIVEN), [table(rows, COUNT, 1).part(5, 7)], [whole.part(1, 3)])()
    np.testing.assert_allclose(whole.memory[:, 0, 0], [0.0, *rows.far[5:7].sum(axis=1), 0.0], rtol=1e-12)


def summed(given: Given, row: Row) -> tuple[Any]:
    return (jnp.sum(row.far),)


def doubled(scale: Any, x: Any) -> tuple[Any]:
    """Something that shows in which order it was called."""
    return (2.0 * x + scale,)


def test_chained_calls_run_in_their_order_also_with_others_between():
    """x -> 2 x + 1 twice, then something of Python's, then twice again; nothing else holds the calls."""
    form = Fields.of(np.zeros(2))
    over = OverTables(doubled, np.ones(()), form, lanes=4)
    here, there = Table(form, 3, 4), Table(form, 3, 4)
    one = Table.same(np.ones(()))
    on, back = over.over(one, [here], [there]), over.over(one, [there], [here])
    seen: list[float] = []
    call = chained([on, back, lambda: seen.append(float(here.memory[0, 0, 0])), on, back])
    del on, back, over, one, there
    call()
    assert seen == [3.0]
    assert np.all(here.memory == 15.0)
    call()
    assert seen == [3.0, 63.0]


THREADS = """
import gc
import threading

import numpy as np

from naiad.compiler.tables import Fields, OverTables, Table, chained

form = Fields.of(np.zeros(2))
over = OverTables(lambda one, row: (row + one,), np.ones(()), form, lanes=1)
gate, sums = threading.Barrier(8), []

def work():
    one, here, there = Table.same(np.ones(())), Table(form, 3, 1), Table(form, 3, 1)
    calls = [over.over(one, [here], [there]), over.over(one, [there], [here])]
    gate.wait()
    call = chained(calls)
    gate.wait()
    gc.collect()
    for _ in range(100):
        call()
    sums.append(here.memory.sum())

threads = [threading.Thread(target=work) for _ in range(8)]
[thread.start() for thread in threads], [thread.join() for thread in threads]
print(set(sums))
"""


def test_threads_that_chain_first_of_all_share_the_code_of_chains():
    """In a new process, where none has made it yet: code that only one of them holds is gone when it is called."""
    done = subprocess.run([sys.executable, "-c", THREADS], capture_output=True, text=True)
    assert (done.returncode, done.stdout.strip()) == (0, "{np.float64(1200.0)}"), done.stderr


def test_tables_begin_with_a_line_of_the_cache():
    for groups in range(1, 6):
        made = Table(Fields.of(np.zeros(5)), groups, 8)
        assert made.address == made.memory.ctypes.data
        assert made.address % 64 == 0
        assert not made.memory.any()


def test_what_is_made_for_a_form_is_made_again_when_the_thing_computes_something_else():
    """Numbers are not part of the form; what a function in the thing reads is."""
    made_for: list[Any] = []

    def count(thing: Any) -> int:
        def make() -> int:
            made_for.append(thing)
            return len(made_for)

        return made_once(thing, "a test", make)

    scale = [1.0]

    def scaled(x: Any) -> Any:
        return scale[0] * x

    assert count((scaled, np.zeros(3))) == count((scaled, np.ones(3))) == 1
    assert count((scaled, np.zeros(4))) == 2
    scale[0] = 2.0
    assert count((scaled, np.zeros(3))) == 3
