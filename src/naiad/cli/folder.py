"""The folder of a result: written aside, moved into place as a whole, and never over what naiad did not write."""

import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from naiad.cli.console import say_warning
from naiad.errors import InputError
from naiad.interrupts import undoing
from naiad.studies.sweeps import ROWS, SWEEP

if TYPE_CHECKING:
    from naiad.io.claim import Claim

SUMMARY = "summary.json"
MOTION = "motion.html"
LIVE = "live.html"
REPORT = "report.html"
RESULT = "result.zarr"
CONFIG = "study.toml"
RUNS = ".runs"  # a folder in it, of the long runs of a study that is on its way


@contextmanager
def result_folder(wanted: Path, config: str = "") -> Iterator[Path]:
    """A new folder beside `wanted` that takes its place when the block ends well, and vanishes when it does not.

    It has `config`, which tells how it is made, from the start. Whatever would stand in the way is found before the
    block starts. What a killed run left beside it is taken over, with the runs that it had kept, if it was made in the
    same way, and removed if not; while another run is on the way to the same place, this one is refused. If a signal or
    a full disk ends the block, and runs were kept, the folder stays, and can be taken over.
    """
    from naiad.files import clear_errors
    from naiad.io.claim import settle
    from naiad.io.places import remove

    target, aside = partial_of(wanted)
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

    def stop() -> str | None:
        if claim is not None and _kept_runs(aside):
            return f"`naiad resume {wanted}` goes on"
        undo()
        return None

    try:
        with undoing(stop):
            with clear_errors(wanted):
                claim = _claimed(wanted, aside, config)
            yield aside
            remove(aside / RUNS)
            with clear_errors(wanted):
                replace(target, aside)
                settle(target)
    except BaseException as error:
        stopped = isinstance(error, KeyboardInterrupt | SystemExit) or isinstance(error.__cause__, OSError)
        hint = stop() if stopped else undo()
        if hint is not None:
            say_warning(hint)
        raise
    finally:
        if claim is not None:
            claim.release()


def partial_of(wanted: Path) -> tuple[Path, Path]:
    """Where a result will stand, and where it grows; the latter may be given instead of the former."""
    target = wanted.absolute().resolve()
    target = target.with_name(target.name.removesuffix(".partial"))
    return target, target.with_name(f"{target.name}.partial")


def _kept_runs(aside: Path) -> bool:
    return (aside / RUNS).is_dir() and any((aside / RUNS).iterdir())


def _claimed(wanted: Path, aside: Path, config: str) -> "Claim":
    """The folder, made anew, or as a killed run of the same study left it, but for files that were half done."""
    from naiad.io.claim import LOCK, claimed, reclaimed
    from naiad.io.places import remove

    def fill(folder: Path) -> None:
        if config:
            (folder / CONFIG).write_text(config, encoding="utf-8")

    if not (_kept_runs(aside) and _text(aside / CONFIG) == config):
        return claimed(aside, fill, lambda left: check_left_over(wanted, left))
    claim = reclaimed(aside)
    for path in aside.iterdir():
        if path.is_dir() and path.name != RUNS:
            remove(path)
        elif not path.is_dir() and path.name not in (LOCK, CONFIG):
            path.unlink()
    return claim


def _text(path: Path) -> str | None:
    return path.read_text(encoding="utf-8") if path.is_file() else None


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
        return {*record["files"], SUMMARY, MOTION, LIVE, LOCK, ROWS}
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
