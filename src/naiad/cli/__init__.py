"""The command line: `naiad list`, `show`, `run`, `view`, `info`."""

import os
import signal
import sys

from naiad.interrupts import listening


def main() -> None:
    """Run the command line on the arguments of this process, and exit."""
    with listening(at_once=True) as ear:
        if signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
            signal.signal(signal.SIGTERM, ear.terminate)
        sys.unraisablehook = _unless_heard
        try:
            from naiad.cli.app import app

            app(prog_name="naiad")
        except KeyboardInterrupt:  # while it was imported
            sys.stderr.write("naiad: interrupted; nothing was written\n")
            sys.exit(130)
        except SystemExit as end:
            if ear.heard is None:
                raise
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(int(end.code or 0))  # without waiting for code outside of Python that was left to itself


def _unless_heard(dropped: "sys.UnraisableHookArgs") -> None:
    """Say nothing of an interrupt that was raised where it must be dropped: it is raised again at the next look."""
    if not issubclass(dropped.exc_type, KeyboardInterrupt | SystemExit):
        sys.__unraisablehook__(dropped)
