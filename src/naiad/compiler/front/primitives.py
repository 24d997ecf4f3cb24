"""What each JAX primitive does to arrays of nodes."""

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from naiad.compiler.front.arrays import UNROLLED, Lazy, Value, element_type, kind
from naiad.compiler.front.trace import Refusal, Tracer, rule
from naiad.compiler.ir.operations import BOOL, FLOAT, INT, LIBRARY
from naiad.compiler.ir.program import Node

CHAINS = 8  # partial sums of a long sum, which a processor adds to at once
ABREAST = 32  # sums that are in the making at once
LIGHT = 4  # operations of a term, above which its code is not repeated for each chain

# -- element by element


def _map(tracer: Tracer, eqn: Any, function: Callable[..., Node], inputs: Sequence[Value]) -> Value:
    aval = eqn.outvars[0].aval
    if tracer.arrays.is_large(aval.shape) or any(isinstance(x, Lazy) for x in inputs):
        at = tracer.arrays.at

        def element(index):
            return function(*(at(x, index if x.shape else ()) for x in inputs))

        return tracer.arrays.lazy(aval.shape, kind(aval.dtype), element, *inputs)
    return np.frompyfunc(function, len(inputs), 1)(*inputs)


def _elementwise(name: str, build: Callable[..., Callable[..., Node]]) -> None:
    """Register a primitive by a function of the builder, the types of its arguments and its parameters."""

    @rule(name, reads=_READS.get(name, ""))
    def apply(tracer: Tracer, eqn: Any, *inputs: Value) -> Value:
        types = [kind(atom.aval.dtype) for atom in eqn.invars]
        function = build(tracer.builder, types, eqn)
        if eqn.outvars[0].aval.dtype.name == "int32" and name in _WRAPPING:
            function = _wrapped(tracer.builder, function)
        return _map(tracer, eqn, function, inputs)


_READS = {"integer_pow": "y", "round": "rounding_method"}
_WRAPPING = {
    "add",
    "sub",
    "mul",
    "neg",
    "abs",
    "integer_pow",
    "square",
    "shift_left",
    "add_any",
    "div",
    "convert_element_type",
}


def _wrapped(builder: Any, function: Callable[..., Node]) -> Callable[..., Node]:
    return lambda *args: builder.op("wrap32", function(*args))


def _by_type(floats: str | None = None, ints: str | None = None, bools: str | None = None):
    """The operation of the argument's type."""

    def build(b, types, eqn):
        name = {FLOAT: floats, INT: ints, BOOL: bools}[types[0]]
        if name is None:
            raise Refusal(f"{eqn.primitive.name} of {eqn.invars[0].aval.dtype}")
        return lambda *args: b.op(name, *args)

    return build


for _name, _build in {
    "add": _by_type("add", "iadd", "or"),
    "add_any": _by_type("add", "iadd", "or"),
    "sub": _by_type("sub", "isub"),
    "mul": _by_type("mul", "imul", "and"),
    "div": _by_type("div", "idiv"),
    "rem": _by_type("rem", "irem"),
    "neg": _by_type("neg", "ineg"),
    "max": _by_type("max", "imax", "or"),
    "min": _by_type("min", "imin", "and"),
    "abs": _by_type("abs", "iabs"),
    "sign": _by_type("sign", "isign"),
    "and": _by_type(None, "iand", "and"),
    "or": _by_type(None, "ior", "or"),
    "xor": _by_type(None, "ixor", "xor"),
    "not": _by_type(None, "inot", "not"),
    "shift_left": _by_type(None, "shl"),
    "shift_right_arithmetic": _by_type(None, "shr"),
    "is_finite": _by_type("finite"),
    "atan2": _by_type("atan2"),
    "floor": _by_type("floor"),
    "ceil": _by_type("ceil"),
    "square": lambda b, types, eqn: lambda a: b.mul(a, a),
    "integer_pow": lambda b, types, eqn: lambda a: b.power(a, eqn.params["y"]),
    "rsqrt": lambda b, types, eqn: lambda a: b.op("div", b.real(1.0), b.op("sqrt", a)),
    "logistic": lambda b, types, eqn: (
        lambda a: b.op("div", b.real(1.0), b.add(b.real(1.0), b.op("exp", b.op("neg", a))))
    ),
    "round": lambda b, types, eqn: lambda a: b.op("round" if int(eqn.params["rounding_method"]) else "round_away", a),
    "eq": lambda b, types, eqn: lambda x, y: b.op("eq", x, y),
    "ne": lambda b, types, eqn: lambda x, y: b.op("ne", x, y),
    "lt": lambda b, types, eqn: lambda x, y: b.op("lt", x, y),
    "le": lambda b, types, eqn: lambda x, y: b.op("le", x, y),
    "gt": lambda b, types, eqn: lambda x, y: b.op("lt", y, x),
    "ge": lambda b, types, eqn: lambda x, y: b.op("le", y, x),
    **{name: _by_type(name) for name in (LIBRARY | {"sqrt"}) - {"rem", "pow", "atan2"}},
}.items():
    _elementwise(_name, _build)


@rule("pow")
def _pow(tracer: Tracer, eqn: Any, base: Value, exponent: Value) -> Value:
    b = tracer.builder
    whole = kind(eqn.invars[1].aval.dtype) == INT

    def power(a: Node, n: Node) -> Node:
        if whole and n.constant and abs(n.value) <= 16:
            return b.power(a, n.value)
        return b.op("pow", a, b.op("to_float", n) if whole else n)

    if kind(eqn.invars[0].aval.dtype) != FLOAT:
        raise Refusal("pow of integers")
    return _map(tracer, eqn, power, (base, exponent))


@rule("clamp")
def _clamp(tracer: Tracer, eqn: Any, low: Value, x: Value, high: Value) -> Value:
    b = tracer.builder
    larger, smaller = ("max", "min") if kind(eqn.outvars[0].aval.dtype) == FLOAT else ("imax", "imin")
    return _map(tracer, eqn, lambda lo, a, hi: b.op(smaller, b.op(larger, a, lo), hi), (low, x, high))


@rule("convert_element_type")
def _convert(tracer: Tracer, eqn: Any, x: Value) -> Value:
    b = tracer.builder
    source, target = kind(eqn.invars[0].aval.dtype), kind(eqn.outvars[0].aval.dtype)
    if eqn.outvars[0].aval.dtype.name == "int32" and source == INT:
        return _map(tracer, eqn, lambda a: b.op("wrap32", a), (x,)) if eqn.invars[0].aval.dtype.name == "int64" else x
    if eqn.outvars[0].aval.dtype.name == "int32" and source == FLOAT:
        low, high = b.integer(-(2**31)), b.integer(2**31 - 1)
        return _map(tracer, eqn, lambda a: b.op("imin", b.op("imax", b.op("to_int", a), low), high), (x,))
    return _of_type(tracer, x, target)


def _of_type(tracer: Tracer, x: Value, target: str) -> Value:
    """The same numbers as floats, integers or truth values."""
    b, source = tracer.builder, element_type(x)
    functions = {
        (INT, FLOAT): lambda a: b.op("to_float", a),
        (BOOL, FLOAT): lambda a: b.select(a, b.real(1.0), b.real(0.0)),
        (FLOAT, INT): lambda a: b.op("to_int", a),
        (BOOL, INT): lambda a: b.op("bool_to_int", a),
        (FLOAT, BOOL): lambda a: b.op("ne", a, b.real(0.0)),
        (INT, BOOL): lambda a: b.op("ne", a, b.integer(0)),
    }
    if source == target:
        return x
    function = functions[source, target]
    if isinstance(x, Lazy):
        return tracer.arrays.lazy(x.shape, target, lambda index: function(x.at(index)), x)
    return np.frompyfunc(function, 1, 1)(x)


@rule("select_n")
def _select_n(tracer: Tracer, eqn: Any, which: Value, *cases: Value) -> Value:
    b = tracer.builder
    if kind(eqn.invars[0].aval.dtype) == BOOL:
        return _map(tracer, eqn, lambda c, no, yes: b.select(c, yes, no), (which, *cases))

    def choose(c: Node, *values: Node) -> Node:
        found = values[-1]
        for position in range(len(values) - 2, -1, -1):
            found = b.select(b.op("lt", c, b.integer(position + 1)), values[position], found)
        return found

    return _map(tracer, eqn, choose, (which, *cases))


@rule("copy", "copy_p", "stop_gradient", "optimization_barrier")
def _same(tracer: Tracer, eqn: Any, *inputs: Value) -> Any:
    return list(inputs) if eqn.primitive.multiple_results else inputs[0]


@rule("reduce_precision", reads="exponent_bits mantissa_bits")
def _reduce_precision(tracer: Tracer, eqn: Any, x: Value) -> Value:
    if eqn.params["exponent_bits"] < 11 or eqn.params["mantissa_bits"] < 52:
        raise Refusal("reduce_precision below double precision")
    return x


# -- shapes


def _view(tracer: Tracer, eqn: Any, x: Value, source: Callable[[tuple[Node, ...]], Sequence[Node]]) -> Lazy:
    """A large array whose element at an index is that of x at source(index)."""
    aval = eqn.outvars[0].aval
    return tracer.arrays.lazy(
        aval.shape, kind(aval.dtype), lambda index: tracer.arrays.at(x, source(index)), x, view=True
    )


def _goes_lazy(tracer: Tracer, eqn: Any, *inputs: Value) -> bool:
    return tracer.arrays.is_large(eqn.outvars[0].aval.shape) or any(isinstance(x, Lazy) for x in inputs)


def _shrunk(tracer: Tracer, eqn: Any, value: Lazy) -> Value:
    """A view that has become small is read at once."""
    return value if tracer.arrays.is_large(eqn.outvars[0].aval.shape) else tracer.arrays.small(value)


@rule("broadcast_in_dim", reads="shape broadcast_dimensions")
def _broadcast(tracer: Tracer, eqn: Any, x: Value) -> Value:
    shape, dims = eqn.params["shape"], eqn.params["broadcast_dimensions"]
    if not _goes_lazy(tracer, eqn, x):
        expanded = [1] * len(shape)
        for axis, dim in enumerate(dims):
            expanded[dim] = x.shape[axis]
        return np.broadcast_to(x.reshape(expanded), shape)
    zero = tracer.builder.integer(0)
    (x,) = tracer.settled([x])
    return _view(tracer, eqn, x, lambda index: [zero if x.shape[k] == 1 else index[dim] for k, dim in enumerate(dims)])


@rule("reshape", reads="new_sizes dimensions")
def _reshape(tracer: Tracer, eqn: Any, x: Value) -> Value:
    shape, order = eqn.params["new_sizes"], eqn.params["dimensions"]
    if order is not None:
        x = _permuted(tracer, x, order)
    if not _goes_lazy(tracer, eqn, x):
        return x.reshape(shape)
    arrays = tracer.arrays
    if isinstance(x, Lazy) and x.buffer is not None:
        return _shrunk(tracer, eqn, arrays.whole(x.buffer, shape))
    axes = _kept_axes(x.shape, shape)
    if axes is not None:  # only axes of length 1 come or go
        zero = tracer.builder.integer(0)
        return _shrunk(
            tracer, eqn, _view(tracer, eqn, x, lambda index: [zero if k is None else index[k] for k in axes])
        )
    return _shrunk(tracer, eqn, _view(tracer, eqn, x, lambda index: arrays.unflat(arrays.flat(index, shape), x.shape)))


def _kept_axes(old: Sequence[int], new: Sequence[int]) -> list[int | None] | None:
    if [n for n in old if n != 1] != [n for n in new if n != 1]:
        return None
    positions = iter(k for k, n in enumerate(new) if n != 1)
    return [None if n == 1 else next(positions) for n in old]


@rule("squeeze", reads="dimensions")
def _squeeze(tracer: Tracer, eqn: Any, x: Value) -> Value:
    gone = {d % len(x.shape) for d in eqn.params["dimensions"]}
    if not isinstance(x, Lazy):
        return np.squeeze(x, axis=tuple(gone))
    zero = tracer.builder.integer(0)

    def source(index):
        left = iter(index)
        return [zero if axis in gone else next(left) for axis in range(len(x.shape))]

    return _shrunk(tracer, eqn, _view(tracer, eqn, x, source))


@rule("transpose", reads="permutation")
def _transpose(tracer: Tracer, eqn: Any, x: Value) -> Value:
    return _permuted(tracer, x, eqn.params["permutation"])


def _permuted(tracer: Tracer, x: Value, order: Sequence[int]) -> Value:
    if not isinstance(x, Lazy):
        return np.transpose(x, order)
    places = np.argsort(order)
    shape = [x.shape[k] for k in order]
    return tracer.arrays.lazy(shape, x.type, lambda index: x.at(tuple(index[k] for k in places)), x, view=True)


@rule("rev", reads="dimensions")
def _rev(tracer: Tracer, eqn: Any, x: Value) -> Value:
    dims = eqn.params["dimensions"]
    if not isinstance(x, Lazy):
        return np.flip(x, dims)
    b = tracer.builder
    return _view(
        tracer,
        eqn,
        x,
        lambda index: [b.op("isub", b.integer(x.shape[k] - 1), i) if k in dims else i for k, i in enumerate(index)],
    )


@rule("slice", reads="start_indices limit_indices strides")
def _slice(tracer: Tracer, eqn: Any, x: Value) -> Value:
    starts, limits = eqn.params["start_indices"], eqn.params["limit_indices"]
    strides = eqn.params["strides"] or [1] * len(starts)
    if not isinstance(x, Lazy):
        return x[tuple(slice(*s) for s in zip(starts, limits, strides, strict=True))]
    b = tracer.builder

    def source(index):
        return [b.add(b.integer(s), b.mul(i, b.integer(d))) for i, s, d in zip(index, starts, strides, strict=True)]

    return _shrunk(tracer, eqn, _view(tracer, eqn, x, source))


@rule("split", reads="sizes axis")
def _split(tracer: Tracer, eqn: Any, x: Value) -> list[Value]:
    axis, sizes = eqn.params["axis"], eqn.params["sizes"]
    bounds = np.cumsum(sizes)[:-1]
    if not isinstance(x, Lazy):
        return list(np.split(x, bounds, axis=axis))
    b, parts = tracer.builder, []
    for start, variable in zip((0, *bounds), eqn.outvars, strict=True):

        def at(index, start=int(start)):
            return x.at(tuple(b.add(i, b.integer(start)) if k == axis else i for k, i in enumerate(index)))

        part = tracer.arrays.lazy(variable.aval.shape, x.type, at, x, view=True)
        parts.append(part if tracer.arrays.is_large(part.shape) else tracer.arrays.small(part))
    return parts


@rule("concatenate", reads="dimension")
def _concatenate(tracer: Tracer, eqn: Any, *inputs: Value) -> Value:
    axis = eqn.params["dimension"]
    if not _goes_lazy(tracer, eqn, *inputs):
        return np.concatenate(inputs, axis=axis)
    b, arrays = tracer.builder, tracer.arrays
    buffer = b.buffer(math.prod(eqn.outvars[0].aval.shape), kind(eqn.outvars[0].aval.dtype))
    shape, start = eqn.outvars[0].aval.shape, 0
    for x in inputs:

        def write(index, x=x, start=start):
            moved = [b.add(i, b.integer(start)) if k == axis else i for k, i in enumerate(index)]
            b.store(buffer, arrays.flat(moved, shape), arrays.at(x, index))

        arrays.each(x.shape, write)
        start += x.shape[axis]
    return arrays.whole(buffer, shape)


@rule("stack", reads="axis")
def _stack(tracer: Tracer, eqn: Any, *inputs: Value) -> Value:
    axis = eqn.params.get("axis", eqn.params.get("dimension", 0))
    if not _goes_lazy(tracer, eqn, *inputs):
        return np.stack(inputs, axis=axis)
    b, arrays = tracer.builder, tracer.arrays
    shape = eqn.outvars[0].aval.shape
    buffer = b.buffer(math.prod(shape), kind(eqn.outvars[0].aval.dtype))
    for position, x in enumerate(inputs):

        def write(index, x=x, position=position):
            b.store(
                buffer, arrays.flat((*index[:axis], b.integer(position), *index[axis:]), shape), arrays.at(x, index)
            )

        arrays.each(x.shape, write)
    return arrays.whole(buffer, shape)


@rule("empty", "empty2", ignores="shape memory_space")
def _empty(tracer: Tracer, eqn: Any) -> Value:
    aval = eqn.outvars[0].aval
    zero = tracer.builder.const(0, kind(aval.dtype))
    if tracer.arrays.is_large(aval.shape):
        return tracer.arrays.lazy(aval.shape, zero.type, lambda index: zero, view=True)
    return np.full(aval.shape, zero, object)


@rule("platform_index", reads="platforms")
def _platform_index(tracer: Tracer, eqn: Any) -> Value:
    """Which of several variants is for this platform: that of the CPU, or the one for all others."""
    platforms = eqn.params["platforms"]
    fitting = [i for i, names in enumerate(platforms) if names is None or "cpu" in names]
    return tracer.arrays.lift(np.asarray(fitting[0]), INT)


@rule("tile", reads="reps")
def _tile(tracer: Tracer, eqn: Any, x: Value) -> Value:
    if not _goes_lazy(tracer, eqn, x):
        return np.tile(x, eqn.params["reps"])
    b = tracer.builder
    (x,) = tracer.settled([x])
    return _view(
        tracer, eqn, x, lambda index: [b.op("irem", i, b.integer(n)) for i, n in zip(index, x.shape, strict=True)]
    )


@rule("unstack", reads="axis")
def _unstack(tracer: Tracer, eqn: Any, x: Value) -> list[Value]:
    axis, b = eqn.params["axis"], tracer.builder
    if not isinstance(x, Lazy):
        return list(np.moveaxis(x, axis, 0))
    parts = []
    for position, variable in enumerate(eqn.outvars):

        def at(index, position=position):
            return x.at((*index[:axis], b.integer(position), *index[axis:]))

        part = tracer.arrays.lazy(variable.aval.shape, x.type, at, x, view=True)
        parts.append(part if tracer.arrays.is_large(part.shape) else tracer.arrays.small(part))
    return parts


@rule("pad", reads="padding_config")
def _pad(tracer: Tracer, eqn: Any, x: Value, filling: Value) -> Value:
    config, shape = eqn.params["padding_config"], eqn.outvars[0].aval.shape
    b, at = tracer.builder, tracer.arrays.at
    if _goes_lazy(tracer, eqn, x):

        def element(index):
            inside, source = b.const(True, BOOL), []
            for i, (low, _, gap), n in zip(index, config, x.shape, strict=True):
                shifted = b.add(i, b.integer(-low))
                position = b.op("idiv", shifted, b.integer(gap + 1)) if gap else shifted
                fits = b.op("and", b.op("le", b.integer(0), shifted), b.op("lt", position, b.integer(n)))
                if gap:
                    fits = b.op("and", fits, b.op("eq", b.op("irem", shifted, b.integer(gap + 1)), b.integer(0)))
                inside = b.op("and", inside, fits)
                source.append(b.op("imin", b.op("imax", position, b.integer(0)), b.integer(max(n - 1, 0))))
            return b.select(inside, at(x, source), filling.item()) if math.prod(x.shape) else filling.item()

        return tracer.arrays.lazy(shape, kind(eqn.outvars[0].aval.dtype), element, x)
    padded = np.full(shape, filling.item(), object)
    for index in np.ndindex(x.shape):
        target = tuple(low + i * (gap + 1) for i, (low, _, gap) in zip(index, config, strict=True))
        if all(0 <= t < n for t, n in zip(target, shape, strict=True)):
            padded[target] = x[index]
    return padded


@rule("iota", reads="dimension", ignores="shape")
def _iota(tracer: Tracer, eqn: Any) -> Value:
    aval, dimension = eqn.outvars[0].aval, eqn.params["dimension"]
    b, type = tracer.builder, kind(eqn.outvars[0].aval.dtype)
    if tracer.arrays.is_large(aval.shape):

        def at(index):
            return b.op("to_float", index[dimension]) if type == FLOAT else index[dimension]

        return tracer.arrays.lazy(aval.shape, type, at, view=True)
    counts = np.arange(aval.shape[dimension]).reshape([-1 if k == dimension else 1 for k in range(len(aval.shape))])
    return tracer.arrays.lift(np.broadcast_to(counts, aval.shape), type)


# -- reductions


def _reduction(name: str, floats: str, ints: str, bools: str, empty: Callable[[np.dtype], Any]) -> None:
    """Register a reduction by the operation on each type, and its value where there is nothing to reduce."""

    @rule(name, reads="axes")
    def reduce(tracer: Tracer, eqn: Any, x: Value) -> Value:
        dtype = eqn.outvars[0].aval.dtype
        op = {FLOAT: floats, INT: ints, BOOL: bools}[kind(dtype)]
        return _folded(tracer, eqn, x, eqn.params["axes"], lambda a, c: tracer.builder.op(op, a, c), empty(dtype))


def _lowest(dtype: np.dtype) -> Any:
    return {FLOAT: -np.inf, BOOL: False}[kind(dtype)] if kind(dtype) != INT else np.iinfo(dtype).min


def _highest(dtype: np.dtype) -> Any:
    return {FLOAT: np.inf, BOOL: True}[kind(dtype)] if kind(dtype) != INT else np.iinfo(dtype).max


_reduction("reduce_sum", "add", "iadd", "or", lambda dtype: 0)
_reduction("reduce_prod", "mul", "imul", "and", lambda dtype: 1)
_reduction("reduce_max", "max", "imax", "or", _lowest)
_reduction("reduce_min", "min", "imin", "and", _highest)
_reduction("reduce_and", "", "iand", "and", lambda dtype: True if kind(dtype) == BOOL else -1)
_reduction("reduce_or", "", "ior", "or", lambda dtype: 0)
_reduction("reduce_xor", "", "ixor", "xor", lambda dtype: 0)


def _folded(
    tracer: Tracer, eqn: Any, x: Value, axes: Sequence[int], combine: Callable[[Node, Node], Node], empty: Any
) -> Value:
    b, arrays, aval = tracer.builder, tracer.arrays, eqn.outvars[0].aval
    start = b.const(empty, kind(aval.dtype))
    if not isinstance(x, Lazy):
        rest = [k for k in range(x.ndim) if k not in axes]
        rows = np.transpose(x, (*axes, *rest)).reshape(math.prod(x.shape[k] for k in axes), *aval.shape)
        if not len(rows):
            return np.full(aval.shape, start, object)
        total = rows[0]
        for row in rows[1:]:
            total = np.frompyfunc(combine, 2, 1)(total, row)
        return total
    reduced = [x.shape[k] for k in axes]

    def joined(outer: Sequence[Node], inner: Sequence[Node]) -> list[Node]:
        index: list[Any] = [None] * len(x.shape)
        for k, i in zip(axes, inner, strict=True):
            index[k] = i
        left = iter(outer)
        return [next(left) if i is None else i for i in index]

    def term(outer: Sequence[Node], inner: Sequence[Node]) -> Node:
        return arrays.at(x, joined(outer, inner))

    return _accumulated(
        tracer, aval.shape, kind(aval.dtype), reduced, start, term, combine, chains=CHAINS if x.cost <= LIGHT else 1
    )


def _accumulated(
    tracer: Tracer,
    shape: Sequence[int],
    type: str,
    reduced: Sequence[int],
    start: Node,
    term: Callable[[Sequence[Node], Sequence[Node]], Node],
    combine: Callable[[Node, Node], Node],
    *,
    chains: int,
) -> Value:
    """The combination of term(outer, inner) over all inner indices, for every outer index of a shape; by some chains
    that do not wait for each other. `start` combined with a term is the term."""
    b, arrays = tracer.builder, tracer.arrays
    rest = tuple(reduced[1:])
    inside = rest if math.prod(rest) <= UNROLLED else ()  # short axes after a long one are written out
    outside = reduced[: len(reduced) - len(inside)]
    count = math.prod(outside)

    def together(outers: Sequence[Sequence[Node]]) -> list[Node]:
        totals = [start] * len(outers)

        def advanced(values: list[Node], position: Node) -> list[Node]:
            first = arrays.unflat(position, outside) if len(outside) > 1 else (position,) * len(outside)
            for index in np.ndindex(inside):
                inner = (*first, *(b.integer(i) for i in index))
                values = [combine(v, term(o, inner)) for v, o in zip(values, outers, strict=True)]
            return values

        if count <= UNROLLED:
            for position in range(count):
                totals = advanced(totals, b.integer(position))
            return totals

        width = len(outers)
        several = chains if width * chains <= ABREAST else 1

        def body(i: Node, values: list[Node]) -> list[Node]:
            first = b.op("imul", i, b.integer(several))
            rows = [values[k * width : (k + 1) * width] for k in range(several)]
            return [v for k, row in enumerate(rows) for v in advanced(row, b.op("iadd", first, b.integer(k)))]

        totals = b.count(count // several, totals * several, body)
        totals = functools.reduce(
            lambda a, c: [combine(x, y) for x, y in zip(a, c, strict=True)],
            [totals[k * width : (k + 1) * width] for k in range(several)],
        )
        for position in range(count - count % several, count):
            totals = advanced(totals, b.integer(position))
        return totals

    if not tracer.arrays.is_large(shape):
        outers = [[b.integer(i) for i in index] for index in np.ndindex(tuple(shape))]
        result = np.empty(shape, object)
        result.reshape(-1)[:] = together(outers) if outers else []
        return result
    buffer = b.buffer(math.prod(shape), type)
    arrays.each(shape, lambda index: b.store(buffer, arrays.flat(index, shape), together([index])[0]))
    return arrays.whole(buffer, shape)


def _extreme(better: Callable[[Any, Node, Node], Node]) -> Callable[..., Value]:
    def find(tracer: Tracer, eqn: Any, x: Value) -> Value:
        b, axis = tracer.builder, eqn.params["axes"][0]
        x = tracer.arrays.small(x)
        rows: Any = np.moveaxis(x, axis, 0).reshape(x.shape[axis], -1)
        best: Any = rows[0]
        where: Any = np.full(rows[0].shape, b.integer(0), object)
        for position in range(1, len(rows)):
            wins: Any = np.frompyfunc(lambda new, old: better(b, new, old), 2, 1)(rows[position], best)
            best = np.frompyfunc(b.select, 3, 1)(wins, rows[position], best)
            where = np.frompyfunc(b.select, 3, 1)(wins, np.full(where.shape, b.integer(position), object), where)
        return where

    return find


def _beats(b: Any, larger: Node, smaller: Node, new: Node, old: Node) -> Node:
    """Whether a new value wins: strictly, so that the first of equals stays; not-a-number wins once."""
    wins = b.op("lt", smaller, larger)
    if new.type != FLOAT:
        return wins
    return b.op("and", b.op("eq", old, old), b.op("or", wins, b.op("ne", new, new)))


rule("argmax", reads="axes")(_extreme(lambda b, new, old: _beats(b, new, old, new, old)))
rule("argmin", reads="axes")(_extreme(lambda b, new, old: _beats(b, old, new, new, old)))


def _cumulative(floats: str, ints: str) -> Callable[..., Value]:
    def run(tracer: Tracer, eqn: Any, x: Value) -> Value:
        b, axis = tracer.builder, eqn.params["axis"]
        name = floats if kind(eqn.outvars[0].aval.dtype) == FLOAT else ints
        if isinstance(x, Lazy):
            return _cumulative_loop(tracer, eqn, x, name)
        rows = list(np.moveaxis(x, axis, 0))
        order = range(len(rows) - 2, -1, -1) if eqn.params["reverse"] else range(1, len(rows))
        step = 1 if eqn.params["reverse"] else -1
        for k in order:
            rows[k] = np.frompyfunc(lambda a, c: b.op(name, a, c), 2, 1)(rows[k + step], rows[k])
        return np.moveaxis(np.stack(rows), 0, axis) if rows else x

    return run


def _cumulative_loop(tracer: Tracer, eqn: Any, x: Lazy, name: str) -> Lazy:
    b, arrays, axis = tracer.builder, tracer.arrays, eqn.params["axis"]
    length, rest = x.shape[axis], [n for k, n in enumerate(x.shape) if k != axis]
    buffer = b.buffer(math.prod(x.shape), x.type)
    dtype = eqn.outvars[0].aval.dtype
    empty = {"add": 0, "mul": 1, "max": _lowest(dtype), "min": _highest(dtype)}[name.removeprefix("i")]

    def along(outer):
        def body(i: Node, values: list[Node]) -> list[Node]:
            k = b.op("isub", b.integer(length - 1), i) if eqn.params["reverse"] else i
            index = (*outer[:axis], k, *outer[axis:])
            total = b.op(name, values[0], x.at(index))
            b.store(buffer, arrays.flat(index, x.shape), total)
            return [total]

        b.count(length, [b.const(empty, x.type)], body)

    arrays.each(rest, along)
    return arrays.whole(buffer, x.shape)


for _name, _floats in {"cumsum": "add", "cumprod": "mul", "cummax": "max", "cummin": "min"}.items():
    rule(_name, reads="axis reverse")(_cumulative(_floats, f"i{_floats}"))


@rule("dot_general", reads="dimension_numbers preferred_element_type")
def _dot_general(tracer: Tracer, eqn: Any, x: Value, y: Value) -> Value:
    x, y = (_of_type(tracer, value, kind(eqn.outvars[0].aval.dtype)) for value in (x, y))
    (x_sum, y_sum), (x_batch, y_batch) = eqn.params["dimension_numbers"]
    b, arrays, aval = tracer.builder, tracer.arrays, eqn.outvars[0].aval
    type = kind(aval.dtype)
    x_free = [k for k in range(len(x.shape)) if k not in x_sum and k not in x_batch]
    y_free = [k for k in range(len(y.shape)) if k not in y_sum and k not in y_batch]
    zero = b.const(0, type)
    if not _goes_lazy(tracer, eqn, x, y):
        left = np.transpose(x, (*x_batch, *x_free, *x_sum))
        right = np.transpose(y, (*y_batch, *y_free, *y_sum))
        batch = left.shape[: len(x_batch)]
        count, terms = math.prod(batch), math.prod(x.shape[k] for k in x_sum)
        left = left.reshape(count, math.prod(x.shape[k] for k in x_free), terms)
        right = right.reshape(count, math.prod(y.shape[k] for k in y_free), terms)
        product = np.empty((count, left.shape[1], right.shape[1]), object)
        for k, i, j in np.ndindex(product.shape):
            total = zero
            for a, c in zip(left[k, i], right[k, j], strict=True):
                total = b.add(total, b.mul(a, c))
            product[k, i, j] = total
        return product.reshape(aval.shape)
    x, y = tracer.settled([x, y])

    def place(shape, batch, free, summed, outer, first_free, inner):
        index: list[Any] = [None] * len(shape)
        for position, k in enumerate(batch):
            index[k] = outer[position]
        for position, k in enumerate(free):
            index[k] = outer[first_free + position]
        for position, k in enumerate(summed):
            index[k] = inner[position]
        return index

    def term(outer, inner):
        first = len(x_batch)
        a = arrays.at(x, place(x.shape, x_batch, x_free, x_sum, outer, first, inner))
        c = arrays.at(y, place(y.shape, y_batch, y_free, y_sum, outer, first + len(x_free), inner))
        return b.mul(a, c)

    return _accumulated(tracer, aval.shape, type, [x.shape[k] for k in x_sum], zero, term, b.add, chains=CHAINS)


# -- indexing


def _clamped(b: Any, start: Node, size: int, window: int) -> Node:
    return b.op("imin", b.op("imax", start, b.integer(0)), b.integer(size - window))


@rule("dynamic_slice", reads="slice_sizes")
def _dynamic_slice(tracer: Tracer, eqn: Any, x: Value, *starts: Value) -> Value:
    b, sizes = tracer.builder, eqn.params["slice_sizes"]
    first = [_clamped(b, s.item(), n, w) for s, n, w in zip(starts, x.shape, sizes, strict=True)]

    def source(index):
        return [b.add(i, s) for i, s in zip(index, first, strict=True)]

    return _shrunk(tracer, eqn, _view(tracer, eqn, x, source)) if math.prod(sizes) else np.empty(sizes, object)


@rule("dynamic_update_slice")
def _dynamic_update_slice(tracer: Tracer, eqn: Any, x: Value, update: Value, *starts: Value) -> Value:
    b, arrays = tracer.builder, tracer.arrays
    first = [_clamped(b, s.item(), n, w) for s, n, w in zip(starts, x.shape, update.shape, strict=True)]
    if isinstance(x, Lazy):
        buffer = _changeable(tracer, x)
        update = _apart(tracer, update, buffer)
        arrays.each(
            update.shape,
            lambda index: b.store(
                buffer,
                arrays.flat([b.add(i, s) for i, s in zip(index, first, strict=True)], x.shape),
                arrays.at(update, index),
            ),
        )
        return arrays.whole(buffer, x.shape)
    result = np.empty(x.shape, object)
    for index in np.ndindex(x.shape):
        shifted = [b.op("isub", b.integer(i), s) for i, s in zip(index, first, strict=True)]
        inside = b.const(True, BOOL)
        for i, w in zip(shifted, update.shape, strict=True):
            inside = b.op("and", inside, b.op("and", b.op("le", b.integer(0), i), b.op("lt", i, b.integer(w))))
        if inside.constant and not inside.value:
            result[index] = x[index]
        else:
            bounded = [_clamped(b, i, w, 1) for i, w in zip(shifted, update.shape, strict=True)]
            result[index] = b.select(inside, arrays.at(update, bounded), x[index])
    return result


def _changeable(tracer: Tracer, x: Lazy) -> Any:
    """A buffer with the elements of x that may be changed: its own if nobody else will read it."""
    if x.buffer is not None and x.buffer.mutable and not x.holders:
        tracer.arrays.before_change(x.buffer)
        return x.buffer
    buffer = tracer.arrays.copied(x).buffer
    buffer.mutable = True
    return buffer


def _apart(tracer: Tracer, value: Value, buffer: Any) -> Value:
    """An array that does not change while the buffer does."""
    if isinstance(value, Lazy) and (not value.view or buffer in value.reads):
        return tracer.arrays.copied(value)
    return value


@rule("gather", reads="dimension_numbers slice_sizes mode fill_value")
def _gather(tracer: Tracer, eqn: Any, x: Value, indices: Value) -> Value:
    b, arrays, params = tracer.builder, tracer.arrays, eqn.params
    numbers, sizes, shape = params["dimension_numbers"], params["slice_sizes"], eqn.outvars[0].aval.shape
    offset_dims, collapsed = numbers.offset_dims, numbers.collapsed_slice_dims
    batching, start_batching = numbers.operand_batching_dims, numbers.start_indices_batching_dims
    batch_dims = [d for d in range(len(shape)) if d not in offset_dims]
    window_dims = [d for d in range(len(x.shape)) if d not in collapsed and d not in batching]
    fills = _mode(params["mode"]) == "FILL_OR_DROP"
    filling = b.const(_fill_value(params["fill_value"], eqn), kind(eqn.outvars[0].aval.dtype)) if fills else None

    def element(index: Sequence[Node]) -> Node:
        batch = [index[d] for d in batch_dims]
        start: list[Node] = [b.integer(0)] * len(x.shape)
        inside = b.const(True, BOOL)
        for k, dim in enumerate(numbers.start_index_map):
            position = arrays.at(indices, [*batch, b.integer(k)])
            limit = x.shape[dim] - sizes[dim]
            if fills:
                fits = b.op("and", b.op("le", b.integer(0), position), b.op("le", position, b.integer(limit)))
                inside = b.op("and", inside, fits)
            start[dim] = _clamped(b, position, x.shape[dim], sizes[dim])
        for operand_dim, index_dim in zip(batching, start_batching, strict=True):
            start[operand_dim] = batch[index_dim]
        for output_dim, dim in zip(offset_dims, window_dims, strict=True):
            start[dim] = b.add(start[dim], index[output_dim])
        found = arrays.at(x, start)
        return b.select(inside, found, filling) if filling is not None else found

    if tracer.arrays.is_large(shape):
        return arrays.lazy(shape, kind(eqn.outvars[0].aval.dtype), element, x, indices, view=True)
    result = np.empty(shape, object)
    for index in np.ndindex(shape):
        result[index] = element([b.integer(i) for i in index])
    return result


def _mode(mode: Any) -> str:
    """What becomes of an index out of range: `CLIP`, `FILL_OR_DROP`; or, where a user has promised that there is none,
    what XLA does (a gather clips, a scatter drops)."""
    name = getattr(mode, "name", str(mode))
    if name not in ("CLIP", "FILL_OR_DROP", "PROMISE_IN_BOUNDS"):
        raise Refusal(f"an index with mode={name}")
    return name


def _fill_value(value: Any, eqn: Any) -> Any:
    dtype = eqn.outvars[0].aval.dtype
    if value is not None:
        return value
    return np.nan if kind(dtype) == FLOAT else np.iinfo(dtype).min if kind(dtype) == INT else True


def _scatter_rule(*names: str, combined: Callable[[Any, Node, Node], Node]) -> None:
    """Register a scatter by what becomes of an old element and an update, unless the equation says it itself."""

    @rule(*names, reads="dimension_numbers mode update_jaxpr update_consts")
    def scatter(tracer: Tracer, eqn: Any, x: Value, indices: Value, updates: Value) -> Value:
        b, arrays, numbers = tracer.builder, tracer.arrays, eqn.params["dimension_numbers"]
        window_dims = numbers.update_window_dims
        batching, index_batching = numbers.operand_batching_dims, numbers.scatter_indices_batching_dims
        scatter_dims = [d for d in range(len(updates.shape)) if d not in window_dims]
        operand_window = [d for d in range(len(x.shape)) if d not in numbers.inserted_window_dims and d not in batching]
        clips = _mode(eqn.params["mode"]) == "CLIP"
        function = eqn.params["update_jaxpr"] if eqn.primitive.name == "scatter" else None
        places = indices
        extents = {dim: updates.shape[w] for dim, w in zip(operand_window, window_dims, strict=True)}

        def combine(old: Node, new: Node) -> Node:
            if function is None:
                return combined(b, old, new)
            given = [np.array(node, object) for node in (old, new)]
            return tracer.evaluate(function, eqn.params["update_consts"], given)[0].item()

        def target(index: Sequence[Node]) -> tuple[list[Node], Node]:
            batch = [index[d] for d in scatter_dims]
            place: list[Node] = [b.integer(0)] * len(x.shape)
            inside = b.const(True, BOOL)
            for k, dim in enumerate(numbers.scatter_dims_to_operand_dims):
                position = arrays.at(places, [*batch, b.integer(k)])
                bounded = _clamped(b, position, x.shape[dim], extents.get(dim, 1))
                if not clips:
                    inside = b.op("and", inside, b.op("eq", bounded, position))
                place[dim] = bounded
            for operand_dim, index_dim in zip(batching, index_batching, strict=True):
                place[operand_dim] = batch[index_dim]
            for dim, w in zip(operand_window, window_dims, strict=True):
                place[dim] = b.add(place[dim], index[w])
            return place, inside

        if isinstance(x, Lazy):
            buffer = _changeable(tracer, x)
            updates, places = _apart(tracer, updates, buffer), _apart(tracer, indices, buffer)

            def write(index: Sequence[Node]) -> None:
                place, inside = target(index)
                position = arrays.flat(place, x.shape)
                old = b.load(buffer, position)
                b.store(buffer, position, b.select(inside, combine(old, arrays.at(updates, index)), old))

            arrays.each(updates.shape, write)
            return arrays.whole(buffer, x.shape)
        result = x.copy()
        for index in np.ndindex(updates.shape):
            place, inside = target([b.integer(i) for i in index])
            update = arrays.at(updates, [b.integer(i) for i in index])
            for spot in _spots(place, x.shape):
                here = inside
                for i, node in zip(spot, place, strict=True):
                    here = b.op("and", here, b.op("eq", node, b.integer(i)))
                result[spot] = b.select(here, combine(result[spot], update), result[spot])
        return result


def _spots(place: Sequence[Node], shape: Sequence[int]) -> Any:
    """The elements that a place which is known in part may mean."""
    import itertools

    return itertools.product(*([p.value] if p.constant else range(n) for p, n in zip(place, shape, strict=True)))


_scatter_rule("scatter", combined=lambda b, old, new: new)
_scatter_rule("scatter-add", "scatter_add", combined=lambda b, old, new: b.add(old, new))
_scatter_rule("scatter-mul", "scatter_mul", combined=lambda b, old, new: b.mul(old, new))
for _name, _floats in {"sub": "sub", "min": "min", "max": "max"}.items():
    _scatter_rule(
        f"scatter-{_name}",
        f"scatter_{_name}",
        combined=lambda b, old, new, op=_floats: b.op(op if old.type == FLOAT else f"i{op}", old, new),
    )
