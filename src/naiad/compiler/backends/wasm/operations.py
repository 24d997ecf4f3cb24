"""How each operation of a program is written in WebAssembly."""

from collections.abc import Callable

from naiad.compiler.backends.wasm.binary import F64, Import, Signature
from naiad.compiler.backends.wasm.code import TYPES, Code
from naiad.compiler.ir.operations import BOOL, ELEMENTARY, FLOAT, INT
from naiad.compiler.ir.program import Node

LIBRARY = {
    **{name: Import("Math", name, Signature((F64,), (F64,))) for name in ELEMENTARY - {"exp2"}},
    **{name: Import("Math", name, Signature((F64, F64), (F64,))) for name in ("atan2", "pow")},
    "exp2": Import("Math", "pow", Signature((F64, F64), (F64,))),
    "rem": Import("naiad", "rem", Signature((F64, F64), (F64,))),
}
"""What comes from outside: functions of JavaScript's `Math`, and its remainder, which has no name there."""

SINGLE = {
    **{"add": "f64.add", "sub": "f64.sub", "mul": "f64.mul", "div": "f64.div", "max": "f64.max", "min": "f64.min"},
    **{"neg": "f64.neg", "abs": "f64.abs", "sqrt": "f64.sqrt", "floor": "f64.floor", "ceil": "f64.ceil"},
    **{"round": "f64.nearest", "to_float": "f64.convert_i64_s", "to_int": "i64.trunc_sat_f64_s"},
    **{"iadd": "i64.add", "isub": "i64.sub", "imul": "i64.mul", "iand": "i64.and", "ior": "i64.or", "ixor": "i64.xor"},
    **{"and": "i32.and", "or": "i32.or", "xor": "i32.xor", "not": "i32.eqz", "select": "select"},
    **{"bool_to_int": "i64.extend_i32_u", "wrap32": "i64.extend32_s"},
}
"""One instruction each."""

COMPARISONS = {
    "lt": {FLOAT: "f64.lt", INT: "i64.lt_s", BOOL: "i32.lt_u"},
    "le": {FLOAT: "f64.le", INT: "i64.le_s", BOOL: "i32.le_u"},
    "eq": {FLOAT: "f64.eq", INT: "i64.eq", BOOL: "i32.eq"},
    "ne": {FLOAT: "f64.ne", INT: "i64.ne", BOOL: "i32.ne"},
}

SAFE = {  # with a second argument that is known and not special, one instruction too
    "idiv": ("i64.div_s", lambda b: b not in (0, -1)),
    "irem": ("i64.rem_s", lambda b: b != 0),
    "shl": ("i64.shl", lambda b: 0 <= b < 64),
    "shr": ("i64.shr_s", lambda b: 0 <= b < 64),
}


def write(code: Code, node: Node) -> None:
    """An operation on what lies on the stack: its arguments in their order, but the condition of a `select` last."""
    if node.op in SINGLE:
        code.emit(SINGLE[node.op])
    elif node.op in COMPARISONS:
        code.emit(COMPARISONS[node.op][node.args[0].type])
    elif node.op in STACKED:
        STACKED[node.op](code)
    elif node.op in SAFE and node.args[1].constant and SAFE[node.op][1](node.args[1].value):
        code.emit(SAFE[node.op][0])
    elif node.op in HELD:
        _held(code, node, HELD[node.op])
    else:
        code.call(node.op)


def write_of_sizes(code: Code, node: Node) -> None:
    """A `max` or `min` of numbers without a sign bit, of which the result has none either."""
    if node.op == "max":
        _held(code, node, _larger_size)
    else:
        code.emit("f64.min", "f64.abs")  # an engine's not-a-number may have one


def _held(code: Code, node: Node, written: Callable[..., None]) -> None:
    """What takes its arguments more than once: they go from the stack to locals."""
    held = [code.local(TYPES[arg.type]) for arg in node.args]
    for local in reversed(held):
        code.set(local)
    written(code, *held)
    for local in held:
        code.release(local)


# -- of arguments on the stack


def _finite(code: Code) -> None:
    code.emit("f64.abs")
    code.constant(FLOAT, float("inf"))
    code.emit("f64.lt")


def _ineg(code: Code) -> None:
    _inot(code)
    code.constant(INT, 1)
    code.emit("i64.add")


def _inot(code: Code) -> None:
    code.constant(INT, -1)
    code.emit("i64.xor")


STACKED: dict[str, Callable[[Code], None]] = {"finite": _finite, "ineg": _ineg, "inot": _inot}


# -- of arguments in locals, which are needed more than once


def _sign(code: Code, a: int) -> None:
    """1 above zero, -1 below, else the number itself: a zero with its sign, or not-a-number."""
    code.constant(FLOAT, 1.0)
    code.constant(FLOAT, -1.0)
    code.get(a)
    _if(code, a, "f64.lt", FLOAT, 0.0)
    _if(code, a, "f64.gt", FLOAT, 0.0)


def _round_away(code: Code, a: int) -> None:
    """The number cut off, and one further from zero where that is nearer, or as near."""
    whole = code.local(F64)
    code.get(a)
    code.emit("f64.trunc")
    code.tee(whole)
    code.constant(FLOAT, 1.0)
    code.get(a)
    code.emit("f64.copysign", "f64.add")
    code.get(whole)
    code.get(a)
    code.get(whole)
    code.emit("f64.sub", "f64.abs")
    code.constant(FLOAT, 0.5)
    code.emit("f64.ge", "select")
    code.release(whole)


def _exp2(code: Code, a: int) -> None:
    code.constant(FLOAT, 2.0)
    code.get(a)
    code.call("exp2")


def _pow(code: Code, a: int, b: int) -> None:
    """As C has it: 1 to any power is 1, and so is -1 to an infinite one, where JavaScript has not-a-number."""
    code.constant(FLOAT, 1.0)
    code.get(a)
    code.get(b)
    code.call("pow")
    _compare(code, a, "f64.eq", FLOAT, 1.0)
    _compare(code, a, "f64.eq", FLOAT, -1.0)
    code.get(b)
    code.emit("f64.abs")
    code.constant(FLOAT, float("inf"))
    code.emit("f64.eq", "i32.and", "i32.or", "select")


def _larger_size(code: Code, a: int, b: int) -> None:
    """By integers, of which not-a-numbers are the largest; engines select one without a jump, but not of floats."""
    for local in (a, b, a, b):
        code.get(local)
        code.emit("i64.reinterpret_f64")
    code.emit("i64.gt_s", "select", "f64.reinterpret_i64")


def _iabs(code: Code, a: int) -> None:
    code.get(a)
    _ineg(code)
    code.get(a)
    _if(code, a, "i64.lt_s", INT, 0)


def _isign(code: Code, a: int) -> None:
    for word in ("i64.gt_s", "i64.lt_s"):
        _compare(code, a, word, INT, 0)
        code.emit("i64.extend_i32_u")
    code.emit("i64.sub")


def _better(word: str) -> Callable[[Code, int, int], None]:
    def write(code: Code, a: int, b: int) -> None:
        for _ in range(2):
            code.get(a)
            code.get(b)
        code.emit(word, "select")

    return write


def _idiv(code: Code, a: int, b: int) -> None:
    """Towards zero; -1 by zero, and by -1 the negative, which wraps: both would stop the module."""
    code.constant(INT, -1)
    code.get(a)
    _ineg(code)
    code.get(a)
    _divisor(code, b)
    code.emit("i64.div_s")
    _if(code, b, "i64.eq", INT, -1)
    _if(code, b, "i64.eq", INT, 0)


def _irem(code: Code, a: int, b: int) -> None:
    """By zero the dividend."""
    code.get(a)
    code.get(a)
    _divisor(code, b)
    code.emit("i64.rem_s")
    _if(code, b, "i64.eq", INT, 0)


def _divisor(code: Code, b: int) -> None:
    """One that divides everything: the same, or 1 for 0 and -1, of which alone b + 1, without a sign, is < 2."""
    code.constant(INT, 1)
    code.get(b)
    code.get(b)
    code.constant(INT, 1)
    code.emit("i64.add")
    code.constant(INT, 2)
    code.emit("i64.lt_u", "select")


def _shl(code: Code, a: int, b: int) -> None:
    """0 by 64 and more, and by less than none."""
    code.get(a)
    code.get(b)
    code.emit("i64.shl")
    code.constant(INT, 0)
    _if(code, b, "i64.lt_u", INT, 64)


def _shr(code: Code, a: int, b: int) -> None:
    """By 63, which leaves the sign, for 64 and more, and for less than none."""
    code.get(a)
    code.get(b)
    code.constant(INT, 63)
    _if(code, b, "i64.lt_u", INT, 64)
    code.emit("i64.shr_s")


def _compare(code: Code, local: int, word: str, type: str, value: float) -> None:
    code.get(local)
    code.constant(type, value)
    code.emit(word)


def _if(code: Code, local: int, word: str, type: str, value: float) -> None:
    """Of two values on the stack the first if a local compares so, else the second."""
    _compare(code, local, word, type, value)
    code.emit("select")


HELD: dict[str, Callable[..., None]] = {
    "sign": _sign,
    "round_away": _round_away,
    "exp2": _exp2,
    "pow": _pow,
    "iabs": _iabs,
    "isign": _isign,
    "imax": _better("i64.gt_s"),
    "imin": _better("i64.lt_s"),
    "idiv": _idiv,
    "irem": _irem,
    "shl": _shl,
    "shr": _shr,
}
