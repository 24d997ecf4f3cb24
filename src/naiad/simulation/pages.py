"""The way of a run to its file: in large pieces, written while the run goes on."""

import contextlib
import threading
import time
from typing import Self

import jax

from naiad import io
from naiad.io import writer as limits
from naiad.simulation.plan import Chunk, Plan
from naiad.simulation.record import Columns


class Pages:
    """Gathers chunks until there is a page of them, as large and as often as the writer flushes, and has it written by
    a second thread: compressing takes about as long as the steps, and a file takes a few large rows faster than many.

    One page is under way at a time, so that memory stays bounded. An error of its writing is raised with the next
    chunk, or at the end. What is left then is written too, also that of a run which ends by an exception.
    """

    def __init__(self, plan: Plan, writer: io.Writer):
        self._plan, self._writer = plan, writer
        self._chunks: list[Chunk] = []
        self._bytes = 0
        self._turned_at = time.monotonic()
        self._thread: threading.Thread | None = None
        self._errors: list[BaseException] = []

    def append(self, chunk: Chunk) -> None:
        """One chunk more."""
        rows = (chunk.times, chunk.frames.state, chunk.frames.outputs, chunk.outputs, chunk.crossings)
        self._chunks.append(chunk)
        self._bytes += sum(leaf.nbytes for leaf in jax.tree.leaves(rows))
        due = self._bytes >= limits.BUFFER_BYTES or time.monotonic() - self._turned_at >= limits.FLUSH_SECONDS
        if due or self._errors:
            self._turn()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        with contextlib.nullcontext() if kind is None else contextlib.suppress(Exception):  # the first error is shown
            if self._chunks:
                self._turn()
            self._settle()

    def _turn(self) -> None:
        """Have what was gathered written."""
        self._settle()
        self._thread = threading.Thread(target=self._write, args=(self._chunks,), name="naiad-pages")
        self._chunks, self._bytes, self._turned_at = [], 0, time.monotonic()
        self._thread.start()

    def _write(self, chunks: list[Chunk]) -> None:
        try:
            self._writer.append(Columns(self._plan, chunks).dataset())
            self._writer.flush()
        except BaseException as error:
            self._errors.append(error)

    def _settle(self) -> None:
        """Wait until the page that is under way is written."""
        if self._thread is not None:
            self._thread.join()
        self._thread = None
        if self._errors:
            self._chunks = []  # what comes after rows that are missing is of no use
            raise self._errors.pop()
