"""`naiad live NAME`: a page that computes the motion of a study as it shows it."""

import webbrowser
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from naiad import studies
from naiad.cli.console import out
from naiad.cli.options import StudyName
from naiad.cli.running import Assignments
from naiad.cli.viewing import NoOpen
from naiad.errors import InputError

if TYPE_CHECKING:
    from naiad.studies.study import Study

Out = Annotated[
    Path | None, typer.Option("--out", metavar="FILE", help="The page to write (NAME.html here, if not given).")
]
Beside = Annotated[
    str | None, typer.Option("--beside", metavar="METHOD", help="Another integrator of the study, side by side.")
]


def live_study(
    name: StudyName, parameters: Assignments = None, path: Out = None, beside: Beside = None, no_open: NoOpen = False
) -> None:
    """Make a web page that computes the motion of a study as it shows it.

    The page holds the integrator itself, and needs neither Python nor a network. The study's parameters are sliders;
    -p says where they begin, and what has no slider.
    """
    study = studies.find(name).parse(parameters or [])
    page = path or Path(f"{name}.html")
    if page.suffix.lower() not in (".html", ".htm"):
        raise InputError(f"--out {page}: a live page is one web page; name it {page.with_suffix('.html')}")
    from naiad.files import whole_file
    from naiad.studies.live import study_page

    text = study_page(study, _beside(study, beside))
    with whole_file(page) as file:
        file.write_text(text, encoding="utf-8")
    out().print(str(page), soft_wrap=True, markup=False)
    if not no_open:
        webbrowser.open(page.resolve().as_uri())


def _beside(study: "Study", method: str | None) -> "Study | None":
    """The study with another method."""
    if method is None:
        return None
    if "method" not in study.parameters:
        raise InputError(f"--beside {method}: {study.name} has no parameter method; leave it out")
    return type(study)(**(study.values() | {"method": method}))
