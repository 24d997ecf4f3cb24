"""Where a store may stand: written aside, renamed into place, and never over something that is not naiad's."""

import contextlib
import json
import os
import shutil
import time
import uuid
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from naiad.errors import InputError
from naiad.files import sibling

AT_ONCE = 16  # files that the disk is asked to take
_ASIDE = ".partial"  # ending of the names under which files are written


def attributes(path: Path) -> dict[str, Any]:
    """The attributes of the Zarr group at `path`; ValueError if there is none that can be understood."""
    return parsed_attributes((path / "zarr.json").read_bytes())


def parsed_attributes(content: bytes) -> dict[str, Any]:
    """The attributes of a Zarr group with this metadata; ValueError if it cannot be understood."""
    node = json.loads(content)
    if not isinstance(node, dict) or node.get("node_type") != "group" or not isinstance(node.get("attributes"), dict):
        raise ValueError("zarr.json does not describe a group")
    return node["attributes"]


def is_store(path: Path) -> bool:
    """Whether `path` is a directory that naiad wrote."""
    try:
        return "naiad_format" in attributes(path)
    except (OSError, ValueError):
        return False


def check_free(path: Path, *, overwrite: bool) -> None:
    """Refuse a place that is taken: by a store without `overwrite`, by anything else always."""
    if not path.parent.is_dir():
        raise InputError(f"cannot write {path}: {path.parent} is not a folder; create it first")
    if not os.path.lexists(path):
        return
    if not is_store(path):
        raise InputError(f"{path} exists and is not a naiad store, so it is never overwritten; choose another name")
    if not overwrite:
        raise InputError(f"{path} exists; choose another name, or pass overwrite=True to replace it")


@contextlib.contextmanager
def aside(path: Path) -> Iterator[Path]:
    """A fresh directory beside `path`, to be filled and renamed; removed with all its contents on any failure."""
    fresh = sibling(path)
    try:
        fresh.mkdir()
        yield fresh
    except BaseException:
        remove(fresh)
        raise


def put(path: Path, *contents: Any, sync: bool = True) -> None:
    """Write a file aside, have the disk take it unless `sync` does so later, and move it into place; an old one stays
    until then."""
    fresh = path.with_name(f"{path.name}.{uuid.uuid4().hex}{_ASIDE}")
    try:
        with fresh.open("wb", buffering=0) as file:
            for content in contents:
                _write_all(file, content)
            if sync:
                os.fsync(file.fileno())
        fresh.replace(path)
    except BaseException:
        fresh.unlink(missing_ok=True)
        raise


def _write_all(file: Any, content: Any) -> None:
    left = memoryview(content).cast("B")
    while left:
        left = left[file.write(left) :]


def sync(paths: Iterable[Path]) -> None:
    """Have the disk take files, and the names in folders, all at once: it takes many in the time of a few."""
    paths = list(paths)
    if len(paths) < 2:
        for path in paths:
            _sync(path)
        return
    with ThreadPoolExecutor(min(len(paths), AT_ONCE)) as pool:
        list(pool.map(_sync, paths))


def sync_folder(folder: Path) -> None:
    """Have the disk take the names in a folder."""
    _sync(folder)


def _sync(path: Path) -> None:
    if os.name == "nt" and path.is_dir():
        return  # cannot be asked for that
    try:
        descriptor = os.open(path, os.O_RDONLY if path.is_dir() else os.O_RDWR)
    except FileNotFoundError:
        return  # it was removed since
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def clear_unfinished(folder: Path) -> None:
    """Remove the files that a killed process was writing when it ended."""
    for path in folder.rglob(f"*.{'[0-9a-f]' * 32}{_ASIDE}"):
        path.unlink()


def remove(path: Path) -> None:
    """Remove a directory, in which threads that a failure has not reached yet may still write a file or two."""
    for _ in range(40):
        shutil.rmtree(path, ignore_errors=True)
        if not path.exists():
            return
        time.sleep(0.05)


def put_in_place(new: Path, path: Path, *, overwrite: bool) -> None:
    """Rename the finished store `new` to `path`; an older store goes only after the new one stands."""
    check_free(path, overwrite=overwrite)
    old = sibling(path) if path.exists() else None
    if old is not None:
        path.rename(old)
    try:
        new.rename(path)
    except BaseException:
        if old is not None:
            old.rename(path)
        raise
    sync_folder(path.parent)
    if old is not None:
        remove(old)
