"""`naiad sweep NAME`: run a study for every combination of parameters, and make one table of it."""

import contextlib
import shlex
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from naiad import interrupts, studies
from naiad.cli.console import out, say_error, say_warning, table
from naiad.cli.errors import FAILED
from naiad.cli.folder import REPORT, seal
from naiad.cli.growing import growing_folder, partial_of, regained_folder
from naiad.cli.options import Gpu, ask_for_gpu, assignments
from naiad.cli.running import Config, MaybeName
from naiad.cli.sweep_progress import telling
from naiad.errors import InputError, RunError
from naiad.files import clear_errors
from naiad.interrupts import Ear, listening
from naiad.studies.sweeps import ROWS, SWEEP

if TYPE_CHECKING:
    from naiad.studies.sweeps.row import Row
    from naiad.studies.sweeps.sweep import Sweep
    from naiad.studies.sweeps.table import Table
    from naiad.studies.sweeps.workers import Runner

ZARR = "table.zarr"
LINES, COLUMNS = 24, 8
"""The largest part of a table that the screen shows."""

Swept = Annotated[
    list[str] | None,
    typer.Option(
        "--param",
        "-p",
        metavar="KEY=VALUES",
        help="Values of a parameter: -p method=cay,exp, -p dt=0.1..0.001:7:log (7 numbers at equal ratios), "
        "-p elements=4..16:4 (at equal distances). Vectors have | between them: -p 'J=1,2,3|2,2,3'. One value stays "
        "in all rows. Repeat it.",
        autocompletion=assignments,
    ),
]
Seeds = Annotated[
    int | None,
    typer.Option("--seeds", metavar="N", help="Every combination with N seeds, from 0 or from the given seed."),
]
Out = Annotated[Path | None, typer.Option("--out", metavar="DIR", help="Where the files go (default: out/NAME-sweep).")]
Workers = Annotated[
    int | None,
    typer.Option("--workers", metavar="N", help="Processes that run rows at a time (default: one for each core)."),
]
Scheduler = Annotated[
    str | None,
    typer.Option(
        "--scheduler", metavar="ADDR", help="Rows run by the workers of a Dask scheduler, such as tcp://host:8786."
    ),
]


def sweep_study(
    name: MaybeName = None,
    param: Swept = None,
    seeds: Seeds = None,
    config: Config = None,
    folder: Out = None,
    workers: Workers = None,
    scheduler: Scheduler = None,
    gpu: Gpu = False,
) -> None:
    """Run a study for every combination of parameters, and make one table of it.

    The folder gets table.csv, table.zarr, figures, report.html, summary.json, and sweep.toml, which repeats the sweep
    with --config. An interrupted sweep keeps its rows: `naiad resume DIR` goes on with those that are missing.
    """
    from naiad.studies.sweeps.sweep import write_sweep

    if gpu and scheduler is not None:
        raise InputError("--gpu is for this machine; set NAIAD_DEVICE=gpu where the workers of --scheduler are started")
    sweep = _given(name, param or [], config, seeds)
    if gpu:
        ask_for_gpu(sweep.study)
    folder = folder or Path("out") / f"{sweep.study.name}-sweep"

    def begin(fresh: Path) -> None:
        (fresh / ROWS).mkdir()
        (fresh / SWEEP).write_text(write_sweep(sweep), encoding="utf-8")

    with listening(at_once=True) as ear, _runner(workers, scheduler) as run, growing_folder(folder, begin) as partial:
        found = _carried_on(sweep, folder, partial, run, ear)
    _show(found, folder)


def resume_sweep(folder: Path, workers: int | None = None, scheduler: str | None = None) -> None:
    """Go on with an interrupted sweep: its rows stay, those that are missing are run, and then the table is made."""
    from naiad.studies import provenance
    from naiad.studies.sweeps.sweep import begun_with, read_sweep

    folder = partial_of(folder)[0]
    with listening(at_once=True) as ear, _runner(workers, scheduler) as run, regained_folder(folder) as partial:
        sweep, version = read_sweep(partial / SWEEP), begun_with(partial / SWEEP)
        if version != provenance.version():
            say_warning(f"warning: the sweep was begun with naiad {version}, and this is {provenance.version()}")
        found = _carried_on(sweep, folder, partial, run, ear)
    _show(found, folder)


def is_sweep(folder: Path) -> bool:
    """Whether there is an interrupted sweep on its way to a folder."""
    return (partial_of(folder)[1] / SWEEP).is_file()


def _given(name: str | None, param: list[str], config: Path | None, seeds: int | None) -> "Sweep":
    from naiad.studies.sweeps.sweep import Sweep, read_sweep

    if config is not None:
        return read_sweep(config, name, param, seeds)
    if name is None:
        raise InputError("sweep: which study? Give its name (`naiad list` lists them), or a file with --config.")
    study = studies.find(name)
    return Sweep.of(study, study.assigned(param), seeds)


@contextlib.contextmanager
def _runner(workers: int | None, scheduler: str | None) -> "Iterator[Runner]":
    if workers is not None and scheduler is not None:
        raise InputError("--workers and --scheduler are both given; give one of them")
    if workers is not None and workers < 1:
        raise InputError(f"--workers {workers}: expected a whole number above 0")
    if scheduler is not None:
        from naiad.studies.sweeps.cluster import run_on

        with run_on(scheduler) as run:
            yield run
    else:
        from naiad.studies.provenance import cores
        from naiad.studies.sweeps.workers import run_with

        yield run_with(workers or cores())


def _carried_on(sweep: "Sweep", folder: Path, partial: Path, run: "Runner", ear: Ear) -> "Table":
    """Run the rows that are missing, and write everything that is made of them."""
    from naiad.io import places
    from naiad.studies.sweeps.kept import keep, kept
    from naiad.studies.sweeps.row import Task
    from naiad.studies.sweeps.table import Table

    rows = {number: row for number, row in kept(partial).items() if number < len(sweep)}
    target = studies.STUDIES[sweep.study.name]
    tasks = {number: Task(target, each) for number, each in enumerate(sweep.rows()) if number not in rows}
    started = time.perf_counter()
    with telling(sweep, len(rows)) as told:
        _remember(ear, rows, sweep, folder)
        try:
            for number, row in run(tasks) if tasks else ():
                keep(row, number, partial)
                rows[number] = row
                _remember(ear, rows, sweep, folder)
                told(len(rows))
        except RunError as error:
            raise RunError(f"{error}; {ear.kept}") from error
        found = Table.of(sweep, [rows[number] for number in range(len(sweep))])
        if found.failed == len(sweep):
            places.remove(partial)
            raise RunError(f"all {len(sweep)} rows failed, and nothing was written; the first: {found.rows[0].error}")
        with clear_errors(folder, ear.kept):
            _write(found, partial, time.perf_counter() - started, lambda label: told(len(rows), label))
        interrupts.close()
    return found


def _remember(ear: Ear, rows: "dict[int, Row]", sweep: "Sweep", folder: Path) -> None:
    ear.kept = f"{len(rows)} of {len(sweep)} rows are kept: `naiad resume {shlex.quote(str(folder))}` goes on"


def _write(found: "Table", folder: Path, elapsed: float, says: "Callable[[str], None]") -> None:
    """All files of a sweep; the summary last, with the names of the others."""
    from naiad import io
    from naiad.studies import provenance
    from naiad.studies.figures import draw
    from naiad.studies.sweeps.report import CSV, report
    from naiad.studies.values import to_json
    from naiad.viz.sweeps import sweep_figures

    _clear(folder)
    says("writing the table")
    (folder / CSV).write_text(found.csv(), encoding="utf-8")
    dataset = found.dataset()
    io.write(dataset, folder / ZARR)
    pictures = draw(sweep_figures(dataset), folder, lambda title: says(f"drawing: {title}"))
    (folder / REPORT).write_text(report(found, pictures, elapsed), encoding="utf-8")
    record = {
        "study": found.sweep.study.name,
        "params": found.sweep.fixed,
        "swept": found.sweep.swept,
        "rows": len(found.rows),
        "failed": found.failed,
        "elapsed_s": elapsed,
        "naiad": provenance.version(),
        "date": provenance.now(),
        "files": sorted(path.name for path in folder.iterdir() if not path.name.startswith(".")),
    }
    seal(folder, to_json(record, indent=2))


def _clear(folder: Path) -> None:
    """Remove what an ended process had begun to make of the rows."""
    from naiad.io.claim import LOCK

    for path in folder.iterdir():
        if path.name not in (LOCK, ROWS, SWEEP):
            shutil.rmtree(path) if path.is_dir() else path.unlink()


def _show(found: "Table", folder: Path) -> None:
    from naiad.studies.sweeps.report import CSV, parameters, varying
    from naiad.studies.values import found as shown

    console, sweep = out(), found.sweep
    results = dict([*varying(found).items()][: max(COLUMNS - len(sweep.swept), 1)])
    lines = table(*sweep.swept, *results)
    for number, combination in zip(range(LINES), sweep.combinations(), strict=False):
        cells = parameters(sweep, combination)
        cells += ["" if column[number] is None else shown(name, column[number], {}) for name, column in results.items()]
        lines.add_row(*map(Text, cells))
    console.print(Text(sweep.study.name, style="bold cyan").append(f"  {len(sweep)} rows", style="not bold dim"))
    console.print(lines)
    if len(sweep) > LINES:
        console.print(Text(f"... {len(sweep) - LINES} more in {folder / CSV}", style="dim"), soft_wrap=True)
    console.print(Text("report: ", style="dim").append(str(folder / REPORT), style="not dim"), soft_wrap=True)
    if found.failed:
        first = next(row.error for row in found.rows if row.error)
        say_error(f"{found.failed} of {len(sweep)} rows failed, and {CSV} says why; the first: {first}")
        raise typer.Exit(FAILED)
