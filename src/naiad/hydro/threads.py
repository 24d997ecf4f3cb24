"""How many threads linear algebra takes."""

import functools
from typing import Any


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
