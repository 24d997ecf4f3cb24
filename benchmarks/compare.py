"""Measures callables side by side: their rounds are interleaved, so that other work on the machine is as unfair to one
as to another, and the best round of each counts."""

import contextlib
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple


class Work(NamedTuple):
    """Something to time, and how many steps it does."""

    call: Callable[[], Any]
    steps: float = 1.0


def compare(works: Mapping[str, Work], *, rounds: int = 30) -> dict[str, float]:
    """Seconds a step of each, the best of the rounds; each is called once before."""
    for work in works.values():
        work.call()
    best = dict.fromkeys(works, float("inf"))
    for _ in range(rounds):
        for name, work in works.items():
            started = time.perf_counter()
            work.call()
            best[name] = min(best[name], (time.perf_counter() - started) / work.steps)
    return best


def cores() -> int:
    """How many cores this thread may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@contextlib.contextmanager
def one_core() -> Iterator[None]:
    """Keep this thread, and what counts its cores, on one core (where the system can)."""
    if not hasattr(os, "sched_setaffinity"):
        yield
        return
    cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {max(cores)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, cores)


def table(header: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """A Markdown table."""
    lines = [list(header), ["---"] * len(header), *[[_text(cell) for cell in row] for row in rows]]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _text(cell: object) -> str:
    if isinstance(cell, float):
        return f"{cell:.0f}" if abs(cell) >= 1000 else f"{cell:.3g}"
    return str(cell)
