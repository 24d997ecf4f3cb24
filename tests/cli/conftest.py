"""The command line in this process, and in one of its own, both with the studies `pond` and `tide`."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from naiad import studies

ROOT = Path(__file__).parents[2]


@pytest.fixture
def naiad(monkeypatch, tmp_path):
    """Call a command in an empty folder."""
    from naiad.cli.app import app

    monkeypatch.setitem(studies.STUDIES, "pond", "tests.studies.pond:Pond")
    monkeypatch.setitem(studies.STUDIES, "tide", "tests.studies.tide:Tide")
    monkeypatch.chdir(tmp_path)
    return lambda *args: CliRunner().invoke(app, list(map(str, args)), prog_name="naiad")


class Process:
    """Runs modules with Python in processes of their own, in an empty folder."""

    def __init__(self, folder: Path):
        self.folder = folder
        paths = os.pathsep.join([str(ROOT / "src"), str(ROOT)])
        self.environment = os.environ | {"PYTHONPATH": paths, "COLUMNS": "80"}

    def __call__(self, *arguments: str, module: str = "tests.cli.naiad_with_pond") -> subprocess.CompletedProcess[str]:
        return self.python("-m", module, *arguments)

    def hearing(self, handler: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        """A command in a process that starts with this handler of SIGINT, whatever the shell has done with it."""
        start = (
            f"import signal, sys; signal.signal(signal.SIGINT, signal.{handler}); sys.argv = {['naiad', *arguments]!r}"
        )
        return self.python("-c", f"{start}; import tests.cli.naiad_with_pond")

    def python(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, *arguments]
        return subprocess.run(
            command, cwd=self.folder, env=self.environment, capture_output=True, text=True, timeout=600
        )


@pytest.fixture
def process(tmp_path):
    """Call a command as a process."""
    return Process(tmp_path)
