"""What only a process of its own can show: imports, signals, streams."""

import json

import pytest

HEAVY = ["jax", "matplotlib", "xarray", "zarr", "numpy", "scipy"]


@pytest.mark.parametrize("arguments", [["list"], ["--version"]])
def test_light_commands_import_nothing_heavy(process, arguments):
    check = (
        "import contextlib, runpy, sys\n"
        f"sys.argv = ['naiad', *{arguments!r}]\n"
        "with contextlib.suppress(SystemExit):\n"
        "    runpy.run_module('tests.cli.naiad_with_pond', run_name='__main__')\n"
        f"print('heavy:', sorted(set(sys.modules) & set({HEAVY!r})))\n"
    )
    done = process.python("-c", check)
    assert done.stdout.endswith("heavy: []\n"), done.stdout


def test_json_goes_through_a_pipe(process, tmp_path):
    done = process("run", "pond", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["results"]["energy"] == 1 / 3
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("signal", "code"), [("interrupt", 130), ("terminate", 143)])
def test_a_signal_leaves_nothing_half_written(process, tmp_path, signal, code):
    done = process.hearing("default_int_handler", "run", "pond", "-p", f"fail={signal}")
    assert done.returncode == code
    assert "Traceback" not in done.stderr
    assert list(tmp_path.iterdir()) == []
    assert ("naiad: interrupted; nothing was written" in done.stderr) == (signal == "interrupt")


def test_an_ignored_interrupt_stays_ignored(process, tmp_path):
    done = process.hearing("SIG_IGN", "run", "pond", "-p", "fail=interrupt")
    assert done.returncode == 0
    assert (tmp_path / "out" / "pond" / "summary.json").exists()


@pytest.mark.parametrize(("signal", "code"), [("dropped-interrupt", 130), ("dropped-terminate", 143)])
def test_a_signal_that_a_callback_drops_ends_the_run_as_well(process, tmp_path, signal, code):
    done = process.hearing("default_int_handler", "run", "pond", "-p", f"fail={signal}")
    assert done.returncode == code
    assert done.stderr in ("a study may print\nnaiad: interrupted; nothing was written\n", "a study may print\n")
    assert list(tmp_path.iterdir()) == []


def test_an_unwritable_folder_is_told_before_the_run(process):
    done = process("run", "pond", "--out", "/proc/naiad/result")
    assert done.returncode == 2
    assert done.stderr.startswith("naiad: cannot write /proc/naiad/result: ")
    assert "a study may print" not in done.stderr


def test_python_m_naiad_is_the_command_line(process):
    done = process("--version", module="naiad")
    assert (done.returncode, done.stdout.split()[0]) == (0, "naiad")
