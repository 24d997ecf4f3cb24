"""How many cores a piece of work may use."""

import contextlib
import os
from collections.abc import Iterator
from contextvars import ContextVar

_ALONE: ContextVar[bool] = ContextVar("alone", default=False)


@contextlib.contextmanager
def one_core() -> Iterator[None]:
    """Within it this thread uses its own core only: others have theirs."""
    token = _ALONE.set(True)
    try:
        yield
    finally:
        _ALONE.reset(token)


def available() -> int:
    """How many there are for this thread."""
    return 1 if _ALONE.get() else all_cores()


def all_cores() -> int:
    """How many there are for this process."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
