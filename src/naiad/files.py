"""Files that are written aside and moved into place, and what the operating system refuses said in one line."""

import contextlib
import errno
import uuid
from collections.abc import Iterator
from pathlib import Path

from naiad.errors import InputError, RunError

_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
_BROKEN = {errno.EIO}


@contextlib.contextmanager
def clear_errors(path: Path | str, kept: str = "nothing was left behind") -> Iterator[None]:
    """Turn an operating system's refusal into one line about `path`; `kept` says what remains of the data."""
    try:
        yield
    except OSError as error:
        reason = error.strerror or str(error)
        if error.errno in _FULL:
            raise RunError(f"cannot write {path}: {reason}; {kept}; free some space or choose another disk") from error
        if error.errno in _BROKEN:
            raise RunError(f"cannot write {path}: {reason}; {kept}; the disk may be failing") from error
        raise InputError(f"cannot write {path}: {reason}; choose a place that can be written") from error


def sibling(path: Path) -> Path:
    """A fresh hidden name beside `path`, on the same disk."""
    return path.with_name(f".{path.name}.{uuid.uuid4().hex[:12]}")


@contextlib.contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """A name beside `path` to write a file to, which is moved to `path` once it is whole; none is left on a failure."""
    if path.is_dir():
        raise InputError(f"{path} is a folder; give the name of a file.")
    fresh = sibling(path)
    with clear_errors(path):
        try:
            yield fresh
            fresh.replace(path)
        finally:
            fresh.unlink(missing_ok=True)
