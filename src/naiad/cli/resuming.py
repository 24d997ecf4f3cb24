"""`naiad resume DIR`: go on with what was interrupted, a study or a sweep."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from naiad.cli.folder import CONFIG, LIVE, SUMMARY, partial_of
from naiad.cli.options import Json
from naiad.cli.running import conduct
from naiad.cli.sweeping import Scheduler, Workers, is_sweep, resume_sweep
from naiad.errors import InputError

if TYPE_CHECKING:
    from naiad.studies.study import Study

Folder = Annotated[Path, typer.Argument(metavar="DIR", help="The folder that the interrupted command was to write.")]


def resume_folder(folder: Folder, workers: Workers = None, scheduler: Scheduler = None, as_json: Json = False) -> None:
    """Go on with a study or a sweep that was killed, interrupted, or whose disk was full.

    A study is done again with its parameters; runs that took longer than a few seconds are found where they were, and
    go on from there. Of a sweep the rows that are there are kept, and the others are run. The files are those of a
    command that was not interrupted, but for the times.
    """
    if folder.name.endswith(".partial"):
        folder = folder.with_name(folder.name.removesuffix(".partial"))
    if is_sweep(folder):
        if as_json:
            raise InputError(f"resume {folder}: --json is for studies, and this is a sweep; leave it out.")
        resume_sweep(folder, workers, scheduler)
        return
    if workers is not None or scheduler is not None:
        raise InputError(
            f"resume {folder}: --workers and --scheduler are for sweeps, and this is none; leave them out."
        )
    live = (partial_of(folder)[1] / LIVE).is_file()
    conduct(_left(folder), folder, as_json, live)


def _left(folder: Path) -> "Study":
    """The study that was on its way to a folder."""
    from naiad.studies.config import read_config

    _, left = partial_of(folder)
    if (left / CONFIG).is_file():
        return read_config(left / CONFIG)
    if (folder / SUMMARY).is_file():
        raise InputError(f"nothing to resume: {folder} is complete.")
    if not folder.exists() and not left.exists():
        raise InputError(f"nothing to resume: there is no {folder}, and nothing that was on its way there.")
    raise InputError(f"nothing to resume: {folder} has no {CONFIG} of a study; `naiad run NAME --out {folder}` begins.")
