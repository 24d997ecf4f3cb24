"""Where the files of a store lie: in a folder, or as objects behind a URL that fsspec knows (s3://, gs://, memory://).

A folder grows at PATH.partial, which one process has by a lock, and is renamed to PATH when all is there. Objects have
no locks, and cannot be renamed: they grow where they stay, the root of the Zarr group says at the end that all is
there, and one process has them by an object that names it.
"""

import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from naiad.errors import InputError
from naiad.io import places
from naiad.io.claim import Claim, claimed, is_gone, owner, reclaimed, settle, taken
from naiad.io.keys import get, names, put, put_new, remove

if TYPE_CHECKING:
    from zarr.abc.store import Store

OWNER = ".owner"


def site(given: str | os.PathLike[str]) -> "Folder | Bucket":
    """The site with a name that a user gives."""
    text = os.fspath(given)
    return Bucket(text.rstrip("/")) if re.match(r"[\w+.-]{2,}:(:?[\w+.-]+:)*//", text) else Folder(Path(text).resolve())


class Folder:
    """A folder on a disk of this machine, or on one that several share."""

    def __init__(self, path: Path):
        self.path = path.with_name(path.name.removesuffix(".partial"))
        self.growing = self.path.with_name(self.path.name + ".partial")

    def __str__(self) -> str:
        return str(self.path)

    def store(self, *, finished: bool = False) -> "Store":
        """Its files."""
        from naiad.io.durable import DurableStore

        return DurableStore(self.path if finished else self.growing)

    def is_begun(self) -> bool:
        """Whether something grows there, or was left."""
        return self.growing.is_dir()

    def is_finished(self) -> bool:
        """Whether all is there."""
        return self.path.is_dir()

    def begin(self, fill: "Callable[[Store], None]", *, overwrite: bool) -> Claim:
        """Claim the site, and fill it with what is there from the start."""
        from naiad.io.durable import DurableStore

        def discard(left: Path) -> None:
            _check_discarded(left, places.is_store(left), overwrite=overwrite)

        places.check_free(self.path, overwrite=overwrite)
        return claimed(self.growing, lambda folder: fill(DurableStore(folder)), discard)

    def again(self) -> Claim:
        """Claim what an ended process left."""
        return reclaimed(self.growing)

    def finish(self, *, overwrite: bool) -> None:
        """All is there."""
        places.put_in_place(self.growing, self.path, overwrite=overwrite)
        settle(self.path)


class Bucket:
    """Objects behind a URL."""

    def __init__(self, url: str):
        self.path = self.growing = url

    def __str__(self) -> str:
        return self.path

    def store(self, *, finished: bool = False) -> "Store":
        """Its objects, the same when it is finished."""
        from zarr.storage import FsspecStore

        options: dict[str, Any] = {"use_listings_cache": False}  # others write there too
        if self.path.startswith(("file:", "local:")):
            options["auto_mkdir"] = True
        try:
            return FsspecStore.from_url(self.path, storage_options=options)
        except (ImportError, ValueError) as error:
            reason = " ".join(str(error).split())
            raise InputError(
                f"{self}: no package for objects of this kind is installed ({reason:.200}); "
                "pip install 'naiad[objects]', and the one of the protocol, such as s3fs for s3://."
            ) from error

    def is_begun(self) -> bool:
        """Whether something grows there, or was left."""
        root = self._root()
        return _is_filled(root) and (not _is_whole(root) or get(self.store(), OWNER) is not None)

    def is_finished(self) -> bool:
        """Whether all is there."""
        return _is_whole(self._root())

    def begin(self, fill: "Callable[[Store], None]", *, overwrite: bool) -> Claim:
        """Claim the site, and fill it with what is there from the start."""
        claim = self.again()
        try:
            store = self.store()
            root, there = self._root(), [key for key in names(store) if key != OWNER]
            if _is_whole(root) and not overwrite:
                raise InputError(f"{self} exists; choose another name, or pass overwrite=True to replace it")
            if there:
                _check_discarded(self, bool(_attributes(root)), overwrite=overwrite or not _is_filled(root))
                remove(store, "zarr.json", *there)  # this first, as the others are nothing without it
            fill(store)
        except BaseException:
            claim.release()
            raise
        return claim

    def again(self) -> Claim:
        """Claim what an ended process left."""
        store = self.store()
        self._root()
        try:
            put_new(store, OWNER, owner())
        except FileExistsError:
            who = (get(store, OWNER) or b"").decode(errors="replace")
            if not is_gone(who):
                raise taken(self.path, f"{who}; if it has ended, remove {self}/{OWNER}") from None
            put(store, OWNER, owner())
        return Claim(lambda: remove(store, OWNER))

    def finish(self, *, overwrite: bool) -> None:
        """All is there, and says so."""

    def _root(self) -> bytes | None:
        """What the root of the Zarr group says; also whether the objects can be reached at all."""
        store = self.store()
        try:
            return get(store, "zarr.json")
        except Exception as error:  # each protocol has its own: no connection, no credentials, no bucket
            reason = " ".join(f"{type(error).__name__}: {error}".split())
            raise InputError(
                f"{self} cannot be reached ({reason:.200}); check the name, the connection and the credentials."
            ) from error


def _attributes(root: bytes | None) -> dict[str, Any]:
    """What a store of naiad says of itself; nothing if it is none."""
    try:
        known = places.parsed_attributes(root or b"")
    except ValueError:
        return {}
    return known if "naiad_format" in known else {}


def _is_filled(root: bytes | None) -> bool:
    """Whether a store was begun, and what is there from the start is there."""
    return "naiad_layout" in _attributes(root)


def _is_whole(root: bytes | None) -> bool:
    return bool(_attributes(root).get("naiad_layout", {}).get("variables"))


def _check_discarded(left: Any, known: bool, *, overwrite: bool) -> None:
    """Raise an error unless what an earlier process left may go."""
    if not known:
        raise InputError(f"{left} is in the way and is not a naiad store; move it or choose another name")
    if not overwrite:
        raise InputError(
            f"{left} holds what an interrupted ensemble wrote; go on with nd.resume_many, move it, or pass "
            "overwrite=True to discard it"
        )
