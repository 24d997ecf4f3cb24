"""Ctrl-C ends a study, wherever it is, and of a part of a run there are no findings."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from naiad import studies
from naiad.studies import progress as progress_module
from naiad.studies.progress import Forecast, Progress, in_time_units
from tests.studies.pond import Dropper

ROOT = Path(__file__).parents[2]
QUIET = ("added-inertia", "curvature", "streamlines")  # they take a second, and report nothing on the way
SOME = ["rigid-body", "poincare-section", "outer-solar-system"]


def interrupted_at(name, call, monkeypatch):
    """Run a study; at one of its reports a signal comes where Python drops what the handler raises."""
    calls = []
    monkeypatch.setattr("sys.unraisablehook", lambda dropped: None)

    def report(fraction, label):
        calls.append(fraction)
        if len(calls) == call:
            Dropper(signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        studies.find(name)().run(Progress(report))
    assert len(calls) == call
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.mark.parametrize(("name", "call"), [*((name, 1) for name in SOME), ("rigid-body", 2)])
def test_an_interrupt_ends_a_study(python_hears_ctrl_c, monkeypatch, name, call):
    interrupted_at(name, call, monkeypatch)


@pytest.mark.long
@pytest.mark.parametrize("name", [name for name in studies.STUDIES if name not in QUIET])
def test_an_interrupt_ends_every_study(python_hears_ctrl_c, monkeypatch, name):
    interrupted_at(name, 1, monkeypatch)


@pytest.mark.long
@pytest.mark.parametrize("after", [3.0, 8.0, 15.0])
@pytest.mark.parametrize(
    "arguments",
    [
        ["poincare-section", "-p", "t1=1e6"],
        ["eel", "-p", "t1=1e4"],
        ["work-precision", "-p", "dts=1e-9"],
        ["crane", "-p", "dt=1e-5"],
    ],
    ids=lambda arguments: arguments[0],
)
def test_the_command_line_hears_it_at_any_time(tmp_path, arguments, after):
    """What runs have written by then is kept to go on with; else nothing is."""
    start = (
        "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); from naiad.cli import main; main()"
    )
    command = [sys.executable, "-c", start, "run", *arguments]
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src")}
    with subprocess.Popen(command, cwd=tmp_path, env=environment, stderr=subprocess.PIPE, text=True) as process:
        time.sleep(after)
        process.send_signal(signal.SIGINT)
        pressed = time.monotonic()
        _, errors = process.communicate(timeout=100)
    assert time.monotonic() - pressed < 10.0
    assert process.returncode == 130
    assert "Traceback" not in errors
    if errors.endswith(f"naiad: interrupted; `naiad resume out/{arguments[0]}` goes on\n"):
        assert [path.name for path in (tmp_path / "out").iterdir()] == [f"{arguments[0]}.partial"]
    else:
        assert errors.endswith("naiad: interrupted; nothing was written\n")
        assert list(tmp_path.iterdir()) == []


def test_a_long_rest_is_said_once(monkeypatch):
    now, said = [0.0], []
    monkeypatch.setattr(progress_module.time, "monotonic", lambda: now[0])
    forecast = Forecast(said.append)
    for moment, fraction in [(0.0, 0.0), (9.0, 1e-6), (10.0, 2e-6), (11.0, 3e-6), (12.0, 4e-6)]:
        now[0] = moment
        forecast(fraction)
    assert said == ["about 12 days to go at this rate"]  # a second for 1e-6, once it was measured for two


@pytest.mark.parametrize(
    ("fractions", "expected"), [([0.0, 0.1, 0.5, 0.9], []), ([0.5, 0.5, 0.5], []), ([0.0, 0.0, 0.0], [])]
)
def test_nothing_is_said_of_a_short_rest(monkeypatch, fractions, expected):
    now, said = [0.0], []
    monkeypatch.setattr(progress_module.time, "monotonic", lambda: now[0])
    forecast = Forecast(said.append)
    for k, fraction in enumerate(fractions):
        now[0] = 3.0 * k
        forecast(fraction)
    assert said == expected


@pytest.mark.parametrize(
    ("seconds", "words"), [(61.0, "1 minutes"), (4e3, "1.1 hours"), (1e5, "1.2 days"), (1e12, "3.2e+04 years")]
)
def test_durations_in_words(seconds, words):
    assert in_time_units(seconds) == words
