"""How each operation of a program is written in LLVM IR."""

from collections.abc import Callable

from naiad.compiler.backends.llvm.lines import Lines, bits
from naiad.compiler.backends.llvm.machine import processor
from naiad.compiler.ir.operations import BOOL, ELEMENTARY, FLOAT, INT
from naiad.compiler.ir.program import Node

SCALARS = {FLOAT: "double", INT: "i64", BOOL: "i1"}

LIBRARY = {**{name: name for name in ELEMENTARY}, "atan2": "atan2", "pow": "pow", "rem": "fmod"}
"""Functions of the C library."""

INTRINSICS = {
    "sqrt": "sqrt",
    "abs": "fabs",
    "floor": "floor",
    "ceil": "ceil",
    "round": "roundeven",
    "round_away": "round",
}
BINARY = {
    "add": "fadd",
    "sub": "fsub",
    "mul": "fmul",
    "div": "fdiv",
    "iadd": "add",
    "isub": "sub",
    "imul": "mul",
    "iand": "and",
    "ior": "or",
    "ixor": "xor",
    "and": "and",
    "or": "or",
    "xor": "xor",
}
COMPARISONS = {
    "lt": {"double": "fcmp olt", "i64": "icmp slt", "i1": "icmp ult"},
    "le": {"double": "fcmp ole", "i64": "icmp sle", "i1": "icmp ule"},
    "eq": {"double": "fcmp oeq", "i64": "icmp eq", "i1": "icmp eq"},
    "ne": {"double": "fcmp une", "i64": "icmp ne", "i1": "icmp ne"},
}


def write(lines: Lines, node: Node, wide: bool, args: list[str]) -> str:
    """The name of the value of an operation on values with these names."""
    return WRITTEN[node.op](lines, lines.type(SCALARS[node.args[-1].type], wide), wide, *args)


# -- families: each gives a function of the lines, the type of the last argument, whether it is wide, and the arguments


def _binary(word: str) -> Callable[..., str]:
    return lambda lines, type, wide, a, b: lines.emit(f"{word} {type} {a}, {b}")


def _comparison(words: dict[str, str]) -> Callable[..., str]:
    def write(lines: Lines, type: str, wide: bool, a: str, b: str) -> str:
        scalar = type.rstrip(">").rpartition(" ")[2]
        return lines.emit(f"{words[scalar]} {type} {a}, {b}")

    return write


def _by_intrinsic(name: str) -> Callable[..., str]:
    return lambda lines, type, wide, *args: _intrinsic(lines, name, type, wide, *args)


def _intrinsic(lines: Lines, name: str, type: str, wide: bool, *args: str) -> str:
    full = f"@llvm.{name}.{_suffix(lines, 'f64', wide)}"
    lines.declared.add(f"declare {type} {full}({', '.join([type] * len(args))})")
    return lines.emit(f"call {type} {full}({', '.join(f'{type} {a}' for a in args)})")


def _suffix(lines: Lines, short: str, wide: bool) -> str:
    return f"v{lines.lanes}{short}" if wide and lines.lanes > 1 else short


def _by_library(name: str) -> Callable[..., str]:
    def write(lines: Lines, type: str, wide: bool, *args: str) -> str:
        doubles = ", ".join(["double"] * len(args))
        lines.declared.add(f"declare double @{name}({doubles}) nounwind willreturn memory(none)")
        called = name
        if wide and lines.lanes > 1:
            called = f"lanes{lines.lanes}.{name}"
            lines.helpers.setdefault(called, _lane_by_lane(called, lines.lanes, name, type, len(args)))
        return lines.emit(f"call {type} @{called}({', '.join(f'{type} {a}' for a in args)})")

    return write


def _lane_by_lane(called: str, lanes: int, name: str, type: str, count: int) -> str:
    """A function of vectors that calls one of scalars for each lane."""
    text, value = [], "poison"
    for lane in range(lanes):
        for k in range(count):
            text.append(f"  %x{k}.{lane} = extractelement {type} %a{k}, i64 {lane}")
        given = ", ".join(f"double %x{k}.{lane}" for k in range(count))
        text.append(f"  %y.{lane} = call double @{name}({given})")
        text.append(f"  %r.{lane} = insertelement {type} {value}, double %y.{lane}, i64 {lane}")
        value = f"%r.{lane}"
    head = f"define internal {type} @{called}({', '.join(f'{type} %a{k}' for k in range(count))}) noinline {{"
    return "\n".join([head, *text, f"  ret {type} {value}", "}"])


# -- floats


def _neg(lines: Lines, type: str, wide: bool, a: str) -> str:
    return lines.emit(f"fneg {type} {a}")


def _fma(lines: Lines, type: str, wide: bool, a: str, b: str, c: str) -> str:
    return _intrinsic(lines, "fma", type, wide, a, b, c)


def _fms(lines: Lines, type: str, wide: bool, a: str, b: str, c: str) -> str:
    return _fma(lines, type, wide, a, b, _neg(lines, type, wide, c))


def _fnma(lines: Lines, type: str, wide: bool, a: str, b: str, c: str) -> str:
    return _fma(lines, type, wide, _neg(lines, type, wide, a), b, c)


def _better(name: str, word: str) -> Callable[..., str]:
    """The larger or the smaller; not-a-number if one of them is. ARM has an instruction for it."""

    def write(lines: Lines, type: str, wide: bool, a: str, b: str) -> str:
        if processor().arm:
            return _intrinsic(lines, name, type, wide, a, b)
        one = lines.select(type, wide, lines.emit(f"fcmp {word} {type} {a}, {b}"), a, b)  # b, if one is no number
        return lines.select(type, wide, lines.emit(f"fcmp uno {type} {a}, {a}"), a, one)

    return write


def _sign(lines: Lines, type: str, wide: bool, a: str) -> str:
    zero, one, minus = (lines.number(bits(x), "double", wide) for x in (0.0, 1.0, -1.0))
    falls = lines.select(type, wide, lines.emit(f"fcmp olt {type} {a}, {zero}"), minus, a)
    return lines.select(type, wide, lines.emit(f"fcmp ogt {type} {a}, {zero}"), one, falls)


def _finite(lines: Lines, type: str, wide: bool, a: str) -> str:
    size = _intrinsic(lines, "fabs", type, wide, a)
    return lines.emit(f"fcmp olt {type} {size}, {lines.number(bits(float('inf')), 'double', wide)}")


# -- truth values, and from one type to another


def _not(lines: Lines, type: str, wide: bool, a: str) -> str:
    return lines.emit(f"xor {type} {a}, {lines.number('true', 'i1', wide)}")


def _to_float(lines: Lines, type: str, wide: bool, a: str) -> str:
    return lines.emit(f"sitofp {type} {a} to {lines.type('double', wide)}")


def _bool_to_int(lines: Lines, type: str, wide: bool, a: str) -> str:
    return lines.emit(f"zext {type} {a} to {lines.type('i64', wide)}")


def _to_int(lines: Lines, type: str, wide: bool, a: str) -> str:
    full = f"@llvm.fptosi.sat.{_suffix(lines, 'i64', wide)}.{_suffix(lines, 'f64', wide)}"
    whole = lines.type("i64", wide)
    lines.declared.add(f"declare {whole} {full}({type})")
    return lines.emit(f"call {whole} {full}({type} {a})")


def _wrap32(lines: Lines, type: str, wide: bool, a: str) -> str:
    narrow = lines.type("i32", wide)
    return lines.emit(f"sext {narrow} {lines.emit(f'trunc {type} {a} to {narrow}')} to {type}")


# -- integers


def _ineg(lines: Lines, type: str, wide: bool, a: str) -> str:
    return lines.emit(f"sub {type} {lines.number('0', 'i64', wide)}, {a}")


def _inot(lines: Lines, type: str, wide: bool, a: str) -> str:
    return lines.emit(f"xor {type} {a}, {lines.number('-1', 'i64', wide)}")


def _iabs(lines: Lines, type: str, wide: bool, a: str) -> str:
    negative = lines.emit(f"icmp slt {type} {a}, {lines.number('0', 'i64', wide)}")
    return lines.select(type, wide, negative, _ineg(lines, type, wide, a), a)


def _isign(lines: Lines, type: str, wide: bool, a: str) -> str:
    zero, one, minus = (lines.number(x, "i64", wide) for x in ("0", "1", "-1"))
    falls = lines.select(type, wide, lines.emit(f"icmp slt {type} {a}, {zero}"), minus, zero)
    return lines.select(type, wide, lines.emit(f"icmp sgt {type} {a}, {zero}"), one, falls)


def _imax(lines: Lines, type: str, wide: bool, a: str, b: str) -> str:
    return lines.select(type, wide, lines.emit(f"icmp sgt {type} {a}, {b}"), a, b)


def _imin(lines: Lines, type: str, wide: bool, a: str, b: str) -> str:
    return lines.select(type, wide, lines.emit(f"icmp slt {type} {a}, {b}"), a, b)


def _idiv(lines: Lines, type: str, wide: bool, a: str, b: str) -> str:
    by_zero, by_minus, safe = _divisor(lines, type, wide, b)
    quotient = lines.emit(f"sdiv {type} {a}, {safe}")
    signed = lines.select(type, wide, by_minus, _ineg(lines, type, wide, a), quotient)
    return lines.select(type, wide, by_zero, lines.number("-1", "i64", wide), signed)


def _irem(lines: Lines, type: str, wide: bool, a: str, b: str) -> str:
    by_zero, _, safe = _divisor(lines, type, wide, b)
    rest = lines.emit(f"srem {type} {a}, {safe}")
    return lines.select(type, wide, by_zero, a, rest)


def _divisor(lines: Lines, type: str, wide: bool, b: str) -> tuple[str, str, str]:
    """Whether it is 0, whether it is -1, and one that divides everything: the same, or 1 instead of these."""
    zero, minus = lines.number("0", "i64", wide), lines.number("-1", "i64", wide)
    by_zero, by_minus = lines.emit(f"icmp eq {type} {b}, {zero}"), lines.emit(f"icmp eq {type} {b}, {minus}")
    bad = lines.emit(f"or {lines.type('i1', wide)} {by_zero}, {by_minus}")
    return by_zero, by_minus, lines.select(type, wide, bad, lines.number("1", "i64", wide), b)


def _shl(lines: Lines, type: str, wide: bool, a: str, b: str) -> str:
    fits = lines.emit(f"icmp ult {type} {b}, {lines.number('64', 'i64', wide)}")
    zero = lines.number("0", "i64", wide)
    moved = lines.emit(f"shl {type} {a}, {lines.select(type, wide, fits, b, zero)}")
    return lines.select(type, wide, fits, moved, zero)


def _shr(lines: Lines, type: str, wide: bool, a: str, b: str) -> str:
    fits = lines.emit(f"icmp ult {type} {b}, {lines.number('64', 'i64', wide)}")
    return lines.emit(f"ashr {type} {a}, {lines.select(type, wide, fits, b, lines.number('63', 'i64', wide))}")


WRITTEN: dict[str, Callable[..., str]] = {
    **{op: _binary(word) for op, word in BINARY.items()},
    **{op: _comparison(words) for op, words in COMPARISONS.items()},
    **{op: _by_intrinsic(name) for op, name in INTRINSICS.items()},
    **{op: _by_library(name) for op, name in LIBRARY.items()},
    "select": Lines.select,
    "neg": _neg,
    "fma": _fma,
    "fms": _fms,
    "fnma": _fnma,
    "max": _better("maximum", "ogt"),
    "min": _better("minimum", "olt"),
    "sign": _sign,
    "finite": _finite,
    "not": _not,
    "to_float": _to_float,
    "bool_to_int": _bool_to_int,
    "to_int": _to_int,
    "wrap32": _wrap32,
    "ineg": _ineg,
    "inot": _inot,
    "iabs": _iabs,
    "isign": _isign,
    "imax": _imax,
    "imin": _imin,
    "idiv": _idiv,
    "irem": _irem,
    "shl": _shl,
    "shr": _shr,
}
"""The function that writes each operation; `write` says of what."""
