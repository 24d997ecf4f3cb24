"""A folder of a Zarr group whose files are on the disk before their names are: what was committed outlives its process,
and a power cut as well."""

import asyncio
from pathlib import Path
from typing import Any

from zarr.core.buffer import Buffer
from zarr.storage import LocalStore

from naiad.io import places


class DurableStore(LocalStore):
    """Writes each file aside and moves it into place. One that replaces another is on the disk before it does, so that
    the old one stays whole until then; new ones, which nothing refers to yet, are when `settle` returns."""

    def __init__(self, root: Path | str, *, read_only: bool = False):
        super().__init__(root, read_only=read_only)
        self._new: set[Path] = set()
        self._renamed: set[Path] = set()

    async def set(self, key: str, value: Buffer) -> None:
        """Write a file."""
        await asyncio.to_thread(self.set_sync, key, value)

    async def set_if_not_exists(self, key: str, value: Buffer) -> None:
        """Write a file, unless there is one."""
        if not await self.exists(key):
            await self.set(key, value)

    def set_sync(self, key: str, value: Buffer) -> None:
        """The same as `set`."""
        self.put(key, value.as_buffer_like())

    def put(self, key: str, *contents: Any, last: bool = False) -> None:
        """Write a file; the `last`, which says that others are there, once the disk has these and its own content."""
        path = self.root / key
        folder = path.parent
        while not folder.exists():
            folder = folder.parent
            self._renamed.add(folder)
        path.parent.mkdir(parents=True, exist_ok=True)
        if last:
            self.settle()
        new = not last and (path in self._new or not path.exists())
        places.put(path, *contents, sync=not new)
        if new:
            self._new.add(path)
        self._renamed.add(path.parent)
        if last:
            self.settle()

    def content(self, key: str) -> bytes | None:
        """That of a file; None if there is none."""
        try:
            return (self.root / key).read_bytes()
        except (FileNotFoundError, NotADirectoryError):
            return None

    def settle(self) -> None:
        """Return when the disk has all files that were written, and their names."""
        for waiting in (self._new, self._renamed):
            known = sorted(waiting)
            places.sync(known)
            waiting.difference_update(known)
