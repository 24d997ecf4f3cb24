"""`naiad view DIR`: the motion of a result, in a browser."""

import webbrowser
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from naiad import studies
from naiad.cli.console import out
from naiad.cli.folder import MOTION, RESULT
from naiad.errors import InputError, NaiadError

if TYPE_CHECKING:
    import xarray as xr

    from naiad.studies.study import Study

Folder = Annotated[Path, typer.Argument(metavar="DIR", help="The folder of a result, as `naiad run` wrote it.")]
NoOpen = Annotated[bool, typer.Option("--no-open", help="Only make the page and print where it is.")]


def view_motion(folder: Folder, no_open: NoOpen = False) -> None:
    """Show the motion of a result in a browser.

    The page is DIR/motion.html; it is made when it is not there yet.
    """
    page = folder / MOTION
    if not page.exists():
        _make(folder, page)
    out().print(str(page), soft_wrap=True, markup=False)
    if not no_open:
        webbrowser.open(page.resolve().as_uri())


def _make(folder: Path, page: Path) -> None:
    if not folder.is_dir():
        raise InputError(f"{folder}: there is no such folder; give one that `naiad run NAME --out DIR` wrote")
    if not (folder / RESULT).exists():
        raise InputError(f"{folder}: it holds no {RESULT}, so there is no motion to show; give a folder of `naiad run`")
    from naiad import io

    write_motion(io.read(folder / RESULT), page)


def write_motion(dataset: "xr.Dataset", page: Path) -> None:
    """The page of a study's motion, with the study and its parameters as title."""
    from naiad.viz import animate

    study = _study(dataset)
    words = None if study is None else " ".join(filter(None, (study.summary(), study.settings())))
    animate(dataset, page, subtitle=words)


def _study(dataset: "xr.Dataset") -> "Study | None":
    """The study that a dataset is of, unless it is none of this version's."""
    try:
        return studies.find(dataset.attrs["study"])(**dataset.attrs["study_parameters"])
    except (KeyError, TypeError, NaiadError):
        return None
