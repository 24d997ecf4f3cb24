"""`naiad resume DIR`: go on with a study that was killed."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from naiad.cli.folder import CONFIG, SUMMARY, unfinished
from naiad.cli.options import Json
from naiad.cli.running import conduct
from naiad.errors import InputError

if TYPE_CHECKING:
    from naiad.studies.study import Study

SWEEP = "sweep.toml"

Folder = Annotated[Path, typer.Argument(metavar="DIR", help="The folder that `naiad run` was writing.")]


def resume_study(folder: Folder, as_json: Json = False) -> None:
    """Go on with a study that was killed, or whose disk was full.

    It is done again with its parameters; runs that took longer than a few seconds are found where they were, and go on
    from there. The files are those that it would have written without the stop.
    """
    folder = folder.with_name(folder.name.removesuffix(".partial"))
    conduct(_left(folder), folder, as_json)


def _left(folder: Path) -> "Study":
    """The study that was on its way to a folder."""
    from naiad.studies.config import read_config

    left = unfinished(folder)
    if (folder / SWEEP).exists() or (left / SWEEP).exists():
        raise InputError(f"{folder} is of a sweep, not of a study; `naiad sweep` goes on with it.")
    if (left / CONFIG).is_file():
        return read_config(left / CONFIG)
    if (folder / SUMMARY).is_file():
        raise InputError(f"nothing to resume: {folder} is complete.")
    if not folder.exists() and not left.exists():
        raise InputError(f"nothing to resume: there is no {folder}, and no run that was on its way there.")
    raise InputError(f"nothing to resume: {folder} has no {CONFIG} of a study; `naiad run NAME --out {folder}` begins.")
