"""How soon the command line answers."""

import subprocess
import sys

import pytest


@pytest.mark.parametrize("argument", ["--version", "list"])
def bench_start(benchmark, argument):
    command = [sys.executable, "-m", "naiad", argument]
    benchmark.pedantic(subprocess.run, args=(command,), kwargs={"check": True, "capture_output": True}, rounds=10)
