"""Primitives that act element by element."""

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from naiad.compiler.front.arrays import Lazy, Value, element_type, kind
from naiad.compiler.front.rules import Refusal, rule
from naiad.compiler.front.tracer import Tracer
from naiad.compiler.ir.operations import BOOL, ELEMENTARY, FLOAT, INT
from naiad.compiler.ir.program import Node


def _map(tracer: Tracer, eqn: Any, function: Callable[..., Node], inputs: Sequence[Value]) -> Value:
    aval = eqn.outvars[0].aval
    if tracer.arrays.is_large(aval.shape) or any(isinstance(x, Lazy) for x in inputs):
        at = tracer.arrays.at

        def element(index):
            return function(*(at(x, index if x.shape else ()) for x in inputs))

        return tracer.arrays.lazy(aval.shape, kind(aval.dtype), element, *inputs, by_element=True)
    return np.frompyfunc(function, len(inputs), 1)(*inputs)


def _elementwise(name: str, build: Callable[..., Callable[..., Node]]) -> None:
    """Register a primitive by a function of the builder, the types of its arguments and its parameters."""

    wraps = name in _WRAPPING

    @rule(name, reads=_READS.get(name, ""))
    def apply(tracer: Tracer, eqn: Any, *inputs: Value) -> Value:
        types = [kind(atom.aval.dtype) for atom in eqn.invars]
        function = build(tracer.builder, types, eqn)
        if wraps and eqn.outvars[0].aval.dtype == _INT32:
            function = _wrapped(tracer.builder, function)
        return _map(tracer, eqn, function, inputs)


_INT32 = np.dtype(np.int32)
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
    "one_minus_square": lambda b, types, eqn: lambda a: b.mul(b.add(b.real(1.0), a), b.op("sub", b.real(1.0), a)),
    "log2": lambda b, types, eqn: lambda a: b.mul(b.op("log", a), b.real(1.0 / np.log(2.0))),
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
    **{name: _by_type(name) for name in ELEMENTARY | {"sqrt"}},
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


@rule("polynomial", ignores="unroll")
def _polynomial(tracer: Tracer, eqn: Any, x: Value, *coefficients: Value) -> Value:
    """By Horner's rule; the coefficient of the lowest power comes first."""
    b, aval = tracer.builder, eqn.outvars[0].aval
    if any(value.shape not in ((), aval.shape) for value in (x, *coefficients)):
        raise Refusal("polynomial with coefficients of another shape")

    def horner(at: Node, *factors: Node) -> Node:
        return functools.reduce(lambda higher, factor: b.add(b.mul(higher, at), factor), reversed(factors))

    function = _wrapped(b, horner) if aval.dtype.name == "int32" else horner
    return _map(tracer, eqn, function, (x, *coefficients))


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
    return of_type(tracer, x, target)


def of_type(tracer: Tracer, x: Value, target: str) -> Value:
    """The same numbers as floats, integers or truth values."""
    b, source = tracer.builder, element_type(x)
    if source == target:
        return x
    functions = {
        (INT, FLOAT): lambda a: b.op("to_float", a),
        (BOOL, FLOAT): lambda a: b.select(a, b.real(1.0), b.real(0.0)),
        (FLOAT, INT): lambda a: b.op("to_int", a),
        (BOOL, INT): lambda a: b.op("bool_to_int", a),
        (FLOAT, BOOL): lambda a: b.op("ne", a, b.real(0.0)),
        (INT, BOOL): lambda a: b.op("ne", a, b.integer(0)),
    }
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
