"""Maps over few rows: their rounds lie side by side in the lanes of registers, also on the way round a loop."""

import secrets

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

import naiad.compiler as nc
from naiad.compiler.backends import LLVM
from naiad.compiler.backends.cuda.backend import CUDA
from naiad.compiler.front.trace import trace
from naiad.compiler.ir.program import Loop, Part, regions
from naiad.compiler.passes import split as splitting
from naiad.compiler.passes.finish import finish
from naiad.compiler.passes.packs import packed
from tests.compiler.compare import assert_close, leaves, xla
from tests.compiler.programs import draw_maps
from tests.compiler.test_fuzz import check

X = np.linspace(-0.9, 1.7, 8)
Y = np.cos(3.0 * X)
ROUNDS = (0, 1, 2, 3, 7)


def heavy(v):
    """Enough work for a lane, and no larger than v by much."""
    return 0.4 * jnp.sin(3.0 * v) * jnp.exp(-v * v) + v / (1.3 + v * v) + 0.1


def nodes(program):
    return [node for region in regions(program.region) for node in region.items]


def packs(program):
    return [node for node in nodes(program) if node.op == "pack"]


def made(function, *args):
    """The program of a single call."""
    with jax.enable_x64(True):
        closed = jax.make_jaxpr(function)(*args)
    return finish(packed(trace(closed, packs=True)), fma=True)


def run(function, *args, tolerance=2e-15, **options):
    """As XLA has it, alone and in lanes; the program of the single call."""
    want = xla(function, *args)
    compiled = nc.compile(function, cache=False, **options)
    assert_close(compiled(*args), want, tolerance)
    program = compiled._program()
    rows = [np.stack([arg] * 3) for arg in map(np.asarray, args)]
    together = nc.compile(function, cache=False, lanes=4, **options).batch(*rows)
    for k in range(3):
        assert_close([leaf[k] for leaf in leaves(together)], want, tolerance)
    return program


# -- programs drawn at random


@pytest.mark.parametrize("chunk", range(2))
def test_programs_of_maps(chunk):
    for seed in range(15 * chunk, 15 * (chunk + 1)):
        check(draw_maps(seed), seed, lanes=seed % 10 == 0)


@pytest.mark.long
@pytest.mark.parametrize("chunk", range(10))
def test_many_programs_of_maps(chunk):
    first = secrets.randbits(40)
    for seed in range(first, first + 200):
        check(draw_maps(seed), seed, lanes=seed % 10 == 0)


def test_programs_of_maps_in_parts(monkeypatch):
    """Packs go from one part to another, of truth values too."""
    for name, value in {"LONGEST": 6, "PART": 5, "MANY": 0, "WITH_LOOPS": 9, "FEWEST": 2}.items():
        monkeypatch.setattr(splitting, name, value)
    for seed in range(40, 48):
        check(draw_maps(seed), seed, lanes=False)


def test_programs_drawn_have_packs():
    """Of several widths, and on the way round loops."""
    found, carried = [], []
    for seed in range(12):
        drawn = draw_maps(seed)
        program = made(drawn.function(), *(x[0] for x in drawn.arrays(1, seed)))
        found += packs(program)
        carried += [param for loop in loops(program) for param in loop.params if param.width > 1]
    assert len({node.width for node in found}) > 2
    assert carried


# -- where there are packs


@pytest.mark.parametrize("count", [1, 2, 3, 8, 16, 17])
def test_up_to_sixteen_rows_are_packed(count):
    program = run(lambda x: lax.map(heavy, x), np.linspace(-1.0, 2.0, count))
    assert [node.width for node in packs(program)] == ([count] if 1 < count < 17 else [])
    assert {node.width for node in nodes(program) if node.op == "exp"} == {count if 1 < count < 17 else 1}


def test_packs_are_for_enough_work():
    """Twice as many operations as there are numbers that go into lanes and out."""

    def after(count):
        def function(x):
            def body(v):
                for _ in range(count):
                    v = v * v + 0.5
                return v

            return lax.map(body, x)

        return len(packs(made(function, X)))

    assert [after(count) for count in (1, 2, 3)] == [0, 1, 1]


def test_products_of_matrices_are_work():
    """A product has one operation for each term."""

    def function(count):
        return lambda A, x: lax.map(lambda row: A @ row, x)

    A = np.arange(16.0).reshape(4, 4) - 7.0
    assert len(packs(run(function(8), A, np.outer(X, [1.0, -0.5, 2.0, 0.3])))) == 4
    assert not packs(run(function(8), A[:2, :2], np.outer(X, [1.0, -0.5])))


def test_what_is_the_same_in_all_rows_is_no_pack():
    """A row that is the same, what is computed from it, and a result that is."""

    def function(x, y):
        def body(at):
            v, w = at
            return heavy(v) * jnp.cos(w), heavy(w), w, y

        return lax.map(body, (x, jnp.full(8, y)))

    program = run(function, X, 0.7)
    assert len(packs(program)) == 1
    assert [node.width for node in nodes(program) if node.op == "cos"] == [1]
    assert sorted(node.width for node in nodes(program) if node.op == "exp") == [1, 8]


def test_known_rows_cost_no_lanes():
    """Constants, which differ from row to row."""
    known = np.array([0.0, 1.0, -1.0, 2.0, -0.0, 0.5, 3.0, 1e10])

    def function(x):
        def body(at):
            k, flag, count = at
            return jnp.where(flag, k * x + jnp.sin(x + k), x - k) * count + jnp.maximum(k, x)

        return lax.map(body, (jnp.asarray(known), jnp.asarray(known > 0.7), jnp.arange(8)))

    assert {node.type for node in packs(run(function, 0.7))} == {"f", "b", "i"}


@pytest.mark.parametrize(
    "body",
    [
        lambda v: jnp.sum(jnp.broadcast_to(v, (40,)) * 2.0) + heavy(v),
        lambda v: heavy(v) + jnp.sum(jnp.stack([v] * 40) * jnp.asarray(np.linspace(0.0, 1.0, 40))),
        lambda v: heavy(v) + jax.jit(lambda u: (u * jnp.ones((33, 2))).sum())(v),
        lambda v: heavy(v) + jnp.asarray(np.arange(40.0))[jnp.asarray(v * 10, int)],
        lambda v: lax.fori_loop(0, 20, lambda _, u: heavy(u), v),
        lambda v: lax.cond(v > 0.3, heavy, lambda u: u, v),
    ],
    ids=["broadcast", "constants", "inside", "index", "loop", "branch"],
)
def test_what_takes_memory_or_jumps_is_not_packed(body):
    assert not packs(run(lambda x: lax.map(body, x), X, tolerance=1e-14))


def test_only_single_calls_on_the_processor_have_packs():
    """Rows in lanes, and other machines, have their own ways."""
    assert LLVM.packs
    assert not CUDA.packs
    compiled = nc.compile(lambda x: lax.map(heavy, x), cache=False, lanes=4)
    compiled(X)
    assert compiled.stats["operations"]["lane"] == 8
    compiled.batch(np.stack([X, Y]))
    assert "lane" not in compiled.stats["operations"]
    one = nc.compile(lambda x: lax.map(heavy, x), cache=False, lanes=1)
    assert_close(one.batch(np.stack([X, Y])), xla(heavy, np.stack([X, Y])))
    assert one.stats["operations"]["lane"] == 8
    assert one.wasm(X).bytes


# -- what packs are computed with


@jax.custom_jvp
def root(x):
    return jnp.sqrt(x * x + 1.0)


root.defjvp(lambda at, by: (root(*at), by[0] * at[0] / root(*at)))


def both_ways(v):
    """Wherever a scalar and a pack meet, on either side."""
    s, t = v[0], v[1]
    return jnp.stack([s - 0.3, 0.3 - s, s / 3.7, 3.7 / (s + 5.0), s * t - 0.3, 0.3 - s * t, t * 2.0 + s, -s * t])


MATRIX = np.array([[0.3, -1.2, 0.5], [2.0, 0.1, -0.7]])
BODIES = {
    "both ways": both_ways,
    "matrices": lambda v: (jnp.asarray(MATRIX) @ v) @ jnp.asarray(MATRIX) + jnp.outer(v, v).sum(0) * jnp.dot(v, v),
    "places": lambda v: jnp.concatenate([heavy(v)[::-1], heavy(v).reshape(3, 1).T[0], jnp.pad(v, 1), v[1:]]),
    "functions": lambda v: jnp.stack([jnp.tanh(v), jnp.arctan2(v, v[::-1]), jnp.log1p(v * v), jnp.cbrt(v), v**3]),
    "powers": lambda v: (jnp.abs(v) + 0.1) ** 0.5 + v**-2 + (v * v + 0.2) ** v,
    "extremes": lambda v: jnp.maximum(v, 0.2) - jnp.minimum(0.1, v) + v.max() * v.min() + jnp.clip(v, -0.3, 0.8),
    "steps": lambda v: jnp.sign(v) * jnp.floor(3.0 * v) + jnp.ceil(v) * jnp.round(7.0 * v) + jnp.abs(v),
    "comparisons": lambda v: ((v > 0.2) & (v < v[::-1])) | ~(v >= 0.1) ^ (v == v[0]) & (v != v[1]),
    "selections": lambda v: jnp.where(v > 0.2, heavy(v), jnp.where(v[0] <= 0.3, v, 7.0)) + jnp.where(v > 0, 1.0, 0.0),
    "integers": lambda v: (jnp.floor(10 * v).astype(int) * 3 - 7) ** 2 + jnp.maximum((5 * v).astype(np.int32), 2),
    "finite": lambda v: jnp.where(jnp.isfinite(1.0 / (v - v[0])), heavy(v), jnp.all(jnp.isfinite(heavy(v))) * 1.0),
    "own derivative": lambda v: root(heavy(v)) * root(v),
    "slopes": lambda v: jax.grad(lambda u: jnp.sum(root(u) * heavy(u)) * u[0])(v),
    "in a function": lambda v: jax.jit(lambda u: heavy(u) * heavy(u[0]))(v) - jax.jit(heavy)(v),
}
ROWS = np.outer(X, [1.0, -0.5, 0.8]) + np.array([0.05, 0.3, -0.2])


@pytest.mark.parametrize("name", BODIES)
def test_bodies(name):
    for count in (8, 3):
        assert packs(run(lambda x: lax.map(BODIES[name], x), ROWS[:count], tolerance=1e-13))


def test_numbers_that_are_none():
    """Infinities and not-a-number stay in their lanes."""
    special = np.array([np.inf, -np.inf, np.nan, 0.0, -0.0, 1e300, 1e-300, -2.5])

    def function(x, y):
        def body(at):
            v, w = at
            return jnp.sqrt(v) * w + jnp.sign(v) / w, jnp.maximum(v, w) * v - w, v * v * w / (jnp.minimum(w, v) - w)

        return lax.map(body, (x, y))

    for shift in range(8):
        assert packs(run(function, special, np.roll(special, shift), fma=False))


def test_maps_one_after_the_other():
    """The lanes of one are those of the next, in the same order or in another, and of another width."""

    def function(x, y):
        a = lax.map(heavy, x)
        b = lax.map(lambda at: heavy(at[0]) * heavy(at[1]), (a, y))
        c = lax.map(lambda at: heavy(at[0]) - at[1] * jnp.exp(at[2]), (b[::-1], a, jnp.roll(b, 1)))
        d = lax.map(lambda v: heavy(v) * jnp.exp(v), c[2:5])
        return a, b, c, d, c[0] * d[1]

    program = run(function, X, Y)
    assert sorted(node.width for node in packs(program)) == [3, 8, 8, 8, 8]


def test_rows_from_memory():
    def function(x, table):
        return lax.map(lambda at: heavy(at[0]) + jnp.sin(at[1]) @ at[1], (x[5:13], table[30:38]))

    x = np.linspace(-1.0, 1.0, 40)
    assert len(packs(run(function, x, np.outer(x, [1.0, 2.0, -0.5])))) == 4


# -- around loops


def loops(program):
    return [node for node in nodes(program) if isinstance(node, Loop)]


def times(n, body, *inits):
    return lax.fori_loop(0, n, lambda _, at: tuple(body(*at)), inits)


def rounds(x, n):
    return times(n, lambda x: (lax.map(heavy, x),), x)


def test_lanes_go_round_as_one():
    program = run(rounds, X, 3)
    (loop,) = loops(program)
    assert sorted((param.type, param.width) for param in loop.params) == [("f", 8), ("i", 1)]
    assert not {"pack", "lane"} & {node.op for node in (*loop.test.items, *loop.body.items)}
    assert len(packs(program)) == 1
    assert [node.op for node in nodes(program)].count("lane") == 8
    assert loop.results[0].width + loop.results[-1].width == 9 or len(loop.results) == 1


def whirl(x, n):
    """Rows of several columns, of all types, that depend on each other, on what is outside and on numbers."""

    def body(x, flags, counts, total):
        def each(at):
            v, flag, count = at
            w = heavy(v) + jnp.where(flag, 0.1 * total, -0.2) * v[0]
            return w, (w[0] > 0.2) ^ flag, 3 * count + jnp.floor(10.0 * w[1]).astype(int)

        x, flags, counts = lax.map(each, (x, flags, counts))
        return x, flags, counts, 0.1 * total + x[2, 0]

    return times(n, body, x, x[:, 0] > 0.3, jnp.arange(8), 0.5)


def permuted(x, n):
    """What comes out in one lane goes in at another."""
    return times(n, lambda x: (lax.map(heavy, x)[::-1],), x)


def turned(x, n):
    return times(n, lambda x: (jnp.roll(lax.map(heavy, x), 1),), x)


def some(x, n):
    """Other lanes do not go round, or stay as they are."""
    return times(n, lambda x: (lax.map(heavy, x).at[2].set(0.25).at[5].set(x[5]),), x)


def few(x, n):
    """Three of the lanes."""
    return times(n, lambda a, b, c: tuple(lax.map(heavy, jnp.stack([a, b, c, a, b, c, a + b, c]))[1:4]), *x[:3])


def twice(x, n):
    """One pack goes round in two places, and one of its lanes in a third."""

    def body(x, y, z, last):
        made = lax.map(lambda at: heavy(at[0]) + 0.1 * at[1] - 0.2 * at[2], (x, y, z))
        return made, made, made[::-1], made[3]

    return times(n, body, x, 2.0 * x, x - 1.0, 0.0)


def before_last(x, n):
    """What was there a round ago, and two."""
    return times(n, lambda x, y, z: (lax.map(lambda a: heavy(a[0]) + 0.1 * a[1] * a[2], (x, y, z)), x, y), x, x + 1, -x)


def swapped(x, n):
    """Two packs that change places."""

    def body(x, y):
        return lax.map(lambda a: (heavy(a[1]), heavy(a[0]) - 0.1 * a[1]), (x, y))

    return times(n, body, x, 1.0 - x)


def lanes_read(x, n):
    """Lanes that are read one by one on the way, in the test and after."""

    def body(at):
        x, s, k = at
        return lax.map(lambda v: heavy(v) + 0.1 * s, x), 0.5 * s + x[1] - x[6], k + 1

    x, s, k = lax.while_loop(lambda at: (at[2] < n) & (at[0][3] < 50.0), body, (x, 0.0, 0))
    return x[::-1], x[0] * x[7] + s, k


def test_of_a_map(x, n):
    """A map in the test of a loop."""

    def going(at):
        return (at[1] < n) & (jnp.max(lax.map(heavy, at[0])) < 100.0)

    return lax.while_loop(going, lambda at: (lax.map(heavy, at[0]) * 1.5, at[1] + 1), (x, 0))


test_of_a_map.__test__ = False


def in_loops(x, n):
    """A loop in a loop, each with its own map, and a pack from outside."""
    outside = lax.map(lambda v: heavy(v) * jnp.exp(v), x)

    def body(x, y):
        x, z = times(n % 3, lambda x, z: lax.map(lambda a: (heavy(a[0]) + 0.1 * a[1], heavy(a[1])), (x, z)), x, outside)
        return lax.map(lambda a: (heavy(a[0]) - a[2], a[1] * heavy(a[2])), (x, y, z))

    return times(n, body, x, x[::-1])


def only_inside(x, n):
    """A pack that goes round the inner loop, of which the outer one sees lanes."""

    def body(x):
        (y,) = times(2 + n, lambda y: (lax.map(heavy, y),), x)
        return (jnp.where(x > y, x[::-1], y),)

    return times(n, body, x)


def in_branches(x, n):
    def body(x):
        return (
            lax.cond(
                x[0] > 0.2,
                lambda: lax.map(lambda v: heavy(heavy(v)), x),
                lambda: jnp.exp(lax.map(lambda v: heavy(v) - jnp.cos(v), -x)),
            ),
        )

    return times(n, body, x)


def from_outside(x, n):
    """A pack that nobody makes anew takes the place of one that goes round."""
    outside = lax.map(heavy, x)
    return times(n, lambda x, y: (outside, lax.map(heavy, x + y)), x, x)


def scanned(x, n):
    def step(x, t):
        x = lax.map(lambda v: heavy(v) + 0.01 * t, x)
        return x, (x[3], x)

    return lax.scan(step, x, jnp.linspace(0.0, 1.0, 40) * n)


def known_after(x, n):
    """Results that are known, and are made after all else."""
    return (*rounds(x, n), 17, 18.5, 19.5, 20.5, 21.5, 22.5, True)


def slopes(x, n):
    """Derivatives on the way there and on the way back."""

    def through(x):
        return lax.scan(lambda x, _: (lax.map(heavy, x), None), x, None, length=60)[0]

    return jax.jvp(through, (x,), (x * n,))[1], jax.grad(lambda x: through(x)[2] * n + jnp.sum(through(x)))(x)


LOOPS = {
    f.__name__: f
    for f in (
        *(rounds, permuted, turned, some, few, twice, before_last, swapped, lanes_read, test_of_a_map, in_loops),
        *(only_inside, in_branches, from_outside, scanned, known_after, slopes),
    )
}


@pytest.mark.parametrize("name", LOOPS)
def test_loops(name):
    function = LOOPS[name]
    compiled = nc.compile(function, cache=False)
    together = nc.compile(function, cache=False, lanes=4)
    wants = [xla(function, X, n) for n in ROUNDS]
    for n, want in zip(ROUNDS, wants, strict=True):
        assert_close(compiled(X, n), want, 1e-13, f"{n} rounds")
    assert any(node.width > 1 for node in nodes(compiled._program()))
    found = leaves(together.batch(np.stack([X] * len(ROUNDS)), np.array(ROUNDS)))
    for k, want in enumerate(wants):
        assert_close([leaf[k] for leaf in found], want, 1e-13, f"{ROUNDS[k]} rounds in a lane")


def test_all_types_go_round():
    compiled = nc.compile(whirl, cache=False)
    for n in ROUNDS:
        assert_close(compiled(ROWS, n), xla(whirl, ROWS, n), 1e-13)
    (loop,) = loops(compiled._program())
    wide = sorted((param.type, param.width) for param in loop.params if param.width > 1)
    assert wide == [("b", 8), ("f", 8), ("f", 8), ("f", 8), ("i", 8)]


def wide_in(function):
    """How many packs go round the loops of a program, and how many are made in them."""
    program = made(function, X, 3)
    inside = [node for region in regions(program.region) if region.in_loop for node in region.items]
    wide = sum(param.width == 8 for loop in loops(program) for param in loop.params)
    return wide, sum(node.op == "pack" for node in inside)


def test_what_goes_round_as_one():
    """Nothing is put together in a loop but what comes in other lanes, or from elsewhere."""
    assert wide_in(rounds) == (1, 0)
    assert wide_in(swapped) == (2, 0)
    assert wide_in(in_loops) == (4, 0)
    assert wide_in(scanned) == (1, 0)
    assert wide_in(permuted) == (1, 1)
    assert wide_in(turned) == (1, 1)
    assert wide_in(twice)[0] == 1
    assert wide_in(some) == (0, 1)
    assert wide_in(few) == (0, 1)


def test_many_packs_go_round_whose_lanes_are_read():
    """More than there are registers for pointers."""

    def function(x, n):
        return times(n, lambda x: (lax.map(heavy, x + 0.01 * x[::-1]),), x)

    x = np.random.default_rng(1).normal(size=(8, 20))
    program = run(function, x, 3, tolerance=1e-13)
    assert sum(param.width == 8 for loop in loops(program) for param in loop.params) == 20


@pytest.mark.parametrize("name", ["rounds", "lanes_read", "in_loops", "twice", "whirl"])
def test_loops_in_parts(name, monkeypatch):
    """The same numbers to the last bit; packs lie in the frame."""
    function, x = (whirl, ROWS) if name == "whirl" else (LOOPS[name], X)
    whole = [leaves(nc.compile(function, cache=False)(x, n)) for n in ROUNDS]
    for values in ({"MANY": 0, "WITH_LOOPS": 12, "FEWEST": 2}, {"LONGEST": 3, "PART": 2}):
        with monkeypatch.context() as patch:
            for key, value in values.items():
                patch.setattr(splitting, key, value)
            cut = nc.compile(function, cache=False)
            for n, want in zip(ROUNDS, whole, strict=True):
                for got, each in zip(leaves(cut(x, n)), want, strict=True):
                    np.testing.assert_array_equal(got, each)
            program = splitting.split(cut._program(), loops=True)
            assert any(isinstance(node, Part) for node in nodes(program))
            wide = [node for node in (*nodes(program), *(p for loop in loops(program) for p in loop.params))]
            assert any(node.width > 1 for node in wide if node.number in program.frame)
