"""How many arguments a user's function needs."""

import inspect
from collections.abc import Callable
from typing import Any


def required_arguments(function: Callable[..., Any]) -> int:
    """The number of positional arguments without a default."""
    return sum(
        each.default is each.empty and each.kind in (each.POSITIONAL_ONLY, each.POSITIONAL_OR_KEYWORD)
        for each in inspect.signature(function).parameters.values()
    )
