"""Calls of compiled code one after the other, without Python in between."""

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from naiad.compiler.backends.llvm.machine import Loaded, object_code, once
from naiad.compiler.backends.places import address

_CHAIN = """define void @run(ptr %all, ptr %found, ptr %work, i64 %first, i64 %last) {
entry:
  br label %loop
loop:
  %i = phi i64 [%first, %entry], [%next, %loop]
  %link = getelementptr [4 x i64], ptr %all, i64 %i
  %at.work = getelementptr i64, ptr %link, i64 2
  %at.groups = getelementptr i64, ptr %link, i64 3
  %at.in = getelementptr i64, ptr %link, i64 1
  %code = load ptr, ptr %link, align 8
  %in = load ptr, ptr %at.in, align 8
  %own = load ptr, ptr %at.work, align 8
  %groups = load i64, ptr %at.groups, align 8
  call void %code(ptr %in, ptr null, ptr %own, i64 0, i64 %groups)
  %next = add i64 %i, 1
  %more = icmp slt i64 %next, %last
  br i1 %more, label %loop, label %end
end:
  ret void
}
"""


class Link:
    """A call of code for all of so many groups, on one core; `given` and `work` are what it is given and its working
    memory, `owners` what has to stay as long as the call does."""

    def __init__(self, loaded: Loaded, given: np.ndarray, work: np.ndarray, groups: int, owners: Any):
        self._owners = loaded, given, work, owners
        self.place = loaded.address, address(given), address(work), groups
        self._run = functools.partial(loaded.run, address(given), 0, address(work), 0, groups)

    def __call__(self) -> None:
        self._run()


def chained(calls: Sequence[Callable[[], None]]) -> Callable[[], None]:
    """One call for all of these, in their order; neighbours that are links are one call of machine code."""
    rows: list[Link] = []
    made: list[Callable[[], None]] = []

    def close() -> None:
        if rows:
            made.append(_linked(tuple(rows)))
            rows.clear()

    for call in calls:
        if isinstance(call, Link):
            rows.append(call)
        else:
            close()
            made.append(call)
    close()
    return made[0] if len(made) == 1 else functools.partial(_one_by_one, made)


def _linked(links: tuple[Link, ...]) -> Callable[[], None]:
    if len(links) == 1:
        return links[0]
    places = np.array([link.place for link in links], np.int64)
    run = functools.partial(_code().run, address(places), 0, 0, 0, len(links))

    def call(_: Any = (places, links)) -> None:  # which have to stay as long as the call does
        run()

    return call


def _one_by_one(calls: Sequence[Callable[[], None]]) -> None:
    for call in calls:
        call()


@once
def _code() -> Loaded:
    return Loaded(object_code(_CHAIN, level=0))
