"""How each operation of a program is written in CUDA C."""

import math
import struct
from collections.abc import Callable

from naiad.compiler.ir.operations import BOOL, ELEMENTARY, FLOAT, INT
from naiad.compiler.ir.program import Node

TYPES = {FLOAT: "double", INT: "long long", BOOL: "bool"}

CALLS = {
    **{name: name for name in (*ELEMENTARY, "atan2", "pow", "sqrt", "floor", "ceil", "sign", "to_int")},
    **{name: name for name in ("idiv", "irem", "shl", "shr", "fma")},
    "rem": "fmod",
    "abs": "size_of",
    "round": "rint",
    "round_away": "round",
    "max": "larger",
    "min": "smaller",
    "imax": "max",
    "imin": "min",
    "finite": "is_finite",
}
"""Functions: CUDA's own, and those of the prelude."""

INFIX = {
    **{"add": "+", "sub": "-", "mul": "*"},
    **{"iand": "&", "ior": "|", "ixor": "^"},
    **{"lt": "<", "le": "<=", "eq": "==", "ne": "!="},
    **{"and": "&", "or": "|", "xor": "!="},
}
WRAPPING = {"iadd": "+", "isub": "-", "imul": "*"}
"""Operations on whole numbers that go round at 2^63, which those without a sign do in C."""

WRITTEN: dict[str, Callable[..., str]] = {
    "neg": lambda a: f"-{a}",
    "fms": lambda a, b, c: f"fma({a}, {b}, -{c})",
    "fnma": lambda a, b, c: f"fma(-{a}, {b}, {c})",
    "select": lambda condition, yes, no: f"{condition} ? {yes} : {no}",
    "not": lambda a: f"!{a}",
    "inot": lambda a: f"~{a}",
    "ineg": lambda a: f"(long long)(0ULL - (unsigned long long){a})",
    "iabs": lambda a: f"{a} < 0 ? (long long)(0ULL - (unsigned long long){a}) : {a}",
    "isign": lambda a: f"({a} > 0) - ({a} < 0)",
    "to_float": lambda a: f"(double){a}",
    "bool_to_int": lambda a: f"(long long){a}",
    "wrap32": lambda a: f"(long long)(int){a}",
}


def written(op: str, args: list[str]) -> str:
    """The expression of an operation on values with these names; quotients are the printer's."""
    if op == "all_finite":
        return f"is_finite_float({' + '.join(f'upper({a})' for a in args)})"
    if op in INFIX:
        return f"{args[0]} {INFIX[op]} {args[1]}"
    if op in WRAPPING:
        return f"(long long)((unsigned long long){args[0]} {WRAPPING[op]} (unsigned long long){args[1]})"
    if op in CALLS:
        return f"{CALLS[op]}({', '.join(args)})"
    return WRITTEN[op](*args)


def constant(node: Node) -> str:
    """A known value, to its last digit."""
    return literal(node.value, node.type)


def literal(value: float | int | bool, type: str) -> str:
    """A number or a truth value as C reads it."""
    if type == BOOL:
        return "true" if value else "false"
    if type == INT:
        return f"{int(value)}LL" if value != -(2**63) else "(-0x7fffffffffffffffLL - 1)"
    if math.isfinite(value):
        text = repr(float(value))
        return f"({text})" if text.startswith("-") else text
    return f"__longlong_as_double(0x{struct.unpack('<Q', struct.pack('<d', value))[0]:016x}ULL)"
