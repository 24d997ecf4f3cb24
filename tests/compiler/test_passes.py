"""What back ends ask for: parts of long programs, and what is the same in all lanes."""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from naiad.compiler.front.trace import trace
from naiad.compiler.ir.program import Loop, Part
from naiad.compiler.passes import split as splitting
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
