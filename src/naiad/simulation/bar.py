"""A bar on long runs."""

import sys
import time
from collections.abc import Callable
from typing import Any, Self

from naiad.simulation.plan import Plan

PATIENCE = 2.0  # seconds before a bar appears


class Bar:
    """Tells a function how far a run has come, or shows a bar on standard error once it has taken a while."""

    def __init__(self, plan: Plan, *, shown: bool | Callable[[float], None] | None):
        self._total = plan.last - plan.first
        self._first = plan.first
        self._tell = shown if callable(shown) else None
        self._shown = self._tell is None and (sys.stderr.isatty() if shown is None else bool(shown))
        self._started = time.monotonic()
        self._bar: Any = None
        self._task: Any = None

    def __enter__(self) -> Self:
        return self

    def update(self, node: int) -> None:
        """Show that the run has come to a node."""
        if self._tell is not None:
            self._tell((node - self._first) / self._total if self._total else 1.0)
        if self._bar is None and self._shown and time.monotonic() - self._started > PATIENCE:
            self._begin()
        if self._bar is not None:
            self._bar.update(self._task, completed=node - self._first)

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.stop()

    def _begin(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

        columns = (
            TextColumn("simulating"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("steps"),
            TimeRemainingColumn(),
        )
        self._bar = Progress(*columns, console=Console(stderr=True), transient=True)
        self._task = self._bar.add_task("simulating", total=self._total)
        self._bar.start()
