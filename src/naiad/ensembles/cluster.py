"""Work on the workers of a Dask scheduler."""

import asyncio
import contextlib
import logging
import time
from collections.abc import Iterable, Iterator
from importlib.metadata import version
from typing import Any

from naiad.compiler.cores import one_core
from naiad.ensembles.block import begin_block, run_block
from naiad.ensembles.job import Job
from naiad.ensembles.kept import Kept, Reduce, kept
from naiad.ensembles.store import Shelf
from naiad.errors import InputError, NaiadError, RunError
from naiad.interrupts import Ear
from naiad.io.sites import site

TIMEOUT = 5.0  # seconds in which a scheduler must answer, and have a worker
AHEAD = 4  # tasks that are sent for each thread of the workers, so that none waits for the next
ELSEWHERE = Kept({}, {}, {})  # what comes back of a block that is on a shelf
ATTEMPTS = 3  # to do a block whose worker was lost, or failed


@contextlib.contextmanager
def connected(address: str, option: str) -> Iterator[Any]:
    """A client of the scheduler at an address, which was given by an `option`, once it is known to have workers that
    can use naiad."""
    try:
        from distributed import Client
        from distributed.comm import parse_address
        from distributed.comm.registry import get_backend
    except ImportError as error:
        raise InputError(
            f"{option} {address}: Dask's distributed is not installed; pip install 'naiad[cluster]'."
        ) from error
    logging.getLogger("distributed").setLevel(logging.CRITICAL)  # what is lost is told in a line of ours
    try:
        get_backend(parse_address(address)[0])  # a client with an address of no known kind ends in a traceback
        client = Client(address, timeout=TIMEOUT, set_as_default=False)
    except (OSError, ValueError, TypeError) as error:
        raise InputError(
            f"{option} {address}: no scheduler answers there ({error}); start one with `dask scheduler`, and give the "
            "address that it prints, such as tcp://10.0.0.1:8786."
        ) from error
    with client:
        check_workers(client, f"{option} {address}", address)
        yield client


def check_workers(client: Any, whose: str, address: str = "ADDRESS") -> None:
    """Raise an `InputError` unless a client has workers, and they have this naiad."""
    found: dict[str, Any] = {}
    until = time.monotonic() + TIMEOUT
    while not found and time.monotonic() < until:  # those that are lost while they are asked do not count
        try:
            client.wait_for_workers(1, timeout=TIMEOUT)
        except TimeoutError:
            break
        answers = client.run(_version, on_error="return")
        found = {key: answer for key, answer in answers.items() if not isinstance(answer, OSError)}
    if not found:
        raise InputError(f"{whose}: it has no workers; start some with `dask worker {address}`.")
    failed = [answer for answer in found.values() if isinstance(answer, BaseException)]
    if failed:
        raise InputError(
            f"{whose}: its workers cannot use naiad ({failed[0]}); install naiad where they run."
        ) from failed[0]
    versions = set(found.values())
    if versions != {_version()}:
        raise InputError(
            f"{whose}: its workers have naiad {', '.join(sorted(versions))}, and this is {_version()}; install the "
            "same everywhere."
        )


def check_sent(job: Any) -> None:
    """Raise an `InputError` unless a job can be sent to workers."""
    import cloudpickle

    try:
        cloudpickle.dumps(job)
    except Exception as error:
        reason = " ".join(f"{type(error).__name__}: {error}".split())
        raise InputError(
            f"simulate_many: the systems, the method or the functions cannot be sent to the workers ({reason:.200}); "
            "leave out what belongs to this process alone, such as locks and open files."
        ) from error


def _version() -> str:
    return version("naiad")


def threads(client: Any) -> int:
    """How many tasks the workers of a client do at a time."""
    return sum(client.nthreads().values()) or 1


def run_blocks(
    client: Any, shelf: Shelf | None, size: int, job: Job, missing: Iterable[int], reduce: Reduce | None
) -> Iterator[tuple[int, Kept]]:
    """Have blocks of a job done by workers, which put them on the shelf themselves: their numbers as they are there;
    without a shelf also what is kept of them."""
    from distributed import as_completed

    waiting, place = iter(missing), None if shelf is None else str(shelf.place)

    def send() -> Any:
        for number in waiting:
            part = job.part(number * size, min((number + 1) * size, job.size))
            return client.submit(do_block, place, size, number, part, reduce, pure=False, retries=ATTEMPTS)
        return None

    sent = [future for future in (send() for _ in range(AHEAD * threads(client))) if future is not None]
    running = as_completed(sent, loop=client.loop)
    for future in running:
        yield _arrived(future, shelf)
        after = send()
        if after is not None:
            running.add(after)


def do_block(path: str | None, size: int, number: int, part: Job, reduce: Reduce | None) -> tuple[int, Kept]:
    """On a worker: the runs of a block, on the core of the thread that does it, and onto the shelf if there is one."""
    shelf = None if path is None else Shelf(site(path), size)
    if shelf is not None and shelf.done(number):  # by a worker that was lost before it could say so
        return number, ELSEWHERE
    with one_core():
        begun = begin_block(part)
        if shelf is None:
            block, _ = run_block(part, begun, Ear(at_once=True), lambda block: None)
        else:
            begun = shelf.halfway(number, begun)
            block, _ = run_block(part, begun, Ear(at_once=True), lambda block: shelf.keep(number, block))
        made = kept(part, block, number * size, reduce)
    if shelf is None:
        return number, made
    shelf.put(number, made)
    return number, ELSEWHERE


def _arrived(future: Any, shelf: Shelf | None) -> tuple[int, Kept]:
    resumed = "" if shelf is None else f"; what was computed is at {shelf.place.growing}: nd.resume_many goes on"
    try:
        number, made = future.result()
    except NaiadError:
        raise
    except asyncio.CancelledError:
        raise RunError(f"the scheduler was lost, or has given up a block{resumed}.") from None
    except Exception as error:
        reason = " ".join(f"{type(error).__name__}: {error}".split())
        raise RunError(f"a block failed on the workers ({reason:.300}){resumed}.") from error
    if shelf is not None and not shelf.done(number):
        raise RunError(
            f"a worker wrote its block to another place than this process sees at {shelf.place.growing}; give one that "
            "all of them share."
        )
    return number, made
