"""Where the command line writes: results to stdout, everything else to stderr."""

import sys

from rich.console import Console
from rich.table import Table
from rich.text import Text

PIPED_WIDTH = 160
"""Columns where no terminal says how many there are."""


def out() -> Console:
    """The console for results."""
    return _console(stderr=False)


def err() -> Console:
    """The console for messages and progress."""
    return _console(stderr=True)


def say_error(message: str) -> None:
    """One line on stderr."""
    line = Text("naiad: ", style="bold red").append(" ".join(message.split()), style="not bold default")
    err().print(line, soft_wrap=True, highlight=False)


def say_warning(message: str) -> None:
    """One line on stderr, of something that need not stop anybody."""
    line = Text("naiad: ", style="bold yellow").append(" ".join(message.split()), style="not bold default")
    err().print(line, soft_wrap=True, highlight=False)


def say_json(text: str) -> None:
    """One JSON document on stdout, untouched."""
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def table(*columns: str) -> Table:
    """An empty table in the house style: no lines but space, names in colour."""
    made = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    for number, column in enumerate(columns):
        made.add_column(column, style="cyan" if number == 0 else "", no_wrap=number == 0, overflow="fold")
    return made


def _console(stderr: bool) -> Console:
    stream = sys.stderr if stderr else sys.stdout
    return Console(stderr=stderr, highlight=False, width=None if stream.isatty() else PIPED_WIDTH)
