"""Random programs: compiled as interpreted, as XLA has them, lanes as single calls; and no input breaks the process."""

import re
import subprocess
import sys

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from jax import lax

import naiad.compiler as nc
from naiad.compiler.finish import finish
from naiad.compiler.interpret import interpret
from naiad.compiler.trace import trace
from naiad.errors import InputError
from tests.compiler.compare import LANES, assert_close, assert_same, leaves, xla

SHAPES = ((), (3,), (2, 3), (3, 3), (40,))

# A program is a list of steps (kind, numbers): each takes arrays of the pool that fit and adds what it makes to it. The
# numbers choose among what fits, so that every list is a program, and a smaller list is a smaller one.


def pick(pool, number, shapes=None):
    fitting = [x for x in pool if shapes is None or x.shape in shapes]
    return fitting[number % len(fitting)] if fitting else None


def alike(pool, x, number):
    return pick(pool, number, (x.shape, ()))


UNARY = [
    jnp.sin,
    jnp.tanh,
    lambda x: -x,
    jnp.abs,
    lambda x: x**2,
    lambda x: jnp.sqrt(1.0 + x**2),
    lambda x: x / (2.0 + x**2),
    jnp.floor,
    jnp.sign,
]
BINARY = [jnp.add, jnp.subtract, jnp.multiply, jnp.maximum, lambda x, y: x / (1.5 + y**2), jnp.minimum, jnp.arctan2]
COMPARISONS = [jnp.less, jnp.less_equal, jnp.greater, jnp.not_equal]


def unary(pool, a, b, c):
    return UNARY[a % len(UNARY)](pick(pool, b))


def binary(pool, a, b, c):
    x = pick(pool, b)
    return BINARY[a % len(BINARY)](x, alike(pool, x, c))


def where(pool, a, b, c):
    x = pick(pool, b)
    return jnp.where(COMPARISONS[a % 4](x, alike(pool, x, c)), x, alike(pool, x, a + c))


def whole(pool, a, b, c):
    n = pick(pool, b).astype(jnp.int64)
    return (n * (a - 5) + (n // 3 if c % 2 else n % 3)) * 0.25


def piece(pool, a, b, c):
    x = pick(pool, b)
    if not x.ndim:
        return x
    return [x[0], x[-1], x[::-1], x[1:], x[..., :2], x[..., ::2]][c % 6]


def dynamic(pool, a, b, c):
    x, scale = pick(pool, b, SHAPES[1:]), pick(pool, a)
    i = (3.0 * jnp.sum(scale)).astype(jnp.int64)
    return [lambda: x[i], lambda: lax.dynamic_slice_in_dim(x, i, 2), lambda: x[jnp.stack([i, i + 1, -i])]][c % 3]()


def join(pool, a, b, c):
    x = pick(pool, b)
    y = pick(pool, a, (x.shape,))
    return [
        lambda: jnp.stack([x, y]),
        lambda: jnp.concatenate([jnp.ravel(x), jnp.ravel(y)]),
        lambda: x.reshape(-1)[::-1],
        lambda: x.T,
    ][c % 4]()


def reduce(pool, a, b, c):
    x = pick(pool, b)
    return [jnp.sum, jnp.max, jnp.min, lambda v: jnp.sum(v, axis=0), lambda v: jnp.cumsum(v.reshape(-1)) * 0.2][c % 5](
        jnp.atleast_1d(x)
    )


def product(pool, a, b, c):
    m, v = pick(pool, a, ((3, 3), (2, 3))), pick(pool, b, ((3,), (3, 3)))
    return m @ v


def change(pool, a, b, c):
    x, y = pick(pool, b, SHAPES[1:]), pick(pool, a, ((),))
    i = jnp.floor(5.0 * y).astype(jnp.int64)
    return [
        x.at[1].set(y),
        x.at[i].add(y),
        x.at[i].set(x[0]),
        x.at[::2].multiply(y),
        lax.dynamic_update_slice_in_dim(x, x[:2], i, 0),
    ][c % 5]


SIMPLE = [unary, binary, where, whole, piece, dynamic, join, reduce, product, change]
STRAIGHT = {f.__name__: f for f in SIMPLE}


def tame(x):
    """Numbers of the size of one, whatever came before."""
    return jnp.where(jnp.abs(x) < 4.0, x, jnp.tanh(x) + 0.125 * jnp.sign(x))


def run(steps, pool):
    pool = list(pool)
    for kind, (a, b, c), inner in steps:
        made = tame((CONTROL.get(kind) or STRAIGHT[kind])(pool, a, b, c, *([inner] if kind in CONTROL else [])))
        if made.ndim <= 2 and 0 < made.size <= 80:
            pool.append(made)
    return pool


def inner_of(steps, pool, x):
    """The steps as a function from the shape of x to itself."""
    last = run(steps, [x, *pool])[-1]
    return tame(0.5 * x + 0.5 * (last if last.shape == x.shape else jnp.sum(last) / last.size))


def loop(pool, a, b, c, inner):
    return lax.fori_loop(0, a % 5, lambda i, x: inner_of(inner, pool, x + 0.1 * i), pick(pool, b))


def uneven(pool, a, b, c, inner):
    """As many rounds as the numbers say."""
    x = pick(pool, b)
    return lax.while_loop(
        lambda s: (s[0] < 6) & (jnp.sum(s[1]) < 1.0 + a % 3),
        lambda s: (s[0] + 1, inner_of(inner, pool, s[1]) + 0.2),
        (0, x),
    )[1]


def along(pool, a, b, c, inner):
    x, xs = pick(pool, b), pick(pool, a, SHAPES[1:])
    last, path = lax.scan(
        lambda s, t: (inner_of(inner, pool, s + 0.1 * jnp.sum(t)), jnp.sum(s) - t), x, xs, reverse=c % 2 == 0
    )
    return [last, path][c // 2 % 2]


def branch(pool, a, b, c, inner):
    x = pick(pool, b)
    return lax.cond(
        jnp.sum(pick(pool, a)) > 0.1 * c, lambda y: inner_of(inner, pool, y), lambda y: y * 0.5 if c % 2 else y, x
    )


def slope(pool, a, b, c, inner):
    return jax.grad(lambda x: jnp.sum(jnp.sin(inner_of(inner, pool, x))))(pick(pool, b))


CONTROL = {f.__name__: f for f in (loop, uneven, along, branch, slope)}
NUMBERS = st.tuples(*(st.integers(0, 11) for _ in range(3)))
SMOOTH = [name for name in STRAIGHT if name != "whole"]


@st.composite
def programs(draw, depth=2, most=6, names=tuple(STRAIGHT)):
    steps = []
    for _ in range(draw(st.integers(1, most))):
        kinds = list(names) + (2 * list(CONTROL) if depth else [])
        kind = draw(st.sampled_from(kinds))
        forward = SMOOTH if kind == "slope" else names
        shallower = 0 if kind == "slope" else depth - 1
        inner = draw(programs(depth=shallower, most=3, names=tuple(forward))) if kind in CONTROL else ()
        steps.append((kind, draw(NUMBERS), inner))
    return tuple(steps)


def inputs(count: int) -> list[np.ndarray]:
    rng = np.random.default_rng(5)
    return [rng.normal(size=(count, *shape)) for shape in SHAPES]


TRANSCENDENTAL = {"sin", "cos", "tan", "tanh", "atan2", "exp", "log", "pow", "sinh", "cosh", "atan"}


def check(steps, fma: bool) -> None:
    def function(*arrays):
        pool = run(steps, arrays)
        return pool[len(SHAPES) :] or pool

    count = LANES + 1
    batch = inputs(count)
    first = [x[0] for x in batch]
    compiled = nc.compile(function, fma=fma, cache=False)
    singles = [compiled(*(x[k] for x in batch)) for k in range(count)]
    assert_close(singles[0], xla(function, *first), 1e-9, "against XLA")
    with jax.enable_x64(True):
        program = finish(trace(jax.make_jaxpr(function)(*first)), fma=False)
    meaning = interpret(program, first)
    if fma or not TRANSCENDENTAL.isdisjoint(program.stats):
        assert_close(singles[0], meaning, 1e-9, "against the interpreter")
    else:
        assert_same(singles[0], meaning, "against the interpreter")
    together = leaves(compiled.batch(*batch))
    for k in range(count):
        assert_same([leaf[k] for leaf in together], singles[k], f"row {k}")


QUIET = [HealthCheck.too_slow, HealthCheck.data_too_large]


@settings(max_examples=45, suppress_health_check=QUIET, derandomize=True)
@given(programs(depth=1, most=4), st.booleans())
def test_programs(steps, fma):
    check(steps, fma)


@pytest.mark.long
@settings(max_examples=1000, suppress_health_check=QUIET)
@given(programs(), st.booleans())
def test_many_programs(steps, fma):
    check(steps, fma)


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
