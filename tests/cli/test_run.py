import json
import re
import time

import numpy as np
import pytest

from naiad import io, studies
from naiad.studies import figures

FILES = ["report.html", "result.zarr", "study.toml", "summary.json", "wave_height.csv", "wave_height.png"]


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_a_run_shows_and_keeps_its_findings(naiad, tmp_path):
    done = naiad("run", "pond", "-p", "dt=0.5")
    assert done.exit_code == 0, done.stderr
    assert re.search(r"^energy +0\.333333 +J <a ring> *$", done.stdout, re.MULTILINE)
    assert "out/pond/report.html" in done.stdout
    assert "a study may print" in done.stderr
    folder = tmp_path / "out" / "pond"
    assert names(folder) == FILES
    assert names(tmp_path / "out") == ["pond"]
    result = io.read(folder / "result.zarr")
    np.testing.assert_array_equal(result["time"], 0.5 * np.arange(11))
    assert result.attrs["study"] == "pond"
    assert result.attrs["study_parameters"]["dt"] == 0.5
    summary = json.loads((folder / "summary.json").read_text())
    assert (summary["study"], summary["params"]["dt"]) == ("pond", 0.5)
    assert summary["files"] == [name for name in FILES if name != "summary.json"]
    assert "Ripples on a &lt;small&gt; pond." in (folder / "report.html").read_text()


def test_what_moves_is_shown_beside_the_report(naiad, tmp_path, monkeypatch):
    monkeypatch.setitem(studies.STUDIES, "spin", "tests.studies.spin:Spin")
    assert naiad("run", "spin", "-p", "t1=2").exit_code == 0
    folder = tmp_path / "out" / "spin"
    page = (folder / "motion.html").read_text()
    assert "<h1>Spin</h1>" in page
    assert '<p id="subtitle">A body that turns. t1 = 2 s</p>' in page
    report = (folder / "report.html").read_text()
    assert '<a href="motion.html">' in report
    assert "t1 = 2 s" in report
    (folder / "motion.html").unlink()
    assert naiad("view", "out/spin", "--no-open").exit_code == 0
    assert (folder / "motion.html").read_text() == page
    other = io.read(folder / "result.zarr").assign_attrs(study="gone")
    io.write(other, folder / "result.zarr", overwrite=True)
    (folder / "motion.html").unlink()
    assert naiad("view", "out/spin", "--no-open").exit_code == 0
    assert "<h1>Gone</h1>" in (folder / "motion.html").read_text()


def test_json_is_one_object_and_no_files(naiad, tmp_path):
    done = naiad("run", "pond", "--json", "-p", "J=1,0,0;0,2,0;0,0,3", "-p", "method=EXP")
    assert done.exit_code == 0
    record = json.loads(done.stdout, parse_constant=pytest.fail)
    assert list(record) == ["study", "params", "results", "elapsed_s"]
    assert record["study"] == "pond"
    assert record["params"]["J"] == [[1, 0, 0], [0, 2, 0], [0, 0, 3]]
    assert record["params"]["method"] == "exp"
    assert record["params"]["Pi0"] is None
    assert record["results"] == {"energy": 1 / 3, "drift": None, "Pi": [1.0, None, 0.1], "n": 3}
    assert record["elapsed_s"] > 0
    assert done.stdout.count("\n") == 1
    assert names(tmp_path) == []


def test_the_time_that_is_told_is_that_of_all(naiad, tmp_path, monkeypatch):
    """Figures may take longer than the run."""
    own = figures.draw
    monkeypatch.setattr(figures, "draw", lambda *args: (time.sleep(0.3), own(*args))[1])
    assert json.loads(naiad("run", "pond", "--json", "--out", "a").stdout)["elapsed_s"] > 0.3
    assert json.loads((tmp_path / "a" / "summary.json").read_text())["elapsed_s"] > 0.3


def test_a_result_holds_the_file_that_repeats_it(naiad, tmp_path):
    first = naiad("run", "pond", "--out", "a", "-p", "J=1,0,0;0,2,0;0,0,3", "-p", "method=exp", "-p", "dt=0.1")
    assert first.exit_code == 0, first.stderr
    records = [
        json.loads(naiad("run", *options, "--json").stdout)
        for options in (
            ("--config", "a/study.toml"),
            ("pond", "--config", "a/study.toml"),
            ("--config", "a/study.toml", "-p", "dt=0.2"),
        )
    ]
    kept = json.loads((tmp_path / "a" / "summary.json").read_text())
    assert [record["params"] == kept["params"] for record in records] == [True, True, False]
    assert records[2]["params"]["dt"] == 0.2


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("study = ", "is not TOML"),
        ("dt = 1.0", "dt is not known; expected study = ..., and a table [parameters]."),
        ("[parameters]\ndt = 1.0", 'expected study = "NAME"'),
        ('study = "pond"\nparameters = 3', "and a table [parameters]"),
        ('study = "pond"\n[parameters]\nrain = 1', "pond has no parameter rain"),
        ('study = "lake"', "lake"),
        (None, "cannot read"),
    ],
)
def test_a_bad_file_of_parameters_is_told(naiad, tmp_path, text, message):
    if text is not None:
        (tmp_path / "a.toml").write_text(text)
    done = naiad("run", "--config", "a.toml")
    assert (done.exit_code, message in done.stderr) == (2, True), done.stderr


def test_a_name_or_a_file_is_needed_and_they_must_agree(naiad, tmp_path):
    (tmp_path / "a.toml").write_text('study = "pond"')
    assert "which study?" in naiad("run").stderr
    assert "is for pond, not for eel" in naiad("run", "eel", "--config", "a.toml").stderr


def test_json_with_a_folder_does_both(naiad, tmp_path):
    done = naiad("run", "pond", "--json", "--out", "a/b")
    record = json.loads(done.stdout)
    summary = json.loads((tmp_path / "a" / "b" / "summary.json").read_text())
    assert {key: summary[key] for key in record} == record


@pytest.mark.parametrize(
    ("failure", "code", "message"),
    [
        ("run", 1, "naiad: Newton did not converge at t=0.1; reduce dt\n"),
        ("crash", 1, "naiad: unexpected KeyError: 'rings'; "),
        ("file", 1, "naiad: unexpected FileNotFoundError: [Errno 2] No such file or directory: 'waves.csv'; "),
        ("figure", 1, "naiad: unexpected ValueError: no ink; "),
        ("result", 1, "naiad: unexpected TypeError: a result must be "),
    ],
)
@pytest.mark.parametrize("before", [True, False])
def test_a_failed_run_leaves_things_as_they_were(naiad, tmp_path, failure, code, message, before):
    if before:
        assert naiad("run", "pond", "-p", "dt=0.5").exit_code == 0
    kept = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")}
    done = naiad("run", "pond", "-p", f"fail={failure}")
    assert done.exit_code == code
    assert message in done.stderr
    assert done.stdout == ""
    assert "Traceback" not in done.stderr
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*") if path.name != "out"} == {
        path: time for path, time in kept.items() if path.name != "out"
    }
    assert (tmp_path / "out").exists() == before


def test_only_naiads_own_warnings_reach_the_user(naiad):
    done = naiad("run", "pond", "-p", "fail=warn", "--json")
    assert done.stderr == "a study may print\nnaiad: warning: the pond is small\n"
    assert json.loads(done.stdout)["study"] == "pond"


def test_debug_shows_the_traceback(naiad):
    done = naiad("run", "pond", "-p", "fail=crash", "--debug")
    assert done.exit_code == 1
    assert "Traceback (most recent call last)" in done.stderr
    assert "unexpected KeyError: 'rings'" in done.stderr


def test_a_run_replaces_its_own_folder(naiad, tmp_path):
    naiad("run", "pond", "-p", "dt=0.5")
    assert naiad("run", "pond", "-p", "dt=0.25").exit_code == 0
    assert json.loads((tmp_path / "out/pond/summary.json").read_text())["params"]["dt"] == 0.25
    assert names(tmp_path / "out") == ["pond"]
