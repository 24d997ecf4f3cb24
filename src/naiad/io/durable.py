"""A folder of a Zarr group whose files are on the disk before their names are: what was committed outlives its process,
and a power cut as well."""

import asyncio
from pathlib import Path

from zarr.core.buffer import Buffer
from zarr.storage import LocalStore

from naiad.io import places


class DurableStore(LocalStore):
    """Writes each file aside, has the disk take it, and moves it into place: an old file stays whole until the new one
    is. `settle` has the disk take the names as well."""

    def __init__(self, root: Path | str, *, read_only: bool = False):
        super().__init__(root, read_only=read_only)
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
        path = self.root / key
        folders = [path.parent]
        while not folders[-1].exists():
            folders.append(folders[-1].parent)
        path.parent.mkdir(parents=True, exist_ok=True)
        places.put(path, value.as_buffer_like())
        self._renamed.update(folders)

    def settle(self) -> None:
        """Return when the disk has the names of all files that were written."""
        renamed = sorted(self._renamed)
        for folder in renamed:
            places.sync_folder(folder)
        self._renamed.difference_update(renamed)
