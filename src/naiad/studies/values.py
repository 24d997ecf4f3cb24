"""Values of parameters and results, for programs (JSON) and for people (text)."""

import json
import math
from collections.abc import Mapping
from typing import Any

import numpy as np

SHOWN = 6
"""A longer sequence is shown by its ends and its length."""
DIGITS, DIGITS_OF_ERRORS = 6, 3
ERRORS = {"error", "errors", "defect", "drift", "asymmetry", "spread"}
"""A result with one of these words in its name is a size, of which a reader needs few digits."""
ROUND_OFF = 1e-13
"""An element of an array that is smaller than its largest by this factor is shown as 0."""


def plain(value: Any, *, finite: bool = True) -> Any:
    """The value in the types of JSON; arrays become lists, and what is not finite becomes null (JSON has no NaN), or
    stays as it is without `finite`."""
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return float(value) if math.isfinite(value) or not finite else None
    if isinstance(value, Mapping):
        return {str(key): plain(each, finite=finite) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [plain(each, finite=finite) for each in value]
    if hasattr(value, "__array__"):
        return plain(np.asarray(value).tolist(), finite=finite)
    raise TypeError(
        f"a result must be a number, a text, an array, or a list or dict of these, not {type(value).__name__}"
    )


def to_json(value: Any, indent: int | None = None) -> str:
    """Valid JSON with every digit."""
    return json.dumps(plain(value), allow_nan=False, ensure_ascii=False, indent=indent)


def found(name: str, value: Any, units: Mapping[str, str]) -> str:
    """A result for a reader, with the digits that its name deserves; in a dict each with its unit."""
    if isinstance(value, Mapping):
        entries = ((str(key), found(f"{name}_{key}", each, units)) for key, each in value.items())
        return ", ".join(f"{key}: {text} {units.get(key, '')}".rstrip() for key, text in entries)
    return shown(value, DIGITS_OF_ERRORS if ERRORS & set(name.split("_")) else DIGITS)


def shown(value: Any, digits: int = DIGITS) -> str:
    """The value for a reader: some digits, short sequences in full, long ones by their ends."""
    if value is None:
        return "none"
    if isinstance(value, bool | np.bool_):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.{digits}g}"
    if isinstance(value, Mapping):
        return ", ".join(f"{key}: {shown(each, digits)}" for key, each in value.items())
    if not isinstance(value, str) and hasattr(value, "__array__"):
        return shown(_without_round_off(np.asarray(value)).tolist(), digits)
    if isinstance(value, list | tuple):
        if len(value) <= SHOWN:
            return f"({', '.join(shown(each, digits) for each in value)})"
        ends = [shown(each, digits) for each in (*value[:2], value[-1])]
        return f"({ends[0]}, {ends[1]}, ..., {ends[2]}; {len(value)} values)"
    return str(value)


def _without_round_off(values: np.ndarray) -> np.ndarray:
    if values.dtype.kind != "f" or not np.isfinite(values).all():
        return values
    return np.where(np.abs(values) <= ROUND_OFF * np.max(np.abs(values), initial=0.0), 0.0, values)
