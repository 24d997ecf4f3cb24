"""`naiad run NAME`: do a study, show what it found, and keep it."""

import contextlib
import json
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from naiad import interrupts, studies
from naiad.cli.console import err, out, say_json, say_warning, table
from naiad.cli.folder import CONFIG, LIVE, MOTION, REPORT, RESULT, RUNS, SUMMARY, result_folder, seal
from naiad.cli.options import Gpu, Json, ask_for_gpu, assignments, study_names
from naiad.cli.viewing import write_motion
from naiad.errors import InputError
from naiad.interrupts import listening

if TYPE_CHECKING:
    from naiad.studies.progress import Progress
    from naiad.studies.study import Findings, Study

Assignments = Annotated[
    list[str] | None,
    typer.Option(
        "--param",
        "-p",
        metavar="KEY=VALUE",
        help="Set a parameter: -p dt=0.01, -p J=1,2,3, -p 'M=1,0;0,2'. Repeat it.",
        autocompletion=assignments,
    ),
]
Config = Annotated[
    Path | None,
    typer.Option("--config", metavar="FILE", help="Parameters from a TOML file, such as a result's study.toml."),
]
Live = Annotated[
    bool, typer.Option("--live", help="Also make live.html, the study as a page to play with (takes some seconds).")
]
MaybeName = Annotated[
    str | None,
    typer.Argument(
        metavar="NAME",
        help="A study; `naiad list` lists them. A --config names it as well.",
        autocompletion=study_names,
    ),
]
Out = Annotated[
    Path | None,
    typer.Option("--out", metavar="DIR", help="Where the files go (default: out/NAME; with --json: none)."),
]


def run_study(
    name: MaybeName = None,
    param: Assignments = None,
    config: Config = None,
    folder: Out = None,
    as_json: Json = False,
    gpu: Gpu = False,
    live: Live = False,
) -> None:
    """Run a study, show what it found, and keep it.

    The folder gets the figures with their points, report.html, motion.html, result.zarr, summary.json, and study.toml,
    which repeats the run with --config; all at once when the run has ended well. `naiad resume` goes on with one that
    was killed.
    """
    study = _given(name, param or [], config)
    if gpu:
        ask_for_gpu(study)
    if live and as_json and folder is None:
        raise InputError("--live is given with --json alone, which writes no files; give --out DIR too")
    if live:
        study.live()  # says it if there is none
    conduct(study, Path("out") / study.name if folder is None and not as_json else folder, as_json, live)


def conduct(study: "Study", folder: Path | None, as_json: bool, live: bool = False) -> None:
    """Do a study; what a killed run of the same study to the same folder had kept is not done again."""
    from naiad.files import clear_errors
    from naiad.simulation.journal import keeping_runs
    from naiad.studies.config import write_config
    from naiad.studies.values import to_json

    with (
        listening(at_once=True),
        result_folder(folder, write_config(study)) if folder else contextlib.nullcontext() as aside,
        _progress(study.name) as progress,
    ):
        started = time.perf_counter()
        if aside and live:
            (aside / LIVE).touch()  # for `naiad resume`, which makes it too
        keeping = keeping_runs(aside / RUNS) if aside else contextlib.nullcontext()
        with contextlib.redirect_stdout(sys.stderr), keeping:
            findings = study.run(progress)
        elapsed = time.perf_counter() - started
        if folder is not None and aside is not None:
            with clear_errors(folder):
                elapsed = _write(study, findings, started, aside, progress, live)
        interrupts.close()
    if as_json:
        say_json(to_json(_record(study, findings, elapsed)))
    else:
        _show(study, findings, elapsed, folder)


def _given(name: str | None, param: list[str], config: Path | None) -> "Study":
    from naiad.studies.config import read_config

    if config is not None:
        return read_config(config, name, param)
    if name is None:
        raise InputError("run: which study? Give its name (`naiad list` lists them), or a file with --config.")
    return studies.find(name).parse(param)


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

    from naiad.compiler.telling import telling

    columns = (TextColumn("{task.description}", style="cyan"), BarColumn(), TaskProgressColumn(), TimeElapsedColumn())
    with Bars(*columns, TextColumn("{task.fields[label]}", style="dim"), console=console, transient=True) as bars:
        task, doing = bars.add_task(title, total=1.0, label=""), ""

        def compiling(busy: bool | str) -> None:
            bars.update(task, label=busy if isinstance(busy, str) else "compiling" if busy else doing)

        def report(fraction: float, label: str) -> None:
            nonlocal doing
            doing = label
            forecast(fraction)
            bars.update(task, completed=fraction, label=label)

        with telling(compiling):
            yield Progress(report)


def _record(study: "Study", findings: "Findings", elapsed: float) -> dict:
    return {"study": study.name, "params": study.values(), "results": findings.results, "elapsed_s": elapsed}


def _write(
    study: "Study", findings: "Findings", started: float, folder: Path, progress: "Progress", live: bool
) -> float:
    """All files of a result; the summary last, with the names of the others. The seconds that all of it took."""
    from naiad import io
    from naiad.studies import provenance
    from naiad.studies.config import write_config
    from naiad.studies.figures import draw
    from naiad.studies.report import report
    from naiad.studies.values import to_json

    pictures = draw(findings.figures, folder, lambda title: progress.says(f"drawing: {title}"))
    if findings.dataset is not None:
        progress.says("writing the data")
        given = json.loads(to_json(study.values()))
        dataset = findings.dataset().assign_attrs(study=study.name, study_parameters=given)
        io.write(dataset, folder / RESULT)
        with contextlib.suppress(InputError):  # there may be nothing that moves
            write_motion(dataset, folder / MOTION)
    if live:
        from naiad.studies.live import study_page

        progress.says("making the live page")
        (folder / LIVE).write_text(study_page(study), encoding="utf-8")
    (folder / CONFIG).write_text(write_config(study), encoding="utf-8")
    elapsed = time.perf_counter() - started
    files = {path.name for path in folder.iterdir() if not path.name.startswith(".")}
    text = report(study, findings, pictures, elapsed, files=files | {SUMMARY})
    (folder / REPORT).write_text(text, encoding="utf-8")
    origin = {"naiad": provenance.version(), "date": provenance.now(), "files": sorted(files | {REPORT})}
    seal(folder, to_json(_record(study, findings, elapsed) | origin, indent=2))
    return elapsed


def _show(study: "Study", findings: "Findings", elapsed: float, folder: Path | None) -> None:
    from naiad.studies.values import found

    console = out()
    rows = table("result", "value", "unit")
    for name, value in findings.results.items():
        rows.add_row(name, Text(found(name, value, findings.units)), Text(findings.units.get(name, "")))
    console.print(Text(study.name, style="bold cyan").append(f"  {elapsed:.3g} s", style="not bold dim"))
    console.print(rows)
    if folder is not None:
        console.print(Text("report: ", style="dim").append(str(folder / REPORT), style="not dim"), soft_wrap=True)
