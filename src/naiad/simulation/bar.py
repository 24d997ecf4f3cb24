"""A bar on long runs."""

import contextlib
import inspect
import sys
import threading
from collections.abc import Callable
from typing import Any, NamedTuple, Self

from naiad.compiler.telling import telling
from naiad.errors import InputError
from naiad.simulation.plan import Plan


class Span(NamedTuple):
    """From a step to another, where there is no plan that says so."""

    first: int
    last: int


PATIENCE = 2.0  # seconds before a bar appears


class Bar:
    """Tells a function how far a run has come, or shows a bar on standard error once it has taken a while."""

    def __init__(self, plan: Plan | Span, *, shown: bool | Callable[[float], None] | None):
        self._total = plan.last - plan.first
        self._first = plan.first
        self._tell = _teller(shown) if callable(shown) else None
        self._shown = self._tell is None and (sys.stderr.isatty() if shown is None else bool(shown))
        self._bar: Any = None
        self._task: Any = None
        self._doing, self._done = "simulating", 0
        self._stack = contextlib.ExitStack()
        self._lock = threading.Lock()

    def __enter__(self) -> Self:
        if self._shown:
            timer = threading.Timer(PATIENCE, self._begin)
            timer.daemon = True
            timer.start()
            self._stack.callback(timer.cancel)
            self._stack.enter_context(telling(self._compiling))
        return self

    def update(self, node: int) -> None:
        """Show that the run has come to a node."""
        if self._tell is not None:
            self._tell((node - self._first) / self._total if self._total else 1.0)
        if self._shown:
            self._done = node - self._first
            self._draw()

    def __exit__(self, *_: object) -> None:
        if not self._shown:
            return
        with self._lock:
            self._shown = False
            self._stack.close()
            if self._bar is not None:
                self._bar.stop()

    def _compiling(self, busy: bool | str) -> None:
        self._doing = busy if isinstance(busy, str) else "compiling" if busy else "simulating"
        self._draw()

    def _draw(self) -> None:
        if self._bar is not None:
            self._bar.update(self._task, completed=self._done, description=self._doing)

    def _begin(self) -> None:
        """From a thread of its own, as a run may be slow before it moves; not after its end."""
        with self._lock:
            if self._shown:
                self._make()

    def _make(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

        columns = (
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("steps"),
            TimeRemainingColumn(),
        )
        bar = Progress(*columns, console=Console(stderr=True), transient=True)
        self._task = bar.add_task(self._doing, total=self._total, completed=self._done)
        bar.start()
        self._bar = bar


def _teller(tell: Callable[[float], None]) -> Callable[[float], None]:
    """The function that is told the fraction done, if it can be called with it."""
    try:
        inspect.signature(tell).bind(0.0)
    except TypeError as error:
        name = getattr(tell, "__name__", type(tell).__name__)
        raise InputError(f"progress: {name} cannot be called with one number, the fraction done: {error}.") from None
    except ValueError:  # a function without a signature
        pass
    return tell
