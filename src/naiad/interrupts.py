"""Ctrl-C, and SIGTERM where something would be lost by it: heard between the pieces of a run, and never lost.

Python raises KeyboardInterrupt wherever it happens to be. In a callback of the garbage collector, a finaliser or a
weak reference that exception is printed and dropped, and the run goes on; in code outside of Python it waits until that
returns. So while something listens here, a signal is written down as well, and looked at between the pieces of work.
"""

import _signal  # what `signal` wraps: the names of handlers take too long
import contextlib
import signal
import threading
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

T = TypeVar("T")
NOTHING = "nothing was written"
PATIENCE = 0.1  # seconds between two looks at what was heard, while code outside of Python runs
STACK_BYTES = 64 * 2**20  # of the thread in which it runs: as deep as a main thread may get


class Ear:
    """What was heard since it listens. With `at_once` the first signal raises where it comes; without, it is only
    written down, and the second raises. What is raised is the end of everything, not of one run, if `at_once`.

    A program may give it an `end` to call instead of raising, which ends the process; `undo` has what to do before, and
    `kept` says what is left then."""

    def __init__(self, at_once: bool = False):
        self.at_once = at_once
        self.heard: BaseException | None = None
        self.end: Callable[[Ear], None] | None = None
        self.undo: list[Callable[[], str | None]] = []
        self.kept = NOTHING
        self._closed = False

    def check(self) -> None:
        """Raise what was heard, if anything was."""
        if self.heard is not None and not self._closed:
            raise self.heard

    def forget(self) -> None:
        """What was heard has been acted upon."""
        self.heard = None

    def close(self) -> None:
        """Raise what was heard until now, and hear no more: what follows is done to its end."""
        self.check()
        self._closed = True

    def interrupt(self, number: int, frame: Any) -> None:
        """The handler of SIGINT."""
        self._hear(KeyboardInterrupt())

    def terminate(self, number: int, frame: Any) -> None:
        """The handler of SIGTERM, in programs that end by it."""
        self._hear(SystemExit(128 + number))

    def _hear(self, what: BaseException) -> None:
        again, self.heard = self.heard is not None, what
        if self._closed:
            return
        if self.end is not None:
            self.end(self)
        if self.at_once or again:
            raise what


class _Listening(threading.local):
    ear: Ear | None = None


_LISTENING = _Listening()


@contextlib.contextmanager
def listening(*, at_once: bool = False) -> Iterator[Ear]:
    """Hear Ctrl-C until the end of the block; inside of another such block, with its ear.

    What was heard and not acted upon is raised at the end. The handler of SIGINT is replaced in the main thread, and
    only where it is Python's own: one that the user has set stays, and a signal that is ignored (nohup, a job in the
    background) stays ignored.
    """
    if _LISTENING.ear is not None:
        yield _LISTENING.ear
        return
    ear = _LISTENING.ear = Ear(at_once)
    main = threading.current_thread() is threading.main_thread()
    ours = main and _signal.getsignal(signal.SIGINT) is signal.default_int_handler
    try:
        if ours:
            _signal.signal(signal.SIGINT, ear.interrupt)
        yield ear
        ear.check()
    finally:
        if ours:
            _signal.signal(signal.SIGINT, signal.default_int_handler)
        _LISTENING.ear = None


@contextlib.contextmanager
def terminating(ear: Ear) -> Iterator[None]:
    """Until the end of the block SIGTERM is heard as well, where it would end the process on the spot: it does so by a
    SystemExit, so that what is half done can be kept."""
    main = threading.current_thread() is threading.main_thread()
    ours = main and _signal.getsignal(signal.SIGTERM) == _signal.SIG_DFL
    try:
        if ours:
            _signal.signal(signal.SIGTERM, ear.terminate)
        yield
    finally:
        if ours:
            _signal.signal(signal.SIGTERM, _signal.SIG_DFL)


def check() -> None:
    """Raise KeyboardInterrupt if Ctrl-C was heard and something listens."""
    if _LISTENING.ear is not None:
        _LISTENING.ear.check()


def close() -> None:
    """The same, and from then on nothing is heard: what follows is done to its end."""
    if _LISTENING.ear is not None:
        _LISTENING.ear.close()


@contextlib.contextmanager
def undoing(undo: Callable[[], str | None]) -> Iterator[None]:
    """What is to be done if the process ends within the block; it may say what it has kept."""
    ear = _LISTENING.ear or Ear()
    ear.undo.append(undo)
    try:
        yield
    finally:
        ear.undo.remove(undo)


def interruptible(function: Callable[..., T], *args: Any) -> T:
    """function(*args), a long call outside of Python, in a thread of its own, so that Ctrl-C is heard meanwhile.

    After an interrupt the thread is left to end by itself, and its result is dropped.
    """
    if threading.current_thread() is not threading.main_thread():
        return function(*args)
    results: list[T] = []
    errors: list[BaseException] = []

    def call() -> None:
        try:
            results.append(function(*args))
        except BaseException as error:
            errors.append(error)

    thread = threading.Thread(target=call, name="naiad-outside")
    usual = threading.stack_size(STACK_BYTES)
    try:
        thread.start()
    finally:
        threading.stack_size(usual)
    while thread.is_alive():
        thread.join(PATIENCE)
        check()
    for error in errors:
        raise error
    return results[0]
