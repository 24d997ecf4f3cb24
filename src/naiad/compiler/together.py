"""Several functions compiled at the same time."""

import sys
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import CancelledError, ThreadPoolExecutor, wait
from typing import Any, TypeVar

from naiad.compiler.cores import available
from naiad.compiler.telling import making
from naiad.interrupts import PATIENCE, STACK_BYTES, check, interruptible

T = TypeVar("T")
SOON = 1e-4  # seconds: a call of LLVM that returns waits as long for the one that is traced, and there are many


class _Turns(threading.local):
    turn: "threading.Lock | None" = None


_TURNS = _Turns()


class _Haste:
    """Meanwhile threads hand the interpreter over soon; what was usual comes back with the last that leaves."""

    def __init__(self) -> None:
        self._lock, self._inside, self._usual = threading.Lock(), 0, 0.0

    def __enter__(self) -> None:
        with self._lock:
            if not self._inside:
                self._usual = sys.getswitchinterval()
                sys.setswitchinterval(SOON)
            self._inside += 1

    def __exit__(self, *reason: object) -> None:
        with self._lock:
            self._inside -= 1
            if not self._inside:
                sys.setswitchinterval(self._usual)


_HASTE = _Haste()


def together(makers: Sequence[Callable[[], T]]) -> list[T]:
    """What each of them gives, by a thread each, of which one at a time has its turn: two that are traced at once would
    wait for each other. Machine code is made `outside`, while the next is traced. Those that take longer there should
    come first."""
    if available() == 1:
        return [make() for make in makers]
    turn, given_up = threading.Lock(), threading.Event()

    def in_turn(make: Callable[[], T]) -> T:
        _TURNS.turn = turn
        with turn:
            if given_up.is_set():
                raise CancelledError
            return make()

    pool = ThreadPoolExecutor(len(makers), thread_name_prefix="naiad-compile")
    try:
        with making(), _HASTE:
            usual = threading.stack_size(STACK_BYTES)
            try:
                made = [pool.submit(in_turn, make) for make in makers]
            finally:
                threading.stack_size(usual)
            while wait(made, timeout=PATIENCE).not_done:
                check()
        return [each.result() for each in made]
    finally:
        given_up.set()
        pool.shutdown(wait=False)


def outside(function: Callable[..., T], *args: Any) -> T:
    """function(*args), a long call outside of Python: Ctrl-C is heard, or the next has its turn meanwhile."""
    turn = _TURNS.turn
    if turn is None:
        return interruptible(function, *args)
    turn.release()
    try:
        return function(*args)
    finally:
        turn.acquire()
