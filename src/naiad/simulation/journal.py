"""The long runs of a study, kept while it goes on: a study that was killed is done again, and finds them.

A run has a name that tells all that it depends on, so that what is found under it is the same run, bit for bit. Short
runs are not kept: they are done again in less time.
"""

import contextlib
import time
from collections.abc import Iterator
from contextvars import ContextVar
from pathlib import Path
from typing import Any, Self

from naiad import io
from naiad.compiler import Compiled
from naiad.compiler.backends import default_backend
from naiad.compiler.fingerprint import Unfingerprintable, fingerprint
from naiad.errors import InputError
from naiad.io import places
from naiad.io.writer import PARTIAL
from naiad.simulation.drive import chunks
from naiad.simulation.pages import Pages
from naiad.simulation.plan import Chunk, Plan
from naiad.simulation.record import Columns

SECONDS = 5.0  # that a run takes until it is kept

_FOLDER: ContextVar[Path | None] = ContextVar("folder of the runs of a study", default=None)


@contextlib.contextmanager
def keeping_runs(folder: Path) -> Iterator[None]:
    """Keep the long runs of the block in a folder, and look for them there."""
    token = _FOLDER.set(folder)
    try:
        yield
    finally:
        _FOLDER.reset(token)


def kept_run(plan: Plan, first: Chunk) -> Path | None:
    """The store of a run that was kept, whole or in part; None if there is none that can be read."""
    folder = _FOLDER.get()
    place = None if folder is None or not folder.is_dir() else _place(folder, plan, first)
    if place is None or not any(map(places.is_store, (place, _partial(place)))):
        return None
    try:
        io.read(place if place.exists() else _partial(place))
    except InputError:
        places.remove(place)
        places.remove(_partial(place))
        return None
    return place


class Pieces:
    """The pieces of a run in memory, and once it has taken a while also in the folder of the study that it is in."""

    def __init__(self, plan: Plan, first: Chunk):
        self.chunks = [first]
        self._plan = plan
        self._folder = _FOLDER.get()
        self._began = time.monotonic()
        self._pages: Pages | None = None
        self._stack = contextlib.ExitStack()

    def append(self, chunk: Chunk) -> None:
        """One chunk more."""
        self.chunks.append(chunk)
        if self._pages is not None:
            self._pages.append(chunk)
        elif self._folder is not None and time.monotonic() - self._began >= SECONDS:
            self._keep(self._folder)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: Any) -> None:
        self._stack.__exit__(*error)

    def _keep(self, folder: Path) -> None:
        place, self._folder = _place(folder, self._plan, self.chunks[0]), None
        if place is None:
            return
        folder.mkdir(exist_ok=True)
        begun = Columns(self._plan, self.chunks).dataset()
        writer = self._stack.enter_context(io.Writer(place, overwrite=True, first=[begun]))
        self._pages = self._stack.enter_context(Pages(self._plan, writer))


def _place(folder: Path, plan: Plan, first: Chunk) -> Path | None:
    try:
        code = chunks, Compiled, default_backend()
        return folder / f"{fingerprint(plan, first.standing, code)[:32]}.zarr"
    except Unfingerprintable:
        return None


def _partial(place: Path) -> Path:
    return place.with_name(place.name + PARTIAL)
