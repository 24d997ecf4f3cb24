"""The disk cache of object code: one file an entry, in a folder that is the user's alone.

Machine code that is loaded is machine code that is run, so nothing is taken from a folder or a file that anyone else
could have written, and nothing that is not what was stored.
"""

import contextlib
import errno
import functools
import hashlib
import os
import re
import stat
import tempfile
import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from naiad.errors import RunWarning

LIMIT = 512 * 2**20
"""Bytes of all entries together; beyond it those not used for longest go, whenever one is stored whose key begins with
a 0. That is one of sixteen: to look at all entries takes longer than to store one."""

POSIX = hasattr(os, "getuid")  # where files have owners and modes
_MAGIC = b"naiad object code, format 1\n"
_HEADER = len(_MAGIC) + hashlib.sha256().digest_size
_ENTRY = re.compile(r"[0-9a-f]{1,128}\.(bin|sources)")
_PART = re.compile(r"\.part-[A-Za-z0-9_]+")
_STALE_PART_SECONDS = 3600.0


@dataclass(frozen=True)
class Cache:
    """Bytes by key, kept in `folder` between runs.

    `suffix` says what they are: "bin" is compiled code, "sources" what is known about source files.
    """

    folder: Path
    suffix: str = "bin"

    def load(self, key: str) -> bytes | None:
        """What was stored under `key`; None if nothing was, or if it cannot be trusted, and then it is removed."""
        name = self._entry(key)
        if not self._trusted():
            return None
        path = self.folder / name
        try:
            with open(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC), "rb") as file:
                data = _payload(key, file.read()) if _private(os.fstat(file.fileno())) else None
        except FileNotFoundError:
            return None
        except OSError as error:
            if error.errno != errno.ELOOP:
                return None
            data = None
        with contextlib.suppress(OSError):
            if data is None:
                path.unlink()
            else:
                _touch(path)
        return data

    def store(self, key: str, data: bytes) -> None:
        """Keep `data` under `key`. A disk that is full or cannot be written costs a warning, not the run."""
        name = self._entry(key)
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            if self._trusted():
                self._write(name, _MAGIC + _checksum(key, data) + data)
                if key.startswith("0"):
                    self._evict()
        except OSError as error:
            _warn(
                f"compiled code cannot be kept in {self.folder}: {error.strerror or error}; free some space there, or "
                "set NAIAD_CACHE_DIR to a folder that can be written"
            )

    def clear(self) -> None:
        """Remove every entry; other files in the folder are left alone."""
        for file, _ in self._files():
            Path(file).unlink(missing_ok=True)

    def size(self) -> int:
        """Bytes of all entries together."""
        return sum(status.st_size for file, status in self._files() if _ENTRY.fullmatch(file.name))

    def _entry(self, key: str) -> str:
        """The file name of `key`."""
        name = f"{key}.{self.suffix}"
        if not _ENTRY.fullmatch(name):
            raise ValueError(f"the key of a cache entry is up to 128 lower-case hexadecimal digits, not {key!r}")
        return name

    def _write(self, name: str, contents: bytes) -> None:
        """Written aside and moved into place, so that a reader sees a whole entry or none."""
        descriptor, aside = tempfile.mkstemp(dir=self.folder, prefix=".part-")
        try:
            with open(descriptor, "wb") as file:
                file.write(contents)
            _touch(aside)
            os.replace(aside, self.folder / name)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(aside)
            raise

    def _evict(self) -> None:
        """Remove the entries used longest ago until the rest fit in `LIMIT`, and what killed writers left."""
        entries: list[tuple[int, str, int]] = []
        for file, status in self._files():
            if _ENTRY.fullmatch(file.name):
                entries.append((status.st_mtime_ns, file.path, status.st_size))
            elif time.time() - status.st_mtime > _STALE_PART_SECONDS:
                Path(file).unlink(missing_ok=True)
        excess = sum(size for _, _, size in entries) - LIMIT
        for _, path, size in sorted(entries):
            if excess <= 0:
                break
            Path(path).unlink(missing_ok=True)
            excess -= size

    def _files(self) -> Iterator[tuple["os.DirEntry[str]", os.stat_result]]:
        """The entries and the parts of entries in the folder."""
        with contextlib.suppress(OSError), os.scandir(self.folder) as files:
            for file in files:
                if _ours(file.name):
                    with contextlib.suppress(OSError):  # another process may have removed it
                        yield file, file.stat(follow_symlinks=False)

    def _trusted(self) -> bool:
        """Whether the folder exists and nobody else can write to it or read it; a warning, once, if someone can."""
        try:
            reason = self._fault()
        except FileNotFoundError:
            return False
        except OSError as error:
            reason = error.strerror or str(error)
        if reason is None:
            return True
        _warn(
            f"compiled code is neither read from nor kept in {self.folder}: {reason}; set NAIAD_CACHE_DIR to a folder "
            "of your own with mode 700, or to nothing to turn the cache off"
        )
        return False

    def _fault(self) -> str | None:
        """What is wrong with the folder. One of the user's that holds only entries is closed to others instead."""
        link, status = os.lstat(self.folder), os.stat(self.folder)
        if stat.S_ISLNK(link.st_mode) and link.st_uid != _user():
            return "it is a symbolic link of another user"
        if not stat.S_ISDIR(status.st_mode):
            return "it is not a folder"
        if status.st_uid != _user():
            return "it belongs to another user"
        if POSIX and status.st_mode & 0o077:
            if not all(map(_ours, os.listdir(self.folder))):
                return "other users can enter it, and it holds other files than the cache's"
            os.chmod(self.folder, 0o700)
        return None


def default_cache() -> Cache | None:
    """The cache in `NAIAD_CACHE_DIR`, else in the user's cache folder; None if that variable is set to nothing."""
    chosen = os.environ.get("NAIAD_CACHE_DIR")
    if chosen == "":
        return None
    if chosen is not None:
        folder = os.path.expanduser(chosen)
        if folder.startswith("~"):
            _warn(
                f"NAIAD_CACHE_DIR = {chosen!r} names no user of this machine: compiled code is not kept; set a folder"
            )
            return None
        return Cache(Path(folder).absolute())
    base = os.environ.get("XDG_CACHE_HOME", "")
    if os.path.isabs(base):  # the XDG specification: a relative path is to be ignored
        return Cache(Path(base) / "naiad")
    home = os.path.expanduser("~") if os.environ.get("HOME", "unset") else ""
    return Cache(Path(home) / ".cache" / "naiad") if os.path.isabs(home) else None


def _ours(name: str) -> bool:
    return bool(_ENTRY.fullmatch(name) or _PART.fullmatch(name))


def _checksum(key: str, data: bytes) -> bytes:
    """Of the key too, so that an entry under another's name is not taken for it."""
    return hashlib.sha256(key.encode() + b"\n" + data).digest()


def _payload(key: str, contents: bytes) -> bytes | None:
    """The data of an entry, or None if it is not whole."""
    data = contents[_HEADER:]
    return data if contents[:_HEADER] == _MAGIC + _checksum(key, data) else None


def _user() -> int:
    """The number of the user; elsewhere all files have that of nobody."""
    return os.getuid() if POSIX else 0


def _private(status: os.stat_result) -> bool:
    """Whether only the user could have written the file."""
    return stat.S_ISREG(status.st_mode) and status.st_uid == _user() and not (POSIX and status.st_mode & 0o022)


def _touch(path: str | Path) -> None:
    """Mark as used now: by this clock, since the kernel's for files is too coarse to tell the order of two uses."""
    now = time.time_ns()
    os.utime(path, ns=(now, now))


@functools.cache
def _warn(message: str) -> None:
    """Say it once a process."""
    warnings.warn(message, RunWarning, stacklevel=4)
