import os
import subprocess
import sys
from pathlib import Path

import pytest

from naiad.cli.folder import result_folder, seal
from naiad.errors import InputError

SOURCE = str(Path(__file__).parents[2] / "src")


def fill(wanted, text="new", error=None):
    with result_folder(Path(wanted)) as aside:
        (aside / "report.html").write_text(text)
        if error is not None:
            raise error
        seal(aside, '{"files": ["report.html"]}')


@pytest.fixture(autouse=True)
def inside(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)


def test_nothing_shows_before_the_end(tmp_path):
    fill("result", "old")
    with result_folder(Path("result")) as aside:
        (aside / "report.html").write_text("new")
        assert (tmp_path / "result" / "report.html").read_text() == "old"
        assert aside.name == "result.partial"
        seal(aside, "{}")
    assert (tmp_path / "result" / "report.html").read_text() == "new"
    assert [path.name for path in tmp_path.iterdir()] == ["result"]


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
def test_a_failure_keeps_the_old_and_leaves_nothing_new(tmp_path, error):
    fill("result", "old")
    for wanted in ("result", "deep/er/result"):
        with pytest.raises(error):
            fill(wanted, "new", error)
    assert (tmp_path / "result" / "report.html").read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["result"]


def test_an_empty_folder_may_be_used(tmp_path):
    (tmp_path / "result").mkdir()
    fill("result")
    assert (tmp_path / "result" / "report.html").exists()


def test_a_link_is_followed(tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    fill("link")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real" / "report.html").exists()


def refusal(wanted) -> str:
    with pytest.raises(InputError) as caught, result_folder(Path(wanted)):
        pytest.fail("the run started")
    return str(caught.value)


def test_what_naiad_did_not_write_is_never_touched(tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.tex").write_text("years")
    assert refusal("mine") == (
        "--out mine: it holds what naiad did not write there (thesis.tex); choose another folder"
    )
    fill("result")
    (tmp_path / "result" / "notes.txt").write_text("mine")
    assert "(notes.txt)" in refusal("result")
    (tmp_path / "result" / "notes.txt").unlink()
    (tmp_path / "result" / "motion.html").write_text("made by naiad view")
    (tmp_path / "result" / "live.html").write_text("made by naiad live")
    fill("result", "newer")
    (tmp_path / "result" / "summary.json").write_text("[damaged")
    assert "(report.html, summary.json)" in refusal("result")


def test_other_places_that_cannot_be(tmp_path):
    (tmp_path / "file").write_text("")
    assert "expected a folder, but a file of that name is there" in refusal("file")
    assert "is in use and cannot be replaced; choose a new one inside it" in refusal(".")
    assert refusal("file/inside").startswith("cannot write file/inside: ")


def test_an_unwritable_place_is_found_before_the_run(monkeypatch, tmp_path):
    def refuse(*args, **kwargs):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "mkdir", refuse)
    assert refusal("result") == "cannot write result: Permission denied; choose a place that can be written"
    assert list(tmp_path.iterdir()) == []


def test_the_old_result_comes_back_if_the_new_one_cannot_move(monkeypatch, tmp_path):
    fill("result", "old")
    rename = Path.rename

    def fails_for_the_new(self, target):
        if self.name == "result.partial":
            raise OSError(5, "Input/output error")
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", fails_for_the_new)
    with pytest.raises(Exception, match="cannot write result: Input/output error"):
        fill("result", "new")
    assert (tmp_path / "result" / "report.html").read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["result"]


def test_two_runs_cannot_have_one_place(tmp_path):
    with result_folder(Path("result")) as aside:
        assert f"another run is writing to {aside} now (process {os.getpid()} on " in refusal("result")
        (aside / "report.html").write_text("first")
        seal(aside, '{"files": ["report.html"]}')
    assert (tmp_path / "result" / "report.html").read_text() == "first"
    assert sorted(path.name for path in (tmp_path / "result").iterdir()) == ["report.html", "summary.json"]


def test_what_a_killed_run_left_is_removed_by_the_next(tmp_path):
    killed = (
        "import os, signal\nfrom pathlib import Path\nfrom naiad.cli.folder import result_folder\n"
        "with result_folder(Path('result')) as aside:\n"
        "    (aside / 'half.png').write_text('')\n    os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    subprocess.run([sys.executable, "-c", killed], cwd=tmp_path, env=os.environ | {"PYTHONPATH": SOURCE})
    assert (tmp_path / "result.partial" / "half.png").exists()
    fill("result")
    assert [path.name for path in tmp_path.iterdir()] == ["result"]


def test_a_folder_of_that_name_that_is_not_naiads_stays(tmp_path):
    (tmp_path / "result.partial").mkdir()
    (tmp_path / "result.partial" / "mine.txt").write_text("")
    assert "result.partial is in the way, and is not of naiad" in refusal("result")
    assert (tmp_path / "result.partial" / "mine.txt").exists()
