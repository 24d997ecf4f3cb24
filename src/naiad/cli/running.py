"""`naiad run NAME`: do a study, show what it found, and keep it."""

import contextlib
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from naiad import interrupts, studies
from naiad.cli.console import err, out, say_json, say_warning, table
from naiad.cli.folder import REPORT, RESULT, result_folder, seal
from naiad.cli.options import Json, StudyName
from naiad.interrupts import listening

if TYPE_CHECKING:
    from naiad.studies.progress import Progress
    from naiad.studies.study import Findings, Study

Assignments = Annotated[
    list[str] | None,
    typer.Option(
        "--param", "-p", metavar="KEY=VALUE", help="Set a parameter: -p dt=0.01, -p J=1,2,3, -p 'M=1,0;0,2'. Repeat it."
    ),
]
Out = Annotated[
    Path | None,
    typer.Option("--out", metavar="DIR", help="Where the files go (default: out/NAME; with --json: none)."),
]


def run_study(name: StudyName, param: Assignments = None, folder: Out = None, as_json: Json = False) -> None:
    """Run a study, show what it found, and keep it.

    The folder gets the figures, report.html, result.zarr and summary.json, all at once when the run has ended well.
    """
    from naiad.io.places import clear_errors
    from naiad.studies.values import to_json

    study = studies.find(name).parse(param or [])
    if folder is None and not as_json:
        folder = Path("out") / name
    with (
        listening(at_once=True),
        result_folder(folder) if folder else contextlib.nullcontext() as aside,
        _progress(study.name) as progress,
    ):
        findings, elapsed = _found(study, progress)
        if folder is not None and aside is not None:
            with clear_errors(folder):
                _write(study, findings, elapsed, aside)
        interrupts.close()
    if as_json:
        say_json(to_json(_record(study, findings, elapsed)))
    else:
        _show(study, findings, elapsed, folder)


def _found(study: "Study", progress: "Progress") -> "tuple[Findings, float]":
    """What the study finds, and the seconds it took; what it prints goes to stderr."""
    with contextlib.redirect_stdout(sys.stderr):
        start = time.perf_counter()
        findings = study.run(progress)
        return findings, time.perf_counter() - start


@contextlib.contextmanager
def _progress(title: str) -> "Iterator[Progress]":
    """On stderr: a bar where that is a terminal, and how long a long run will take."""
    from naiad.studies.progress import Forecast, Progress

    console = err()
    forecast = Forecast(lambda text: say_warning(f"{title}: {text}; Ctrl-C stops it"))
    if not console.is_terminal:
        yield Progress(lambda fraction, label: forecast(fraction))
        return
    from rich.progress import BarColumn, TaskProgressColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bars

    columns = (TextColumn("{task.description}", style="cyan"), BarColumn(), TaskProgressColumn(), TimeElapsedColumn())
    with Bars(*columns, TextColumn("{task.fields[label]}", style="dim"), console=console, transient=True) as bars:
        task = bars.add_task(title, total=1.0, label="")

        def report(fraction: float, label: str) -> None:
            forecast(fraction)
            bars.update(task, completed=fraction, label=label)

        yield Progress(report)


def _record(study: "Study", findings: "Findings", elapsed: float) -> dict:
    return {"study": study.name, "params": study.values(), "results": findings.results, "elapsed_s": elapsed}


def _write(study: "Study", findings: "Findings", elapsed: float, folder: Path) -> None:
    """All files of a result; the summary last, with the names of the others."""
    from naiad import io
    from naiad.studies import provenance
    from naiad.studies.figures import draw
    from naiad.studies.report import report
    from naiad.studies.values import to_json

    pictures = draw(findings.figures, folder)
    (folder / REPORT).write_text(report(study, findings, pictures, elapsed), encoding="utf-8")
    if findings.dataset is not None:
        io.write(findings.dataset(), folder / RESULT)
    origin = {"naiad": provenance.version(), "date": provenance.now()}
    files = {"files": sorted(path.name for path in folder.iterdir() if not path.name.startswith("."))}
    seal(folder, to_json(_record(study, findings, elapsed) | origin | files, indent=2))


def _show(study: "Study", findings: "Findings", elapsed: float, folder: Path | None) -> None:
    from naiad.studies.values import shown

    console = out()
    rows = table("result", "value")
    for name, value in findings.results.items():
        rows.add_row(name, Text(shown(value)))
    console.print(Text(study.name, style="bold cyan").append(f"  {elapsed:.3g} s", style="not bold dim"))
    console.print(rows)
    if folder is not None:
        console.print(Text("report: ", style="dim").append(str(folder / REPORT), style="not dim"), soft_wrap=True)
