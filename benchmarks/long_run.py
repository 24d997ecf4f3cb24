"""A long run of the Kirchhoff section p_z = 0: speed, memory, energy, and what Ctrl-C leaves.

python -m benchmarks.long_run [STEPS]        # 1e7 steps if not given
"""

import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import naiad as nd
from benchmarks.compare import table

BODY = nd.models.KirchhoffBody((1.5, 2.0, 3.0), (2.0, 3.0, 4.0))
STATE = BODY.state(Pi=(2.0, -0.4, -0.9), p=(4.4, -0.2, -1.1))
H = 0.01
SAVED = 1000


def rising(state, t):
    """p_z, whose zeros are the section."""
    return state.mu[5]


def energy(state, t):
    """The energy."""
    return BODY.energy(state, t)


def simulate(steps: int, out: Path, progress=None, save_every: int | None = None) -> nd.Trajectory:
    """The run, written to disk as it goes."""
    return nd.simulate(
        BODY,
        STATE,
        t1=steps * H,
        dt=H,
        save_every=save_every or max(1, steps // SAVED),
        sections={"p_z": nd.Section(rising)},
        monitors={"energy": energy},
        out=out,
        progress=progress,
    )


def resident() -> float:
    """MB of this process now (where the system tells), else the most so far."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def measure(steps: int) -> str:
    """Speed, memory at ten times, and the energy."""
    marks: list[tuple[float, float, float]] = []
    started = time.perf_counter()

    def mark(fraction: float) -> None:
        if 10 * fraction >= len(marks):
            marks.append((fraction, time.perf_counter() - started, resident()))

    with tempfile.TemporaryDirectory() as folder:
        run = simulate(steps, Path(folder) / "run.zarr", mark)
        seconds = time.perf_counter() - started
        crossings = run.crossings["p_z"].sizes["crossing"]
        watched, taken, end = run.monitors["energy"], run.statistics["steps"], run.outcome.name
    amplitude = float(watched.max - watched.min)
    drift = abs(watched.slope) * steps * H
    memory = ", ".join(f"{at:.0f}" for _, _, at in marks)
    rows = [
        ["steps", f"{taken:.0e} ({end.lower()})"],
        ["steps a second", f"{taken / seconds:.3g}"],
        ["crossings", crossings],
        ["resident memory at tenths of the run, MB", memory],
        ["energy, largest - smallest, relative", amplitude / abs(float(watched.mean))],
        ["slope of the energy x time / (largest - smallest)", drift / amplitude],
    ]
    return table(["", f"h = {H}"], rows)


def interrupt() -> str:
    """What a run that would take hours gives back when it gets SIGINT after some seconds."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "benchmarks.long_run", "--child", str(Path(folder) / "run.zarr")]
        child = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert child.stdout is not None
        child.stdout.readline()
        time.sleep(3.0)
        sent = time.perf_counter()
        child.send_signal(signal.SIGINT)
        answer = child.communicate(timeout=120)[0].strip()
    waited = time.perf_counter() - sent
    return f"SIGINT: after {waited:.1f} s the process ended with {child.returncode} and said: {answer}"


def _child(out: str) -> None:
    """Run for hours; say when it has begun, and at the end what there is."""
    begun: list[float] = []

    def mark(fraction: float) -> None:
        if not begun:
            begun.append(fraction)
            print("begun", flush=True)

    run = simulate(10**10, Path(out), mark, save_every=10_000)
    finite = bool(np.all(np.isfinite(run.mu)))
    crossings = run.crossings["p_z"].sizes["crossing"]
    print(f"{run.outcome.name}, t = {run.attrs['t']:.0f}, {run.t.size} nodes, {crossings} crossings, finite: {finite}")


def report(steps: int = 10**7) -> str:
    """The table, and the interrupted run."""
    return f"{measure(steps)}\n\n{interrupt()}"


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        _child(sys.argv[2])
    else:
        print(report(int(float(sys.argv[1])) if len(sys.argv) > 1 else 10**7))
