"""A store whose chunks must be the ones that naiad wrote."""

from collections.abc import Mapping
from typing import Any

from zarr.abc.store import ByteRequest, Store
from zarr.core.buffer import Buffer, BufferPrototype
from zarr.storage import WrapperStore

from naiad.errors import InputError
from naiad.io.checksums import SIZE


class CheckedStore(WrapperStore[Any]):
    """A store whose chunks are compared with these checksums when they are read."""

    def __init__(self, store: Store, sums: Mapping[str, Mapping[str, str]], where: str):
        super().__init__(store)
        self._sums, self._where = sums, where

    def _with_store(self, store: Any) -> "CheckedStore":
        return CheckedStore(store, self._sums, self._where)

    async def get(self, key: str, prototype: BufferPrototype, byte_range: ByteRequest | None = None) -> Buffer | None:
        """The content of a file; an `InputError` if it is a chunk that is missing, or another one than was written."""
        found = await self._store.get(key, prototype, byte_range)
        known = self._known(key)
        if known is None or byte_range is not None:
            return found
        if found is None or found[max(0, len(found) - SIZE) :].to_bytes().hex() != known:
            what = "is missing" if found is None else "was changed after naiad wrote it"
            raise InputError(f"{self._where} is damaged (a chunk, {key}, {what}); restore it from a copy, or run again")
        return found

    def _known(self, key: str) -> str | None:
        for at in (at for at, letter in enumerate(key) if letter == "/"):
            if key[:at] in self._sums:
                return self._sums[key[:at]].get(key[at + 1 :])
        return None
