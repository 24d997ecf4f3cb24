"""Every error is one line on stderr and an exit code: 2 for bad input, 1 for a failed run, 130 for Ctrl-C."""

import contextlib
import logging
import sys
import traceback
import warnings
from collections.abc import Iterator, Sequence
from typing import Any

from typer.core import TyperGroup
from typer.exceptions import TyperException

from naiad.cli.console import say_error, say_warning
from naiad.errors import InputError, NaiadError, RunWarning

BAD_INPUT, FAILED, INTERRUPTED = 2, 1, 130


class Commands(TyperGroup):
    """The commands of naiad, with their errors shown to a user rather than to a programmer."""

    def main(self, args: Sequence[str] | None = None, prog_name: str | None = None, **settings: Any) -> Any:
        """Run a command and exit with its code; `--debug` may stand anywhere."""
        given = list(sys.argv[1:] if args is None else args)
        debug = "--debug" in given
        settings["standalone_mode"] = False
        try:
            with contextlib.nullcontext() if debug else _only_our_warnings():
                code = super().main([each for each in given if each != "--debug"], prog_name, **settings)
        except Exception as error:
            if debug:
                traceback.print_exc()
            sys.exit(_explained(error))
        if code == INTERRUPTED:
            say_error("interrupted; nothing was written")
        sys.exit(code or 0)


@contextlib.contextmanager
def _only_our_warnings() -> Iterator[None]:
    """naiad's warnings as lines on stderr; those of the libraries under it, which say nothing to a user, nowhere."""
    logging.getLogger("jax").setLevel(logging.ERROR)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.simplefilter("default", RunWarning)
        warnings.showwarning = lambda message, *_, **__: say_warning(f"warning: {message}")  # ty: ignore
        yield


def _explained(error: Exception) -> int:
    """Say what went wrong, and return the exit code."""
    if isinstance(error, TyperException):
        message = " ".join(error.format_message().split()).rstrip(".")
        stop = "" if message.endswith("?") else ";"
        say_error(f"{message}{stop} `{_command_path(error)} --help` shows how it is used")
        return BAD_INPUT
    if isinstance(error, NaiadError):
        say_error(str(error))
        return BAD_INPUT if isinstance(error, InputError) else FAILED
    say_error(
        f"unexpected {type(error).__name__}: {error}; this is a fault of naiad or of the study, "
        "and the same command with --debug shows where"
    )
    return FAILED


def _command_path(error: TyperException) -> str:
    context = getattr(error, "ctx", None)
    return context.command_path if context is not None else "naiad"
