"""What back ends ask for: parts of long programs, what is the same in all lanes, branches and an order."""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

import naiad as nd
from naiad.compiler.backends.wasm.order import REGISTERS, ordered
from naiad.compiler.front.trace import trace
from naiad.compiler.ir.program import Branch, Loop, Part
from naiad.compiler.passes import split as splitting
from naiad.compiler.passes.branches import branches
from naiad.compiler.passes.finish import finish
from naiad.compiler.passes.split import split
from naiad.compiler.passes.uniform import uniform


def program(function, *args):
    with jax.enable_x64(True):
        return finish(trace(jax.make_jaxpr(function)(*args)), fma=False)


def test_what_is_the_same_in_all_lanes():
    """A counter up to a number that lanes share, and what is read from a table at it; nothing that comes of x."""

    table = np.linspace(0.0, 1.0, 100)

    def function(x, n):
        return lax.fori_loop(0, n, lambda i, y: y * x + jnp.asarray(table)[i], x)

    made = program(function, 1.0, 5)
    (loop,) = [node for node in made.region.items if isinstance(node, Loop)]
    (read,) = [node for node in loop.body.items if node.op == "load"]
    counting = {loop.predicate.number, read.number, *(param.number for param in loop.params if param.type == "i")}
    floats = {node.number for node in (*loop.params, *loop.body.items) if node.type == "f"} - {read.number}
    same = uniform(made, [False, True])
    assert len(counting) == 3
    assert len(floats) == 3  # y, its product with x, and the sum
    assert counting <= same
    assert not floats & same
    assert not counting & uniform(made, [True, False])
    assert not floats & uniform(made, [True, True])  # what goes round as a float is never taken for the same


def test_a_long_row_is_cut_by_the_back_end_that_asks(monkeypatch):
    """`finish` leaves it whole; each value that goes from one part to another has its place in working memory."""
    monkeypatch.setattr(splitting, "LONGEST", 50)
    monkeypatch.setattr(splitting, "PART", 40)

    def function(x):
        y = x
        for _ in range(60):
            y = jnp.sin(y) + x
        return y

    made = program(function, 1.0)
    assert made.layout.work_size == len(made.frame) == 0
    assert not any(isinstance(node, Part) for node in made.region.items)
    assert made.stats == {"input": 1, "sin": 60, "add": 60}
    parts = [node for node in split(made).region.items if isinstance(node, Part)]
    assert [len(part.body.items) for part in parts] == [40, 40, 40]
    assert made.layout.work_size == len(made.frame) == 3  # one between each two, and the result
    assert np.unique(list(made.frame.values())).size == 3


def test_a_program_with_many_loops_is_cut_with_them(monkeypatch):
    """The same numbers come out to the last bit: alone, and in lanes of which some are done, or take another arm."""

    def function(x, n):
        table = jnp.linspace(0.0, 1.0, 40) * x

        def inner(i, y):
            return jnp.sin(y) + table[i] * y

        def body(at):
            k, y, rows = at
            y = lax.fori_loop(0, 20, inner, y) + lax.fori_loop(0, 2 + k, inner, 0.1 * y)
            far = lax.cond(y > 0.3, lambda: lax.fori_loop(0, 9, inner, y), lambda: y - x)
            return k + 1, far, rows.at[k].set(rows[k] + far)

        return lax.while_loop(lambda at: at[0] < n, body, (jnp.zeros((), int), x, jnp.sqrt(table)))

    whole = nd.compile(function, cache=False, lanes=4)
    x, n = np.linspace(0.1, 2.0, 7), np.array([0, 3, 9, 1, 4, 4, 30])
    alone, together = whole(0.7, 12), whole.batch(x, n)
    assert "@part" not in whole.llvm
    monkeypatch.setattr(splitting, "MANY", 3)
    monkeypatch.setattr(splitting, "WITH_LOOPS", 12)
    monkeypatch.setattr(splitting, "FEWEST", 2)
    cut = nd.compile(function, cache=False, lanes=4)
    for found, expected in ((cut(0.7, 12), alone), (cut.batch(x, n), together)):
        jax.tree.map(np.testing.assert_array_equal, found, expected)
    assert cut.llvm.count("define internal void @part") > 3
    assert "%mask" in cut._backend.source(cut._program(), 4)


def ops(nodes):
    return [node.op for node in nodes]


def test_selections_with_one_condition_become_a_branch():
    """What only one arm reads is computed there, and what both read before; a few are left as they are."""

    def function(x, y, c, d):
        halves, roots = 0.5 * x, jnp.sqrt(y)
        return jnp.where(c > 0.0, halves, roots), jnp.where(d > 0.0, x[:3], y[:3]), roots[0]

    made = branches(program(function, np.ones(4), np.ones(4), 1.0, 2.0))
    (branch,) = [node for node in made.region.items if isinstance(node, Branch)]
    assert ops(branch.arms[0].items) == ["mul"] * 4
    assert ops(branch.arms[1].items) == ["sqrt"] * 3  # the first is a result as well
    assert ops(branch.results) == ["result"] * 4
    assert ops(made.region.items).count("select") == 3
    assert ops(made.region.items).count("sqrt") == 1


def test_selections_that_need_one_another_are_branches_one_after_the_other():
    def function(x, y, c):
        first = jnp.where(c > 0.0, x, y)
        return jnp.where(c > 0.0, first[::-1] + 1.0, x), jnp.where(c < 5.0, first, y * first)

    made = branches(program(function, np.ones(4), np.ones(4), 1.0))
    found = [node for node in made.region.items if isinstance(node, Branch)]
    assert len(found) == 3
    assert [len(branch.results) for branch in found] == [4, 4, 4]
    assert sorted(len(arm.items) for branch in found for arm in branch.arms) == [0, 0, 0, 0, 4, 4]
    places = {node.number: place for place, node in enumerate(made.region.items)}
    for place, node in enumerate(made.region.items):
        inside = [*node.yields[0], *node.yields[1]] if isinstance(node, Branch) else []
        arms = [each for arm in node.arms for item in arm.items for each in item.args] if inside else []
        assert all(places.get(value.number, -1) < place for value in (*node.args, *inside, *arms))


def most_at_once(row):
    """The most values in hand at a time, of those that were computed and will be read."""
    last = {argument.number: place for place, node in enumerate(row) for argument in node.args}
    here = {node.number: place for place, node in enumerate(row)}
    return max(sum(here[k] <= at < last.get(k, at + 1) for k in here) for at in range(len(row)))


def test_the_order_keeps_a_processor_busy_with_few_registers():
    """Chains that wait go side by side; a wide sum is not computed all at once."""

    def chains(x, y):
        for _ in range(10):
            x, y = x * 0.9 + 0.1, y * 0.8 + 0.2
        return x, y

    made = program(chains, 1.0, 2.0)
    items = ordered([node for node in made.region.items if node.op != "input"])
    chain = {items[0].number: 0, items[1].number: 1}
    for node in items[2:]:
        (chain[node.number],) = {chain[a.number] for a in node.args if a.number in chain}
    assert [chain[node.number] for node in items] == [0, 1] * 20

    def sums(x):
        terms = list(x * 1.5)
        while len(terms) > 1:
            terms = [a + b for a, b in zip(terms[::2], terms[1::2], strict=True)]
        return terms[0]

    nodes = [node for node in program(sums, np.ones(32)).region.items if node.op != "input"]
    assert sorted(node.number for node in ordered(nodes)) == [node.number for node in nodes]
    assert most_at_once(nodes) == 32
    assert most_at_once(ordered(nodes)) <= REGISTERS + 1
