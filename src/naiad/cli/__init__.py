"""The command line: `naiad list`, `show`, `run`, `sweep`, `resume`, `view`, `live`, `info`."""

import contextlib
import os
import signal
import sys

from naiad.interrupts import NOTHING, Ear, listening

SHOW_CURSOR = b"\x1b[?25h"  # which a bar hides


def main() -> None:
    """Run the command line on the arguments of this process, and exit."""
    with listening(at_once=True) as ear:
        ear.end = _end
        if signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
            signal.signal(signal.SIGTERM, ear.terminate)
        from naiad.cli.app import app

        app(prog_name="naiad")


def _end(ear: Ear) -> None:
    """Undo what is half done, and end the process there and then.

    Nothing is raised: an exception that comes out of nowhere may be dropped, or end the process in libraries under us.
    """
    kept = ear.kept
    for undo in reversed(ear.undo):
        with contextlib.suppress(Exception):
            kept = undo() or kept
    if sys.stderr.isatty():
        os.write(2, SHOW_CURSOR)
    ended = isinstance(ear.heard, SystemExit)
    if kept != NOTHING or not ended:
        os.write(2, f"naiad: {'terminated' if ended else 'interrupted'}; {kept}\n".encode())
    os._exit(int(ear.heard.code or 0) if isinstance(ear.heard, SystemExit) else 130)
