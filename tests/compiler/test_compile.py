"""The front of the compiler: what it shows, what it refuses, what it folds, threads, and the cache on disk."""

import os
import pathlib
import subprocess
import sys
import threading
import time
import warnings
from types import SimpleNamespace
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

import naiad as nd
import naiad.compiler as nc
import naiad.compiler.compiled as compiled_module
from naiad.compiler import engine
from naiad.compiler.backends import LLVM, Resident
from naiad.compiler.backends.llvm import backend, machine
from naiad.compiler.compiled import Compiled
from naiad.compiler.fingerprint import Version, modules
from naiad.compiler.telling import telling
from naiad.errors import InputError, RunWarning
from tests.compiler.compare import LANES, assert_close, assert_same, leaves

SOURCE = str(pathlib.Path(nd.__file__ or "").parents[1])


def operations(compiled) -> dict[str, int]:
    """How often each operation occurs, inputs left out."""
    return {name: count for name, count in compiled.stats["operations"].items() if name != "input"}


# -- what it shows


def test_the_program_of_a_tiny_function():
    compiled = nc.compile(lambda x, y: x * y + 2.0, fma=False, cache=False)
    assert compiled(3.0, 4.0) == 14.0
    lines = compiled.ir.splitlines()
    assert lines[0] == "program: 2 in, 1 out, 0 work"
    product, total = (line.split(":")[0].strip() for line in lines[1:3])
    assert lines[1:] == [
        f"  {product}: f = mul in[0], in[1]",
        f"  {total}: f = add 2.0, {product}",
        f"  out[0] = {total}",
    ]
    assert operations(compiled) == {"mul": 1, "add": 1}
    assert set(compiled.stats["seconds"]) == {"jaxpr", "program", "llvm"}
    assert all(seconds > 0 for seconds in compiled.stats["seconds"].values())
    assert compiled.llvm.count("fmul double") == compiled.llvm.count("fadd double") == 1
    assert "define void @run(" in compiled.llvm
    assert "run:" in compiled.assembly
    assert "mulsd" in compiled.assembly or "fmul" in compiled.assembly


def test_loops_and_branches_are_shown():
    compiled = nc.compile(lambda x: lax.while_loop(lambda c: c < 9.0, lambda c: c * 1.5, x), cache=False)
    assert compiled(1.0) == 1.5**6
    text = compiled.ir
    assert [text.count(word) for word in ("loop", "while", "next", "result 0")] == [1, 1, 1, 1]
    arms = nc.compile(lambda x: lax.cond(x > 0, jnp.sqrt, jnp.exp, x), cache=False)
    assert arms(4.0) == 2.0
    assert [arms.ir.count(word) for word in ("then if", "else if", "give", "sqrt", "exp")] == [1, 1, 2, 1, 1]


def test_the_function_keeps_its_name():
    @nc.compile
    def energy(x):
        """Of a spring."""
        return 0.5 * x**2

    assert energy.__name__ == "energy"
    assert energy.__doc__ == "Of a spring."
    assert energy(4.0) == 8.0


def test_before_the_first_call_there_is_nothing_to_show():
    compiled = nc.compile(lambda x: x, cache=False)
    for what in ("ir", "llvm", "assembly", "stats"):
        with pytest.raises(InputError, match="call the function first"):
            getattr(compiled, what)


def test_bad_options_are_refused():
    with pytest.raises(InputError, match="lanes = 3"):
        nc.compile(lambda x: x, lanes=3)
    with pytest.raises(InputError, match="function = 5; expected a function"):
        nc.compile(5)


@pytest.mark.parametrize("lanes", [1, 2, 4, 8, 16])
def test_any_number_of_lanes_gives_the_same(lanes):
    def function(x, n):
        return lax.fori_loop(0, n, lambda i, c: jnp.sin(c) * c + i, x)

    x, n = np.linspace(-1.0, 2.0, 19), np.arange(19) % 5
    single = nc.compile(function, cache=False)
    assert_same(
        nc.compile(function, lanes=lanes, cache=False).batch(x, n),
        [np.stack([single(a, k) for a, k in zip(x, n, strict=True)])],
    )


@pytest.mark.parametrize(
    ("there", "operations", "cores", "registers"), [(32, 20, 1, 2), (16, 20, 1, 1), (32, 3000, 1, 1), (32, 20, 50, 1)]
)
def test_short_programs_have_two_registers_where_there_are_many(
    there, operations, cores, registers, monkeypatch, tmp_path
):
    """Also when their code comes from the disk; single calls and batches agree whatever there is."""
    monkeypatch.setattr(backend, "processor", lambda: machine.processor()._replace(registers=there))
    monkeypatch.setattr(compiled_module, "available", lambda: cores)
    monkeypatch.setenv("NAIAD_CACHE_DIR", str(tmp_path))

    def function(x):
        for number in range(operations):
            x = 0.3 * x * x + 0.1 / (number + 1.0)
        return x

    x = np.linspace(-1.0, 2.0, 19)
    for _ in range(2):
        compiled = nc.compile(function)
        rows = compiled.batch(x)
        assert compiled._last_call()[0].kernel.lanes == registers * LLVM().lanes
        assert_same(rows, [np.stack([compiled(each) for each in x])])
    assert len(list(tmp_path.rglob("*.bin"))) == 2


@pytest.mark.parametrize(("operations", "codes"), [(20, 2), (3000, 1)])
@pytest.mark.parametrize("sizes", [(3, 40), (40, 3)])
def test_few_rows_and_many_share_code_of_long_programs(operations, codes, sizes, monkeypatch, tmp_path):
    monkeypatch.setattr(backend, "processor", lambda: machine.processor()._replace(registers=32))
    monkeypatch.setattr(compiled_module, "available", lambda: 1)
    monkeypatch.setenv("NAIAD_CACHE_DIR", str(tmp_path))

    def function(x):
        for number in range(operations):
            x = 0.3 * x * x + 0.1 / (number + 1.0)
        return x

    compiled = nc.compile(function)
    rows = [compiled.batch(np.linspace(0.5, 1.0, size)) for size in sizes]
    assert_same(rows[0][[0, -1]], [rows[1][[0, -1]]])
    assert len(list(tmp_path.rglob("*.bin"))) == codes


# -- what cannot be compiled


def sorts(x):
    return jnp.sort(2.0 * x)


def throws(x):
    return x + jax.random.normal(jax.random.key(0), x.shape)


SMALL_NUMBERS = np.ones(2, np.uint8)


def reads(x):
    return x + SMALL_NUMBERS


def searches(x):
    return jnp.searchsorted(x, 2.0)


@pytest.mark.parametrize(
    ("function", "primitive"),
    [(sorts, "sort"), (throws, "random"), (reads, "a constant .* is uint8"), (searches, "a constant .* is uint32")],
)
def test_what_cannot_be_compiled_is_named_with_its_line(function, primitive):
    with pytest.raises(nc.Unsupported, match=primitive) as caught:
        nc.compile(function, cache=False)(np.array([3.0, 1.0]))
    assert pathlib.Path(__file__).name in str(caught.value)
    assert f":{function.__code__.co_firstlineno + 1}" in str(caught.value)


def test_what_is_no_number_is_no_result():
    def speaks(x):
        return x, "abc"

    line = speaks.__code__.co_firstlineno
    with pytest.raises(InputError, match=rf"speaks \(.*_compile.py:{line}\) gives 'abc'; expected numbers and arrays"):
        nc.compile(speaks, cache=False)(1.0)


def test_single_precision_inside_is_refused():
    with pytest.raises(nc.Unsupported, match="float32"):
        nc.compile(lambda x: x.astype(jnp.float32) + 1, cache=False)(1.0)


@pytest.mark.parametrize("outside", [jnp.array(0.1), jnp.array([0.1, 0.2]), np.ones(2, np.float16)])
def test_an_array_from_outside_in_single_precision_is_refused_and_not_left_to_xla(outside):
    def inside(x):
        return jax.lax.cond(x > 0.0, lambda: jnp.sum(x * outside), lambda: x)

    for called in (lambda: nc.compile(inside, cache=False)(1.0), lambda: engine.execute(inside, 1.0, parameters=())):
        with pytest.raises(
            InputError, match=rf"made outside of it\) is {outside.dtype}; naiad computes in float64"
        ) as e:
            called()
        assert not isinstance(e.value, nc.Unsupported)


def test_auto_goes_to_xla_with_one_warning():
    engine.warn_of_xla.cache_clear()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for x in ([3.0, 1.0, 2.0], [9.0, 7.0, 8.0]):
            assert_same(nc.execute(sorts, np.array(x), parameters=(0,)), 2.0 * np.sort(x))
    assert [w.category for w in caught] == [RunWarning]
    assert "sort" in str(caught[0].message)
    assert "XLA" in str(caught[0].message)


def test_rows_go_to_xla_too():
    engine.warn_of_xla.cache_clear()
    with pytest.warns(RuntimeWarning, match="XLA"):
        rows = nc.execute_rows(lambda p, x: jnp.sort(p * x), 2.0, np.array([[2.0, 1.0], [4.0, 3.0]]), parameters=(0,))
    assert_same(rows, np.array([[2.0, 4.0], [6.0, 8.0]]))


def test_engines():
    x = np.array([3.0, 1.0])
    with pytest.raises(nc.Unsupported, match="sort"):
        nc.execute(sorts, x, parameters=(0,), engine="compiled")
    with pytest.raises(nc.Unsupported, match="sort"):
        nc.execute_rows(lambda p, x: jnp.sort(p * x), 1.0, x[None], parameters=(0,), engine="compiled")
    assert_same(nc.execute(sorts, x, parameters=(0,), engine="xla"), np.array([2.0, 6.0]))
    assert nc.check_engine("auto") == "auto"
    with pytest.raises(InputError, match="'gpu'; expected one of 'auto', 'compiled', 'xla'"):
        nc.check_engine("gpu")
    results = [
        nc.execute(lambda p, y: jnp.sin(p) * y, 0.3, x, parameters=(0,), engine=engine)
        for engine in ("compiled", "xla", "auto")
    ]
    assert all(isinstance(r, np.ndarray) for r in results)
    assert_close(results[0], results[1], 1e-15)
    assert_same(results[0], results[2])


def test_what_goes_through_xla_takes_arrays_from_where_they_lie():
    class Far(Resident):
        def fetched(self, most=None):
            return np.array([[2.0, 1.0], [4.0, 3.0]])

    with pytest.warns(RunWarning, match="goes through XLA"):
        rows = nc.execute_rows(lambda p, x: -jnp.sort(p * x), 3.0, Far((2, 2), np.dtype(float)), parameters=(0,))
    assert rows.tolist() == [[-3.0, -6.0], [-9.0, -12.0]]


def test_zeros_fold_in_the_arguments_that_the_caller_names():
    """0 x is 0 for a zero of the code, and not a number for an infinite x and a zero that comes at run time."""
    z, x = np.zeros(()), np.array([np.inf, 1.0])
    assert nc.execute(jnp.multiply, z, x, parameters=(0,)).tolist() == [0.0, 0.0]
    assert np.isnan(nc.execute(jnp.multiply, z, x, parameters=())[0])
    assert nc.execute(jnp.multiply, x, z, parameters=(1,)).tolist() == [0.0, 0.0]
    assert nc.execute_rows(jnp.multiply, z, x, parameters=(0,)).tolist() == [0.0, 0.0]
    assert np.isnan(nc.execute_rows(jnp.multiply, z, x, parameters=())[0])


# -- arguments and results


class Pair(NamedTuple):
    left: Any
    right: Any


class Spring(eqx.Module):
    stiffness: Any
    power: int = eqx.field(static=True)
    name: str = eqx.field(static=True)

    def force(self, x):
        return -self.stiffness * x**self.power


def test_trees_in_and_out():
    def function(spring, given, flag):
        out = {"force": spring.force(given["x"]), "pair": Pair(given["y"] + 1, (given["x"] > 0,)), "none": None}
        return out, Spring(spring.stiffness * 2, spring.power, spring.name), [flag]

    compiled = nc.compile(function, cache=False)
    x, y = np.array([1.0, -2.0]), 3
    out, spring, flags = compiled(Spring(2.0, 3, "a"), {"x": x, "y": y}, True)
    assert_same(out["force"], -2.0 * x**3)
    assert isinstance(out["pair"], Pair)
    assert_same(out["pair"], Pair(np.array(4), (x > 0,)))
    assert out["none"] is None
    assert (spring.stiffness, spring.power, spring.name) == (4.0, 3, "a")
    assert_same(flags, [np.array(True)])
    assert_same(compiled(Spring(2.0, 2, "a"), {"x": x, "y": y}, True)[0]["force"], -2.0 * x**2)
    batch = compiled.batch(
        Spring(2.0, 3, "a"), {"x": np.stack([x, 2 * x]), "y": np.array([1, 2])}, np.array([True, False]), shared=(0,)
    )
    assert_same(batch[0]["force"], np.stack([-2.0 * x**3, -2.0 * (2 * x) ** 3]))
    assert_same(batch[0]["pair"].left, np.array([2, 3]))


def test_python_numbers_keep_their_kinds():
    compiled = nc.compile(lambda b, n, x: (b, n, x, n // 2, b + n), cache=False)
    assert_same(compiled(True, 7, 2.5), [np.array(True), np.array(7), np.array(2.5), np.array(3), np.array(8)])
    assert_same(
        compiled(np.bool_(0), np.int32(7), np.float64(2.5)),
        [np.array(False), np.array(7, np.int32), np.array(2.5), np.array(3, np.int32), np.array(7, np.int32)],
    )


def test_a_batch_may_have_no_rows():
    compiled = nc.compile(lambda x: (2.0 * x, x.sum()), cache=False)
    shared = nc.compile(lambda x, y: x * y, cache=False)
    for rows in (0, 3, 0):
        np.testing.assert_array_equal(shared.batch(np.ones((rows, 2)), 3.0, shared=(1,)), np.full((rows, 2), 3.0))
        doubled, total = compiled.batch(np.ones((rows, 2)))
        np.testing.assert_array_equal(doubled, np.full((rows, 2), 2.0))
        np.testing.assert_array_equal(total, np.full(rows, 2.0))


def test_a_number_is_an_argument_and_not_a_constant():
    compiled = nc.compile(lambda x, y: x * y, cache=False)
    assert [compiled(2.0, y) for y in (0.0, 1.0, 3.0)] == [0.0, 2.0, 6.0]
    assert [len(made.entries) for made in compiled._made.values()] == [1]


# -- what is simplified


def test_zeros_and_ones_of_parameters_cost_nothing():
    def function(matrix, x):
        return matrix @ x

    compiled = Compiled(function, fma=False, parameters=(0,), cache=False)
    x = np.array([0.3, -1.2, 2.0])
    counts = {}
    for name, matrix in {
        "full": np.full((3, 3), 0.5),
        "diagonal": np.diag([2.0, 3.0, 4.0]),
        "identity": np.eye(3),
        "zero": np.zeros((3, 3)),
    }.items():
        assert_close(compiled(matrix, x), matrix @ x, 1e-15)
        counts[name] = operations(compiled)
    assert counts == {"full": {"mul": 9, "add": 6}, "diagonal": {"mul": 3}, "identity": {}, "zero": {}}
    assert_close(
        compiled.batch(np.diag([2.0, 3.0, 5.0]), np.stack([x, 2 * x]), shared=(0,)),
        np.stack([x, 2 * x]) * [2.0, 3.0, 5.0],
        1e-15,
    )
    assert_close(compiled(np.diag([7.0, 1.0, 0.0]), x), x * [7.0, 1.0, 0.0], 1e-15)


@pytest.mark.parametrize("rows", [30, 40], ids=["few", "many"])
def test_zeros_and_ones_in_every_row_cost_nothing(rows):
    """In a loop over the rows of a parameter, what is 0 or 1 in all of them; in memory, or not, as there are many."""

    def applied(matrix, x):
        for _ in range(8):
            x = matrix @ x
        return x

    def function(matrices, x):
        return lax.scan(lambda x, matrix: (applied(matrix, x), x[0]), x, matrices)

    def alone(matrices, x):
        firsts = []
        for matrix in matrices:
            firsts.append(x[0])
            x = applied(matrix, x)
        return x, np.array(firsts)

    compiled = Compiled(function, fma=False, parameters=(0,), cache=False)
    rng, x = np.random.default_rng(0), np.array([0.3, -1.2, 2.0])
    diagonal = np.array([np.diag([1.0, *values]) for values in rng.uniform(0.9, 1.1, (rows, 2))])
    full = diagonal.copy()
    full[3] = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    counts = []
    for matrices in (diagonal, full):
        for found, expected in zip(compiled(matrices, x), alone(matrices, x), strict=True):
            assert_close(found, expected, 1e-13)
        counts.append({name: count for name, count in operations(compiled).items() if name in ("mul", "add")})
    assert counts == [{"mul": 16}, {"mul": 72, "add": 48}]
    for found, expected in zip(
        compiled.batch(np.stack([diagonal, full]), np.stack([x, x])),
        zip(*(alone(each, x) for each in (diagonal, full)), strict=True),
        strict=True,
    ):
        assert_close(found, np.stack(expected), 1e-13)


def test_a_reciprocal_is_computed_once():
    compiled = nc.compile(lambda x, y, d: (x * (1.0 / d), (1.0 / d) * y, y / 3.0), fma=False, cache=False)
    compiled(1.0, 2.0, 4.0)
    assert operations(compiled) == {"div": 1, "mul": 3}


def test_equal_expressions_are_computed_once():
    compiled = nc.compile(
        lambda x, y: (jnp.sin(x * y) + jnp.sin(y * x), jnp.sin(x * y) ** 2, (x - y) * (y - x)), fma=False, cache=False
    )
    compiled(0.3, 0.7)
    found = operations(compiled)
    assert (found["sin"], found["sub"]) == (1, 1)
    assert found["mul"] == 4  # twice the sine is one of them


def test_what_does_not_change_leaves_the_loop():
    compiled = nc.compile(lambda x, y: lax.fori_loop(0, 1000, lambda i, c: c + jnp.exp(y) * jnp.cos(y), x), cache=False)
    np.testing.assert_allclose(compiled(1.0, 0.5), 1.0 + 1000 * np.exp(0.5) * np.cos(0.5), rtol=1e-12)
    before = compiled.ir.split("loop")[0]
    assert before.count("exp") == before.count("cos") == 1


@pytest.mark.skipif(not LLVM().fma, reason="the processor has no fused multiply-add")
def test_fma_is_a_switch():
    x, y = 1.0 + 2.0**-30, 1.0 - 2.0**-30

    def function(x, y):
        return x * y - 1.0

    fused, plain = nc.compile(function, cache=False), nc.compile(function, fma=False, cache=False)
    assert fused(x, y) == -(2.0**-60)
    assert plain(x, y) == 0.0
    assert operations(plain) == {"mul": 1, "sub": 1}
    assert "mul" not in operations(fused)
    assert_same(fused.batch(np.full(LANES + 1, x), np.full(LANES + 1, y)), np.full(LANES + 1, -(2.0**-60)))


# -- threads


def slow(x, n):
    return lax.fori_loop(0, n, lambda i, c: jnp.sin(c) + x, x)


def test_two_threads_call_at_once():
    compiled = nc.compile(slow, cache=False)
    inputs = np.linspace(0.1, 1.0, 16)
    want = [nc.compile(slow, cache=False)(x, 2000) for x in inputs]
    found: dict[int, list[Any]] = {}

    def work(number: int) -> None:
        found[number] = [compiled(x, 2000) for x in inputs] + list(compiled.batch(inputs, np.full(16, 2000)))

    threads = [threading.Thread(target=work, args=(k,)) for k in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [leaves(found[k]) for k in range(2)] == [leaves(want + want)] * 2


def test_python_goes_on_during_a_call():
    compiled = nc.compile(slow, cache=False)
    compiled(0.5, 1)
    done, count = threading.Event(), 0
    caller = threading.Thread(target=lambda: (compiled(0.5, 20_000_000), done.set()))
    caller.start()
    while not done.is_set():
        time.sleep(0.001)
        count += 1
    caller.join()
    assert count > 20


# -- the cache on disk


USER = """
import sys
import jax, jax.numpy as jnp, numpy as np
import naiad.compiler as nc
import naiad.compiler.compiled as compiled_module
from naiad.compiler.backends import LLVM, Resident

def forbidden(*args, **kwargs):
    raise AssertionError("traced or compiled again")

@nc.compile
def function(x):
    return {"y": jnp.sin(x) * 2.0}

if "again" in sys.argv:
    jax.make_jaxpr = LLVM.source = LLVM.build = forbidden
print(float(function(0.5)["y"]), *function.batch(np.array([0.5, 0.25]))["y"])
"""


def test_the_next_process_finds_the_code(tmp_path):
    script = tmp_path / "user.py"
    script.write_text(USER)
    environment = {**os.environ, "PYTHONPATH": SOURCE, "NAIAD_CACHE_DIR": str(tmp_path / "cache")}
    for words in ([], ["again"]):
        command = [sys.executable, str(script), *words]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        numbers = [float(word) for word in done.stdout.split()]
        assert_close(numbers, [2 * np.sin(0.5), 2 * np.sin(0.5), 2 * np.sin(0.25)], 1e-15, done.stderr)
    assert len(list((tmp_path / "cache").glob("*.bin"))) == 2


def scaled(constant: float):
    scope = {"jnp": jnp}
    exec(f"def function(x):\n    return jnp.cos(x) * {constant!r}", scope)
    return nc.compile(scope["function"])


def test_the_cache_is_neither_stale_nor_trusting(tmp_path, monkeypatch):
    monkeypatch.setenv("NAIAD_CACHE_DIR", str(tmp_path / "cache"))
    made, build = [], LLVM.build
    monkeypatch.setattr(LLVM, "build", lambda self, source: made.append(source) or build(self, source))

    def count(constant: float) -> int:
        """How often code is made for the function with this constant, which must come out right."""
        before = len(made)
        np.testing.assert_allclose(scaled(constant)(0.5), np.cos(0.5) * constant, rtol=1e-15)
        return len(made) - before

    assert [count(c) for c in (2.0, 2.0, 4.0, 2.0, 4.0)] == [1, 0, 1, 0, 0]
    for entry in (tmp_path / "cache").glob("*.bin"):
        entry.write_bytes(entry.read_bytes()[:-100] + bytes(100))
    assert [count(c) for c in (2.0, 2.0)] == [1, 0]
    monkeypatch.setenv("NAIAD_CACHE_DIR", "")
    assert [count(c) for c in (2.0, 2.0)] == [1, 1]


# -- large programs


def chain(length: int):
    """Straight-line code of so many operations, of which 64 values are alive at any time."""

    def function(x):
        values = [x * (1.0 + 0.001 * k) for k in range(64)]
        for k in range((length - 64) // 2):
            values[k % 64] = values[(k + 1) % 64] * values[(7 * k + 3) % 64] - values[k % 64]
        return sum(values)

    return function


@pytest.mark.long
def test_compiling_takes_time_in_proportion():
    seconds = {}
    for length in (10_000, 100_000):
        compiled = nc.compile(chain(length), fma=False, cache=False)
        before = time.process_time()  # CPU time: others may be using the machine
        compiled(0.01)
        seconds[length] = time.process_time() - before
        assert sum(operations(compiled).values()) > 0.9 * length
    assert seconds[100_000] < 20 * seconds[10_000]


def test_a_program_that_would_take_minutes_to_compile_is_refused(monkeypatch):
    monkeypatch.setattr("naiad.compiler.front.tracer.LONGEST", 500)
    with pytest.raises(nc.Unsupported, match="A program of more than 500 operations cannot be compiled"):
        nc.compile(chain(1000), cache=False)(0.01)
    nc.compile(chain(100), cache=False)(0.01)


LARGE_PROCESS = """
import mmap

import jax.numpy as jnp

import naiad.compiler as nc
import naiad.compiler.compiled as compiled_module
from naiad.compiler.backends.llvm import machine

compiled = nc.compile(lambda x, i: jnp.linspace(0.0, 1.0, 100)[i] + jnp.sin(x) * 0.123, cache=False)
compiled(0.3, 99)
code = machine.object_code(compiled.llvm)
taken = [(machine.Loaded(code), mmap.mmap(-1, 2**30)) for _ in range(400)]
print(len(taken))
"""


def test_code_and_constants_stay_within_reach_in_a_large_process():
    """A gibibyte between one allocation and the next: a loader that lays them out one by one ends the process here."""
    done = subprocess.run(
        [sys.executable, "-c", LARGE_PROCESS], capture_output=True, text=True, env=os.environ | {"PYTHONPATH": SOURCE}
    )
    assert (done.returncode, done.stdout.strip()) == (0, "400"), done.stderr


@pytest.mark.parametrize("columns", [16, 17, 40])
def test_an_axis_of_length_one_stretches_in_registers_and_in_memory(columns):
    """`mul` takes operands of shapes (1, n) and (m, n); a small one of more than 16 elements is read from memory."""
    rng = np.random.default_rng(columns)
    M, w = rng.standard_normal((36, columns)), rng.standard_normal(columns)
    row, column = nd.compile(lambda M, w: (M * w, M.T * w[:, None]))(M, w)
    np.testing.assert_array_equal(row, M * w)
    np.testing.assert_array_equal(column, M.T * w[:, None])


def test_the_compiler_itself_is_part_of_every_key(monkeypatch):
    """Otherwise code that an older compiler made wrongly would be loaded after it was mended."""
    compiled = nc.compile(plain)
    before, seen, digest_of = compiled._key(Version(plain), 1), set(), modules.digest_of
    monkeypatch.setattr(modules, "digest_of", lambda names: seen.update(names) or digest_of(names) + " another")
    assert compiled._key(Version(plain), 1) != before is not None
    assert seen == {"naiad.compiler.compiled", "naiad.compiler.backends.llvm.backend"}


def plain(x):
    return jnp.sin(x) + 1.0


def test_only_work_that_takes_a_while_goes_to_other_cores(monkeypatch):
    """As long as nobody knows how long the rows take, when they took long, and the rest of those that turn out to."""
    from naiad.compiler.backends.llvm import kernel

    pool, handed = kernel._pool(), []

    class Counted:
        def submit(self, *task):
            handed.append(task)
            return pool.submit(*task)

    def turns(count):
        return lax.fori_loop(0, count, lambda i, x: x + jnp.sin(x), 1.0)

    monkeypatch.setattr(kernel, "time", SimpleNamespace(perf_counter=time.thread_time))  # others may use the cores too
    monkeypatch.setattr(kernel, "available", lambda: 2)
    monkeypatch.setattr(kernel, "_pool", Counted)
    compiled = Compiled(turns, cache=False)
    few, many = np.full(64, 3), np.full(64, 20_000)
    assert len(np.unique(compiled.batch(few))) == 1
    assert len(handed) > 1
    handed.clear()
    assert len(np.unique(compiled.batch(few))) == 1
    assert not handed
    assert len(np.unique(compiled.batch(many))) == 1
    assert len(handed) > 1
    handed.clear()
    assert len(np.unique(compiled.batch(many))) == 1
    assert sum(last - first for *_, first, last in handed) == 64 // compiled._last_call()[0].kernel.lanes


def test_listeners_are_told_that_code_is_made():
    told = []
    function = nd.compile(lambda x: 3.0 * x, cache=False)
    with telling(told.append):
        assert function(2.0) == 6.0
        assert told == [True, False]
        function(3.0)
    nd.compile(lambda x: 4.0 * x, cache=False)(1.0)
    assert told == [True, False]


def test_listeners_are_told_of_the_end_of_what_cannot_be_made():
    told = []
    with telling(told.append), pytest.raises(nc.Unsupported):
        nd.compile(lambda x: jnp.sort(x), cache=False)(np.ones(3))
    assert told == [True, False]


@pytest.mark.parametrize("size", [1, 19, 40])
def test_results_that_are_left_as_they_lie_are_those_of_a_batch(size):
    """Of every type; a part of them; and given again, to code of as many lanes and of others."""

    def made(x):
        table = jnp.outer(jnp.arange(24.0), x).reshape(4, 8, 3)
        return table, table > 1.0, jnp.arange(40) + jnp.floor(x[0]).astype(int), x.sum()

    def summed(table, above, count, total):
        return jnp.where(above, table, 0.0).sum() + count.sum() + total

    x = np.random.default_rng(3).normal(size=(size, 4, 3))
    compiled = Compiled(made, cache=False)
    again = [Compiled(summed, cache=False), Compiled(summed, cache=False, lanes=1)]
    rows, left = compiled.batch(x[:, :, 0]), compiled.batch_left(x[:, :, 0])
    assert [isinstance(each, Resident) for each in left] == [True, True, True, False]
    for one, other in zip(left[:3], rows, strict=False):
        np.testing.assert_array_equal(one[:, :3], other[:, :3])
    for each in again:
        assert_same(each.batch(*left), [each.batch(*rows)])
    for one, other in zip(left, rows, strict=True):
        assert one.dtype == other.dtype
        np.testing.assert_array_equal(one, other)
