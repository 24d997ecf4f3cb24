"""Values of parameters and results, for programs (JSON) and for people (text)."""

import json
import math
from collections.abc import Mapping
from typing import Any

import numpy as np

SHOWN = 6
"""A longer sequence is shown by its ends and its length."""


def plain(value: Any) -> Any:
    """The value in the types of JSON; arrays become lists, and what is not finite becomes null (JSON has no NaN)."""
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(key): plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    if hasattr(value, "__array__"):
        return plain(np.asarray(value).tolist())
    raise TypeError(
        f"a result must be a number, a text, an array, or a list or dict of these, not {type(value).__name__}"
    )


def to_json(value: Any, indent: int | None = None) -> str:
    """Valid JSON with every digit."""
    return json.dumps(plain(value), allow_nan=False, ensure_ascii=False, indent=indent)


def shown(value: Any, digits: int = 10) -> str:
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
        return shown(np.asarray(value).tolist(), digits)
    if isinstance(value, list | tuple):
        if len(value) <= SHOWN:
            return f"({', '.join(shown(each, digits) for each in value)})"
        ends = [shown(each, digits) for each in (*value[:2], value[-1])]
        return f"({ends[0]}, {ends[1]}, ..., {ends[2]}; {len(value)} values)"
    return str(value)
