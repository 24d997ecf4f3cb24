"""Ends sweeps with SIGKILL at random moments, goes on with them, and compares their tables with that of a whole one.

`python -m tests.cli.sweep_killer KILLS SEED` in an empty folder prints what was done as JSON. Sweeps are forked
from this process, which has imported all.
"""

import contextlib
import csv
import json
import os
import random
import signal
import sys
import time
from pathlib import Path

import xarray  # noqa: F401 - a sweep that is forked has it then
import zarr  # noqa: F401

from naiad import studies
from naiad.cli.app import app
from naiad.viz import sweeps

SWEEP = ["sweep", "tide", "-p", "moon=full,new", "-p", "depth=0.1..0.01:6:log", "-p", "pause=0.02"]


def forked(*arguments):
    """A process that runs a command; figures take long, and are left out."""
    child = os.fork()
    if child:
        return child
    log = os.open("log", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.dup2(log, 1)
    os.dup2(log, 2)
    try:
        app(list(arguments), prog_name="naiad")
    except SystemExit as end:
        os._exit(int(end.code or 0))
    finally:
        os._exit(99)


def ended(child):
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def workers(child):
    tasks = Path(f"/proc/{child}/task").iterdir()
    return [int(each) for task in tasks for each in (task / "children").read_text().split()]


def table(folder):
    with open(f"{folder}/table.csv", newline="") as file:
        return [{key: value for key, value in row.items() if key != "seconds"} for row in csv.DictReader(file)]


def chain(name, kills, draw, whole):
    """A sweep that is ended and gone on with until it is done, or was ended often enough: how often."""
    done, command = 0, [*SWEEP, "--workers", str(draw.choice((1, 2))), "--out", name]
    while done < kills and not Path(name).exists():  # one may be ended when all is in place, and it has yet to end
        child = forked(*command)
        time.sleep(draw.uniform(0.0, whole))
        if os.waitpid(child, os.WNOHANG)[0]:
            break
        os.kill(child, signal.SIGKILL)
        ended(child)
        done += 1
        command = ["resume", name] if Path(f"{name}.partial/sweep.toml").exists() else command
    if not Path(name).exists():
        assert ended(forked(*command)) == 0, Path("log").read_text()
    return done


def worker_killed(name, draw, whole):
    """A sweep of which one worker is ended on the way."""
    child = forked(*SWEEP, "--workers", "2", "--out", name)
    time.sleep(draw.uniform(0.05, 0.7 * whole))
    with contextlib.suppress(OSError, IndexError):
        os.kill(draw.choice(workers(child)), signal.SIGKILL)
    assert ended(child) == 0, Path("log").read_text()


def main(kills, seed):
    sweeps.sweep_figures = lambda table: {}
    studies.STUDIES["tide"] = "tests.studies.tide:Tide"
    draw = random.Random(seed)
    started = time.monotonic()
    assert ended(forked(*SWEEP, "--workers", "1", "--out", "whole")) == 0, Path("log").read_text()
    whole, expected = time.monotonic() - started, table("whole")
    report = {"kills": 0, "chains": 0, "rows": len(expected), "different": []}
    while report["kills"] < kills:
        name = f"chain{report['chains']}"
        report["kills"] += chain(name, min(6, kills - report["kills"]), draw, 1.1 * whole)
        report["chains"] += 1
        report["different"] += [name] if table(name) != expected else []
    for number in range(max(kills // 10, 1)):
        worker_killed(f"worker{number}", draw, whole)
        report["different"] += [f"worker{number}"] if table(f"worker{number}") != expected else []
    report["left"] = sorted(path.name for path in Path().iterdir() if path.name.endswith((".partial", ".rows")))
    report["inside"] = sorted({path.name for folder in Path().glob("chain*") for path in folder.iterdir()})
    print(json.dumps(report))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
