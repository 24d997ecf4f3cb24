"""WebAssembly computes what machine code without fused multiply-adds computes, bit for bit: every primitive, function,
loop and branch of the compiler's tests, programs drawn at random, and the steps of the methods."""

import secrets

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

import naiad as nd
from naiad.compiler import Compiled, engine
from naiad.compiler.backends.wasm import binary, operations
from naiad.compiler.backends.wasm.printer import print_wasm
from naiad.compiler.front.trace import trace
from naiad.compiler.ir.operations import OPERATIONS
from naiad.compiler.passes import split
from naiad.compiler.passes.finish import finish
from naiad.simulation import loop
from naiad.simulation.plan import Cadence, Routine
from tests.compiler import test_control_flow, test_edges, test_functions
from tests.compiler.compare import assert_same
from tests.compiler.programs import draw
from tests.compiler.test_algebra import SPECIAL
from tests.compiler.test_primitives import ARRAYS, ELEMENTS
from tests.compiler.webassembly import Wasmtime, assert_alike, check, kernels
from tests.integrators.test_stochastic import PARTICLE
from tests.verification.methods import METHODS
from tests.verification.problems import PROBLEMS
from tests.verification.test_registry import CASES, covering

TOP = PROBLEMS["heavy-top"]


def test_every_operation_is_written():
    written = [set(table) for table in (operations.SINGLE, operations.COMPARISONS, operations.STACKED, operations.HELD)]
    assert set().union(*written, operations.LIBRARY) == {*OPERATIONS, "select"}
    assert sum(map(len, written)) + len(set(operations.LIBRARY) - set().union(*written)) == len(OPERATIONS) + 1


@pytest.mark.parametrize("name", ELEMENTS)
def test_elements(name):
    function, columns, _ = ELEMENTS[name]
    check(function, *columns, rows=len(columns[0]))


@pytest.mark.parametrize("name", ARRAYS)
def test_arrays(name):
    function, given = ARRAYS[name]
    check(lambda *sets: [function(*args) for args in sets], *given)


@pytest.mark.parametrize("name", test_edges.EDGES)
def test_edges_of_arrays(name):
    function, given = test_edges.EDGES[name]
    check(lambda *sets: [function(*args) for args in sets], *given)


CONTROL = {
    f"{kind}, {name}": case
    for kind in ("LOOPS", "SCANS", "BRANCHES", "HAZARDS", "DERIVATIVES")
    for name, case in getattr(test_control_flow, kind).items()
}


@pytest.mark.parametrize("name", CONTROL)
def test_loops_and_branches(name):
    check(*CONTROL[name])


@pytest.mark.parametrize("every", [6, pytest.param(1, marks=pytest.mark.long)])
@pytest.mark.parametrize("group", test_functions.TABLE)
def test_functions_of_jax(group, every):
    calls = [test_functions.function(line) for line in test_functions.TABLE[group].strip().splitlines()[::every]]
    for chosen, shape in ((calls[::2], test_functions.SMALL), (calls[1::2], test_functions.LARGE)):
        check(lambda *args, chosen=chosen: [call(*args) for call in chosen], *test_functions.arrays(shape))


@pytest.mark.parametrize("part", [1, 3, 7])
def test_programs_in_parts(part, monkeypatch):
    monkeypatch.setattr(split, "LONGEST", 4)
    monkeypatch.setattr(split, "PART", part)
    program = check(test_edges.winding, np.array([0.3, -0.7, 1.1, 0.2]), np.array(5))
    assert program.frame


def sizes(x, y, z, n):
    """The largest and the smallest of numbers without a sign, in a row and around a loop."""
    x, y, z = jnp.abs(x), jnp.abs(y), jnp.abs(z)
    least = jnp.minimum(x, y)
    most = lax.fori_loop(0, n, lambda k, most: jnp.maximum(jnp.where(k == 1, x, z), most), jnp.minimum(least, 2.0))
    return jnp.maximum(jnp.maximum(x, y), z), jnp.maximum(least, z), most, jnp.minimum(least, z)


def test_the_largest_of_sizes():
    x, y = (each.reshape(-1) for each in np.meshgrid(SPECIAL, SPECIAL))
    found = check(sizes, x, y, np.roll(x, 5), np.full(x.size, 3), rows=x.size)
    assert found.stats["max"] == 4
    assert print_wasm(found).count(binary.INSTRUCTIONS["i64.reinterpret_f64"]) == 16  # none of them as floats


def check_drawn(seeds) -> None:
    for seed in seeds:
        drawn = draw(seed)
        batch = drawn.arrays(2, seed)
        with jax.enable_x64(True):
            closed = jax.make_jaxpr(drawn.function())(*(x[0] for x in batch))
        program, both = kernels(lambda closed=closed: finish(trace(closed, platform="cpu"), fma=False))
        want, got = (kernel(batch, [True] * len(batch), 2) for kernel in both)
        assert_alike(got, want, program.stats, f"seed {seed}")


def test_programs_drawn_at_random():
    check_drawn(range(20))


@pytest.mark.long
@pytest.mark.parametrize("chunk", range(10))
def test_many_programs_drawn_at_random(chunk):
    first = secrets.randbits(40)
    check_drawn(range(first, first + 100))


def check_advance(problem: str, method: str) -> None:
    """The loop of `simulate`: where it stands after some steps, and what was saved, for which there is just room."""
    system, state, dt = PROBLEMS[problem].system, PROBLEMS[problem].state, PROBLEMS[problem].t1 / 40
    routine = Routine(system, METHODS[method], {"mu": lambda state, t: state.mu}, {"energy": system.energy}, {}, room=5)
    standing, *_ = Compiled(loop.start, parameters=(0,))(routine, state, 0.0, dt)
    args = routine, standing, 0.0, dt, 10, 10, Cadence(2), None
    check(loop.advance, *args, parameters=(0,))


SHORT = [
    *(("heavy-top", "cay"), ("free-body", "exp"), ("vehicle", "flv"), ("tree", "tree"), ("string-reel", "string-imex")),
    *(("planets", "wisdom-holman2"), ("free-body-s3", "moser-veselov"), ("driven-pendulum", "rk4")),
]


@pytest.mark.parametrize(("problem", "method"), SHORT, ids=lambda name: name)
def test_steps(problem, method):
    check_advance(problem, method)


OF_SO5 = {"cay", "flv", "split4", "mln", "rk4"}  # LLVM takes a minute for some of the others
LONG = covering([case for case in CASES if case not in SHORT and (case[0] != "free-body-so5" or case[1] in OF_SO5)])


@pytest.mark.long
@pytest.mark.parametrize(("problem", "method"), LONG, ids=lambda name: name)
def test_steps_of_every_method_and_on_every_problem(problem, method):
    check_advance(problem, method)
    jax.clear_caches()


@pytest.mark.parametrize("noisy", [False, True])
def test_whole_runs(noisy, monkeypatch):
    """All that `simulate` compiles, from the start to the crossings of a section; and with noise."""
    system, state = (PARTICLE, PARTICLE.state(q=[0.3], v=[0.2])) if noisy else (TOP.system, TOP.state)
    method, noise = (nd.StochasticVariational(), nd.Noise(5)) if noisy else (nd.Variational(), None)
    section = nd.Section(lambda state, t: state.mu[0] - (0.4 if noisy else 0.55), direction=0)

    def numbers(backend) -> list[np.ndarray]:
        engine._compiled.cache_clear()
        options = {"fma": False, "cache": False, "backend": backend}
        monkeypatch.setattr(engine, "Compiled", lambda function, **more: Compiled(function, **options, **more))
        run = nd.simulate(
            *(system, state),
            t1=2.005,
            dt=0.02,
            method=method,
            noise=noise,
            save_every=7,
            outputs={"moved": lambda state, t: state.mu},
            monitors={"energy": system.energy},
            sections={"level": section},
            engine="compiled",
        )
        engine._compiled.cache_clear()
        assert len(run.crossings["level"].time) > 0
        found = [*(run.record[name].to_numpy() for name in run.record.data_vars), *run.monitors["energy"]]
        return [*found, run.crossings["level"].time.to_numpy(), *jax.tree.leaves(run.final)]

    want, got = numbers(None), numbers(Wasmtime())
    assert_same(got, want)
