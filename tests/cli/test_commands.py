"""The other commands, and what the command line says to a mistake."""

import inspect
import json
import os
import pathlib
import subprocess
import sys
import types
import webbrowser
from typing import NamedTuple

import pytest

from naiad import studies
from naiad.cli import options
from naiad.compiler.backends.cuda import driver
from naiad.compiler.backends.llvm.machine import processor
from naiad.compiler.cache import Cache
from naiad.errors import DeviceError, InputError


def test_list_has_one_line_a_study(naiad):
    done = naiad("list")
    assert done.exit_code == 0
    assert [line.split()[0] for line in done.stdout.splitlines()].count("pond") == 1
    assert "Ripples on a <small> pond." in done.stdout
    assert {"name": "pond", "summary": "Ripples on a <small> pond."} in json.loads(naiad("list", "--json").stdout)


def test_show_tells_what_to_give_and_expect(naiad):
    text = naiad("show", "pond").stdout
    for part in (
        "Expect `rings` that spread & fade.",
        'Paper: Thales, "On water" (section 1 < 2)',
        "kg m^2",
        "1,2,3",
        "initial momentum",
        "a finite number above 0",
        "Cayley map",
        "naiad run pond -p dt=0.01",
    ):
        assert part in text


def test_show_has_the_parameters_in_groups(naiad):
    lines = naiad("show", "pond").stdout.splitlines()
    first = [
        line.split()[0] for line in lines[lines.index(next(x for x in lines if x.startswith("parameter"))) :] if line
    ]
    order = [first.index(name) for name in ("physics", "J", "start", "Pi0", "numerics", "method", "dt", "steps")]
    assert order == sorted(order)


def test_show_json_describes_every_parameter(naiad):
    described = json.loads(naiad("show", "pond", "--json").stdout)
    by_name = {each["name"]: each for each in described["parameters"]}
    assert described["study"] == "pond"
    assert by_name["J"]["default"] == [1.0, 2.0, 3.0]
    assert by_name["J"]["unit"] == "kg m^2"
    assert {name: by_name[name]["group"] for name in ("J", "Pi0", "dt")} == {
        "J": "physics",
        "Pi0": "start",
        "dt": "numerics",
    }
    assert by_name["method"]["choices"] == {"cay": "Cayley map", "exp": "exponential"}
    assert (by_name["Pi0"]["default"], by_name["Pi0"]["optional"]) == (None, True)


def test_help_and_version(naiad):
    assert naiad().stdout == naiad("--help").stdout
    assert "naiad run NAME" in naiad().stdout
    assert naiad("--version").stdout.startswith("naiad ")
    assert naiad("--version").exit_code == 0


def test_info_names_the_back_ends(naiad):
    done = naiad("info")
    assert done.exit_code == 0
    rows = dict(line.split(maxsplit=1) for line in done.stdout.splitlines())
    cpu = processor()
    assert {"numpy", "llvmlite"} <= set(rows)
    assert "XLA on cpu" in done.stdout
    assert f"machine code for {cpu.name}, {cpu.triple}" in done.stdout
    assert rows["lanes"].startswith(f"{cpu.width} doubles")
    assert rows["fused"].split() == ["multiply-add", "yes" if cpu.fma else "no"]


def test_info_names_the_gpus(naiad, monkeypatch):
    class Found(NamedTuple):
        name: str = "made up"
        architecture: str = "sm_90"
        memory: int = 80 * 2**30

    monkeypatch.setattr(driver, "devices", lambda: (Found(), Found()))
    assert naiad("info").stdout.count("made up, sm_90, 80 GiB") == 2

    def none():
        raise DeviceError("no GPU was found.")

    monkeypatch.setattr(driver, "devices", none)
    assert "no GPU was found." in naiad("info").stdout


def test_gpu_is_for_the_ensembles_of_this_machine(naiad, monkeypatch, tmp_path):
    monkeypatch.setenv("NAIAD_DEVICE", "cpu")
    for command in (("run", "rigid-body", "-p", "t1=0.1"), ("sweep", "rigid-body", "-p", "dt=0.1,0.2")):
        refused = naiad(*command, "--gpu", "--out", str(tmp_path / "run"))
        assert refused.exit_code == 2
        assert "--gpu has no effect on rigid-body, which runs no ensemble; leave it out" in refused.stderr
        assert not (tmp_path / "run").exists()
    assert os.environ["NAIAD_DEVICE"] == "cpu"
    options.ask_for_gpu(studies.find("falling-plate"))
    assert os.environ["NAIAD_DEVICE"] == "gpu"
    refused = naiad("sweep", "rigid-body", "-p", "dt=0.1,0.2", "--gpu", "--scheduler", "tcp://127.0.0.1:1")
    assert refused.exit_code == 2
    assert "set NAIAD_DEVICE=gpu where the workers of --scheduler are started" in refused.stderr


def test_studies_say_whether_they_run_an_ensemble():
    """By the modules of naiad's studies that call `simulate_many`, and those that take it from them."""
    home = pathlib.Path(studies.__file__).parent
    asking = {path.stem for path in home.rglob("*.py") if "simulate_many" in path.read_text()}
    sources = {name: pathlib.Path(inspect.getfile(studies.find(name))) for name in studies.STUDIES}
    taken = {
        name
        for name, path in sources.items()
        if path.stem in asking or any(f"{path.parent.name}.{module} import" in path.read_text() for module in asking)
    }
    assert taken == {name for name in studies.STUDIES if studies.find(name).ensemble}


def test_info_shows_the_cache(naiad, tmp_path, monkeypatch):
    def shown():
        return next(line.split(maxsplit=1)[1].strip() for line in naiad("info").stdout.splitlines() if "cache" in line)

    folder = tmp_path / "cache"
    monkeypatch.setenv("NAIAD_CACHE_DIR", str(folder))
    assert shown() == f"{folder}: 0 entries, 0.0 MiB"
    Cache(folder).store("ab12", bytes(2**21))
    assert shown() == f"{folder}: 1 entry, 2.0 MiB"
    monkeypatch.setenv("NAIAD_CACHE_DIR", "")
    assert shown() == "off"


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        (["rum"], ["No such command 'rum'. Did you mean 'run', 'resume'?", "`naiad --help`"]),
        (["--loud"], ["No such option: --loud", "`naiad --help`"]),
        (["run"], ["run: which study? Give its name (`naiad list` lists them)"]),
        (["show"], ["Missing argument 'NAME'", "`naiad show --help`"]),
        (["run", "pond", "--outt", "x"], ["No such option: --outt", "--out", "`naiad run --help`"]),
        (["run", "pond", "-p"], ["Option '-p' requires an argument; `naiad --help`"]),
        (["run", "pnd"], ["there is no study pnd; did you mean pond? `naiad list` lists them"]),
        (["show", "[bold]x"], ["there is no study [bold]x; `naiad list` lists them"]),
        (["run", "pond", "-p", "dtt=1"], ["pond has no parameter dtt; did you mean dt? `naiad show pond` lists them"]),
        (["run", "pond", "-p", "dt=nan", "--json"], ["dt=nan: expected a finite number above 0 (in s)"]),
        (["run", "pond", "-p", "damped=yes"], ["damped=true needs Pi0"]),
        (["view", "nowhere"], ["nowhere: there is no such folder"]),
        (["view", "."], [".: it holds no result.zarr"]),
        (["live", "crane"], ["crane has no live page", "buoyant-vehicle", "underwater-vehicle"]),
        (["live", "heavy-top", "--out", "top.txt"], ["--out top.txt", "name it top.html"]),
        (["live", "heavy-top", "--beside", "magic"], ["method=magic", "cay"]),
        (["live", "eel", "--beside", "rk4"], ["eel has no parameter method"]),
    ],
)
def test_bad_input_is_one_line_and_code_2(naiad, arguments, parts):
    done = naiad(*arguments)
    assert done.exit_code == 2
    assert done.stdout == ""
    assert done.stderr.startswith("naiad: ")
    assert done.stderr.count("\n") == 1
    for part in parts:
        assert part in done.stderr


@pytest.fixture
def viewed(monkeypatch, naiad, tmp_path):
    """A result to view, a stand-in for naiad.viz, and the pages that were opened."""
    naiad("run", "pond")
    opened = []
    monkeypatch.setattr(webbrowser, "open", opened.append)
    viz = types.ModuleType("naiad.viz")
    viz.animate = lambda dataset, path, **words: path.write_text(f"motion of {sorted(dataset.variables)}")
    monkeypatch.setitem(sys.modules, "naiad.viz", viz)
    return viz, tmp_path / "out" / "pond" / "motion.html", opened


def test_view_makes_the_page_once_and_opens_it(naiad, viewed):
    viz, page, opened = viewed
    done = naiad("view", "out/pond")
    assert (done.exit_code, done.stdout) == (0, "out/pond/motion.html\n")
    assert page.read_text() == "motion of ['height', 'time']"
    assert opened == [page.as_uri()]
    viz.animate = None
    assert naiad("view", "out/pond", "--no-open").exit_code == 0
    assert len(opened) == 1


def test_live_writes_the_page_of_a_study_and_opens_it(naiad, monkeypatch, tmp_path):
    opened, asked = [], []

    def page(study, beside):
        asked.append((study.mgl, study.method, None if beside is None else (beside.mgl, beside.method)))
        return "a page"

    monkeypatch.setattr("naiad.studies.live.study_page", page)
    monkeypatch.setattr(webbrowser, "open", opened.append)
    assert naiad("live", "heavy-top", "-p", "mgl=5").stdout.strip() == "heavy-top.html"
    assert (tmp_path / "heavy-top.html").read_text() == "a page"
    assert opened == [(tmp_path / "heavy-top.html").resolve().as_uri()]
    done = naiad("live", "heavy-top", "-p", "mgl=6", "--beside", "rk4", "--out", "top.html", "--no-open")
    assert done.exit_code == 0
    assert len(opened) == 1
    assert asked == [(5.0, "cay", None), (6.0, "cay", (6.0, "rk4"))]


def test_view_says_why_there_is_no_page(naiad, viewed):
    viz, page, opened = viewed
    before = sorted(page.parent.iterdir())

    def breaks(dataset, path, **words):
        raise InputError("this dataset has no motion to show")

    viz.animate = breaks
    done = naiad("view", "out/pond")
    assert (done.exit_code, done.stderr) == (2, "naiad: this dataset has no motion to show\n")
    assert (sorted(page.parent.iterdir()), opened) == (before, [])


def test_view_of_a_damaged_result(naiad, viewed):
    _, page, _ = viewed
    (page.parent / "result.zarr" / "zarr.json").write_text("{")
    done = naiad("view", "out/pond")
    assert done.exit_code == 2
    assert "result.zarr is damaged" in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("run poi", ["poincare-section"]),
        ("show rigid", ["rigid-body"]),
        ("run eel -p d", ["density=", "damping=", "dt="]),
        ("sweep poi", ["poincare-section"]),
        ("sweep eel -p d", ["density=", "damping=", "dt="]),
    ],
)
def test_a_shell_completes_names_of_studies_and_of_their_parameters(line, expected):
    words = f"naiad {line}"
    environment = os.environ | {
        "_NAIAD_COMPLETE": "complete_bash", "COMP_WORDS": words, "COMP_CWORD": str(len(words.split()) - 1),
    }  # fmt: skip
    done = subprocess.run([sys.executable, "-m", "naiad"], env=environment, capture_output=True, text=True, check=False)
    assert done.stdout.split() == expected
