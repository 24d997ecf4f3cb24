"""The files of a Zarr store by their keys, wherever it lies."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from zarr.abc.store import Store


def get(store: "Store", key: str) -> bytes | None:
    """The content of a file; None if there is none."""
    from zarr.core.buffer import default_buffer_prototype
    from zarr.core.sync import sync

    from naiad.io.durable import DurableStore

    if isinstance(store, DurableStore):
        return store.content(key)
    found = sync(store.get(key, default_buffer_prototype()))
    return None if found is None else found.to_bytes()


def ending(store: "Store", key: str, size: int) -> bytes:
    """The last bytes of a file, which is there."""
    from zarr.abc.store import SuffixByteRequest
    from zarr.core.buffer import default_buffer_prototype
    from zarr.core.sync import sync

    from naiad.io.durable import DurableStore

    if isinstance(store, DurableStore):
        with (store.root / key).open("rb") as file:
            file.seek(-min(size, (store.root / key).stat().st_size), 2)
            return file.read()
    found = sync(store.get(key, default_buffer_prototype(), SuffixByteRequest(size)))
    return b"" if found is None else found.to_bytes()


def put(store: "Store", key: str, *contents: Any, last: bool = False) -> None:
    """Write a file, whole or not at all; the `last`, which says that others are there, once these are safe."""
    from zarr.core.buffer import default_buffer_prototype
    from zarr.core.sync import sync

    from naiad.io.durable import DurableStore

    if isinstance(store, DurableStore):
        store.put(key, *contents, last=last)
    else:
        sync(store.set(key, default_buffer_prototype().buffer.from_bytes(b"".join(contents))))


def put_new(store: Any, key: str, content: bytes) -> None:
    """Put an object of fsspec; FileExistsError if there is one."""
    from zarr.core.sync import sync

    sync(store.fs._pipe_file(f"{store.path}/{key}", content, mode="create"))


def names(store: "Store", prefix: str = "") -> list[str]:
    """The keys that begin with a prefix."""
    from zarr.core.sync import collect_aiterator

    return list(collect_aiterator(store.list_prefix(prefix)))


def remove(store: "Store", *keys: str) -> None:
    """Remove files that may be there."""
    from zarr.core.sync import sync

    for key in keys:
        sync(store.delete(key))


def remove_folder(store: "Store", prefix: str) -> None:
    """Remove all files below a prefix."""
    from zarr.core.sync import sync

    sync(store.delete_dir(prefix))


def settle(store: "Store") -> None:
    """Return when what was written is safe: on the disk of a folder; an object is at once."""
    from naiad.io.durable import DurableStore

    if isinstance(store, DurableStore):
        store.settle()
