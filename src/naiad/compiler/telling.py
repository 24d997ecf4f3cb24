"""Who wants to know that code is being made: moments in which nothing else moves."""

import contextlib
import sys
import threading
from collections.abc import Callable, Iterator

PATIENCE = 2.0  # seconds of compiling before a line says what is compiled

_LISTENERS: list[Callable[[bool | str], None]] = []
_LOCK = threading.Lock()


@contextlib.contextmanager
def telling(listener: Callable[[bool | str], None]) -> Iterator[None]:
    """Within it the listener is told True when code begins to be made, what is made where that takes longer than two
    seconds, and False when it has ended."""
    _LISTENERS.append(listener)
    try:
        yield
    finally:
        _LISTENERS.remove(listener)


class _Makers:
    """How many make code at this moment."""

    count = 0


@contextlib.contextmanager
def making(what: Callable[[], str] | None = None) -> Iterator[None]:
    """Within it code is made; listeners are told of the first that begins, and when all have ended.

    Where it takes longer than two seconds, a line on the terminal or in the notebook says what is made.
    """
    timer = None if what is None else threading.Timer(PATIENCE, _say, (what,))
    if timer is not None:
        timer.daemon = True
        timer.start()
    _count(1)
    try:
        yield
    finally:
        _count(-1)
        if timer is not None:
            timer.cancel()


def _say(what: Callable[[], str]) -> None:
    words = f"compiling {what()}"
    for listener in tuple(_LISTENERS):
        listener(words)
    if not _LISTENERS and (sys.stderr.isatty() or "ipykernel" in sys.modules):
        print(f"naiad: {words}, which takes a while", file=sys.stderr, flush=True)


def _count(more: int) -> None:
    with _LOCK:
        before, _Makers.count = _Makers.count, _Makers.count + more
        if not before or not _Makers.count:
            for listener in tuple(_LISTENERS):
                listener(more > 0)
