"""Rows run by processes of this machine, each of which serves many rows: what is compiled once serves them all."""

import collections
import contextlib
import itertools
import json
import os
import queue
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping

from naiad import interrupts
from naiad.studies.sweeps.row import Row, Task

Runner = Callable[[Mapping[int, Task]], Iterator[tuple[int, Row]]]
"""Runs tasks by their numbers, and gives each row as it comes."""

THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
"""One thread of linear algebra in each process: they share the cores, and its sums depend on how many there are."""
ATTEMPTS = 2
LOOK_EVERY = 0.1  # seconds, for Ctrl-C
PATIENCE = 2.0  # seconds in which a process that says no more comes to its end


class Worker:
    """A process that runs one row after the other."""

    def __init__(self) -> None:
        self._said = tempfile.TemporaryFile()  # noqa: SIM115 - closed by `end`
        self._process = subprocess.Popen(
            [sys.executable, "-m", "naiad.studies.sweeps.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._said,
            text=True,
            encoding="utf-8",
            env=os.environ | {name: os.environ.get(name, "1") for name in THREADS},
        )
        with contextlib.suppress(OSError):
            self._tell(sys.path)

    def run(self, task: Task) -> Row | None:
        """The row of a task; None if the process ended on the way."""
        assert self._process.stdout is not None
        try:
            self._tell(task)
            answer = self._process.stdout.readline()
            return Row.read(answer) if answer.endswith("\n") else None
        except OSError:
            return None

    def end(self, patience: float = 0.0) -> str:
        """End the process, if it does not end by itself in so many seconds, and say how it did."""
        try:
            code = self._process.wait(patience)
        except subprocess.TimeoutExpired:
            self._process.kill()
            code = self._process.wait()
        for stream in (self._process.stdin, self._process.stdout):
            with contextlib.suppress(OSError):
                assert stream is not None
                stream.close()
        self._said.seek(0)
        last = self._said.read().decode(errors="replace").strip().rpartition("\n")[2]
        self._said.close()
        how = f"by {signal.Signals(-code).name}" if code < 0 else f"with code {code}"
        return f"the process that ran it was ended {how}{': ' if last else ''}{last}"

    def _tell(self, message: object) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(message) + "\n")
        self._process.stdin.flush()


class Crew:
    """Processes that wait for rows; each row takes one of them, or starts one if all are busy."""

    def __init__(self) -> None:
        self._all: list[Worker] = []
        self._idle: list[Worker] = []
        self._lock = threading.Lock()
        self._closed = False

    def run(self, task: Task) -> Row:
        """The row of a task; if its process is ended, another one tries once more."""
        how = ""
        for _ in range(ATTEMPTS):
            worker = self._taken()
            row = worker.run(task)
            with self._lock:
                if row is not None:
                    self._idle.append(worker)
                    return row
                if self._closed:
                    break
                self._all.remove(worker)
            how = worker.end(PATIENCE)
        return Row(error=how)

    def close(self) -> None:
        """End all of them."""
        with self._lock:
            self._closed = True
            ended, self._all, self._idle = self._all, [], []
        for worker in ended:
            worker.end()

    def _taken(self) -> Worker:
        with self._lock:
            if self._closed:
                raise RuntimeError("the processes of the sweep were ended")
            if self._idle:
                return self._idle.pop()
            worker = Worker()
            self._all.append(worker)
            return worker


class Share:
    """Tasks shared out in as many parts as there are processes, so that these begin with different programs to compile.

    Each takes its own part from the front; one that has nothing left takes from the end of the longest.
    """

    def __init__(self, tasks: Mapping[int, Task], parts: int):
        items = list(tasks.items())
        bounds = [len(items) * k // parts for k in range(parts + 1)]
        self._parts = [collections.deque(items[a:b]) for a, b in itertools.pairwise(bounds)]
        self._lock = threading.Lock()

    def take(self, part: int) -> tuple[int, Task] | None:
        """The next task for a process; None if there are no more."""
        with self._lock:
            if self._parts[part]:
                return self._parts[part].popleft()
            longest = max(self._parts, key=len)
            return longest.pop() if longest else None


def run_with(workers: int) -> Runner:
    """Rows run by so many processes at a time."""

    def run(tasks: Mapping[int, Task]) -> Iterator[tuple[int, Row]]:
        done: queue.SimpleQueue[tuple[int, Row] | BaseException] = queue.SimpleQueue()
        crew, threads = Crew(), min(workers, len(tasks))
        share = Share(tasks, threads)

        def serve(part: int) -> None:
            try:
                while (item := share.take(part)) is not None:
                    done.put((item[0], crew.run(item[1])))
            except BaseException as error:
                done.put(error)

        for part in range(threads):
            threading.Thread(target=serve, args=(part,), name="naiad-sweep", daemon=True).start()
        try:
            for _ in tasks:
                yield _next(done)
        finally:
            crew.close()

    return run


def _next(done: "queue.SimpleQueue[tuple[int, Row] | BaseException]") -> tuple[int, Row]:
    while True:
        interrupts.check()
        try:
            item = done.get(timeout=LOOK_EVERY)
        except queue.Empty:
            continue
        if isinstance(item, BaseException):
            raise item
        return item
