"""Who wants to know how far the flow around a mesh is solved."""

import contextlib
from collections.abc import Callable, Iterator
from typing import NamedTuple


class Solving(NamedTuple):
    """How far it is: on so many triangles, a share of these done, the error on the coarser ones before (None at first),
    and the one that is wanted."""

    triangles: int
    done: float
    error: float | None
    tolerance: float

    def __str__(self) -> str:
        so_far = "" if self.error is None else f"; error {self.error:.2g} before, {self.tolerance:g} wanted"
        return f"solving for the flow on {self.triangles} triangles: {100 * self.done:.0f} %{so_far}"


_LISTENERS: list[Callable[[Solving], None]] = []


@contextlib.contextmanager
def telling(listener: Callable[[Solving], None]) -> Iterator[None]:
    """Within it the listener is told how far the flow is solved, again and again."""
    _LISTENERS.append(listener)
    try:
        yield
    finally:
        _LISTENERS.remove(listener)


def tell(solving: Solving) -> None:
    """All who listen."""
    for listener in tuple(_LISTENERS):
        listener(solving)
