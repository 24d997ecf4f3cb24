"""How long the imports take, each in a fresh process; `import naiad` beside `import jax`."""

import subprocess
import sys

import pytest

STATEMENTS = {
    "python": "pass",
    "jax": "import jax",
    "naiad": "import naiad",
    "naiad.simulate": "import naiad; naiad.simulate",
    "naiad.models": "import naiad; naiad.models.ConnectedBodies",
}


@pytest.mark.parametrize("name", STATEMENTS)
def bench_import(benchmark, name):
    command = [sys.executable, "-c", STATEMENTS[name]]
    benchmark.pedantic(subprocess.run, args=(command,), kwargs={"check": True}, rounds=10, warmup_rounds=1)
