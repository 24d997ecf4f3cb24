"""How far a sweep is, and how long the rest will take: a bar on a terminal, else a line now and then."""

import contextlib
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING

from rich.text import Text

from naiad import interrupts
from naiad.cli.console import err, say_warning

if TYPE_CHECKING:
    from naiad.studies.sweeps.sweep import Sweep

TELL_EVERY = 60.0  # seconds between two lines; the first comes after a sixth of it


class Told:
    """Call it with the rows that are done, and with what is being done now."""

    def __init__(self, sweep: "Sweep", first: int):
        self._name, self._rows, self._first = sweep.study.name, len(sweep), first
        self._started = time.monotonic()
        self._after = self._started + TELL_EVERY / 6
        self.bar = lambda rows, label: None

    def __call__(self, rows: int, label: str = "") -> None:
        interrupts.check()
        self.bar(rows, label)
        now = time.monotonic()
        if now >= self._after and self._first < rows < self._rows:
            self._after = now + TELL_EVERY
            say_warning(f"{self._name}: {rows} of {self._rows} rows, {self._left(now, rows)}")

    def _left(self, now: float, rows: int) -> str:
        from naiad.studies.progress import in_time_units

        left = (now - self._started) * (self._rows - rows) / (rows - self._first)
        return f"about {in_time_units(left)} to go at this rate; Ctrl-C keeps the rows"


@contextlib.contextmanager
def telling(sweep: "Sweep", first: int) -> Iterator[Told]:
    """Say how many rows there are, and then how far it is from the `first` of them."""
    console, told = err(), Told(sweep, first)
    sizes = " x ".join(f"{key} {len(values)}" for key, values in sweep.swept.items())
    there = f", of which {first} are there" if first else ""
    console.print(Text(f"{sweep.study.name}: {len(sweep)} rows ({sizes}){there}", style="dim"), soft_wrap=True)
    if not console.is_terminal:
        yield told
        return
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    columns = (TextColumn("{task.description}", style="cyan"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    more = (TextColumn("to go:", style="dim"), TimeRemainingColumn(), TextColumn("{task.fields[label]}", style="dim"))
    with Progress(*columns, *more, console=console, transient=True, speed_estimate_period=3600.0) as bars:
        task = bars.add_task(sweep.study.name, total=len(sweep), completed=first, label="")
        told.bar = lambda rows, label: bars.update(task, completed=rows, label=label)
        yield told
