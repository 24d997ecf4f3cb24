"""The command line: `naiad list`, `show`, `run`, `view`, `info`."""

import signal
import sys


def main() -> None:
    """Run the command line on the arguments of this process, and exit."""
    from naiad.cli.app import app

    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))  # so that a partial result is removed
    app(prog_name="naiad")
