"""A folder that grows belongs to the process that fills it, for as long as that process lives.

A file in it is locked. The lock goes with its process, however that ends, so that what a killed process left is told
from what another one is writing, also where process numbers are used again or the disk is that of several machines.
Where there are no such locks (Windows), two runs to one place are not told apart.
"""

import contextlib
import errno
import os
import platform
import re
import weakref
from collections.abc import Callable
from pathlib import Path

from naiad.errors import InputError
from naiad.files import sibling
from naiad.io import places

try:
    import fcntl
except ImportError:  # Windows, which has no such locks, and does not rename a folder with an open file in it
    fcntl = None

LOCK = ".lock"
ATTEMPTS = 5


class Claim:
    """That a place is ours, until it is released or its process ends."""

    def __init__(self, give_up: Callable[[], None]):
        self.release = weakref.finalize(self, give_up)
        """Let others have the place."""


def claimed(place: Path, fill: Callable[[Path], None], discard: Callable[[Path], None]) -> Claim:
    """Make the folder `place`, with what `fill` puts into it, and claim it.

    One that another process fills is refused. For one that is left over `discard` raises an error if it must stay;
    else it is removed.
    """
    for _ in range(ATTEMPTS):
        if os.path.lexists(place):
            _clear(place, discard)
        with places.aside(place) as fresh:
            fill(fresh)
            claim = _claim(_locked(fresh))
            try:
                fresh.rename(place)
            except OSError as error:
                if error.errno not in (errno.ENOTEMPTY, errno.EEXIST, errno.ENOTDIR):
                    raise
            else:
                places.sync_folder(place.parent)
                return claim
        claim.release()
        places.remove(fresh)
    raise taken(place, "")


def reclaimed(place: Path) -> Claim:
    """Claim a folder that a process left when it was ended, with all that is in it; one that another process fills is
    refused."""
    if fcntl is None:
        return _claim(None)
    descriptor = os.open(place / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        _lock(place, descriptor)
        if not _still_at(place, descriptor):
            raise taken(place, "")
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, owner(), 0)
    except BaseException:
        os.close(descriptor)
        raise
    return _claim(descriptor)


def settle(folder: Path) -> None:
    """The folder is finished and stands in its place: it is not to be claimed any more."""
    (folder / LOCK).unlink(missing_ok=True)


def _claim(descriptor: int | None) -> Claim:
    return Claim(lambda: None if descriptor is None else os.close(descriptor))


def _locked(folder: Path) -> int | None:
    """The descriptor of the locked file in a new folder; it says who holds it."""
    if fcntl is None:
        return None
    descriptor = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o644)
    os.write(descriptor, owner())
    with contextlib.suppress(OSError):  # a disk that cannot lock
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    return descriptor


def _clear(place: Path, discard: Callable[[Path], None]) -> None:
    """Remove what is left over at `place`, while it is locked, so that nobody else does the same."""
    try:
        descriptor = os.open(place / LOCK, os.O_RDWR | os.O_CLOEXEC) if fcntl is not None else None
    except OSError:
        descriptor = None  # of nobody who claims it
    try:
        if descriptor is not None:
            _lock(place, descriptor)
            if not _still_at(place, descriptor):
                return
        discard(place)
        left = sibling(place)
        place.rename(left)
        places.remove(left)
    finally:
        if descriptor is not None:
            os.close(descriptor)


def _lock(place: Path, descriptor: int) -> None:
    """Lock an open file, or raise an `InputError` that says who has."""
    if fcntl is None:
        return
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise taken(place, os.pread(descriptor, 200, 0).decode(errors="replace")) from None
    except OSError:
        pass  # a disk that cannot lock


def owner() -> bytes:
    """The words by which a process says that a place is its own."""
    return f"process {os.getpid()} on {platform.node()}".encode()


def is_gone(who: str) -> bool:
    """Whether the process with these words is known to have ended: it was on this machine, and is not there."""
    found = re.fullmatch(r"process (\d+) on (.*)", who)
    if found is None or found[2] != platform.node() or os.name == "nt":
        return False
    try:
        os.kill(int(found[1]), 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        pass
    return False


def _still_at(place: Path, descriptor: int) -> bool:
    """Whether the folder was not renamed while its lock was waited for."""
    try:
        return os.path.samestat(os.stat(place / LOCK), os.fstat(descriptor))
    except FileNotFoundError:
        return False


def taken(place: Path | str, who: str) -> InputError:
    """That another process has a place."""
    by = f" ({who})" if who else ""
    return InputError(f"another run is writing to {place} now{by}; wait until it has ended, or choose another name")
