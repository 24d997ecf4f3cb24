"""How many threads linear algebra takes."""

from typing import Any


def one_thread() -> Any:
    """A context with linear algebra in one thread: the systems of boundary elements are small, and threads that wait
    for busy cores make them a hundred times slower. SciPy has a library of its own, which must be there to be told."""
    import scipy.linalg  # noqa: F401
    from threadpoolctl import threadpool_limits

    return threadpool_limits(1, "blas")
