"""Several functions compiled at the same time."""

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from typing import TypeVar

from naiad.compiler.cores import available
from naiad.compiler.telling import making
from naiad.interrupts import PATIENCE, STACK_BYTES, check

T = TypeVar("T")
THREADS = 3


def together(makers: Sequence[Callable[[], T]]) -> list[T]:
    """What each of them gives, by a few threads: LLVM does not hold the interpreter's lock, so that one is traced while
    another is compiled, and a third waits for that. The longest should come first."""
    if available() == 1:
        return [make() for make in makers]
    usual, pool = threading.stack_size(STACK_BYTES), ThreadPoolExecutor(THREADS, thread_name_prefix="naiad-compile")
    try:
        made = [pool.submit(make) for make in makers]
    finally:
        threading.stack_size(usual)
    try:
        with making():
            while wait(made, timeout=PATIENCE).not_done:
                check()
        return [each.result() for each in made]
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
