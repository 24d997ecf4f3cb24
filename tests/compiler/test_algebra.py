"""What is simplified, and what is not: of infinities, not-a-numbers, subnormal numbers and zeros of both signs."""

import inspect

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax
from jax.extend import core

import naiad.compiler as nc
from naiad.compiler.backends import default_backend
from naiad.compiler.backends.llvm.operations import LIBRARY, WRITTEN
from naiad.compiler.front.rules import HARMLESS, RULES
from naiad.compiler.front.trace import trace
from naiad.compiler.ir.builder import SIMPLER, Builder
from naiad.compiler.ir.operations import BOOL, COMMUTATIVE, COSTLY, DTYPES, FLOAT, INT, INTEGERS, OPERATIONS
from naiad.compiler.ir.program import Program, Slot
from naiad.compiler.passes.finish import finish
from tests.compiler.reference import reference
from tests.compiler.test_fuzz import but_for_signs_of_zeros

INF, NAN = np.inf, np.nan
SPECIAL = np.array(
    [0.0, -0.0, 1.0, -1.0, 3.0, -0.7, 1e-9, 1e200, -1e300, 1e-300, 2e-310, -5e-324, 1.7e308, INF, -INF, NAN]
)
X, Y = (m.reshape(-1) for m in np.meshgrid(SPECIAL, SPECIAL))

# Bit by bit as IEEE has them, but for the sign of a zero.
EXACT = {
    "negated product": lambda x, y: -(3.0 * x),
    "twice negated": lambda x, y: jnp.negative(-x),
    "negations in a product": lambda x, y: (-x) * (-y) + (-x) * y,
    "negation of a negated product": lambda x, y: jnp.negative(-(2.0 * x)) - (-y),
    "negations in a sum": lambda x, y: (-x) + (-y),
    "a negation first": lambda x, y: (-x) + y,
    "a negation last": lambda x, y: x - (-y),
    "a negation taken from": lambda x, y: (-x) - y,
    "a difference and its negative": lambda x, y: (x - y) * 2.0 + (y - x),
    "the same difference twice": lambda x, y: (x - y) * (x - y),
    "minus one": lambda x, y: -1.0 * x,
    "one": lambda x, y: 1.0 * x,
    "minus a zero": lambda x, y: x - 0.0,
    "less itself": lambda x, y: x - x,
    "less its equal": lambda x, y: (x + y) - (y + x),
    "plus itself": lambda x, y: x + x,
    "constants that meet": lambda x, y: 0.5 * (4.0 * x),
    "constants that would overflow": lambda x, y: 1e200 * (1e200 * x),
    "constants that would vanish": lambda x, y: 1e-200 * (1e-200 * x),
    "constants that would cancel": lambda x, y: 1e-200 * (1e200 * x),
    "constants that would cancel the other way": lambda x, y: 1e200 * (1e-200 * x),
    "a negative constant and a negation": lambda x, y: -3.0 * (-x),
    "division": lambda x, y: x / y,
    "division by a negation": lambda x, y: x / (-y),
    "division by a power of two": lambda x, y: x / 4.0,
    "division by a tiny constant": lambda x, y: x / 5e-309,
    "division by a huge constant": lambda x, y: x / 1.5e308,
    "division by zero": lambda x, y: x / 0.0,
    "reciprocal": lambda x, y: 1.0 / x,
    "square": lambda x, y: x * x,
    "square root as a power": lambda x, y: x**0.5,
    "first power": lambda x, y: x**1.0,
    "no power": lambda x, y: x**0.0,
    "magnitude": lambda x, y: jnp.abs(-x) - jnp.abs(jnp.abs(y)),
    "magnitude of a root": lambda x, y: jnp.abs(jnp.sqrt(x)),
    "larger": lambda x, y: jnp.maximum(x, y),
    "smaller": lambda x, y: jnp.minimum(x, y),
    "larger than itself": lambda x, y: jnp.maximum(x, x),
    "larger than a constant": lambda x, y: jnp.maximum(x, -2.0) + jnp.minimum(2.0, y),
    "compared": lambda x, y: (x < y) + 2 * (x <= y) + 4 * (x > y) + 8 * (x >= y) + 16 * (x == y) + 32 * (x != y),
    "compared with itself": lambda x, y: (
        (x < x) + 2 * (x <= x) + 4 * (x > x) + 8 * (x >= x) + 16 * (x == x) + 32 * (x != x)
    ),
    "chosen": lambda x, y: jnp.where(~(x < y), x, y) + jnp.where(x == x, 1.0, 2.0),
    "sum of three": lambda x, y: (x + y) + 1.0,
    "a known negative zero": lambda x, y: jnp.where(x < y, 1.0 / jnp.float64(-0.0), 1.0 / jnp.float64(0.0)),
    "the larger of known numbers": lambda x, y: jnp.where(x < y, jnp.maximum(jnp.float64(NAN), 1.0), x),
    "the smaller of known numbers": lambda x, y: jnp.where(x < y, jnp.minimum(1.0, jnp.float64(NAN)), x),
    "the remainder": lambda x, y: lax.rem(x, y),
    "the sign": lambda x, y: jnp.sign(x) * 2.0,
}


@pytest.mark.parametrize("where", ["lanes", "array"])
def test_numbers_are_those_of_ieee(where):
    def everything(x, y):
        return [f(x, y) for f in EXACT.values()]

    compiled = nc.compile(everything, fma=False, cache=False)
    with jax.enable_x64(True):
        want = reference(jax.make_jaxpr(everything)(X, Y), [X, Y])
    got = compiled.batch(X, Y) if where == "lanes" else compiled(X, Y)
    for name, g, w in zip(EXACT, got, want, strict=True):
        np.testing.assert_array_equal(g, w, err_msg=name)


def test_quotients_by_one_divisor_are_divisions():
    """A reciprocal that they shared would be infinite for divisors of 2^-1024 and less."""
    compiled = nc.compile(lambda x, y, d: (x / d, -y / d, x / -d, (1.0 / d) * y), fma=False, cache=False)
    for d in (*SPECIAL, 2.0**-1023, -(2.0**1023), 3e-309, -5e-324):
        got = compiled.batch(SPECIAL, SPECIAL[::-1], np.full(SPECIAL.size, d))
        with np.errstate(all="ignore"):
            want = SPECIAL / d, -SPECIAL[::-1] / d, SPECIAL / -d, (np.float64(1.0) / d) * SPECIAL[::-1]
        np.testing.assert_array_equal(got, want, err_msg=f"by {d}")
    assert compiled.stats["operations"]["div"] == 3


def test_a_zero_is_folded_only_where_it_is_known():
    """0 x is 0 for a zero of the code or of a parameter, and as IEEE has it for a zero that comes at run time."""
    assert nc.compile(lambda x: (x * 0.0, 0.0 / x), cache=False)(INF) == (0.0, 0.0)
    assert nc.compile(lambda z, x: z * x, parameters=(0,), cache=False)(0.0, INF) == 0.0
    assert np.isnan(nc.compile(lambda z, x: z * x, cache=False)(0.0, INF))


def test_constants_are_told_apart():
    b = Builder()
    assert b.real(0.0) is not b.real(-0.0)
    assert b.real(NAN) is b.real(-NAN)
    assert b.real(1.0) is b.real(1.0)
    assert b.const(1, INT) is not b.const(True, BOOL)
    assert b.integer(2**63) is b.integer(-(2**63))


@pytest.mark.parametrize("name", ["max", "min"])
def test_not_a_number_is_kept_when_constants_fold(name):
    b = Builder()
    for x, y in ((NAN, 1.0), (1.0, NAN), (NAN, NAN)):
        folded = b.op(name, b.real(x), b.real(y))
        assert folded.constant
        assert np.isnan(folded.value)
    assert b.op(name, b.real(1.0), b.real(2.0)).value == {"max": 2.0, "min": 1.0}[name]


FOLDED = {
    FLOAT: np.append(SPECIAL, [2.0**63, -(2.0**63), 2.5, -3.5]),
    INT: np.array([0, 1, -1, 2, 5, -7, 31, 63, 64, 2**31, -(2**31) - 1, 2**62, 2**63 - 1, -(2**63)]),
    BOOL: np.array([False, True]),
}


BY_LIBRARY = set(LIBRARY) - {"rem"}  # which NumPy has its own versions of
ON_INTEGERS = {*INTEGERS, "to_float"} - {"to_int", "bool_to_int"}
ON_BOOLS = {"and", "or", "xor", "not", "bool_to_int"}


@pytest.mark.parametrize("name", sorted(OPERATIONS))
def test_constants_fold_to_what_the_machine_computes(name):
    """The meaning of an operation in NumPy, by which constants fold, against its machine code."""
    type = INT if name in ON_INTEGERS else BOOL if name in ON_BOOLS else FLOAT
    evaluate = OPERATIONS[name].evaluate
    count = evaluate.nin if isinstance(evaluate, np.ufunc) else len(inspect.signature(evaluate).parameters)
    columns = [m.reshape(-1) for m in np.meshgrid(*[FOLDED[type]] * count)]
    b = Builder()
    folded = [b.op(name, *(b.const(x, type) for x in row)).value for row in zip(*columns, strict=True)]
    dtype = DTYPES[type].__name__.rstrip("_")
    inputs = [Slot((), dtype, k) for k in range(count)]
    node = b.op(name, *(b.input(k, type) for k in range(count)))
    output = Slot((), DTYPES[node.type].__name__.rstrip("_"), 0)
    program = finish(Program(b.root, inputs, [output], [(0, node)], [], count, 1, 0), fma=False)
    backend = default_backend()
    kernel = backend.load(backend.build(backend.source(program)), program.layout, 1)
    (got,) = kernel(columns, [True] * count, len(columns[0]))
    want = np.array(folded, got.dtype)
    if name in BY_LIBRARY:
        np.testing.assert_allclose(got, want, rtol=1e-13, atol=1e-320)
    else:
        np.testing.assert_array_equal(but_for_signs_of_zeros(got), but_for_signs_of_zeros(want))


def test_every_operation_is_in_the_tables():
    """The printer has all of a program, and no table names an operation that there is not."""
    assert set(WRITTEN) == {*OPERATIONS, "select", "fma", "fms", "fnma"}
    assert {*SIMPLER, *COMMUTATIVE, *COSTLY, *LIBRARY} <= set(OPERATIONS)


def equation(function, *args, **more):
    """The jaxpr of a function of one equation, with other parameters."""
    with jax.enable_x64(True):
        closed = jax.make_jaxpr(function)(*args)
    (eqn,) = closed.jaxpr.eqns
    eqn = eqn.replace(params={**eqn.params, **more})
    return core.ClosedJaxpr(closed.jaxpr.replace(eqns=[eqn]), closed.consts)


def test_a_parameter_that_nobody_thought_of_is_refused_by_name():
    x = np.arange(3.0)
    trace(equation(lambda x: lax.cumsum(x, 0), x, exclusive=None))
    with pytest.raises(nc.Unsupported, match="cumsum with exclusive=True cannot be compiled"):
        trace(equation(lambda x: lax.cumsum(x, 0), x, exclusive=True))
    with pytest.raises(nc.Unsupported, match="sin with mode=0 cannot be compiled"):
        trace(equation(jnp.sin, 1.0, mode=0))
    mode, numbers = type("Mode", (), {"name": "ONE_HOT"})(), lax.GatherDimensionNumbers((), (0,), (0,))
    other = equation(lambda x: lax.gather(x, np.zeros((1, 1), int), numbers, (1,)), x, mode=mode)
    with pytest.raises(nc.Unsupported, match="an index with mode=ONE_HOT cannot be compiled"):
        trace(other)


def test_a_rule_sees_no_parameter_but_those_it_reads():
    """So that one cannot be read, or left out, unseen."""
    for name, rule in RULES.items():
        assert not rule.reads & rule.ignores, name
    eqn = equation(lambda x: lax.cumsum(x, 0), np.arange(3.0), accuracy=1).jaxpr.eqns[0]
    assert RULES["cumsum"].parameters(eqn) == {"axis": 0, "reverse": False}
    assert "accuracy" in HARMLESS


INDICES = [2**32 + 1, -(2**32) + 1, 2**32, 2**31, -(2**31) - 1, 2**62, -(2**63), 2**63 - 1]


@pytest.mark.parametrize("size", [5, 40])
@pytest.mark.parametrize("floats", [False, True])
def test_an_index_is_not_cut_to_32_bits(size, floats):
    """Whole numbers, or floats made whole: what is out of range is clipped, filled or dropped."""
    gathers, scatters = lax.GatherDimensionNumbers((), (0,), (0,)), lax.ScatterDimensionNumbers((), (0,), (0,))

    def function(x, i):
        i = i.astype(int)
        places, nine = i[None, None], jnp.full(1, 9.0)
        return (
            *(lax.gather(x, places, gathers, (1,), mode=mode)[0] for mode in ("fill", "clip", "promise_in_bounds")),
            jnp.take(x, i, mode="clip"),
            lax.dynamic_slice(x, (i,), (1,))[0],
            *(lax.scatter(x, places, nine, scatters, mode=mode) for mode in ("drop", "clip", "promise_in_bounds")),
            lax.dynamic_update_slice(x, nine, (i,)),
        )

    x = np.arange(float(size))
    compiled = nc.compile(function, cache=False)
    for i in INDICES:
        end = size - 1 if i > 0 else 0
        clipped = np.where(np.arange(size) == end, 9.0, x)
        want = (NAN, end, end, end, end, x, clipped, x, clipped)
        for got, expected in zip(compiled(x, float(i) if floats else i), want, strict=True):
            np.testing.assert_array_equal(got, expected, err_msg=f"{i}")


TRUTHS = {
    "where true": lambda a, b: jnp.where(a, True, b),
    "where false": lambda a, b: jnp.where(a, False, b),
    "else true": lambda a, b: jnp.where(a, b, True),
    "else false": lambda a, b: jnp.where(a, b, False),
    "where not": lambda a, b: jnp.where(~a, True, b),
    "either": lambda a, b: jnp.where(a, b, ~b),
    "with known ones": lambda a, b: ((a & True) | (b & False)) ^ ((a | False) & (b | True)),
    "itself": lambda a, b: (a & a) | (b | b),
    "compared": lambda a, b: (a < b) ^ (a <= b) ^ (a == b) ^ (a != a) ^ (b >= b),
}


def test_truth_values():
    a, b = np.array([False, False, True, True]), np.array([False, True, False, True])
    got = nc.compile(lambda a, b: [f(a, b) for f in TRUTHS.values()], cache=False).batch(a, b)
    with jax.enable_x64(True):
        want = [np.asarray(f(jnp.asarray(a), jnp.asarray(b))) for f in TRUTHS.values()]
    for name, g, w in zip(TRUTHS, got, want, strict=True):
        np.testing.assert_array_equal(g, w, err_msg=name)


def test_an_element_is_read_again_after_it_has_changed():
    """In memory that is changed in place."""
    x = np.arange(40.0)

    def function(x, i):
        y = (2.0 * x).at[i].add(1.0).at[i].multiply(3.0).at[i].add(0.5)
        return y, lax.fori_loop(0, 3, lambda k, z: z.at[i].add(1.0).at[i].add(z[i] + z[1]), x + 0.5)

    y, z = 2.0 * x, x + 0.5
    y[1] = 3.0 * (y[1] + 1.0) + 0.5
    for _ in range(3):
        z[1] += 1.0 + 2.0 * z[1]
    compiled = nc.compile(function, cache=False)
    for got, want in zip(compiled(x, 1), (y, z), strict=True):
        np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("fma", [False, True])
def test_sums_of_products_have_their_signs(fma):
    """a b + c, a b - c and c - a b, on whole numbers, where one rounding is like two."""
    compiled = nc.compile(
        lambda a, b, c: (a * b + c, c + a * b, a * b - c, c - a * b, -(a * b) - c), fma=fma, cache=False
    )
    a, b, c = np.array([2.0, -3.0, 5.0]), np.array([7.0, 11.0, -13.0]), np.array([17.0, 19.0, 23.0])
    want = [a * b + c, c + a * b, a * b - c, c - a * b, -(a * b) - c]
    for got, expected in zip(compiled.batch(a, b, c), want, strict=True):
        np.testing.assert_array_equal(got, expected)
