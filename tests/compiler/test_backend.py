"""The seam between the compiler and its back ends: another one is plugged in, and nothing else knows."""

import math
import pickle

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

import naiad.compiler as nc
from naiad.compiler.backends import LLVM, Backend
from naiad.compiler.fingerprint import Version
from naiad.compiler.ir.operations import DTYPES, OPERATIONS
from naiad.compiler.ir.program import Branch, Loop, Program
from tests.compiler.compare import assert_close, assert_same


class Interpreter(Backend):
    """Evaluates programs by what their operations mean in NumPy, row by row."""

    name = "numpy"
    platform = "paper"
    fma = False
    lanes = 3

    def __init__(self):
        self.programs: dict[str, Program] = {}
        self.asked: list[tuple] = []

    def tag(self):
        return ("first edition",)

    def source(self, program, lanes=1, shared=()):
        self.asked.append((lanes, tuple(shared)))
        self.programs[str(program)] = program
        return str(program)

    def build(self, source):
        return source.encode()

    def load(self, code, layout, lanes):
        program = self.programs[code.decode()]

        def run(leaves, own, size):
            rows = [[x[k] if each else x for x, each in zip(leaves, own, strict=True)] for k in range(size)]
            out = [Row(program, row).memory["out"] for row in rows]
            return [
                np.array([row[s.offset : s.offset + math.prod(s.shape)] for row in out], s.dtype).reshape(-1, *s.shape)
                for s in layout.outputs
            ]

        return run

    def assembly(self, source):
        return f"; {source}"


class Row:
    """The evaluation of a program."""

    def __init__(self, program, leaves):
        self.values = {}
        given = [x for leaf in leaves for x in np.ravel(leaf)]
        self.memory = {"in": given, "out": [0] * program.out_size, "work": [0] * program.work_size}
        with np.errstate(all="ignore"):
            self.run(program.region)
        for offset, node in program.results:
            self.memory["out"][offset] = self.of(node)

    def of(self, node):
        return DTYPES[node.type](node.value if node.constant else self.values[node.number])

    def name(self, nodes, values):
        self.values.update({node.number: value for node, value in zip(nodes, values, strict=True)})

    def run(self, region):
        for node in region.items:
            if isinstance(node, Loop):
                self.name(node.params, map(self.of, node.inits))
                while self.run(node.test) or self.of(node.predicate):
                    self.run(node.body)
                    self.name(node.params, [self.of(x) for x in node.yields])
                self.name(node.results, map(self.of, node.params))
            elif isinstance(node, Branch):
                arm = 0 if self.of(node.predicate) else 1
                self.run(node.arms[arm])
                self.name(node.results, map(self.of, node.yields[arm]))
            elif node.op == "store":
                place, at = self.place(node)
                place[at] = self.of(node.args[1])
            elif node.op not in ("param", "result"):
                self.values[node.number] = self.value(node)

    def value(self, node):
        if node.op == "input":
            return self.memory["in"][node.value]
        if node.op == "load":
            place, at = self.place(node)
            return place[at]
        args = [self.of(a) for a in node.args]
        if node.op == "select":
            return args[1] if args[0] else args[2]
        return OPERATIONS[node.op].evaluate(*args)

    def place(self, node):
        buffer, index = node.value, int(self.of(node.args[0]))
        return (buffer.values, index) if buffer.space == "table" else (self.memory[buffer.space], buffer.offset + index)


def function(x, n, p):
    """A loop, a branch, memory, a table, and all three types."""
    y = lax.fori_loop(0, n, lambda i, y: y.at[i].add(jnp.sin(y[i]) * p["gain"]), x * jnp.linspace(0.1, 1.0, 40))
    z = lax.while_loop(lambda z: z < 9.0, lambda z: z * 1.5 + jnp.abs(x[1]), 1.0 + p["gain"])
    w = lax.cond(y[3] > 0.2, lambda: jnp.sum(jnp.exp(-y)), lambda: jnp.prod(y[:3]) / z)
    return {"y": y, "zw": (z, w), "found": jnp.argmax(y) + n, "small": y < 0.5}


ROWS = np.random.default_rng(0).normal(size=(4, 40)), np.array([0, 3, 7, 2]), {"gain": 0.25}


def test_another_back_end_is_plugged_in():
    """A single call and a batch, against machine code; it is asked for its own lanes, and told what is shared."""
    backend = Interpreter()
    here, machine = (nc.compile(function, fma=False, cache=False, backend=each) for each in (backend, None))
    x, n, p = ROWS
    assert_close(here(x[1], n[1], p), machine(x[1], n[1], p), 1e-14)
    assert_close(here.batch(*ROWS, shared=(2,)), machine.batch(*ROWS, shared=(2,)), 1e-14)
    assert_same(jax.tree.map(lambda leaf: leaf[1], here.batch(*ROWS, shared=(2,))), here(x[1], n[1], p))
    assert backend.asked == [(1, ()), (3, (False, False, True))]
    assert set(here.stats["seconds"]) == {"jaxpr", "program", "numpy"}
    assert here.assembly == f"; {here.llvm}" == f"; {here.ir}"


def test_what_a_back_end_is_counts_in_the_key():
    """Its class and its tag, and which variant of a function is for it."""

    class Second(Interpreter):
        def tag(self):
            return ("second edition",)

    keys = {
        nc.compile(jnp.sin, backend=backend)._key(Version(jnp.sin)) for backend in (Interpreter(), Second(), LLVM())
    }
    assert len(keys) == 3


def test_a_function_with_variants_takes_that_of_the_back_end():
    def variants(x):
        return lax.platform_dependent(x, cpu=lambda x: x + 1.0, paper=lambda x: x + 2.0)

    found = [nc.compile(variants, cache=False, backend=each)(1.0) for each in (None, Interpreter())]
    assert found == [2.0, 3.0]
    other = nc.compile(lambda x: lax.platform_dependent(x, tpu=jnp.sin, cuda=jnp.cos), cache=False)
    with pytest.raises(nc.Unsupported, match="no variant for cpu"):
        other(1.0)


def test_a_back_end_goes_along_to_other_processes():
    compiled = pickle.loads(pickle.dumps(nc.compile(np.negative, backend=LLVM())))
    assert isinstance(compiled._backend, LLVM)


def test_code_without_passes_of_llvm_gives_the_same_numbers_and_has_a_key_of_its_own():
    def function(x):
        return jnp.cumsum(jnp.sin(x) * x), x[::-1] @ x

    x = np.linspace(0.1, 2.0, 40)
    plain, usual = (nc.compile(function, backend=backend, cache=False) for backend in (LLVM(level=0), LLVM()))
    for one, other in zip(plain(x), usual(x), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-15)
    assert len({nc.compile(jnp.sin, backend=LLVM(level=level))._key(Version(jnp.sin)) for level in (0, 1)}) == 2
