"""Loops and branches: values as XLA has them, lanes as single calls; arrays that are changed while others read them."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

import naiad.compiler as nc
from naiad.compiler.front.jaxprs import UNROLLED_OPERATIONS
from naiad.compiler.front.trace import trace
from tests.compiler.compare import LANES, assert_close, assert_rows, assert_same, leaves, xla

N = 40  # so many elements live in memory
COUNT = LANES + 3
LONG = np.linspace(0.1, 2.0, N)
TABLE = np.cos(np.arange(N))
SMALL = np.array([0.3, -1.2, 2.0])


def rows(*args) -> list[np.ndarray]:
    """Rows that are not alike: numbers of both signs, other lengths of loops."""
    rng = np.random.default_rng(3)
    made = []
    for arg in args:
        arg = np.asarray(arg)
        if arg.dtype == np.float64:
            made.append(
                arg + rng.normal(size=(COUNT, *arg.shape)) * (np.arange(COUNT) > 0).reshape(-1, *[1] * arg.ndim)
            )
        else:
            made.append(
                arg
                + rng.integers(0, 6, (COUNT, *arg.shape), arg.dtype)
                * (np.arange(COUNT) > 0).reshape(-1, *[1] * arg.ndim)
            )
    return made


def check(function, *args, tolerance: float = 1e-12, switches=(False, True)) -> None:
    """As XLA has it, row for row; lanes as single calls, bit by bit; and fma changes round-off only."""
    given = rows(*args)
    with jax.enable_x64(True):
        want = leaves(jax.jit(lambda rows: lax.map(lambda row: function(*row), rows))(tuple(given)))
    for fma in switches:
        compiled = nc.compile(function, fma=fma, cache=False)
        together = leaves(compiled.batch(*given))
        assert_close(together, want, tolerance, f"fma = {fma}")
        for k in range(COUNT):
            single = compiled(*(a[k] for a in given))
            assert_same([leaf[k] for leaf in together], single, f"row {k}, fma = {fma}")


# -- loops


def collatz(n):
    def step(c):
        return (jnp.where(c[0] % 2 == 0, c[0] // 2, 3 * c[0] + 1), c[1] + 1)

    return lax.while_loop(lambda c: c[0] > 1, step, (n, 0))


def newton(a):
    """The square root of |a| + 0.1, by as many steps as it takes."""
    a = jnp.abs(a) + 0.1
    return lax.while_loop(
        lambda c: (jnp.abs(c[0] ** 2 - a) > 1e-12 * a) & (c[1] < 60),
        lambda c: (0.5 * (c[0] + a / c[0]), c[1] + 1),
        (a + 3.0, 0),
    )


def sieve(x):
    def body(i, flags):
        return lax.cond(
            flags[i],
            lambda f: lax.fori_loop(2, N // i + 1, lambda k, g: g.at[i * k].set(False, mode="drop"), f),
            lambda f: f,
            flags,
        )

    return lax.fori_loop(2, 8, body, (jnp.arange(N) > 1) & (x > -100))


def nested(x, n):
    def inner(i, c):
        return lax.fori_loop(0, i + n % 3, lambda j, d: jnp.sin(d + j) + 0.1 * d[::-1], c)

    return lax.fori_loop(0, 4, inner, x)


LOOPS = {
    "fori": (lambda x, n: lax.fori_loop(0, n, lambda i, c: 0.5 * c + i, x), 1.5, 2),
    "no rounds": (
        lambda x: (lax.fori_loop(3, 3, lambda i, c: c + 1, x), lax.scan(lambda c, y: (c + y, c), x, jnp.zeros(0))),
        1.5,
    ),
    "collatz": (collatz, 27),
    "newton": (newton, 2.0),
    "nested": (nested, SMALL, 3),
    "nested in memory": (nested, LONG, 3),
    "sieve": (sieve, LONG),
    "while on an array": (
        lambda x: lax.while_loop(
            lambda c: (c[1].sum() < 400.0) & (c[0] < 30), lambda c: (c[0] + 1, c[1] * 1.3 + 0.1), (0, jnp.abs(x))
        ),
        LONG,
    ),
    "test reads what the body changes": (
        lambda x: lax.while_loop(
            lambda c: (c[1][3] < 5.0) & (c[0] < 50), lambda c: (c[0] + 1, c[1].at[3].add(0.37)), (0, x)
        ),
        LONG,
    ),
    "bools carried": (lambda x: lax.fori_loop(0, 5, lambda i, m: m.at[i].set(~m[i + 1] | m[i]), x > 1.0), LONG),
    "integers carried": (lambda n: lax.fori_loop(0, 50, lambda i, s: (s * 1103515245 + 12345) % 2147483648, n), 7),
    "wrapping counter": (
        lambda n: lax.while_loop(lambda i: i > 0, lambda i: i + jnp.int32(2**20), n + jnp.int32(2**31 - 2**22)),
        np.int32(5),
    ),
}


@pytest.mark.parametrize("name", LOOPS)
def test_loops(name):
    check(*LOOPS[name])


def elements(reverse, length):
    def step(carry, x):
        a, b = carry
        return (jnp.tanh(a + x), b + a * x), (a - b, x > 0.5)

    return lambda s, xs: lax.scan(step, (s, 2.0 * s), xs[:length], reverse=reverse)


SCANS = {
    "forward": (elements(False, 5), 0.3, LONG),
    "reverse": (elements(True, 5), 0.3, LONG),
    "long forward": (elements(False, N), 0.3, LONG),
    "long reverse": (elements(True, N), 0.3, LONG),
    "one": (elements(True, 1), 0.3, LONG),
    "none": (elements(False, 0), 0.3, LONG),
    "no elements": (lambda x: lax.scan(lambda c, _: (jnp.cos(c), c), x, None, length=70), 0.3),
    "rows": (lambda x: lax.scan(lambda c, row: (c + row @ row, row * c), 0.0, x), np.outer(LONG, [1.0, -0.5])),
    "long rows": (
        lambda x: lax.scan(lambda c, row: (c * 0.9 + row, c.sum()), x[0], x),
        np.outer([1.0, -0.5, 0.2], LONG),
    ),
    "large carry": (lambda x, y: lax.scan(lambda c, t: (c.at[0].add(t), c[::-1] * t), x, y), LONG, SMALL),
    "closed over and indexed": (
        lambda x, n: lax.scan(
            lambda c, t: (c + x[(n + t) % N] * jnp.asarray(TABLE)[(t * n) % N], c), 0.0, jnp.arange(50)
        ),
        LONG,
        np.array(3),
    ),
    "closed over and small": (
        lambda x, n: lax.scan(lambda c, t: (c * 0.5 + x[(n + t) % 3], c), 0.0, jnp.arange(250)),
        SMALL,
        np.array(1),
    ),
    "of twenty": (
        lambda x, n: lax.scan(lambda c, t: (c.at[(n + t) % 20].add(c[t % 20] * 0.1), c[t % 20]), x, jnp.arange(250)),
        LONG[:20],
        np.array(1),
    ),
    "in a scan": (lambda x: lax.scan(lambda c, t: lax.scan(lambda d, s: (d + s * t, d), c, x), 0.0, x), LONG),
    "in a scan, changing": (
        lambda x: lax.scan(
            lambda c, t: lax.scan(lambda d, s: (d.at[1].add(0.1 * s * t), d[1]), c, x[:3])[::1], x, x[:4]
        ),
        LONG,
    ),
}


@pytest.mark.parametrize("name", SCANS)
def test_scans(name):
    check(*SCANS[name])


def test_a_short_scan_is_written_out_and_a_long_one_is_a_loop():
    for length, loops in ((5, 0), (UNROLLED_OPERATIONS, 1)):
        compiled = nc.compile(
            lambda x, n=length: lax.scan(lambda c, _: (jnp.sin(c) + c, None), x, None, length=n)[0], cache=False
        )
        compiled(0.5)
        assert compiled.ir.count("loop") == loops


# -- branches


def many_ways(n, x):
    return lax.switch(
        n,
        [
            lambda y: y + 1,
            lambda y: jnp.sin(y) * y,
            lambda y: -y,
            lambda y: lax.cond(y.sum() > 0, jnp.cos, jnp.exp, y * 0.1),
        ],
        x,
    )


def inner_loops(x, n):
    """Loops of lengths that differ, in branches that differ."""

    def up(y):
        return lax.fori_loop(0, n, lambda i, c: c * 1.1 + i, y)

    def down(y):
        return lax.while_loop(lambda c: jnp.abs(c) > 0.01, lambda c: c * 0.37, y)

    return lax.cond(x > 0, up, down, x)


def unrolled_arms(x):
    """Arms that divide and take roots only where they may."""
    return lax.cond(x > 0, lambda: jnp.sqrt(x) / x + jnp.log(x), lambda: x**2 / (1.0 - x))


def on_arrays(x, p):
    first = lax.cond(p > 0, lambda a: a.at[3].set(p), lambda a: a, x)
    second = lax.cond(p > 0.5, lambda a: a, lambda a: a.at[5].set(-7.0).at[6].add(a[5]), first)
    return lax.cond(p < 0, lambda a, b: (a, b), lambda a, b: (b * 2, a[::-1]), second, x)


def returned_twice(x, p):
    a, b = lax.cond(p > 0, lambda u: (u.at[0].set(1.0),) * 2, lambda u: (u, u), x.at[2].set(p))
    return a.at[2].set(9.0), b.at[3].set(8.0), a.sum()


BRANCHES = {
    "of numbers": (lambda x, y: lax.cond(x > y, lambda: jnp.sin(x) / y, lambda: x * y), 0.3, 0.2),
    "many ways": (many_ways, 0, SMALL),
    "many ways, in memory": (many_ways, -1, LONG),
    "loops in branches": (inner_loops, 0.5, 2),
    "guarded": (unrolled_arms, 0.5),
    "arrays": (on_arrays, LONG, 0.4),
    "one array returned twice": (returned_twice, LONG, 0.4),
    "known": (lambda x: lax.cond(True, jnp.sin, jnp.cos, x), 0.5),
    "bools": (lambda x: lax.cond(x > 0, lambda: x > 1, lambda: x < -1), 0.5),
    "views": (
        lambda x, p: lax.cond(
            p > 0,
            lambda u, v: (lax.dynamic_update_slice(u, v[:3], (0,)), v),
            lambda u, v: (u, v * 2),
            x.at[1].set(p),
            x.at[1].set(p)[::-1],
        ),
        LONG,
        0.5,
    ),
    "select of branches": (
        lambda x, p: jnp.where(
            lax.cond(p > 0, lambda: x * 2, lambda: x - 1) > 1, lax.cond(p < 0.3, lambda: x, lambda: -x), 0.5
        ),
        LONG,
        0.5,
    ),
}


@pytest.mark.parametrize("name", BRANCHES)
def test_branches(name):
    check(*BRANCHES[name])


def test_an_arm_that_is_not_taken_does_not_run():
    """Or this would never end: the loop of the other arm has no end for this argument."""

    def endless(x):
        return lax.while_loop(lambda c: c != 0.0, lambda c: c + 1.0, x)

    compiled = nc.compile(lambda x: lax.cond(x > 0, lambda: jnp.sqrt(x), lambda: endless(x)), cache=False)
    x = np.array([4.0, -3.0, 0.5, -1.0, 9.0])
    assert_same(compiled.batch(x), np.where(x > 0, np.sqrt(np.abs(x)), 0.0))


@pytest.mark.parametrize("loop", [True, False])
def test_a_quotient_that_never_changes_is_found_before_a_loop(loop):
    """Even if only a branch wants it; without a loop it stays in its branch."""

    def turn(x, d):
        return lax.cond(x > 0, lambda: sum(jnp.sin(x + k) for k in range(20)) + 1.0 / d, lambda: x - 1.0)

    def function(x, d, n):
        return lax.fori_loop(0, n, lambda i, x: turn(x, d), x) if loop else turn(x, d)

    check(function, 0.3, 7.0, 3)
    with jax.enable_x64(True):
        made = trace(jax.make_jaxpr(function)(0.3, 7.0, 3))
    assert ("div" in [node.op for node in made.region.items]) == loop


# -- arrays that are changed while others read them. `a` is an array that may be changed in place.


def changed(x):
    return x.at[3].set(1.25)


def update(a, i, v):
    return lax.dynamic_update_slice(a, jnp.reshape(v, (1,)), (i,))


def swap(x):
    return lax.fori_loop(0, 7, lambda i, c: (c[1], c[0]), (changed(x), x * 2))


def swap_and_change(x):
    return lax.fori_loop(0, 9, lambda i, c: (c[1], c[0].at[i].add(c[1][i + 1])), (changed(x), x))


def rotate(x):
    return lax.fori_loop(0, 5, lambda i, c: (c[1], c[2].at[i].multiply(2.0), c[0]), (changed(x), x, x[::-1]))


def fibonacci(x):
    return lax.fori_loop(2, N, lambda i, a: a.at[i].set(0.5 * (a[i - 1] + a[i - 2])), changed(x))


def change_in_cond_in_while(x, p):
    def body(c):
        i, a, b = c
        a = lax.cond(a[i] > p, lambda u: u.at[i].set(b[i] + 1.0), lambda u: u.at[i + 1].add(0.5), a)
        return i + 1, a, b

    return lax.while_loop(lambda c: (c[0] < 12) & (c[1][c[0]] < 4.0), body, (0, changed(x), x))


def change_either(x, p):
    def body(i, c):
        return lax.cond(
            c[0][i] > p, lambda u, v: (u.at[i].set(v[i + 1]), v), lambda u, v: (v, u.at[i + 1].add(1.0)), *c
        )

    a = changed(x)
    return lax.fori_loop(0, 10, body, (a, a[::-1]))


def inner_reads_outer(x):
    def body(c):
        i, u = c
        w = lax.while_loop(lambda d: d[0] < i, lambda d: (d[0] + 1, d[1].at[d[0]].add(0.1 * u[d[0] + 1])), (0, u))[1]
        return i + 1, w + u * 0.01

    return lax.while_loop(lambda c: c[0] < 6, body, (0, changed(x)))


def both(change):
    def function(x):
        a = changed(x)
        b = change(a)
        return a, b, a + b

    return function


def with_mirror(change):
    """The array is changed where it is used last, and views of it are read afterwards."""

    def function(x, p):
        a = changed(x)
        mirror, double, evens = a[::-1], 2.0 * a, a[::2]
        return change(a, p), mirror, jnp.sin(double), evens

    return function


def mirrored_step(x, p):
    def body(i, c):
        mirror = c[::-1]
        return jnp.where(mirror[i] > p, 1.0, 0.5) * c.at[i].add(p) + 0.01 * mirror

    return lax.fori_loop(0, 6, body, changed(x))


def change_then_read(u, mirror, p):
    total = mirror + u[0]
    return update(u, 1, p), total, mirror[2:5]


def only_read(u, mirror, p):
    return u, mirror - u[0], mirror[1:4]


def mirror_in_arms(x, p):
    """One arm changes the array and reads its mirror after; the others only read."""
    a = changed(x)
    first = lax.cond(p > 0.3, change_then_read, only_read, a, a[::-1], p)
    b = changed(x)
    second = lax.switch((p > 0.3) + (p > 1.0).astype(int), [only_read, change_then_read, only_read], b, b[::-1], p)
    return first, second


def reshaped(x):
    a = changed(x)
    square = a.reshape(4, 10)
    return square.at[1].set(2.0), a.at[0].set(5.0), square, a


HAZARDS = {
    "old array after an update": (both(lambda a: a.at[5].set(9.0)), LONG),
    "old array after a loop": (both(lambda a: lax.fori_loop(0, 4, lambda i, c: c.at[i].add(c[i + 1]), a)), LONG),
    "old array after a branch": (
        both(lambda a: lax.cond(a[0] > 0, lambda u: u.at[1].set(3.0), lambda u: u.at[2].set(4.0), a)),
        LONG,
    ),
    "reversed into itself": (lambda x: (lambda a: a.at[0:N].set(a[::-1]))(changed(x)), LONG),
    "shifted into itself": (lambda x: (lambda a: lax.dynamic_update_slice(a, a[: N - 1], (1,)))(changed(x)), LONG),
    "shifted back into itself": (lambda x: (lambda a: lax.dynamic_update_slice(a, a[2:], (0,)))(changed(x)), LONG),
    "transposed into itself": (
        lambda x: (lambda a: a.at[:2, :2].set(a.T[1:3, :2]))(jnp.outer(x, x[:3]).at[0].set(1.0)[:36]),
        LONG,
    ),
    "added to itself": (lambda x: (lambda a: a.at[::2].add(a[1::2]).at[1::2].add(a[::2]))(changed(x)), LONG),
    "itself at its own indices": (lambda n: (lambda a: a.at[a % N].add(a))(n.at[3].set(5)), np.arange(N)[::-1].copy()),
    "shifted in a loop": (
        lambda x: lax.fori_loop(0, 5, lambda i, a: lax.dynamic_update_slice(a, a[: N - 1], (1,)), changed(x)),
        LONG,
    ),
    "rolled in a loop": (lambda x: lax.fori_loop(0, 5, lambda i, a: jnp.roll(a, 1).at[i].add(1.0), changed(x)), LONG),
    "swap": (swap, LONG),
    "swap and change": (swap_and_change, LONG),
    "rotate": (rotate, LONG),
    "carried unchanged": (
        lambda x: lax.fori_loop(0, 5, lambda i, c: (c[0], c[1].at[i].set(c[0][i + 1])), (changed(x), x * 2)),
        LONG,
    ),
    "carried twice": (
        lambda x: (lambda a: lax.fori_loop(0, 4, lambda i, c: (c[0].at[i].add(1.0), c[1].at[i].multiply(2.0)), (a, a)))(
            changed(x)
        ),
        LONG,
    ),
    "carried twice, unchanged once": (
        lambda x: (lambda a: lax.fori_loop(0, 4, lambda i, c: (c[0].at[i].add(c[1][i + 1]), c[1]), (a, a)))(changed(x)),
        LONG,
    ),
    "carried and closed over": (
        lambda x: (lambda a: lax.fori_loop(0, 4, lambda i, c: c.at[i].add(a[i + 1]), a))(changed(x)),
        LONG,
    ),
    "carried with its mirror": (
        lambda x: (
            lambda a: lax.fori_loop(0, 4, lambda i, c: (c[0].at[i].add(c[1][i]), c[1].at[i].add(c[0][i])), (a, a[::-1]))
        )(changed(x)),
        LONG,
    ),
    "one becomes both": (
        lambda x: lax.fori_loop(0, 4, lambda i, c: (c[1].at[i].add(1.0), c[1].at[i].add(2.0)), (changed(x), x)),
        LONG,
    ),
    "each step needs the last": (fibonacci, LONG),
    "in a branch in a loop": (change_in_cond_in_while, LONG, 0.8),
    "either in a branch in a loop": (change_either, LONG, 0.8),
    "outer array in an inner loop": (inner_reads_outer, LONG),
    "a constant changed in a loop": (
        lambda x: lax.fori_loop(0, 5, lambda i, c: c + jnp.asarray(TABLE).at[i].set(c[i]) * 0.1, x),
        LONG,
    ),
    "a constant carried": (
        lambda x: lax.fori_loop(0, 5, lambda i, c: c.at[i].set(x), jnp.asarray(TABLE)) + jnp.asarray(TABLE),
        0.7,
    ),
    "an input changed and returned": (
        lambda x: (lax.dynamic_update_slice(x, x[:3], (5,)), x, x.at[0].set(1.0) + x),
        LONG,
    ),
    "all of a scan's carries kept": (lambda x: lax.scan(lambda c, t: (c.at[1].add(t), c), changed(x), x[:5]), LONG),
    "new carry kept": (
        lambda x: lax.scan(lambda c, t: (lambda d: (d, d))(c.at[1].add(t)), changed(x), x[:5], reverse=True),
        LONG,
    ),
    "views of the old": (with_mirror(lambda a, p: update(a, 4, p)), LONG, 0.5),
    "views of the old, scattered": (with_mirror(lambda a, p: a.at[jnp.array([4, 7])].multiply(p)), LONG, 0.5),
    "views of the old, loop": (
        with_mirror(lambda a, p: lax.fori_loop(0, 3, lambda i, c: c.at[i].add(p), a)),
        LONG,
        0.5,
    ),
    "views of the old, scan": (
        with_mirror(lambda a, p: lax.scan(lambda c, t: (c.at[t].add(p), c[0]), a, jnp.arange(99) % 9)),
        LONG,
        0.5,
    ),
    "views of the old, branch": (
        with_mirror(lambda a, p: lax.cond(p > 0, lambda u: u.at[0].set(p), lambda u: u, a)),
        LONG,
        0.5,
    ),
    "views in a loop": (mirrored_step, LONG, 0.5),
    "views in arms": (mirror_in_arms, LONG, 0.5),
    "reshaped": (reshaped, LONG),
    "through jit": (
        lambda x: (lambda q: (q[0].at[2].set(9.0), q[1].at[3].set(8.0), q[0]))(
            jax.jit(lambda u: (u, u.reshape(8, 5)))(changed(x))
        ),
        LONG,
    ),
    "read late": (lambda x: (lambda a, late: (a.at[0].set(late[1]), late))(changed(x), 2.0 * changed(x)[::-1]), LONG),
    "elements by their own": (
        lambda x: lax.fori_loop(0, 5, lambda i, a: jnp.where(a > 0.5, 0.5 * a, a + x), changed(x)),
        LONG,
    ),
    "elements by a mirror": (
        lambda x: lax.fori_loop(0, 5, lambda i, a: jnp.where(a > 0.5, 0.5 * a[::-1], a), changed(x)),
        LONG,
    ),
    "elements by those of another": (
        lambda x: lax.fori_loop(
            0, 5, lambda i, c: (jnp.where(c[0] > c[1], c[1], 2 * c[0]), c[0] - c[1]), (changed(x), x)
        ),
        LONG,
    ),
    "elements by the first row": (
        lambda m: lax.fori_loop(0, 5, lambda i, a: a + 0.5 * a[:1], m.at[0, 0].set(1.0)),
        np.outer(SMALL, LONG),
    ),
    "elements in another order": (
        lambda m: lax.fori_loop(0, 5, lambda i, a: a + 0.5 * a.T.reshape(a.shape), m.at[0, 0].set(1.0)),
        np.outer(SMALL, LONG),
    ),
    "elements joined": (
        lambda m: lax.fori_loop(
            0, 5, lambda i, a: jnp.concatenate([a[3:].reshape(-1), a[:3].T.reshape(-1)]).reshape(a.shape), m
        ),
        np.outer(LONG, SMALL),
    ),
    "a row of its own": (
        lambda m: (lambda a: a.at[1].set(a[0]).at[0].set(a[1]))(m.at[0, 0].set(1.0)),
        np.outer(SMALL, LONG),
    ),
}


@pytest.mark.parametrize("name", HAZARDS)
def test_hazards(name):
    check(*HAZARDS[name], switches=(True,))


# -- derivatives, and functions with rules of their own


@jax.custom_jvp
def own_tangent(x):
    return jnp.sin(x)


own_tangent.defjvp(lambda primals, tangents: (own_tangent(primals[0]), 3.0 * tangents[0]))


@jax.custom_vjp
def own_cotangent(x):
    return jnp.sin(x)


own_cotangent.defvjp(lambda x: (own_cotangent(x), x), lambda x, ct: (5.0 * ct * x,))


def energy(x):
    """A scan, a branch and a product."""
    a, path = lax.scan(lambda c, t: (jnp.tanh(c + t * x), c @ x), x, jnp.arange(4.0))
    return lax.cond(a[0] > 0, lambda: path.sum() + a @ a, lambda: path @ path - a[1])


def energy_of_many(x):
    a, path = lax.scan(lambda c, t: (0.5 * c + t, jnp.sin(c)), 0.1, x)
    return path @ jnp.asarray(TABLE) + a**2


def root(p):
    """The positive solution of u^3 + u = p^2 + 1, by its own derivative."""

    def residual(u):
        return u**3 + u - (p**2 + 1.0)

    def step(f, u):
        return lax.while_loop(
            lambda c: (jnp.abs(f(c[0])) > 1e-13) & (c[1] < 50),
            lambda c: (c[0] - f(c[0]) / (3 * c[0] ** 2 + 1), c[1] + 1),
            (u, 0),
        )[0]

    return lax.custom_root(residual, 1.0, step, lambda g, y: y / g(1.0))


def solved(b):
    matrix = jnp.array([[3.0, 1.0, 0.0], [1.0, 4.0, 1.0], [0.0, 1.0, 5.0]])
    inverse = np.linalg.inv(np.array([[3.0, 1.0, 0.0], [1.0, 4.0, 1.0], [0.0, 1.0, 5.0]]))
    return lax.custom_linear_solve(lambda x: matrix @ x, jnp.sin(b), lambda _, y: inverse @ y, symmetric=True)


DERIVATIVES = {
    "grad": (jax.grad(energy), SMALL),
    "jacfwd": (jax.jacfwd(lambda x: lax.scan(lambda c, t: (jnp.tanh(c + t * x), c @ x), x, jnp.arange(4.0))), SMALL),
    "hessian": (jax.hessian(energy), SMALL),
    "jvp": (lambda x, v: jax.jvp(energy, (x,), (v,)), SMALL, SMALL[::-1]),
    "vjp": (lambda x, ct: jax.vjp(jax.grad(energy), x)[1](ct), SMALL, SMALL[::-1]),
    "grad in memory": (jax.grad(energy_of_many), LONG),
    "jvp in memory": (lambda x: jax.jvp(energy_of_many, (x,), (jnp.asarray(TABLE),)), LONG),
    "grad of updates": (
        jax.grad(lambda x: (x.at[3].set(x[1] * x[2]).at[jnp.array([1, 1])].add(x[0]) ** 2).sum()),
        LONG,
    ),
    "jvp of a while": (lambda x: jax.jvp(newton, (x,), (1.0,))[0], 2.0),
    "custom_jvp": (lambda x: (own_tangent(x), jax.grad(own_tangent)(x), jax.jvp(own_tangent, (x,), (2.0,))), 0.4),
    "custom_vjp": (lambda x: (own_cotangent(x), jax.grad(own_cotangent)(x)), 0.4),
    "custom_root": (lambda p: (root(p), jax.grad(root)(p), jax.jvp(root, (p,), (1.0,))), 0.4),
    "custom_linear_solve": (lambda b: (solved(b), jax.jacrev(solved)(b), jax.jacfwd(solved)(b)), SMALL),
    "vmap": (jax.vmap(lambda x: lax.cond(x > 0, jnp.sin, jnp.cos, x)), SMALL),
    "vmap of a while": (jax.vmap(newton), SMALL),
    "vmap of grad": (jax.vmap(jax.grad(energy)), np.outer(SMALL, SMALL)),
}


@pytest.mark.parametrize("name", DERIVATIVES)
def test_derivatives(name):
    check(*DERIVATIVES[name], tolerance=1e-10)


def test_lanes_that_differ_are_each_right():
    """A loop of Newton steps whose number differs from lane to lane: values, and numbers of steps."""
    a = np.logspace(-3, 6, 2 * LANES + 5)
    value, steps = nc.compile(newton, cache=False).batch(a)
    np.testing.assert_allclose(value, np.sqrt(a + 0.1), rtol=1e-12)
    assert_same(steps, np.array([xla(newton, x)[1] for x in a]))
    assert len(set(steps)) > 4


def test_shared_arguments():
    def function(table, x):
        return lax.scan(lambda c, t: (c * 0.5 + table[t % N], c), x, jnp.arange(60))

    compiled = nc.compile(function, cache=False)
    assert_rows(compiled, TABLE, rows(0.5)[0], sizes=(0, 1, LANES, COUNT), shared=(0,))


@pytest.mark.parametrize("lanes", [1, None])
def test_arguments_of_all_kinds_are_shared(lanes):
    """Large arrays that each row reads at places of its own, numbers and marks, between arguments that rows have."""

    def function(few, x, large, mark, n, sign):
        read = large[(n + jnp.arange(40)) % len(large)] * few[n % len(few)]
        return jnp.where(mark, x, 0.0) + read.sum() + large[3], jnp.where(sign, n, 7)

    rng, few, large = np.random.default_rng(0), np.arange(1.0, 4.0), np.random.default_rng(1).normal(size=3000)
    x, n, sign = rng.normal(size=COUNT), rng.integers(0, 5000, COUNT), rng.random(COUNT) > 0.5
    compiled = nc.compile(function, cache=False, lanes=lanes)
    shared = (0, 2, 3)
    assert_rows(compiled, few, x, large, np.array(True), n, sign, sizes=(0, 1, LANES, COUNT), shared=shared)


def test_derivative_past_an_integer():
    """The derivative of an integer is no number, but JAX hands it on like one."""

    @jax.custom_jvp
    def power(x, n):
        return x**3 * n

    @power.defjvp
    def _slope(at, change):
        along, _ = jax.jit(lambda x, n: (x, n))(*change)
        return power(*at), 3 * at[0] ** 2 * at[1] * along

    def pushed(x, n):
        return jax.jvp(lambda x: power(x, n), (x,), (jnp.ones(()),))[1]

    with jax.enable_x64(True):
        assert float(nc.compile(pushed, cache=False)(1.5, 4)) == 3 * 1.5**2 * 4


def filled(x, start):
    return lax.fori_loop(0, 50, lambda k, b: b.at[k].set(x * k), start)


@pytest.mark.parametrize(
    "function",
    [
        lambda x: filled(x, jnp.zeros(100)),
        lambda x: (lambda b: (b, b, b[::-1], b.reshape(10, 10)))(filled(x, jnp.zeros(100))),
        lambda x: (lambda b: (b, lax.fori_loop(0, 9, lambda k, b: b.at[k].add(1.0), b), 2.0 * b))(
            filled(x, jnp.zeros(100))
        ),
        lambda x: filled(x, lax.empty((100,), jnp.float64))[:50],
    ],
    ids=["alone", "several times", "gone on with", "of no value to begin with"],
)
def test_a_large_result_lies_where_it_was_made(function):
    compiled, rows = nc.compile(function, cache=False), np.array([2.0, -1.5, 0.25])
    with jax.enable_x64(True):
        expected = [jax.tree.leaves(function(x)) for x in rows]
    for k, row in enumerate(rows):
        for got, want in zip(jax.tree.leaves(compiled(row)), expected[k], strict=True):
            np.testing.assert_array_equal(got, want)
    for got, *want in zip(jax.tree.leaves(compiled.batch(rows)), *expected, strict=True):
        np.testing.assert_array_equal(got, want)


def test_a_large_result_is_not_copied():
    compiled = nc.compile(lambda x: filled(x, jnp.zeros(100)), cache=False)
    compiled(2.0)
    assert "work" not in compiled.ir.partition("\n")[2]


def test_elements_that_follow_from_their_own_are_changed_in_place():
    compiled = nc.compile(
        lambda x: lax.fori_loop(0, 5, lambda i, a: jnp.where(a > x, 0.5 * a, a), filled(x, jnp.zeros(100))), cache=False
    )
    compiled(2.0)
    assert "work" not in compiled.ir.partition("\n")[2]


def test_a_loop_over_single_numbers_leaves_other_arrays_of_its_length_alone():
    """Only a loop that goes through rows puts stacks of that many rows into memory."""
    weights = np.linspace(0.1, 1.0, 17)

    def program(column):
        def stage(total, weight):
            for _ in range(60):
                total = jnp.sin(weight * total) + weight
            return total, None

        grown, _ = jax.lax.scan(stage, jnp.sum(column), jnp.asarray(weights))
        return grown * (2.0 * column + 1.0)

    compiled = nc.compile(program)
    column = np.arange(17.0)[:, None]
    found = compiled(column)
    operations = compiled.stats["operations"]
    assert operations["loop"] == 1
    assert "store" not in operations
    total = column.sum()
    for weight in weights:
        for _ in range(60):
            total = np.sin(weight * total) + weight
    np.testing.assert_allclose(found, total * (2.0 * column + 1.0), rtol=1e-12)


@pytest.mark.parametrize("length", [0, 1, 3])
@pytest.mark.parametrize("reverse", [False, True])
def test_a_scan_over_few_integers_that_carries_a_large_array(length, reverse):
    """None at all: the state comes back, and the type of what is not there does not matter."""
    table, large, places = np.arange(6.0).reshape(2, 3), np.arange(70.0).reshape(35, 2), np.arange(length)

    def function(table, large, places):
        def step(state, place):
            return (lax.dynamic_slice(table, (place - 1, place), (1, 3))[0], state[1] + place), place * large[0]

        return lax.scan(step, (table[0], large), places, reverse=reverse)

    assert_same(nc.compile(function, cache=False)(table, large, places), xla(function, table, large, places))


def stack(x):
    """Rows of three numbers of a loop, as a matrix whose columns lie one after the other in memory."""
    return lax.scan(lambda carry, y: (y * carry + 0.1, jnp.stack([y, carry, y * carry])), 0.5, x, reverse=True)[1]


@pytest.mark.parametrize(
    "use",
    [
        lambda m, i: (m, m.T, m[::2, 1:], m.reshape(-1), m.reshape(3, -1)),
        lambda m, i: (m[i], m[i, i % 3], m.at[i].set(0.5), m.at[:, 1].add(1.0)),
        lambda m, i: (
            jnp.concatenate([m[1:], m[:1]]).sum(axis=0),
            lax.scan(lambda carry, row: (carry + row @ row, row[::-1]), 0.0, m),
            lax.cond(i > 3, lambda m: 2.0 * m, lambda m: m, m),
        ),
        lambda m, i: lax.while_loop(lambda c: c[1] < i, lambda c: (stack(c[0][:, 2]), c[1] + 1), (m, 0)),
        lambda m, i: lax.fori_loop(0, i, lambda k, c: c.at[k].add(c[k + 1]), m),
    ],
    ids=["parts", "indexed", "joined", "carried", "changed"],
)
def test_rows_that_a_loop_makes_are_read_in_every_way(use):
    check(lambda x, i: use(stack(x), i), LONG, 5, switches=(True,))


def test_columns_lie_one_after_the_other():
    """A loop over rows reads and writes its neighbours, so that LLVM may vectorise it without shuffles."""
    compiled = nc.compile(stack, cache=False)
    compiled(LONG)
    columns = [f"iadd %{number}, {N * k}" for k in (1, 2) for number in range(100)]
    assert sum(line.split(" = ")[-1] in columns for line in compiled.ir.splitlines()) >= 2


@pytest.mark.parametrize("inner", [10, 25, 50])
def test_a_gradient_through_a_loop_in_a_loop_does_not_grow_with_the_inner_one(inner):
    """What the inner loop has to know on its way back goes through memory by loops, however few its rounds are."""

    def missed(turn, measured):
        def step(A, _):
            return jnp.sin(turn @ A) + 0.1 * A @ A, None

        def interval(A, value):
            A, _ = jax.jit(lambda A: lax.scan(step, A, None, length=inner))(A)
            return A, (A[0, 0] - value) ** 2

        return jnp.sum(lax.scan(interval, jnp.eye(4), measured)[1])

    turn, measured = 0.3 * np.cos(np.arange(16.0)).reshape(4, 4), np.linspace(0.0, 1.0, 40)
    gradient = jax.grad(missed)
    compiled = nc.compile(gradient, cache=False)
    assert_close(compiled(turn, measured), xla(gradient, turn, measured), 1e-12)
    assert compiled.stats["operations"]["store"] < 300
