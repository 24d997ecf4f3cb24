"""How soon there is an answer in a fresh process: from the command line, and from the first simulation."""

import os
import statistics
import subprocess
import sys
import tempfile
import time

import pytest

from benchmarks.compare import table

SIMULATION = """
import naiad as nd
body = nd.models.RigidBody((1.0, 2.0, 3.0))
run = nd.simulate(body, body.state(Omega=(0.7, 0.4, -0.5)), t1=10.0, dt=0.01)
assert run.final.mu.shape == (3,)
"""


@pytest.mark.parametrize("argument", ["--version", "list"])
def bench_start(benchmark, argument):
    command = [sys.executable, "-m", "naiad", argument]
    benchmark.pedantic(subprocess.run, args=(command,), kwargs={"check": True, "capture_output": True}, rounds=10)


@pytest.mark.parametrize("cache", ["cold", "warm"])
def bench_first_simulation(benchmark, tmp_path, cache):
    def setup():
        folder = tempfile.mkdtemp(dir=tmp_path) if cache == "cold" else str(tmp_path / "cache")
        return (SIMULATION, folder, str(tmp_path / "bytecode")), {}

    benchmark.pedantic(fresh, setup=setup, rounds=5, warmup_rounds=1)


def fresh(code: str, folder: str, bytecode: str) -> float:
    """Seconds that a fresh process takes, with the compiler's cache and Python's bytecode in these folders."""
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    environment = {**kept, "NAIAD_CACHE_DIR": folder, "PYTHONPYCACHEPREFIX": bytecode}
    started = time.perf_counter()
    subprocess.run([sys.executable, "-c", code], check=True, env=environment)
    return time.perf_counter() - started


def report(rounds: int = 7) -> str:
    """Medians of interleaved rounds."""
    seconds: dict[str, list[float]] = {
        name: [] for name in ("`import jax`", "first simulation, cold", "first simulation, warm")
    }
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as bytecode:
        fresh(SIMULATION, folder, bytecode)
        for _ in range(rounds):
            with tempfile.TemporaryDirectory() as empty:
                runs = (("import jax", folder), (SIMULATION, empty), (SIMULATION, folder))
                times = [fresh(code, cache, bytecode) for code, cache in runs]
            for name, value in zip(seconds, times, strict=True):
                seconds[name].append(value)
    medians = {name: statistics.median(values) for name, values in seconds.items()}
    least = {name: min(values) for name, values in seconds.items()}
    base = "`import jax`"
    rows = [[n, medians[n], medians[n] / medians[base], least[n], least[n] / least[base]] for n in seconds]
    return table(["", "median, s", "of `import jax`", "smallest, s", "of `import jax`"], rows)


if __name__ == "__main__":
    print(report())
