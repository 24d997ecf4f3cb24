"""The folder of a result: written aside, moved into place as a whole, and never over what naiad did not write."""

import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from naiad.errors import InputError
from naiad.interrupts import undoing
from naiad.studies.sweeps import ROWS, SWEEP

SUMMARY = "summary.json"
MOTION = "motion.html"
REPORT = "report.html"
RESULT = "result.zarr"


@contextmanager
def result_folder(wanted: Path) -> Iterator[Path]:
    """A new folder beside `wanted` that takes its place when the block ends well, and vanishes when it does not.

    Whatever would stand in the way is found before the block starts. What a killed run left beside it is removed;
    while another run is on the way to the same place, this one is refused.
    """
    from naiad.io.claim import claimed, settle
    from naiad.io.places import clear_errors, remove

    target = wanted.absolute().resolve()
    aside = target.with_name(f"{target.name}.partial")
    with clear_errors(wanted):
        check_replaceable(wanted, target)
        made = made_parents(target.parent)
    claim = None

    def undo() -> None:
        if claim is not None:
            remove(aside)
        for parent in made:
            with suppress(OSError):
                parent.rmdir()

    try:
        with undoing(undo):
            with clear_errors(wanted):
                claim = claimed(aside, lambda folder: None, lambda left: check_left_over(wanted, left))
            yield aside
            with clear_errors(wanted):
                replace(target, aside)
                settle(target)
    except BaseException:
        undo()
        raise
    finally:
        if claim is not None:
            claim.release()


def seal(folder: Path, record: str) -> None:
    """Write the summary, which is how naiad knows its own folders."""
    (folder / SUMMARY).write_text(record + "\n", encoding="utf-8")


def check_replaceable(wanted: Path, target: Path) -> None:
    """Refuse a place that holds anything but an earlier result of naiad."""
    if not target.exists():
        return
    if not target.is_dir():
        raise InputError(f"--out {wanted}: expected a folder, but a file of that name is there; choose another name")
    if target.is_mount() or Path.cwd().is_relative_to(target):
        raise InputError(f"--out {wanted}: this folder is in use and cannot be replaced; choose a new one inside it")
    strangers = sorted(path.name for path in target.iterdir() if path.name not in _own_files(target))
    if strangers:
        some = ", ".join(strangers[:3]) + (", ..." if len(strangers) > 3 else "")
        raise InputError(f"--out {wanted}: it holds what naiad did not write there ({some}); choose another folder")


def check_left_over(wanted: Path, left: Path) -> None:
    """Refuse to remove what lies where a result grows, unless an ended run left it; rows of a sweep are kept."""
    from naiad.io.claim import LOCK

    if (left / SWEEP).is_file():
        raise InputError(
            f"--out {wanted}: an interrupted sweep is at {left}; `naiad resume {wanted}` goes on with it; "
            "or remove it, or choose another folder"
        )
    if not (left / LOCK).is_file():
        raise InputError(f"--out {wanted}: {left} is in the way, and is not of naiad; move it or choose another folder")


def _own_files(folder: Path) -> set[str]:
    """The files that an earlier run wrote; none if it is not a result of naiad."""
    from naiad.io.claim import LOCK

    try:
        record = json.loads((folder / SUMMARY).read_text(encoding="utf-8"))
        return {*record["files"], SUMMARY, MOTION, LOCK, ROWS}
    except (OSError, ValueError, KeyError, TypeError):
        return set()


def made_parents(parent: Path) -> list[Path]:
    """Make the folders above, and return those that were missing, the deepest first."""
    missing = [path for path in (parent, *parent.parents) if not path.exists()]
    parent.mkdir(parents=True, exist_ok=True)
    return missing


def replace(target: Path, aside: Path) -> None:
    """Rename `aside` to `target`; an older result is removed only once the new one is in place."""
    if not target.exists():
        aside.rename(target)
        return
    old = target.with_name(f"{target.name}.old-{os.getpid()}")
    target.rename(old)
    try:
        aside.rename(target)
    except BaseException:
        old.rename(target)
        raise
    shutil.rmtree(old, ignore_errors=True)
