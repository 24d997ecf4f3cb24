"""The scalar operations of a program, their types, and what they mean in NumPy.

Besides these a program has `select`, whose type is that of what it selects, and what `finish` fuses: `fma` is a b + c,
`fms` a b - c, `fnma` c - a b.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

FLOAT, INT, BOOL = "f", "i", "b"

DTYPES = {FLOAT: np.float64, INT: np.int64, BOOL: np.bool_}


class Operation(NamedTuple):
    """An operation on scalars: the type of its result, and its meaning on NumPy scalars or arrays of lanes."""

    type: str
    evaluate: Callable[..., Any]


def _quotient(a, b):
    """Integer division towards zero, -1 by zero, as XLA has it."""
    safe = np.where((b == 0) | ((b == -1) & (a == np.iinfo(np.int64).min)), 1, b)
    down = np.floor_divide(a, safe)
    return np.where(b == 0, -1, down + ((down * safe != a) & ((a < 0) != (safe < 0))))


def _remainder(a, b):
    safe = np.where((b == 0) | (b == -1), 1, b)
    return np.where(b == 0, a, np.where(b == -1, 0, np.fmod(a, safe)))


def _to_int(a):
    bounds = np.iinfo(np.int64)
    inside = np.where(np.isnan(a), 0.0, np.clip(a, -(2.0**63), 2.0**63 - 1024))
    return np.where(a >= 2.0**63, bounds.max, inside.astype(np.int64))


def _larger(a, b):
    return np.where((a >= b) | np.isnan(a), a, b)


def _smaller(a, b):
    return np.where((a <= b) | np.isnan(a), a, b)


def _round_away(a):
    whole = np.trunc(a)
    return np.where(np.abs(a - whole) >= 0.5, whole + np.sign(a), whole)


def _shift_left(a, b):
    return np.where((b < 0) | (b > 63), 0, np.left_shift(a, np.clip(b, 0, 63)))


def _shift_right(a, b):
    return np.right_shift(a, np.where((b < 0) | (b > 63), 63, b))


def _wrap32(a):
    return np.asarray(a).astype(np.int32).astype(np.int64)


FLOATS = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "div": np.divide,
    "neg": np.negative,
    "rem": np.fmod,
    "max": _larger,
    "min": _smaller,
    "abs": np.abs,
    "sign": np.sign,
    "sqrt": np.sqrt,
    "cbrt": np.cbrt,
    "floor": np.floor,
    "ceil": np.ceil,
    "round": np.rint,
    "round_away": _round_away,
    "sin": np.sin,
    "cos": np.cos,
    "tan": np.tan,
    "asin": np.arcsin,
    "acos": np.arccos,
    "atan": np.arctan,
    "atan2": np.arctan2,
    "sinh": np.sinh,
    "cosh": np.cosh,
    "tanh": np.tanh,
    "asinh": np.arcsinh,
    "acosh": np.arccosh,
    "atanh": np.arctanh,
    "exp": np.exp,
    "exp2": np.exp2,
    "expm1": np.expm1,
    "log": np.log,
    "log1p": np.log1p,
    "pow": np.power,
    "to_float": lambda a: np.asarray(a).astype(np.float64),
}
INTEGERS = {
    "iadd": np.add,
    "isub": np.subtract,
    "imul": np.multiply,
    "ineg": np.negative,
    "idiv": _quotient,
    "irem": _remainder,
    "imax": np.maximum,
    "imin": np.minimum,
    "iabs": np.abs,
    "isign": np.sign,
    "iand": np.bitwise_and,
    "ior": np.bitwise_or,
    "ixor": np.bitwise_xor,
    "inot": np.bitwise_not,
    "shl": _shift_left,
    "shr": _shift_right,
    "wrap32": _wrap32,
    "to_int": _to_int,
    "bool_to_int": lambda a: np.asarray(a).astype(np.int64),
}
BOOLEANS = {
    "lt": np.less,
    "le": np.less_equal,
    "eq": np.equal,
    "ne": np.not_equal,
    "and": np.logical_and,
    "or": np.logical_or,
    "xor": np.logical_xor,
    "not": np.logical_not,
    "finite": np.isfinite,
}

OPERATIONS = {
    name: Operation(type, evaluate)
    for type, table in ((FLOAT, FLOATS), (INT, INTEGERS), (BOOL, BOOLEANS))
    for name, evaluate in table.items()
}

COMMUTATIVE = frozenset(
    [
        "add",
        "mul",
        "max",
        "min",
        "iadd",
        "imul",
        "imax",
        "imin",
        "iand",
        "ior",
        "ixor",
        "eq",
        "ne",
        "and",
        "or",
        "xor",
    ]
)

ELEMENTARY = frozenset(
    {"sin", "cos", "tan", "asin", "acos", "atan"}
    | {"sinh", "cosh", "tanh", "asinh", "acosh", "atanh"}
    | {"exp", "exp2", "expm1", "log", "log1p", "cbrt"}
)
"""Functions of one float that take many operations."""

COSTLY = ELEMENTARY | {"rem", "atan2", "pow", "div", "sqrt", "idiv", "irem"}
"""What takes longer than a jump."""
