"""A process that runs rows: a line of JSON on stdin is a task, and a line on stdout its row.

It ends when stdin does, also in the middle of a row, so that it never outlives the process that started it. Ctrl-C is
for that one as well.
"""

import json
import os
import queue
import signal
import sys
import threading

LINES: "queue.SimpleQueue[str]" = queue.SimpleQueue()


def main() -> None:
    """Run the rows that come, until there are no more."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    silence = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silence, 1)  # a study may print
    threading.Thread(target=_listen, daemon=True).start()
    sys.path[:] = json.loads(LINES.get())

    from naiad.studies.sweeps.row import Task, run_row

    while True:
        print(run_row(Task(*json.loads(LINES.get()))).write(), file=answers, flush=True)


def _listen() -> None:
    for line in sys.stdin:
        LINES.put(line)
    os._exit(0)


if __name__ == "__main__":
    main()
