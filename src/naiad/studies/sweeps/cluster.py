"""Rows run by the workers of a Dask scheduler, each in a process of its own there, as it is on this machine."""

import contextlib
import logging
from collections.abc import Iterator, Mapping
from typing import Any

from naiad.errors import InputError, RunError
from naiad.studies import provenance
from naiad.studies.sweeps.row import Row, Task
from naiad.studies.sweeps.workers import Crew, Runner

TIMEOUT = 5.0  # seconds in which a scheduler must answer, and have a worker
AHEAD = 4  # tasks that are sent for each thread of the workers, so that none waits for the next

_CREW = Crew()  # of a worker


@contextlib.contextmanager
def run_on(address: str) -> Iterator[Runner]:
    """Rows run by the workers of the scheduler at `address`, once it is known that they can."""
    try:
        from distributed import Client  # pyright: ignore[reportMissingImports] - an extra
        from distributed.comm import parse_address  # pyright: ignore[reportMissingImports]
        from distributed.comm.registry import get_backend  # pyright: ignore[reportMissingImports]
    except ImportError as error:
        raise InputError(
            f"--scheduler {address}: Dask's distributed is not installed; pip install 'naiad[cluster]', "
            "or use processes of this machine with --workers"
        ) from error
    logging.getLogger("distributed").setLevel(logging.CRITICAL)  # what is lost is told in a line of ours
    try:
        get_backend(parse_address(address)[0])  # a client with an address of no known kind ends in a traceback
        client = Client(address, timeout=TIMEOUT, set_as_default=False)
    except (OSError, ValueError, TypeError) as error:
        raise InputError(
            f"--scheduler {address}: no scheduler answers there ({error}); start one with `dask scheduler`, and give "
            "the address that it prints, such as tcp://10.0.0.1:8786"
        ) from error
    with client:
        _check(client, address)
        yield lambda tasks: _rows(client, address, tasks)


def run_in_process(task: Task) -> str:
    """The row of a task, run by a process of the worker that this is called on."""
    return _CREW.run(task).write()


def _check(client: Any, address: str) -> None:
    try:
        client.wait_for_workers(1, timeout=TIMEOUT)
        found = set(client.run(provenance.version).values())
    except TimeoutError as error:
        raise InputError(
            f"--scheduler {address}: it has no workers; start some with `dask worker {address}`"
        ) from error
    except Exception as error:
        raise InputError(
            f"--scheduler {address}: its workers cannot use naiad ({error}); install naiad where they run"
        ) from error
    if found != {provenance.version()}:
        raise InputError(
            f"--scheduler {address}: its workers have naiad {', '.join(sorted(found))}, and this is "
            f"{provenance.version()}; install the same everywhere"
        )


def _rows(client: Any, address: str, tasks: Mapping[int, Task]) -> Iterator[tuple[int, Row]]:
    from distributed import as_completed  # pyright: ignore[reportMissingImports] - an extra

    waiting, numbers = iter(tasks.items()), {}

    def send() -> Any:
        for number, task in waiting:
            future = client.submit(run_in_process, task, pure=False)
            numbers[future.key] = number
            return future
        return None

    threads = sum(client.nthreads().values()) or 1
    sent = [future for future in (send() for _ in range(AHEAD * threads)) if future is not None]
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
