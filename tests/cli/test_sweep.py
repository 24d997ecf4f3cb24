"""`naiad sweep` and `naiad resume`: files, failures, refusals; what a kill leaves is in `test_sweep_killed`."""

import csv
import json

import pytest

from naiad import io
from naiad.cli import sweep_progress
from naiad.cli.growing import growing_folder

FILES = ["report.html", "results.csv", "results.png", "summary.json", "sweep.toml", "table.csv", "table.zarr"]


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def lines(folder):
    """The rows of a table, without the seconds."""
    with open(folder / "table.csv", encoding="utf-8", newline="") as file:
        return [{key: value for key, value in row.items() if key != "seconds"} for row in csv.DictReader(file)]


def half_done(tmp_path, naiad, rows=2):
    """A sweep of four rows of which some were done when it was ended."""
    assert naiad("sweep", "tide", "-p", "depth=1..4:4", "--workers", 1, "--out", "whole").exit_code == 0
    partial = tmp_path / "part.partial"
    (partial / ".rows").mkdir(parents=True)
    (partial / ".lock").write_text("process 1 on a machine")
    (partial / "sweep.toml").write_text((tmp_path / "whole" / "sweep.toml").read_text())
    (partial / "table.csv").write_text("half a")
    (partial / "table.zarr").mkdir()
    row = '{"results": {"height": 70.5}, "units": {}, "warnings": [], "error": "", "seconds": 1.0}'
    for number in range(rows):
        (partial / ".rows" / f"{number}.json").write_text(row)


def test_a_sweep_writes_a_table_figures_and_a_report(naiad, tmp_path):
    done = naiad("sweep", "tide", "-p", "moon=full,new", "-p", "depth=0.1..0.001:3:log", "-p", "count=2", "--seeds", 2)
    assert done.exit_code == 0, done.stderr
    assert "tide: 12 rows (moon 2 x depth 3 x seed 2)" in done.stderr
    assert "a study may print" not in done.stderr
    assert "report: out/tide-sweep/report.html" in done.stdout
    folder = tmp_path / "out" / "tide-sweep"
    assert (names(folder), names(tmp_path / "out")) == (FILES, ["tide-sweep"])
    rows = lines(folder)
    assert [row["depth"] for row in rows[:6]] == ["0.1", "0.1", "0.01", "0.01", "0.001", "0.001"]
    assert rows[3]["height"] == repr(0.01**2 + 0.1)
    assert io.read(folder / "table.zarr").sizes["depth"] == 3
    summary = json.loads((folder / "summary.json").read_text())
    assert (summary["rows"], summary["failed"], summary["params"]["count"]) == (12, 0, 2)
    assert summary["swept"]["depth"] == [0.1, 0.01, 0.001]
    assert summary["files"] == [name for name in FILES if name != "summary.json"]
    again = naiad("sweep", "--config", folder / "sweep.toml", "-p", "count=3", "--workers", 1, "--out", "again")
    assert again.exit_code == 0, again.stderr
    assert [row["height"] for row in lines(tmp_path / "again")] == [row["height"] for row in rows]


def test_failed_rows_are_in_the_table_and_the_exit_code(naiad, tmp_path):
    done = naiad("sweep", "tide", "-p", "fail=no,run", "-p", "depth=1,2", "--workers", 1)
    assert done.exit_code == 1
    assert done.stderr.endswith(
        "naiad: 2 of 4 rows failed, and table.csv says why; the first: the tide does not turn; reduce depth\n"
    )
    assert [row["error"] != "" for row in lines(tmp_path / "out" / "tide-sweep")] == [False, False, True, True]
    kept = naiad("sweep", "tide", "-p", "fail=run", "-p", "depth=1,2", "--workers", 1)
    assert kept.exit_code == 1
    assert "all 2 rows failed, and nothing was written; the first: the tide does not turn" in kept.stderr
    assert names(tmp_path / "out") == ["tide-sweep"]
    assert len(lines(tmp_path / "out" / "tide-sweep")) == 4


def test_resume_runs_the_rows_that_are_missing(naiad, tmp_path):
    half_done(tmp_path, naiad)
    done = naiad("resume", "part", "--workers", 1)
    assert done.exit_code == 0, done.stderr
    assert "4 rows (depth 4), of which 2 are there" in done.stderr
    assert names(tmp_path) == ["part", "whole"]
    assert names(tmp_path / "part") == FILES
    assert [row["height"] for row in lines(tmp_path / "part")] == ["70.5", "70.5", "9.0", "16.0"]
    assert lines(tmp_path / "part")[2:] == lines(tmp_path / "whole")[2:]
    assert "nothing to resume: part is complete" in naiad("resume", "part").stderr


def test_rows_are_not_thrown_away_by_the_next_command(naiad, tmp_path):
    half_done(tmp_path, naiad)
    for command in (["sweep", "tide", "-p", "depth=1,2"], ["run", "pond"]):
        done = naiad(*command, "--out", "part")
        assert (done.exit_code, "`naiad resume part` goes on with it" in done.stderr) == (2, True), done.stderr
    assert names(tmp_path / "part.partial" / ".rows") == ["0.json", "1.json"]


def test_a_second_process_is_refused(naiad, tmp_path):
    half_done(tmp_path, naiad)
    with growing_folder(tmp_path / "busy", lambda folder: (folder / "sweep.toml").write_text("")):
        for command in (["sweep", "tide", "-p", "depth=1,2", "--out", "busy"], ["resume", "busy"]):
            done = naiad(*command)
            assert (done.exit_code, "another run is writing to" in done.stderr) == (2, True), done.stderr


def test_another_version_is_told(naiad, tmp_path):
    half_done(tmp_path, naiad, rows=4)
    file = tmp_path / "part.partial" / "sweep.toml"
    file.write_text(file.read_text().replace('naiad = "', 'naiad = "9.'))
    done = naiad("resume", "part.partial")
    assert done.exit_code == 0, done.stderr
    assert "warning: the sweep was begun with naiad 9." in done.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "sweep: which study? Give its name"),
        (["tied", "-p", "a=1,2"], "there is no study tied; did you mean tide?"),
        (["tide"], "no parameter has several values"),
        (["tide", "-p", "dept=1,2"], "tide has no parameter dept; did you mean depth?"),
        (["tide", "-p", "depth=1..2"], "depth=1..2: expected LO..HI:N"),
        (["tide", "-p", "depth=0..1:3:log"], "equal ratios need ends above 0"),
        (["tide", "-p", "depth="], "a value is empty"),
        (["tide", "-p", "depth"], "expected NAME=VALUE"),
        (["tide", "-p", "calm=true,false", "-p", "wind=1,2"], "the row calm=true: calm=true and a wind are both given"),
        (["tide", "-p", "depth=1,2", "--out", "file"], "expected a folder, but a file of that name is there"),
        (["tide", "-p", "depth=1,2", "--out", "mine"], "it holds what naiad did not write there (thesis.tex)"),
        (["tide", "-p", "depth=1,2", "--out", "other"], "other.partial is in the way, and is not of naiad"),
        (["tide", "-p", "depth=1,2", "--out", "file/x"], "cannot write file/x: "),
        (["tide", "-p", "depth=1,2", "--workers", "0"], "--workers 0: expected a whole number above 0"),
        (["tide", "-p", "depth=1,2", "--workers", "2", "--scheduler", "x"], "--workers and --scheduler are both given"),
        (["pond", "-p", "dt=1,2", "--seeds", "3"], "--seeds 3: pond has no parameter seed"),
        (["tide", "--config", "none.toml"], "cannot read none.toml"),
    ],
)
def test_bad_input_is_one_line(naiad, tmp_path, arguments, message):
    (tmp_path / "file").write_text("")
    for name in ("mine", "other.partial"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "thesis.tex").write_text("years")
    before = sorted(tmp_path.rglob("*"))
    done = naiad("sweep", *arguments)
    assert (done.exit_code, done.stdout, done.stderr.count("\n")) == (2, "", 1), done.stderr
    assert message in done.stderr
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.parametrize("folder", ["nowhere", ".", "mine"])
def test_resume_says_where_there_is_nothing_to_resume(naiad, tmp_path, folder):
    (tmp_path / "mine").mkdir()
    done = naiad("resume", folder)
    assert (done.exit_code, done.stderr.count("\n")) == (2, 1)
    assert "nothing to resume: " in done.stderr


def test_resume_of_a_damaged_sweep(naiad, tmp_path):
    half_done(tmp_path, naiad)
    (tmp_path / "part.partial" / "sweep.toml").write_text("study = ")
    done = naiad("resume", "part")
    assert (done.exit_code, "sweep.toml is not TOML" in done.stderr) == (2, True)


def test_the_time_that_is_left_is_told(naiad, monkeypatch):
    now = [0.0]
    monkeypatch.setattr(sweep_progress.time, "monotonic", lambda: now.append(now[-1] + 40.0) or now[-1])
    done = naiad("sweep", "tide", "-p", "depth=1..5:5", "--workers", 1)
    told = [line for line in done.stderr.splitlines() if "to go" in line]
    assert told[0] == "naiad: tide: 1 of 5 rows, about 2.7 minutes to go at this rate; Ctrl-C keeps the rows"
    assert len(told) == 2  # a minute between two lines


def test_an_interrupt_keeps_the_rows(process, tmp_path):
    code = (
        "import os, signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "from naiad.studies.sweeps import kept\n"
        "own = kept.keep\n"
        "def keep(row, number, folder):\n"
        "    own(row, number, folder)\n"
        "    number == 2 and os.kill(os.getpid(), signal.SIGINT)\n"
        "kept.keep = keep\n"
        "sys.argv = ['naiad', 'sweep', 'tide', '-p', 'depth=1..9:9', '--workers', '1', '--out', 'a b']\n"
        "import tests.cli.naiad_with_pond\n"
    )
    done = process.python("-c", code)
    assert done.returncode == 130
    assert done.stderr.endswith("naiad: interrupted; 2 of 9 rows are kept: `naiad resume 'a b'` goes on\n"), done.stderr
    assert names(tmp_path / "a b.partial" / ".rows") == ["0.json", "1.json", "2.json"]
