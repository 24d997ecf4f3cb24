"""How many threads a piece of work takes."""

import functools
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from naiad.compiler.cores import available, one_core

T = TypeVar("T")
Found = TypeVar("Found")


def on_all_cores(function: Callable[[T], Found], each: Sequence[T]) -> Iterator[Found]:
    """What the function finds of each, in order; the first is treated alone, so that what it compiles is there."""
    yield from map(function, each[:1])

    def alone(one: T) -> Found:
        with one_core():
            return function(one)

    pool = ThreadPoolExecutor(available())
    try:
        yield from pool.map(alone, each[1:])
    finally:
        pool.shutdown(cancel_futures=True)


def one_thread() -> Any:
    """A context with linear algebra in one thread: the systems of boundary elements are small, and threads that wait
    for busy cores make them a hundred times slower."""
    return _controller().limit(limits=1, user_api="blas")


@functools.cache
def _controller() -> Any:
    """Of all libraries; SciPy has one of its own, which must be there to be told. To look for them takes long."""
    import scipy.linalg  # noqa: F401
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()
