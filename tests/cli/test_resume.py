"""`naiad resume`: a study that was killed ends with the files of one that was not."""

import json
import os
import re
import shutil
import signal

import pytest

from naiad import io, studies
from naiad.simulation import drive, journal
from tests.simulation.killed_runs import child, contents

SPIN = "tests.studies.spin:Spin"
ARGUMENTS = ("run", "spin", "-p", "t1=300", "--out", "result")


@pytest.fixture(autouse=True)
def kept(monkeypatch):
    """A run is kept after its first piece, and has many."""
    monkeypatch.setitem(studies.STUDIES, "spin", SPIN)
    monkeypatch.setattr(journal, "SECONDS", 0.0)
    monkeypatch.setattr(drive, "CHUNK_SECONDS", 2e-3)
    monkeypatch.setattr(drive, "BUDGETS", {})


def files(folder):
    """What a folder holds, but for dates and durations, and for names in pictures that are made at random."""
    found = contents(folder)
    summary = json.loads(found.pop("summary.json"))
    found.pop("report.html")
    return found | {name: value for name, value in summary.items() if name not in ("elapsed_s", "date")}


def stop_at(monkeypatch, share, how):
    """The study is ended on its way."""
    from naiad.studies.progress import Progress

    own = Progress.__call__

    def call(progress, fraction):
        own(progress, fraction)
        if fraction > share:
            how()

    monkeypatch.setattr(Progress, "__call__", call)


def killed(naiad, monkeypatch, share=0.5, more=()):
    """A study that is killed: in a fork of this process."""

    def end():
        os.kill(os.getpid(), signal.SIGKILL)

    with monkeypatch.context() as patch:
        stop_at(patch, share, end)
        _, status = os.waitpid(child(lambda: naiad(*ARGUMENTS, *more)), 0)
    assert os.waitstatus_to_exitcode(status) == -signal.SIGKILL


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    return tmp_path_factory.mktemp("whole")


@pytest.fixture
def whole(naiad, shared):
    """The folder of a study that was not stopped."""
    if not (shared / "result").exists():
        assert naiad("run", "spin", "-p", "t1=300", "--out", shared / "result").exit_code == 0
    return files(shared / "result")


@pytest.mark.parametrize("command", [("resume", "result"), ("resume", "result.partial"), ARGUMENTS])
def test_a_killed_study_goes_on(naiad, whole, monkeypatch, tmp_path, command):
    killed(naiad, monkeypatch)
    (run,) = (tmp_path / "result.partial" / ".runs").glob("*.zarr.partial")
    assert 0.0 < io.read(run).attrs["t"] < 300.0
    assert (tmp_path / "result.partial" / "study.toml").read_text().startswith('study = "spin"')
    (tmp_path / "result.partial" / "half.png").touch()
    steps = []
    own = drive._advance
    monkeypatch.setattr(drive, "_advance", lambda plan, at, *rest: steps.append(int(at.node)) or own(plan, at, *rest))
    done = naiad(*command)
    assert done.exit_code == 0, done.stderr
    assert steps[0] > 0
    assert files(tmp_path / "result") == whole
    assert os.listdir(tmp_path) == ["result"]


def test_a_live_page_that_was_asked_for_is_made(naiad, monkeypatch, tmp_path):
    monkeypatch.setattr("naiad.studies.study.Study.live", lambda study: None)
    monkeypatch.setattr("naiad.studies.live.study_page", lambda study: f"live: {study.name}")
    killed(naiad, monkeypatch, more=("--live",))
    assert naiad("resume", "result").exit_code == 0
    assert (tmp_path / "result" / "live.html").read_text() == "live: spin"
    assert "live.html" in (tmp_path / "result" / "report.html").read_text()


def test_a_run_that_had_ended_is_not_done_again(naiad, whole, monkeypatch, tmp_path):
    from naiad.cli import running

    def end(*_):
        os.kill(os.getpid(), signal.SIGKILL)

    with monkeypatch.context() as patch:
        patch.setattr(running, "_write", end)
        os.waitpid(child(lambda: naiad(*ARGUMENTS)), 0)
    (run,) = (tmp_path / "result.partial" / ".runs").iterdir()
    assert run.suffix == ".zarr"
    monkeypatch.setattr(drive, "_advance", None)
    done = naiad("resume", "result")
    assert done.exit_code == 0, done.stderr
    assert files(tmp_path / "result") == whole


def test_other_parameters_begin_anew(naiad, monkeypatch, tmp_path):
    killed(naiad, monkeypatch)
    done = naiad("run", "spin", "-p", "t1=2", "--out", "result")
    assert done.exit_code == 0, done.stderr
    assert io.read(tmp_path / "result" / "result.zarr").attrs["run"]["t1"] == 2.0
    assert os.listdir(tmp_path) == ["result"]


def test_a_damaged_run_is_done_again(naiad, whole, monkeypatch, tmp_path):
    killed(naiad, monkeypatch)
    (run,) = (tmp_path / "result.partial" / ".runs").glob("*.zarr.partial")
    (run / "Pi" / "c" / "0" / "0").write_bytes(b"")
    assert naiad("resume", "result").exit_code == 0
    assert files(tmp_path / "result") == whole


def test_a_full_disk_ends_a_study_that_can_go_on(naiad, whole, monkeypatch, tmp_path):
    from naiad.io import places

    own, left = places.put, iter(range(30))

    def full(path, *contents, **options):
        if next(left, None) is None:
            raise OSError(28, "No space left on device")
        own(path, *contents, **options)

    with monkeypatch.context() as patch:
        patch.setattr(places, "put", full)
        patch.setattr("naiad.io.writer.FLUSH_SECONDS", 0.0)
        done = naiad(*ARGUMENTS)
    assert done.exit_code == 1
    assert "No space left on device; what was written before is at" in done.stderr
    assert "`naiad resume result` goes on" in done.stderr
    assert naiad("resume", "result").exit_code == 0
    assert files(tmp_path / "result") == whole


def test_a_signal_keeps_the_runs_of_a_study(naiad, process, whole, tmp_path):
    """SIGTERM ends it at once, and the command goes on."""
    start = (
        "import os, signal, sys; from naiad.simulation import drive, journal; journal.SECONDS = 0.0; "
        "drive.CHUNK_SECONDS = 2e-3; from naiad.studies.progress import Progress; own = Progress.__call__; "
        "Progress.__call__ = lambda self, f: (own(self, f), f > 0.5 and os.kill(os.getpid(), signal.SIGTERM)); "
        f"from naiad import studies; studies.STUDIES['spin'] = {SPIN!r}; "
        f"sys.argv = {['naiad', *ARGUMENTS]!r}; from naiad.cli import main; main()"
    )
    done = process.python("-c", start)
    assert (done.returncode, done.stderr) == (143, "naiad: terminated; `naiad resume result` goes on\n")
    assert os.listdir(tmp_path) == ["result.partial"]
    assert naiad("resume", "result").exit_code == 0
    assert files(tmp_path / "result") == whole


def test_what_cannot_be_resumed_is_told(naiad, tmp_path):
    def refused(folder="result"):
        done = naiad("resume", folder)
        assert done.exit_code == 2
        return done.stderr.strip()

    assert refused() == "naiad: nothing to resume: there is no result, and nothing that was on its way there."
    (tmp_path / "result").mkdir()
    assert "result has no study.toml of a study; `naiad run NAME --out result` begins" in refused()
    shutil.rmtree(tmp_path / "result")
    assert naiad("run", "pond", "--out", "result").exit_code == 0
    assert refused() == "naiad: nothing to resume: result is complete."


def test_a_study_that_is_on_its_way_is_not_resumed(naiad, monkeypatch, tmp_path):
    refusals = []

    def also():
        if not refusals:
            refusals.append(naiad("resume", "result").stderr)

    stop_at(monkeypatch, 0.5, also)
    assert naiad(*ARGUMENTS).exit_code == 0
    assert re.search(r"another run is writing to .*result\.partial now \(process \d+ on ", refusals[0])
