"""Rows run by the workers of a Dask scheduler, each in a process of its own there, as it is on this machine."""

import contextlib
from collections.abc import Iterator, Mapping
from typing import Any

from naiad.ensembles.cluster import AHEAD, connected, threads
from naiad.errors import RunError
from naiad.studies.sweeps.row import Row, Task
from naiad.studies.sweeps.workers import Crew, Runner

_CREW = Crew()  # of a worker


@contextlib.contextmanager
def run_on(address: str) -> Iterator[Runner]:
    """Rows run by the workers of the scheduler at `address`, once it is known that they can."""
    with connected(address, "--scheduler") as client:
        yield lambda tasks: _rows(client, address, tasks)


def run_in_process(task: Task) -> str:
    """The row of a task, run by a process of the worker that this is called on."""
    return _CREW.run(task).write()


def _rows(client: Any, address: str, tasks: Mapping[int, Task]) -> Iterator[tuple[int, Row]]:
    from distributed import as_completed

    waiting, numbers = iter(tasks.items()), {}

    def send() -> Any:
        for number, task in waiting:
            future = client.submit(run_in_process, task, pure=False)
            numbers[future.key] = number
            return future
        return None

    sent = [future for future in (send() for _ in range(AHEAD * threads(client))) if future is not None]
    running = as_completed(sent, loop=client.loop)
    for future in running:
        if future.status == "cancelled":
            raise RunError(f"the scheduler at {address} was lost")
        number = numbers.pop(future.key)
        yield number, _row(future)
        after = send()
        if after is not None:
            running.add(after)


def _row(future: Any) -> Row:
    """What a worker found; what keeps being lost on the way, with workers that are ended by it, is an error."""
    try:
        return Row.read(future.result())
    except Exception as error:
        return Row(error=" ".join(f"{type(error).__name__}: {error}".split()))
