"""Who wants to know that code is being made: moments in which nothing else moves."""

import contextlib
from collections.abc import Callable, Iterator

_LISTENERS: list[Callable[[bool], None]] = []


@contextlib.contextmanager
def telling(listener: Callable[[bool], None]) -> Iterator[None]:
    """Within it the listener is told True when code begins to be made, and False when that has ended."""
    _LISTENERS.append(listener)
    try:
        yield
    finally:
        _LISTENERS.remove(listener)


@contextlib.contextmanager
def making() -> Iterator[None]:
    """Within it code is made."""
    listeners = tuple(_LISTENERS)
    for listener in listeners:
        listener(True)
    try:
        yield
    finally:
        for listener in listeners:
            listener(False)
