"""Random programs: compiled as IEEE and XLA have them, lanes as single calls; and no input breaks the process."""

import re
import secrets
import subprocess
import sys

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import naiad.compiler as nc
from naiad.compiler.backends import Kernel, default_backend
from naiad.compiler.front.trace import trace
from naiad.compiler.passes.finish import finish
from naiad.compiler.passes.packs import packed
from naiad.errors import InputError
from tests.compiler.compare import LANES, assert_same, xla
from tests.compiler.programs import Program, draw
from tests.compiler.reference import reference

ROWS, JUDGED = LANES + 1, 2  # rows of a batch, and how many of them are held against the reference


def kernel(closed, *, fma: bool, lanes: int) -> Kernel:
    """The machine code of a jaxpr, which is traced only once for single calls, lanes and the reference."""
    backend = default_backend()
    packs = lanes == 1 and backend.packs
    program = finish(packed(trace(closed, platform=backend.platform, packs=packs)), fma=fma)
    source = backend.source(program, lanes)
    return backend.load(backend.build(source), program.layout, lanes)


def but_for_signs_of_zeros(x: np.ndarray) -> np.ndarray:
    """All that is not promised of a result: the rest was taken out of the program (the head of `programs.py`)."""
    return np.where(x == 0, 0.0, x) if x.dtype == np.float64 else x


def differs(got: np.ndarray, want: np.ndarray) -> bool:
    """Whether any bit does; not-a-numbers are equal."""
    got, want = but_for_signs_of_zeros(got), but_for_signs_of_zeros(want)
    return got.dtype != want.dtype or not np.array_equal(got, want, equal_nan=got.dtype == np.float64)


def fault(program: Program, seed: int, *, lanes: bool) -> tuple[str, int] | None:
    """What is wrong with the compiled program, and in which row of its inputs."""
    batch = program.arrays(ROWS, seed)
    with jax.enable_x64(True):
        closed = jax.make_jaxpr(program.function())(*(x[0] for x in batch))
    single = kernel(closed, fma=program.tame, lanes=1)
    alone = [single([x[k] for x in batch], [False] * len(batch), 1) for k in range(ROWS if lanes else JUDGED)]
    rows = [[leaf[0] for leaf in results] for results in alone]
    for k in range(JUDGED):
        for name, got, want in zip(program.results(), rows[k], reference(closed, [x[k] for x in batch]), strict=True):
            if differs(got, want):
                return f"{name} = {got}, expected {want}", k
    if lanes:
        together = kernel(closed, fma=program.tame, lanes=LANES)(batch, [True] * len(batch), ROWS)
        for k, row in enumerate(rows):
            for name, got, want in zip(program.results(), together, row, strict=True):
                if differs(got[k], want):
                    return f"{name} = {got[k]} in lane {k}, {want} alone", k
    return None


def found(program: Program, seed: int, *, lanes: bool) -> tuple[str, int] | None:
    """What is wrong, an exception too."""
    try:
        return fault(program, seed, lanes=lanes)
    except Exception as error:
        return f"{type(error).__name__}: {error}", 0


def check(program: Program, seed: int, *, lanes: bool) -> None:
    """Try a program on inputs that are drawn; a failure is cut down to the lines that make it."""
    wrong = found(program, seed, lanes=lanes)
    while wrong is not None:
        smaller = next((p for p in program.smaller() if found(p, seed, lanes=lanes)), None)
        if smaller is None:
            what, k = found(program, seed, lanes=lanes) or wrong
            script = program.script([x[k] for x in program.arrays(ROWS, seed)])
            pytest.fail(f"seed {seed}: {what}\n\n{script}", pytrace=False)
        program = smaller


@pytest.mark.parametrize("chunk", range(4))
def test_programs(chunk):
    for seed in range(25 * chunk, 25 * (chunk + 1)):
        check(draw(seed), seed, lanes=seed % 4 < 2 and seed % 3 == 0)


@pytest.mark.long
@pytest.mark.parametrize("chunk", range(10))
def test_many_programs(chunk):
    first = secrets.randbits(40)
    for seed in range(first, first + 500):
        check(draw(seed), seed, lanes=seed % 4 < 2 and seed % 3 == 0)


@pytest.mark.parametrize("seeds", [range(1, 7, 2), pytest.param(range(7, 207, 2), marks=pytest.mark.long)])
def test_the_reference_is_what_xla_does(seeds):
    for seed in seeds:
        program = draw(seed)  # a tame one: no subnormal numbers, and no rounding
        row = [x[0] for x in program.arrays(1, seed)]
        with jax.enable_x64(True):
            closed = jax.make_jaxpr(program.function())(*row)
        wants = xla(program.function(), *row)
        for name, got, want in zip(program.results(), reference(closed, row), wants, strict=True):
            assert not differs(got, want), f"seed {seed}, {name}\n{program.script(row)}"


# Inputs that are not what is wanted: an error that says so, or the right result


def vector(x):
    return 2.0 * x[:3] + x[0]


@pytest.mark.parametrize(
    "given",
    [
        np.ones(3, complex),
        1j * np.ones(3),
        np.ones(3, np.uint8),
        np.array(["a", "b", "c"]),
        np.ones(3, object),
        np.ones(3, "M8[s]"),
    ],
)
def test_numbers_of_other_kinds_are_refused(given):
    compiled = nc.compile(vector, cache=False)
    with pytest.raises(InputError, match=re.escape(f"{given.dtype}")):
        compiled(given)
    with pytest.raises(InputError, match=re.escape(f"{given.dtype}")):
        compiled.batch(given[None])


def test_numbers_that_are_too_large_are_refused():
    with pytest.raises(InputError, match="expected float64"):
        nc.compile(lambda n: n + 1, cache=False)(2**70)


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
def test_single_precision_is_refused_with_the_remedy(dtype):
    """0.1f would be 0.10000000149 in double precision, and XLA would give a float32 back."""
    compiled = nc.compile(lambda tree: tree["a"][0] * 2.0, cache=False)
    remedy = rf"an argument is {np.dtype(dtype)}; .* convert it: np.asarray\(x, float\)"
    for given in (dtype(0.1), np.ones(3, dtype), jnp.ones(3, dtype)):
        with pytest.raises(InputError, match=remedy):
            compiled({"a": (given, 1)})
        with pytest.raises(InputError, match=remedy):
            compiled.batch({"a": (np.asarray(given).reshape(-1), np.ones(1))})
    for number in (0.1, 1, np.float64(0.1), np.int32(1)):
        assert compiled({"a": (number, 1)}) == 2.0 * float(number)


def test_a_complex_number_is_refused():
    with pytest.raises(InputError, match="an argument is complex128"):
        nc.compile(lambda z: z * 2, cache=False)(1j)


def test_text_and_none_are_part_of_the_function():
    compiled = nc.compile(
        lambda how, x, extra: (x + 1 if how == "up" else x - 1) + (0 if extra is None else extra), cache=False
    )
    assert compiled("up", 1.0, None) == 2.0
    assert compiled("down", 1.0, None) == 0.0
    assert compiled("down", 1.0, 5.0) == 5.0
    assert_same(compiled.batch("up", np.arange(3.0), None), np.arange(3.0) + 1)


def test_other_shapes_are_other_programs():
    compiled = nc.compile(lambda x: x.sum(0) * 2, cache=False)
    for shape in ((3,), (2, 3), (40,), (1, 1, 1), (3, 0)):
        x = np.arange(float(np.prod(shape))).reshape(shape)
        assert_same(compiled(x), x.sum(0) * 2)


def test_wrong_shapes_are_named_by_jax():
    with pytest.raises(TypeError, match="shapes"):
        nc.compile(lambda x, y: x + y, cache=False)(np.ones(3), np.ones(4))


def test_batches_whose_lengths_differ():
    compiled = nc.compile(lambda x, y: x + y, cache=False)
    with pytest.raises(InputError, match=r"\[2, 3\] rows"):
        compiled.batch(np.ones(3), np.ones(2))
    with pytest.raises(InputError, match="single number"):
        compiled.batch(np.ones(3), 1.0)
    with pytest.raises(InputError, match="rows"):
        compiled.batch(1.0, 2.0, shared=(0, 1))


def test_not_contiguous_arrays():
    x = np.arange(24.0).reshape(4, 6)
    compiled = nc.compile(lambda x: x @ x.T, cache=False)
    for view in (x[::2, ::3], x.T[:3, :2], x[::-1, :2], np.asfortranarray(x)):
        assert_same(compiled(view), view @ view.T)
        assert_same(
            compiled.batch(np.stack([view, view + 1])[::-1]), np.stack([(view + 1) @ (view + 1).T, view @ view.T])
        )


NASTY = """
c = lambda f, **k: nc.compile(f, cache=False, **k)
n, inf, nan, big = np.arange(40.0), np.inf, np.nan, 2**63 - 1
# indices far outside, in every lane
part = lambda x, i: (lax.dynamic_slice(x, (i,), (3,)), lax.dynamic_update_slice(x, x[:3], (i,)))
at = c(lambda x, i: (x[i], x.at[i].set(1.0), part(x, i)))
for i in (big, -big - 1, 2**40, -(2**40), 0):
    at(n, i); at(n[:5], i)
at.batch(np.stack([n] * 9), np.array([big, -big - 1, 5, -1, 2**33, -(2**33), 39, 40, -41]))
# indices made of what is not a number
jump = c(lambda x, y: x[(y * 1e300).astype(int)] + lax.fori_loop(0, 3, lambda i, s: s + x[(s * y).astype(int)], 0.0))
jump(n, nan); jump.batch(np.stack([n] * 6), np.array([nan, inf, -inf, 1e300, 0.0, -1.0]))
# integers that trap
div = c(lambda a, b: (lax.div(a, b), lax.rem(a, b), a // b, a % b))
div.batch(np.array([-big - 1, 1, 0, -big - 1]), np.array([-1, 0, 0, 0])); div(np.int32(-(2**31)), np.int32(-1))
# indices in lanes that do not take an arm, or have finished their loop
strides = lambda x, i: lax.while_loop(lambda s: s[0] < 40, lambda s: (s[0] + i, s[1] + x[s[0]]), (i, 0.0))[1]
lanes = c(lambda x, i: lax.cond(i > 0, lambda: strides(x, i), lambda: x[i]))
lanes.batch(np.stack([n] * 9), np.array([1, -1, 7, 0, 39, -40, 2**40, -(2**40), 3]))
# nothing at all
none = c(lambda x: (x.sum(), x * 2, lax.scan(lambda s, y: (s + y, s), 0.0, x)))
none(np.ones(0)); none.batch(np.ones((3, 0))); none.batch(np.ones((0, 0))); none.batch(np.ones((0, 40)))
c(lambda: jnp.ones(3))(); c(lambda x: ())(1.0); c(lambda x: (), lanes=1).batch(np.ones(5))
# a large table, a large work area, many rows
c(lambda x: (jnp.arange(2e5) * x)[::7].sum())(1.0)
c(lambda x: lax.fori_loop(0, 9, lambda i, a: a.at[i].add(a[-i]), jnp.zeros(100000) + x).sum()).batch(np.ones(33))
print("alive")
"""


def test_nothing_breaks_the_process():
    head = "import jax\nimport jax.numpy as jnp\nimport numpy as np\nfrom jax import lax\nimport naiad.compiler as nc\n"
    done = subprocess.run([sys.executable, "-c", head + NASTY], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout == "alive\n"
