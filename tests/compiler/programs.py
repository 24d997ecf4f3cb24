"""Random programs, as text that a person can run.

A program is a list of lines, `name = expression of earlier names`, some with functions inside (the bodies of loops, the
arms of branches). Every value has one of four types and six shapes, so that any can stand for another of its kind: a
line is dropped by putting another value in its place.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

DTYPES = {"f": "float64", "i": "int64", "j": "int32", "b": "bool"}
SHAPES = ((), (3,), (2, 3), (0,), (40,), (35, 2))
LINES = 60

# What is not promised, taken out of a program before it can make a difference. A `wild` program may have any numbers in
# it, and computes them without fused operations: there all is exact but what goes through `settled`. In a `tame` one
# every value is a multiple of 1/256 no larger than 16, so that sums and products are exact, fused or not.
HEAD = '''
import jax, jax.numpy as jnp, numpy as np
from jax import lax

def unsigned(x):
    """The sign of a zero may be lost."""
    return jnp.where(x == 0, 0.0, x)

def settled(x):
    """31 bits of a quotient or a function, which may differ in the last two, and nothing near underflow. One that is
    exact may lie in the middle between two, and is moved away from there."""
    x = x * (1 + 1e-12)
    high = x * (2.0**22 + 1)
    return jnp.where(jnp.abs(x) < 1e-290, 0.0, jnp.where(jnp.abs(x) < 1e290, high - (high - x), x))

def medium(x):
    """Far from over- and underflow, where 2 (3 x) is 6 x."""
    return jnp.where((jnp.abs(x) > 1e-200) & (jnp.abs(x) < 1e200), x, jnp.sign(x))

def whole(x):
    """Whole numbers, whose sums are exact in any order."""
    return jnp.where(jnp.isfinite(x), jnp.clip(jnp.round(x), -1e6, 1e6), x)

def near(index):
    """JAX itself cuts an index to 32 bits where it fills; ours is out of range."""
    return jnp.clip(index, -(2**30), 2**30)

def tame(x):
    """Multiples of 1/256 up to 16, and a number."""
    return jnp.where(jnp.abs(x) <= 16, jnp.floor(x * 256 + 0.37) * 0.00390625, jnp.where(x > 0, 1.25, -0.75))
'''


class Value(NamedTuple):
    """A name of the program, with its type."""

    name: str
    dtype: str
    shape: tuple[int, ...]


class Function(NamedTuple):
    """A function inside a line."""

    name: str
    parameters: list[Value]
    lines: list["Line"]
    results: list[str]


class Line(NamedTuple):
    """One operation: `text` has a place {} for each name in `args`."""

    value: Value
    text: str
    args: list[str]
    functions: list[Function]


class Program(NamedTuple):
    """A program of inputs of all kinds; its results are the values of all its lines that nobody else uses."""

    inputs: list[Value]
    lines: list[Line]
    tame: bool

    def source(self) -> str:
        """The text of `def program(inputs...)`."""
        names = ", ".join(value.name for value in self.inputs)
        body = [f"    {line}" for line in _text(self.lines)]
        return "\n".join([HEAD, f"def program({names}):", *body, f"    return [{', '.join(self.results())}]", ""])

    def results(self) -> list[str]:
        """The names of what the program gives back."""
        used = {name for line in _all(self.lines) for name in line.args}
        used |= {name for function in _functions(self.lines) for name in function.results}
        return [line.value.name for line in self.lines if line.value.name not in used] or [self.inputs[0].name]

    def function(self) -> Callable[..., Any]:
        """The program as a function."""
        scope: dict[str, Any] = {}
        exec(compile(self.source(), "<program>", "exec"), scope)
        return scope["program"]

    def script(self, row: list[np.ndarray]) -> str:
        """A file that runs the program on a row of inputs, compiled and by XLA."""
        used = {name for line in _all(self.lines) for name in line.args}
        used |= {name for function in _functions(self.lines) for name in function.results} | {*self.results()}
        given = {v.name: x for v, x in zip(self.inputs, row, strict=True) if v.name in used}
        short = self._replace(inputs=[v for v in self.inputs if v.name in used])
        with np.printoptions(threshold=10_000, floatmode="unique"):
            values = [f"    np.array({np.asarray(x).tolist()!r}, {x.dtype.name!r}),  # {n}" for n, x in given.items()]
        return "\n".join(
            [
                "import naiad as nd\nfrom numpy import inf, nan",
                short.source(),
                *("inputs = [", *values, "]"),
                f"print(nd.compile(program, fma={self.tame})(*inputs))",
                "with jax.enable_x64(True):\n    print(jax.jit(program)(*inputs))",
            ]
        )

    def arrays(self, rows: int, seed: int) -> list[np.ndarray]:
        """Inputs for a number of rows: many are special."""
        rng = np.random.default_rng(seed)
        return [_drawn(rng, value, rows, self.tame) for value in self.inputs]

    def smaller(self) -> Iterator["Program"]:
        """The program without one of its lines, the last first, or without a line of a function inside one."""
        for position in reversed(range(len(self.lines))):
            yield self._replace(lines=self._without(self.lines, position))
        for place, line in enumerate(self.lines):
            for shorter in self._shorter_inside(line):
                yield self._replace(lines=[*self.lines[:place], shorter, *self.lines[place + 1 :]])

    def _shorter_inside(self, line: Line) -> Iterator[Line]:
        for k, function in enumerate(line.functions):
            for position in reversed(range(len(function.lines))):
                gone = function.lines[position].value
                shorter = function._replace(
                    lines=self._without(function.lines, position),
                    results=[self._other(gone, name) for name in function.results],
                )
                yield line._replace(functions=[*line.functions[:k], shorter, *line.functions[k + 1 :]])
            for position, inner in enumerate(function.lines):
                for shorter_line in self._shorter_inside(inner):
                    lines = [*function.lines[:position], shorter_line, *function.lines[position + 1 :]]
                    shorter = function._replace(lines=lines)
                    yield line._replace(functions=[*line.functions[:k], shorter, *line.functions[k + 1 :]])

    def _without(self, lines: list[Line], position: int) -> list[Line]:
        gone = lines[position].value
        return [*lines[:position], *(self._replaced(line, gone) for line in lines[position + 1 :])]

    def _replaced(self, line: Line, gone: Value) -> Line:
        return line._replace(
            args=[self._other(gone, name) for name in line.args],
            functions=[
                f._replace(
                    lines=[self._replaced(inner, gone) for inner in f.lines],
                    results=[self._other(gone, name) for name in f.results],
                )
                for f in line.functions
            ],
        )

    def _other(self, gone: Value, name: str) -> str:
        """An input of the same type in the place of a value that is gone."""
        if name != gone.name:
            return name
        return next(v.name for v in self.inputs if v[1:] == gone[1:])


def _all(lines: list[Line]) -> Iterator[Line]:
    for line in lines:
        yield line
        for function in line.functions:
            yield from _all(function.lines)


def _functions(lines: list[Line]) -> Iterator[Function]:
    for line in _all(lines):
        yield from line.functions


def _text(lines: list[Line]) -> Iterator[str]:
    for line in lines:
        for function in line.functions:
            yield f"def {function.name}({', '.join(p.name for p in function.parameters)}):"
            yield from (f"    {inner}" for inner in _text(function.lines))
            results = ", ".join(function.results)
            yield f"    return {results}" if len(function.results) == 1 else f"    return ({results})"
        yield f"{line.value.name} = {line.text.format(*line.args)}"


FLOATS = [0.0, -0.0, np.inf, -np.inf, np.nan, 1e300, -1e300, 1e-300, 5e-324, -3e-310, 2.2e-308, 2.0**31, 2.0**53, 1e19]
WHOLES = [2**63 - 1, -(2**63), 2**31 - 1, -(2**31), 2**32, 2**32 + 1, -(2**33), 2**40 + 3, -1, 0]
SHORTS = [2**31 - 1, -(2**31), 2**30, 65537, -46341, -1, 0]


def _drawn(rng: np.random.Generator, value: Value, rows: int, tame: bool) -> np.ndarray:
    shape = (rows, *value.shape)
    special = rng.random(shape) < 0.15
    if value.dtype == "f" and tame:
        return rng.integers(-1024, 1025, shape) / 256
    if value.dtype == "f":
        ordinary = np.where(rng.random(shape) < 0.5, rng.integers(-4, 5, shape), rng.normal(size=shape))
        return np.where(special, rng.choice(FLOATS, shape), ordinary)
    if value.dtype == "b":
        return rng.random(shape) < 0.5
    extremes = WHOLES if value.dtype == "i" else SHORTS
    return np.where(special, rng.choice(extremes, shape), rng.integers(-5, 45, shape)).astype(DTYPES[value.dtype])


def draw(seed: int, *, lines: int = LINES) -> Program:
    """A program of so many lines; every other one is tame."""
    maker = _Maker(np.random.default_rng(seed), tame=bool(seed % 2))
    inputs = [Value(f"{d}{k}", d, shape) for d in DTYPES for k, shape in enumerate(SHAPES)]
    maker.scope += inputs
    made: list[Line] = []
    while maker.made < lines:
        made.append(maker.line())
        maker.scope.append(made[-1].value)
    return Program(inputs, made, maker.tame)


class _Maker:
    """Draws lines; `scope` are the values that a line may use."""

    def __init__(self, rng: np.random.Generator, *, tame: bool):
        self.rng = rng
        self.tame = tame
        self.made = 0
        self.scope: list[Value] = []
        self.args: list[str] = []
        self.functions: list[Function] = []
        self.depth = 0

    def line(self) -> Line:
        """A line of values in scope."""
        outer, self.args, self.functions = (self.args, self.functions), [], []
        makers = self.makers()
        text, dtype, shape = makers[self.rng.integers(len(makers))](self)
        if dtype == "f" and self.tame:
            text = f"tame({text})"
        self.made += 1
        line = Line(Value(f"v{self.made}", dtype, shape), text, self.args, self.functions)
        self.args, self.functions = outer
        return line

    def makers(self) -> Sequence[Callable[["_Maker"], "Made"]]:
        """What may make a line here."""
        return OPERATIONS if self.depth >= 2 or self.rng.random() < 0.8 else CONTROL

    def choose(self, *options: Any) -> Any:
        """One of them."""
        return options[self.rng.integers(len(options))]

    def shape(self) -> tuple[int, ...]:
        """Any shape."""
        return self.choose(*SHAPES)

    def array(self) -> tuple[int, ...]:
        """A shape with elements."""
        return self.choose((3,), (2, 3), (40,), (35, 2))

    def use(self, dtype: str, shape: tuple[int, ...]) -> str:
        """The place of a value of this type, rather a new one than an old one."""
        fitting = [v.name for v in self.scope if v.dtype == dtype and v.shape == shape]
        back = min(int(self.rng.integers(len(fitting))) for _ in range(2))
        self.args.append(fitting[len(fitting) - 1 - back])
        return "{" + str(len(self.args) - 1) + "}"

    def alike(self, dtype: str, shape: tuple[int, ...]) -> str:
        """A value of this shape, or a single number."""
        return self.use(dtype, self.choose(shape, shape, ()))

    def function(
        self,
        parameters: list[tuple[str, tuple[int, ...]]],
        results: list[tuple[str, tuple[int, ...]]],
        most: int = 4,
    ) -> str:
        """The name of a function of these types, with a few lines."""
        self.made += 1
        name, scope, args = f"g{self.made}", list(self.scope), self.args
        values = [Value(f"{name}_{k}", *kind) for k, kind in enumerate(parameters)]
        self.scope += values
        self.depth += 1
        lines = []
        for _ in range(self.rng.integers(1, most + 1)):
            line = self.line()
            lines.append(line)
            self.scope.append(line.value)
        self.args = []
        for kind in results:
            self.use(*kind)
        self.functions.append(Function(name, values, lines, self.args))
        self.scope, self.args = scope, args
        self.depth -= 1
        return name


Made = tuple[str, str, tuple[int, ...]]


def _lines(text: str) -> list[str]:
    return [line.strip() for line in text.strip().splitlines()]


def _rows(text: str) -> list[tuple[str, tuple[Any, ...]]]:
    """Lines `expression : shape, ...`: what it makes of arrays of these shapes; the last is that of the result."""
    pairs = (line.rsplit(" : ", 1) for line in _lines(text))
    return [(expression, eval(shapes)) for expression, shapes in pairs]


UNARY = _lines("""
    -x
    jnp.abs(x)
    jnp.sign(x)
    jnp.floor(x)
    jnp.ceil(x)
    jnp.round(x)
    jnp.trunc(x)
    lax.round(x, lax.RoundingMethod.AWAY_FROM_ZERO)
    jnp.sqrt(x)
    x**2
    x**3
    x + x
    x - x
    1.0 + x
    x - 0.5
    -1.0 * x
    -(3.0 * medium(x))
    2.5 * medium(x)
    0.5 * (2.0 * medium(x))
    settled(0.1 * (0.3 * medium(x)))
    settled(medium(x) / 3.0)
    settled(unsigned(x) ** -2)
    settled(unsigned(x) ** 0.5)
    settled(lax.rsqrt(unsigned(x)))
    settled(jnp.cbrt(x))
    settled(jnp.exp(x))
    settled(jnp.expm1(x))
    settled(jnp.log(x))
    settled(jnp.sin(medium(x)))
    settled(jnp.arctan(x))
    settled(jnp.tanh(x))
    settled(jax.nn.sigmoid(x))
""")


def _unary(m: _Maker) -> Made:
    shape = m.shape()
    return _put(m.choose(*UNARY), x=m.use("f", shape)), "f", shape


BINARY = _lines("""
    x + y
    x - y
    x * y
    x * x - y
    -(x * y)
    x - -y
    -x + y
    -x * -y
    y - x + (x - y)
    jnp.maximum(x, y)
    jnp.minimum(x, y)
    lax.rem(x, jnp.broadcast_to(y, x.shape))
    jnp.where(x == x, x, y)
    jnp.clip(x, jnp.minimum(y, 1.0), 3.0)
    x / unsigned(y)
    jnp.floor(x / unsigned(y))
    settled(jnp.arctan2(unsigned(x), unsigned(y)))
    settled(jnp.abs(medium(x)) ** jnp.clip(y, -9, 9))
""")


def _binary(m: _Maker) -> Made:
    shape = m.shape()
    return _put(m.choose(*BINARY), x=m.use("f", shape), y=m.alike("f", shape)), "f", shape


def _shared_division(m: _Maker) -> Made:
    shape = m.shape()
    text = "x / unsigned(d) - y / unsigned(d)"
    return _put(text, x=m.use("f", shape), y=m.alike("f", shape), d=m.alike("f", shape)), "f", shape


def _compare(m: _Maker) -> Made:
    shape, dtype = m.shape(), m.choose("f", "i", "j", "b")
    op = m.choose("==", "!=", "<", "<=", ">", ">=")
    return f"{m.use(dtype, shape)} {op} {m.alike(dtype, shape)}", "b", shape


def _test(m: _Maker) -> Made:
    shape = m.shape()
    return _put(m.choose("jnp.isnan(x)", "jnp.isfinite(x)", "jnp.isinf(x)"), x=m.use("f", shape)), "b", shape


def _logic(m: _Maker) -> Made:
    shape = m.shape()
    op = m.choose("x & y", "x | y", "x ^ y", "~x", "jnp.logical_and(x, ~y)", "jnp.where(x, y, ~y)", "x == ~y")
    return _put(op, x=m.use("b", shape), y=m.alike("b", shape)), "b", shape


def _where(m: _Maker) -> Made:
    shape, dtype = m.shape(), m.choose("f", "f", "i", "j", "b")
    return f"jnp.where({m.alike('b', shape)}, {m.use(dtype, shape)}, {m.alike(dtype, shape)})", dtype, shape


def _select_n(m: _Maker) -> Made:
    shape, dtype = m.shape(), m.choose("f", "i", "j")
    which, cases = m.use("j", shape), ", ".join(m.use(dtype, shape) for _ in range(3))
    return f"lax.select_n(jnp.clip({which}, 0, 2), {cases})", dtype, shape


INTEGERS = _lines("""
    x + y
    x - y
    x * y
    -x
    ~x
    x & y
    x | y
    x ^ y
    x // y
    x % y
    lax.div(x, jnp.broadcast_to(y, x.shape))
    lax.rem(x, jnp.broadcast_to(y, x.shape))
    lax.shift_left(x, jnp.broadcast_to(y, x.shape))
    lax.shift_right_arithmetic(x, jnp.broadcast_to(y, x.shape))
    x << (y & 31)
    x >> 3
    x // 3
    x % 5
    lax.rem(x, 7 + 0 * x)
    jnp.abs(x)
    jnp.sign(x)
    jnp.maximum(x, y)
    jnp.minimum(x, y)
    jnp.clip(x, -3, 40)
    x**2
    x**3
    x + 7
    (x + 2) + 3
    3 * x
    x - 5
    x * 0
    x - x
""")


def _integers(m: _Maker) -> Made:
    shape, dtype = m.shape(), m.choose("i", "j")
    return _put(m.choose(*INTEGERS), x=m.use(dtype, shape), y=m.alike(dtype, shape)), dtype, shape


def _convert(m: _Maker) -> Made:
    shape, source, target = m.shape(), m.choose("f", "i", "j", "b"), m.choose("f", "i", "j", "b")
    return f"{m.use(source, shape)}.astype('{DTYPES[target]}')", target, shape


SUMS = {
    "b": ["jnp.any(x)", "jnp.all(x)", "lax.reduce_xor(x, tuple(range(x.ndim)))"],
    "f": _lines("""
        jnp.sum(whole(x)) + y
        jnp.sum(whole(x), where=x > y) + y
        jnp.sum(whole(x), axis=0).reshape(-1)[:1].sum() + y
        jnp.prod(jnp.sign(x)) * y
        jnp.max(x, initial=y)
        jnp.min(x, initial=y)
        jnp.maximum(lax.reduce_max(x, tuple(range(x.ndim))), y)
        whole(x).reshape(-1) @ whole(x).reshape(-1) + y
    """),
    "i": _lines("""
        jnp.sum(x, dtype=x.dtype)
        jnp.prod(x, dtype=x.dtype)
        lax.reduce_max(x, tuple(range(x.ndim)))
        lax.reduce_min(x, tuple(range(x.ndim)))
        lax.reduce_and(x, tuple(range(x.ndim)))
        lax.reduce_or(x, tuple(range(x.ndim)))
    """),
}


def _reduce(m: _Maker) -> Made:
    shape, dtype = m.choose(*SHAPES[1:]), m.choose("f", "f", "i", "j", "b")
    text = m.choose(*SUMS["i" if dtype == "j" else dtype])
    return _put(text, x=m.use(dtype, shape), y=m.use(dtype, ())), dtype, ()


def _reduce_axis(m: _Maker) -> Made:
    text = m.choose("jnp.max(x, 0)", "jnp.min(x, 0)", "jnp.sum(whole(x), 0)", "x.max(0, keepdims=True)[0]")
    return _put(text, x=m.use("f", (2, 3))), "f", (3,)


def _extreme(m: _Maker) -> Made:
    op = m.choose("jnp.argmax(x)", "jnp.argmin(x)", "lax.argmax(x.reshape(-1), 0, jnp.int64)")
    return _put(op, x=m.use(m.choose("f", "i", "j", "b"), m.array())), "i", ()


def _cumulative(m: _Maker) -> Made:
    shape, dtype = m.choose(*SHAPES[1:]), m.choose("f", "f", "i", "j")
    axis, reverse = int(m.rng.integers(len(shape))), m.choose(True, False)
    x = m.use(dtype, shape)
    exact = {"cumsum": f"whole({x})" if dtype == "f" else x, "cumprod": f"jnp.sign({x})"}
    name = m.choose("cumsum", "cumprod", "cummax", "cummin")
    return f"lax.{name}({exact.get(name, x)}, {axis}, reverse={reverse})", dtype, shape


DOTS = _rows("""
    jnp.outer(whole(x)[:2], whole(y)) : (3,), (3,), (2, 3)
    jnp.vdot(whole(x), whole(y)) + z : (40,), (40,), ()
    jnp.einsum('ij,ik->jk', whole(x), whole(y))[:2] : (2, 3), (2, 3), (2, 3)
    (whole(y)[:, :2].T @ whole(x)[:, 1:]).reshape(-1)[:3] : (2, 3), (2, 3), (3,)
    (whole(x) @ whole(y)).sum() + z : (2, 3), (3,), ()
    whole(x) @ (whole(y)[:, :2]) : (35, 2), (2, 3), (35, 2)
    whole(x) @ whole(y) + z : (3,), (3,), ()
    whole(x) @ whole(y) + z : (0,), (0,), ()
""")


def _dot(m: _Maker) -> Made:
    text, (first, second, shape) = m.choose(*DOTS)
    return _put(text, x=m.use("f", first), y=m.use("f", second), z=m.use("f", ())), "f", shape


MOVES = _rows("""
    x[None].sum(0, dtype=x.dtype) : (), ()
    x.reshape((1, 1)).squeeze() : (), ()
    jnp.broadcast_to(x, (3,))[1] : (), ()
    jnp.broadcast_to(x, (40,)) : (), (40,)
    jnp.stack([x, x, x]) : (), (3,)
    x[::-1] : (3,), (3,)
    jnp.roll(x, 1) : (3,), (3,)
    jnp.concatenate([x[1:], x[:1]]) : (3,), (3,)
    lax.pad(x[1:], x[0], [(1, 0, 0)]) : (3,), (3,)
    lax.pad(x, x[1], [(-1, 3, 1)])[:3] : (3,), (3,)
    jnp.stack([x, x[::-1]], 1).reshape(-1)[1:4] : (3,), (3,)
    jnp.repeat(x, 2)[1:4] : (3,), (3,)
    jnp.tile(x, 2)[2:5] : (3,), (3,)
    x[jnp.array([2, 0, 0])] : (3,), (3,)
    jnp.diag(jnp.outer(x, x) != 0).astype(x.dtype) : (3,), (3,)
    x.at[0].set(x[2]) : (3,), (3,)
    x[2] : (3,), ()
    x[:0] : (3,), (0,)
    jnp.stack([x, x[::-1]]) : (3,), (2, 3)
    x[:, ::-1] : (2, 3), (2, 3)
    x.T.reshape(2, 3) : (2, 3), (2, 3)
    lax.reshape(x, (2, 3), dimensions=(1, 0)) : (2, 3), (2, 3)
    jnp.flip(x) : (2, 3), (2, 3)
    jnp.stack([x[1], x[0]]) : (2, 3), (2, 3)
    jnp.column_stack([x[0], x[1]]).T : (2, 3), (2, 3)
    jnp.swapaxes(x[None], 0, 1)[:, 0] : (2, 3), (2, 3)
    jnp.concatenate([x[:, 1:], x[:, :1]], 1) : (2, 3), (2, 3)
    x.at[:, 1].set(x[:, 0]) : (2, 3), (2, 3)
    jnp.moveaxis(x, 0, 1).T : (2, 3), (2, 3)
    x[1] : (2, 3), (3,)
    jnp.tile(x.reshape(-1), 7)[:40] : (2, 3), (40,)
    jnp.concatenate([x, x]) : (0,), (0,)
    x[:, None][..., 0] : (0,), (0,)
    jnp.roll(x, 7) : (40,), (40,)
    x.reshape(8, 5).T.reshape(-1) : (40,), (40,)
    lax.reshape(x.reshape(4, 10), (40,), dimensions=(1, 0)) : (40,), (40,)
    jnp.concatenate([x[20:], x[:20]]) : (40,), (40,)
    jnp.pad(x[1:], (0, 1), mode='edge') : (40,), (40,)
    lax.pad(x[::2], x[3], [(1, 0, 1)]) : (40,), (40,)
    jnp.repeat(x, 2)[5:45] : (40,), (40,)
    x[::-1].at[3].set(x[0]) : (40,), (40,)
    jnp.tile(x[:20], 2) : (40,), (40,)
    jnp.broadcast_to(x[3:4], (40,)) : (40,), (40,)
    jnp.stack(jnp.split(x, 4), 1).reshape(-1) : (40,), (40,)
    x[5:8] : (40,), (3,)
    x[-1] : (40,), ()
    x[10:16].reshape(2, 3) : (40,), (2, 3)
    jnp.stack([x[:35], x[5:]], 1) : (40,), (35, 2)
    x[:, ::-1] : (35, 2), (35, 2)
    x.T[::-1].T : (35, 2), (35, 2)
    lax.reshape(x, (35, 2), dimensions=(1, 0)) : (35, 2), (35, 2)
    jnp.stack([x[:, 1], x[:, 0]], -1) : (35, 2), (35, 2)
    jnp.concatenate([x[5:], x[:5]]) : (35, 2), (35, 2)
    x.reshape(5, 7, 2).transpose(1, 0, 2).reshape(35, 2) : (35, 2), (35, 2)
    x.at[:, 0].set(x[:, 1]) : (35, 2), (35, 2)
    x[4:7, 1] : (35, 2), (3,)
    x.reshape(-1)[30:] : (35, 2), (40,)
    x[:3].T : (35, 2), (2, 3)
""")


def _move(m: _Maker) -> Made:
    dtype, (text, (source, shape)) = m.choose("f", "f", "i", "j", "b"), m.choose(*MOVES)
    return _put(text, x=m.use(dtype, source)), dtype, shape


GATHERS = _rows("""
    x[i] : ()
    x[n] : None
    x.at[near(n)].get(mode='clip') : None
    x.at[near(n)].get(mode='fill', fill_value=filling) : None
    x.at[near(n)].get(mode='fill') : None
    x.at[near(i)].get(mode='fill') : ()
    x.at[jnp.clip(n, 0, 1)].get(mode='promise_in_bounds') : None
    jnp.take(x, near(n), mode='wrap') : None
    jnp.take(x, near(n), mode='clip') : None
    jnp.take(x, near(n), mode='fill') : None
    jnp.take_along_axis(x, jnp.clip(n, -2, 1), 0) : None
    lax.dynamic_index_in_dim(x, i, keepdims=False) : ()
    lax.dynamic_slice_in_dim(x, i, 2)[1] : ()
""")


def _gather(m: _Maker) -> Made:
    shape, dtype, index, many = m.array(), m.choose("f", "f", "i", "j", "b"), m.choose("i", "j"), m.choose((3,), (40,))
    text, result = m.choose(*GATHERS)
    filling = {"f": "-1.5", "i": "7", "j": "7", "b": "True"}[dtype]
    x = m.use(dtype, shape) + ("" if len(shape) == 1 else "[:, 0]")
    return (
        _put(text, x=x, i=m.use(index, ()), n=m.use(index, many), filling=filling),
        dtype,
        many if result is None else (),
    )


ROWS = _rows("""
    x[i, 1] : (35, 2), ()
    x[1, i] : (2, 3), ()
    x[i] : (2, 3), (3,)
    x[:, i][0] : (2, 3), ()
    jnp.take(x, jnp.clip(i, -1, 1), axis=0, mode='clip') : (2, 3), (3,)
    lax.dynamic_slice(x, (i, i), (2, 1))[:, 0][:0] : (35, 2), (0,)
    lax.dynamic_slice(x, (i, 0 * i), (3, 2)).T[:1, :].reshape(3) : (35, 2), (3,)
    lax.dynamic_slice(x, (i - 1, i), (1, 3))[0] : (2, 3), (3,)
""")


def _gather_rows(m: _Maker) -> Made:
    dtype, (text, (source, shape)) = m.choose("f", "i", "b"), m.choose(*ROWS)
    return _put(text, x=m.use(dtype, source), i=m.use(m.choose("i", "j"), ())), dtype, shape


SCATTERS = {
    "b": ["x.at[i].set(y)"],
    "f": _lines("""
        x.at[i].set(y)
        x.at[i].apply(lambda e: whole(e) * 2.0 + 1.0)
        whole(x).at[i].add(whole(y))
        whole(x).at[i].subtract(whole(y))
        whole(x).at[i].min(whole(y))
        whole(x).at[i].max(whole(y))
        jnp.sign(x).at[i].multiply(jnp.sign(y))
        whole(x).at[i].add(1.0).at[i].multiply(-2.0)
        whole(x).at[1].add(whole(y)).at[i].set(2.0).at[1].add(3.0)
    """),
    "i": [
        *(f"x.at[i].{name}(y)" for name in ("set", "add", "subtract", "multiply", "min", "max")),
        "x.at[i].add(y).at[i].multiply(3)",
        "x.at[1].add(y).at[i].set(7).at[1].add(x[1])",
    ],
}


def _scatter(m: _Maker) -> Made:
    shape, dtype = m.array(), m.choose("f", "f", "i", "j", "b")
    x, i = m.use(dtype, shape), m.use(m.choose("i", "j"), m.choose((), (), (3,), (40,)))
    y = m.choose(m.use(dtype, ()), m.use(dtype, (3,)) + {(2,): "[:2]", (3,): ""}.get(shape[1:], "[0]"))
    text, mode = m.choose(*SCATTERS["i" if dtype == "j" else dtype]), m.choose("", ", mode='drop'", ", mode='clip'")
    return _put(f"{text[:-1]}{mode})", x=x, i=i, y=y), dtype, shape


UPDATES = _rows("""
    lax.dynamic_update_slice(x, y, (i,)) : (40,), (3,)
    lax.dynamic_update_slice(x, y[:2], (i,)) : (3,), (3,)
    lax.dynamic_update_slice(x, y[None], (i, i)) : (2, 3), (3,)
    lax.dynamic_update_slice(x, y[:2, :2], (i, 0 * i)) : (35, 2), (2, 3)
    lax.dynamic_update_index_in_dim(x, y, i, 0) : (2, 3), (3,)
    x.at[1:].set(y[:1]) : (3,), (3,)
    x.at[i, 1].set(y[0]) : (35, 2), (3,)
    x.at[::3].set(y[0]) : (40,), (3,)
    x.at[i].set(x[0]) : (40,), (3,)
    x.at[i].set(x[i]) : (3,), (3,)
""")


def _update(m: _Maker) -> Made:
    dtype, (text, (shape, part)) = m.choose("f", "i", "b"), m.choose(*UPDATES)
    i = m.use(m.choose("i", "j"), ())
    return _put(text, x=m.use(dtype, shape), y=m.use(dtype, part), i=i), dtype, shape


SLOPES = _lines("""
    jax.grad(lambda v: jnp.sum(jnp.sin(v) * v))(tame(x))
    jax.grad(lambda v: jnp.sum(v * v * tame(y)))(tame(x))
    jax.grad(lambda v: jnp.max(v) + jnp.sum(v[0] * v))(tame(x))
    jax.grad(lambda v: jnp.sum(jnp.where(v > 0, v, 2 * v)) * tame(y))(tame(x))
    jax.grad(lambda v: lax.scan(lambda c, t: (c * 0.5 + jnp.sum(t) * c, c), 1.5, v[:3])[0])(tame(x))
    jax.jvp(lambda v: v / (2.0 + v * v), (tame(x),), (tame(x) + 1.0,))[1]
""")


def _slope(m: _Maker) -> Made:
    """A derivative: of finite numbers, for that of others is full of zeros that are known."""
    shape = m.array()
    return f"tame({_put(m.choose(*SLOPES), x=m.use('f', shape), y=m.use('f', ()))})", "f", shape


OPERATIONS: list[Callable[[_Maker], Made]] = [
    *(3 * [_unary, _binary, _integers, _gather, _scatter]),
    *(5 * [_move]),
    *(2 * [_where, _compare, _reduce, _update, _convert, _gather_rows]),
    *(_shared_division, _test, _logic, _select_n, _reduce_axis, _extreme, _cumulative, _dot, _slope),
]


def _carried(m: _Maker) -> list[tuple[str, tuple[int, ...]]]:
    kinds = [(m.choose("f", "f", "i", "j", "b"), m.shape()) for _ in range(m.rng.integers(1, 4))]
    return [("f", m.shape()), *kinds]


def _tuple(names: list[str]) -> str:
    return f"({', '.join(names)},)"


def _given(m: _Maker, kinds: list[tuple[str, tuple[int, ...]]]) -> list[str]:
    return [m.use(*kind) for kind in kinds]


def _fori(m: _Maker) -> Made:
    kinds = _carried(m)
    inits = _tuple(_given(m, kinds))
    count = m.choose(str(m.rng.integers(0, 5)), f"jnp.clip({m.use('i', ())}, 0, 4)", f"{m.use('i', ())} & 3")
    body = m.function([("i", ()), *kinds], kinds)
    which = int(m.rng.integers(len(kinds)))
    return f"lax.fori_loop(0, {count}, lambda i, s: {body}(i, *s), {inits})[{which}]", *kinds[which]


def _while(m: _Maker) -> Made:
    kinds = _carried(m)
    inits = _tuple(_given(m, kinds))
    body, test = m.function(kinds, kinds), m.function(kinds, [("b", ())])
    which, most = int(m.rng.integers(len(kinds))), m.rng.integers(1, 6)
    going, step = f"lambda s: (s[0] < {most}) & {test}(*s[1:])", f"lambda s: (s[0] + 1, *{body}(*s[1:]))"
    return f"lax.while_loop({going}, {step}, (0, *{inits}))[{which + 1}]", *kinds[which]


def _many_whiles(m: _Maker) -> Made:
    """Loops side by side, each of its own length."""
    kinds, size = [("f", ()), (m.choose("f", "i"), ())], m.choose((3,), (40,))
    rows = _given(m, [(dtype, size) for dtype, _ in kinds])
    body, test = m.function(kinds, kinds), m.function(kinds, [("b", ())])
    going, step = f"lambda s: (s[0] < 3) & {test}(*s[1:])", f"lambda s: (s[0] + 1, *{body}(*s[1:]))"
    return f"jax.vmap(lambda a, b: lax.while_loop({going}, {step}, (0, a, b))[1])({', '.join(rows)})", "f", size


def _scan(m: _Maker) -> Made:
    kinds, shape, dtype = _carried(m), m.choose((3,), (2, 3), (40,), (0,), (35, 2)), m.choose("f", "f", "i", "b")
    inits, xs = _tuple(_given(m, kinds)), m.use(dtype, shape)
    narrow = shape[1:] == (2,)  # rows of a shape that values do not have: one element of each
    element = () if narrow else shape[1:]
    out, given = (m.choose("f", "i"), element), "t[0]" if narrow else "t"
    body = m.function([*kinds, (dtype, element)], [*kinds, out])
    step = f"lambda s, t: (lambda r: (tuple(r[:-1]), r[-1]))({body}(*s, {given}))"
    text = f"lax.scan({step}, {inits}, {xs}, reverse={m.choose(True, False)})"
    if m.rng.random() < 0.5 and not narrow:
        return f"{text}[1]", out[0], shape
    which = int(m.rng.integers(len(kinds)))
    return f"{text}[0][{which}]", *kinds[which]


def _cond(m: _Maker) -> Made:
    kinds = [(m.choose("f", "f", "i", "b"), m.shape()) for _ in range(2)]
    given, arms = ", ".join(_given(m, kinds)), [m.function(kinds, kinds) for _ in range(2)]
    which = int(m.rng.integers(2))
    return f"lax.cond({m.use('b', ())}, {arms[0]}, {arms[1]}, {given})[{which}]", *kinds[which]


def _switch(m: _Maker) -> Made:
    kinds = [(m.choose("f", "f", "i", "b"), m.shape()) for _ in range(2)]
    given, arms = ", ".join(_given(m, kinds)), ", ".join(m.function(kinds, kinds[:1]) for _ in range(3))
    return f"lax.switch(jnp.clip({m.use(m.choose('i', 'j'), ())}, -2**31, 2**31 - 1), [{arms}], {given})", *kinds[0]


def _inner(m: _Maker) -> Made:
    """A function of its own, or one for each row."""
    kind = (m.choose("f", "i"), ())
    if m.rng.random() < 0.5:
        given = m.use(*kind)
        return f"jax.jit({m.function([kind], [kind])})({given})", *kind
    size = m.choose((3,), (40,))
    given = m.use(kind[0], size)
    return f"jax.vmap({m.function([kind], [kind])})({given})", kind[0], size


CONTROL: list[Callable[[_Maker], Made]] = [_fori, _while, _many_whiles, _scan, _scan, _cond, _switch, _inner]


class _Mapper(_Maker):
    """Draws maps over a number of rows, and what goes on between and around them; `inside` a map, what is simple."""

    def __init__(self, rng: np.random.Generator, *, tame: bool, rows: int):
        super().__init__(rng, tame=tame)
        self.rows = rows
        self.inside = False
        self.own = 0  # the first value in scope that the function at work has made

    def makers(self) -> Sequence[Callable[..., Made]]:
        """Half of the lines are maps."""
        if self.inside:
            return SIMPLE
        return MAPS if self.depth >= 2 or self.rng.random() < 0.7 else AROUND

    def shape(self) -> tuple[int, ...]:
        """One of a row, or of all rows."""
        if self.inside:
            return self.choose((), (), (3,))
        return (self.rows, *self.choose((), (3,)))

    def use(self, dtype: str, shape: tuple[int, ...]) -> str:
        """Rather a value of the function at work."""
        fitting = [v.name for v in self.scope[self.own :] if v.dtype == dtype and v.shape == shape]
        if not fitting or self.rng.random() < 0.1:
            return super().use(dtype, shape)
        self.args.append(self.choose(*fitting[-3:], fitting[-1]))
        return "{" + str(len(self.args) - 1) + "}"

    def function(self, *kinds: list[tuple[str, tuple[int, ...]]], most: int = 4) -> str:
        """The name of a function, which has its own values."""
        own, self.own = self.own, len(self.scope)
        name = super().function(*kinds, most=most)
        self.own = own
        return name


def draw_maps(seed: int, *, lines: int = 7) -> Program:
    """A program of maps over up to 17 rows; every other one is tame."""
    rng = np.random.default_rng(seed)
    rows = int(rng.choice([2, 3, 4, 5, 7, 8, 8, 8, 16, 1, 17]))
    maker = _Mapper(rng, tame=bool(seed % 2), rows=rows)
    shapes = dict.fromkeys([*SHAPES, (rows,), (rows, 3)])
    inputs = [Value(f"{d}{k}", d, shape) for d in DTYPES for k, shape in enumerate(shapes)]
    maker.scope += inputs
    made: list[Line] = []
    while len(made) < lines:
        made.append(maker.line())
        maker.scope.append(made[-1].value)
    return Program(inputs, made, maker.tame)


def _map(m: _Mapper) -> Made:
    """A map over rows of which some are known, or the same."""
    kinds = [("f", ()), ("f", (3,)), ("b", ()), *m.choose([], [], [("i", ())], [("j", (3,))])]
    result = m.choose(*kinds, kinds[0], kinds[1])
    given = [_rows_of(m, *kind) for kind in kinds]
    body = _inside(m, kinds, [result, ("b", ())])
    mapped = f"lax.map(lambda t: {body}(*t), ({', '.join(given)},))"
    spread = "[:, None]" if result[1] else ""
    chosen = f"(lambda r: jnp.where(r[1]{spread}, r[0], r[0][::-1]))({mapped})"
    return m.choose(f"{mapped}[0]", chosen), result[0], (m.rows, *result[1])


def _rows_of(m: _Mapper, dtype: str, row: tuple[int, ...]) -> str:
    shape = (m.rows, *row)
    if m.rng.random() < 0.7:
        return m.use(dtype, shape)
    known = {"f": "np.arange({0}) / 2 - 0.75", "b": "np.arange({0}) % 3 == 1"}.get(
        dtype, f"np.arange({{0}}, dtype='{DTYPES[dtype]}')"
    )
    return m.choose(
        f"jnp.asarray({known.format(int(np.prod(shape)))}).reshape({shape})",
        f"jnp.broadcast_to({m.use(dtype, row)}, {shape})",
        f"{m.use(dtype, shape)}[np.arange({m.rows}) // 2]",
    )


def _turned(m: _Mapper) -> Made:
    """Rows in another order."""
    shape, dtype = m.shape(), m.choose("f", "f", "i", "b")
    order = m.choose("[::-1]", "[np.arange(R) // 2 * 2 % R]", "[np.roll(np.arange(R), 1)]", ".at[0].set(x[R - 1])")
    x = m.use(dtype, shape)
    return x + order.replace("x", x).replace("R", str(m.rows)), dtype, shape


def _from_memory(m: _Mapper) -> Made:
    dtype, first = m.choose("f", "i", "b"), m.rng.integers(0, 20)
    return m.use(dtype, (40,)) + f"[{first}:{first + m.rows}]", dtype, (m.rows,)


def _one_row(m: _Mapper) -> Made:
    dtype, row = m.choose("f", "i", "b"), m.choose((), (3,))
    return m.use(dtype, (m.rows, *row)) + f"[{m.rng.integers(m.rows)}]", dtype, row


def _joined(m: _Mapper) -> Made:
    text = m.choose("jnp.concatenate([x[1:], y])[:3]", "jnp.stack([x[2], y[0], x[0]])", "jnp.where(x > y, x, y)[::-1]")
    return _put(text, x=m.use("f", (3,)), y=m.use("f", (3,))), "f", (3,)


def _product(m: _Mapper) -> Made:
    """Of finite numbers, for zeros may be known."""
    text = m.choose("(A @ X)[0] + y", "(A @ X).sum() * y", "X @ X - y")
    text = text.replace("A", "whole(tame(a))").replace("X", "whole(tame(x))")
    return _put(text, a=m.use("f", (2, 3)), x=m.use("f", (3,)), y=m.use("f", ())), "f", ()


def _round(m: _Mapper) -> Made:
    """A loop around a map, or one and what its rows are turned into."""
    kinds = [("f", ()), ("f", m.choose((), (3,))), m.choose(("b", ()), ("f", ()), ("i", ()))]
    inits, count = ", ".join(_rows_of(m, *kind) for kind in kinds), f"{m.use('i', ())} & 3"
    body, which = _inside(m, kinds, kinds), int(m.rng.integers(2))
    again = m.choose("r", "r", "(r[0][::-1], *r[1:])", "(r[0].at[0].set(r[0][1]), *r[1:])", "(s[0] + r[0], *r[1:])")
    step = f"lambda _, s: (lambda r: {again})(lax.map(lambda t: {body}(*t), s))"
    dtype, row = kinds[which]
    return f"lax.fori_loop(0, {count}, {step}, ({inits}))[{which}]", dtype, (m.rows, *row)


def _branched(m: _Mapper) -> Made:
    """What comes out of a branch: rows that are made in an arm, or before, or known, in their order or another."""
    kinds = [("f", ()), ("f", m.choose((), (3,))), m.choose(("b", ()), ("i", ()))]
    body, which = _inside(m, kinds, kinds), int(m.rng.integers(3))
    before = f"lax.map(lambda t: {body}(*t), ({', '.join(_rows_of(m, *kind) for kind in kinds)},))"
    arms = [
        "r",
        "r",
        "tuple(jnp.zeros_like(x) for x in r)",
        "tuple(x[::-1] for x in r)",
        "(r[0].at[0].set(r[0][1]), *r[1:])",
    ]
    arms += [f"lax.map(lambda t: {body}(*t), r)"] * 3
    yes, no = m.choose(*arms), m.choose(*arms)
    dtype, row = kinds[which]
    return (
        f"(lambda r: lax.cond({m.use('b', ())}, lambda: {yes}, lambda: {no}))({before})[{which}]",
        dtype,
        (m.rows, *row),
    )


def _inside(
    m: _Mapper, parameters: list[tuple[str, tuple[int, ...]]], results: list[tuple[str, tuple[int, ...]]]
) -> str:
    m.inside = True
    body = m.function(parameters, results, most=16)
    m.inside = False
    return body


def _short_scan(m: _Mapper) -> Made:
    kinds: list[tuple[str, tuple[int, ...]]] = [("f", (m.rows,)), ("f", (m.rows, 3))]
    inits, xs = _tuple(_given(m, kinds)), m.use("f", (3,))
    body = m.function([*kinds, ("f", ())], [*kinds, ("f", (3,))])
    step = f"lambda s, t: (lambda r: (tuple(r[:-1]), r[-1]))({body}(*s, t))"
    which = int(m.rng.integers(2))
    return f"lax.scan({step}, {inits}, {xs}, reverse={m.choose(True, False)})[0][{which}]", *kinds[which]


SIMPLE: list[Callable[..., Made]] = [
    *(6 * [_unary, _binary]),
    *(2 * [_where, _product, _compare, _joined]),
    *(_integers, _test, _logic, _select_n, _convert, _shared_division),
]
MAPS: list[Callable[..., Made]] = [*(6 * [_map]), _turned, _turned, _from_memory, _one_row, _where]
AROUND: list[Callable[..., Made]] = [_fori, _while, *(4 * [_round]), *(2 * [_branched]), _short_scan, _cond]


def _put(text: str, **names: str) -> str:
    """The text with the places of values for its letters."""
    out, word = [], ""
    for letter in text + " ":
        if letter.isidentifier() or (word and letter.isdigit()):
            word += letter
            continue
        out.append(names.get(word, word) + letter)
        word = ""
    return "".join(out)[:-1]
