"""Who wants to know that code is being made: moments in which nothing else moves."""

import contextlib
import threading
from collections.abc import Callable, Iterator

_LISTENERS: list[Callable[[bool], None]] = []
_LOCK = threading.Lock()


@contextlib.contextmanager
def telling(listener: Callable[[bool], None]) -> Iterator[None]:
    """Within it the listener is told True when code begins to be made, and False when that has ended."""
    _LISTENERS.append(listener)
    try:
        yield
    finally:
        _LISTENERS.remove(listener)


class _Makers:
    """How many make code at this moment."""

    count = 0


@contextlib.contextmanager
def making() -> Iterator[None]:
    """Within it code is made; listeners are told of the first that begins, and when all have ended."""
    _count(1)
    try:
        yield
    finally:
        _count(-1)


def _count(more: int) -> None:
    with _LOCK:
        before, _Makers.count = _Makers.count, _Makers.count + more
        if not before or not _Makers.count:
            for listener in tuple(_LISTENERS):
                listener(more > 0)
