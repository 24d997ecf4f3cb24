"""`naiad resume DIR`: go on with what was interrupted."""

from pathlib import Path
from typing import Annotated

import typer

from naiad.cli.folder import SUMMARY
from naiad.cli.growing import partial_of
from naiad.cli.sweeping import Scheduler, Workers, is_sweep, resume_sweep
from naiad.errors import InputError

Folder = Annotated[Path, typer.Argument(metavar="DIR", help="The folder that the interrupted command was to write.")]


def resume_folder(folder: Folder, workers: Workers = None, scheduler: Scheduler = None) -> None:
    """Go on with an interrupted sweep: the rows that are there are kept, the others are run.

    The table is the same as that of a sweep which was not interrupted, but for the times.
    """
    if not is_sweep(folder):
        target, partial = partial_of(folder)
        done = f"{folder} is finished" if (target / SUMMARY).is_file() else f"there is no sweep at {partial}"
        raise InputError(f"resume {folder}: {done}, so there is nothing to go on with")
    resume_sweep(folder, workers, scheduler)
