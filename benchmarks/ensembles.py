"""Ensembles: many runs against as many calls of `simulate`, one core against all, the cost of writing and of Dask, and
the memory of a million runs."""

import itertools
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import naiad as nd
from naiad.compiler.backends.llvm.machine import processor
from naiad.compiler.cores import all_cores, one_core
from naiad.ensembles import many
from naiad.io.places import put

RUNS, STEPS = 10_000, 100
CALLS = 500  # of `simulate`, of which each takes as long as the others

MILLION = """
import pathlib, sys, numpy as np, naiad as nd
body = nd.models.RigidBody((1.0, 2.0, 3.0))
mu = np.random.default_rng(0).standard_normal((1_000_000, 3))
states = nd.State(np.broadcast_to(np.eye(3), (1_000_000, 3, 3)), mu)
nd.simulate_many(body, states, t1=1.0, dt=0.01, save_every=10, out=sys.argv[1])
status = pathlib.Path("/proc/self/status").read_text()  # getrusage would count the process that this one came from
print(int(status.split("VmHWM:")[1].split()[0]) / 1024)
"""


def seconds(work: Callable[[], Any], rounds: int = 5, clock: Callable[[], float] = time.perf_counter) -> float:
    """The least time of some rounds, after one that is not counted."""
    work()
    best = np.inf
    for _ in range(rounds):
        started = clock()
        work()
        best = min(best, clock() - started)
    return float(best)


def own_parameters() -> None:
    """Runs with parameters of their own, together and one by one."""
    cases = nd.sample(RUNS, J=(2.05, 2.95), spin=(0.9, 1.1))
    bodies = cases.build(lambda J: nd.models.RigidBody(J=(1.1, J, 3.0)))
    mu = np.stack([np.full(RUNS, 0.1), cases["J"] * cases["spin"], np.full(RUNS, 0.05)], axis=1)
    states = nd.State(np.broadcast_to(np.eye(3), (RUNS, 3, 3)), mu)
    listed = [nd.State(np.eye(3), row) for row in mu]
    stacked = bodies[0].replaced(J=np.stack([body.J for body in bodies]))
    options = {"t1": 0.01 * STEPS, "dt": 0.01, "save_every": STEPS}

    def calls() -> None:
        for k in range(CALLS):
            nd.simulate(bodies[k], listed[k], **options)

    one_by_one = seconds(calls, 3) * RUNS / CALLS
    print(f"{RUNS} runs of {STEPS} steps, each with its own J")
    print(f"  calls of simulate   {one_by_one:8.3f} s")
    for name, systems, given in (("stacked", stacked, states), ("lists", bodies, listed)):
        together = seconds(lambda systems=systems, given=given: nd.simulate_many(systems, given, **options))
        print(f"  simulate_many, {name:8s}{together:8.3f} s   {one_by_one / together:.0f} times faster")


def cores() -> None:
    """The rate on one core, and on all."""
    body = nd.models.RigidBody((1.0, 2.0, 3.0))
    states = nd.State(np.broadcast_to(np.eye(3), (RUNS, 3, 3)), np.random.default_rng(0).standard_normal((RUNS, 3)))
    options = {"t1": 20.0, "dt": 0.01, "save_every": 2000}

    def alone() -> None:
        with one_core():
            nd.simulate_many(body, states, **options)

    one, several = seconds(alone, 3), seconds(lambda: nd.simulate_many(body, states, **options), 3)
    print(f"one core {one:.3f} s, {all_cores()} cores {several:.3f} s: {one / several:.2f} times")


def writing() -> None:
    """The cost of writing, of few runs and of many, beside a plain file with as many bytes."""
    body = nd.models.RigidBody((1.0, 2.0, 3.0))
    options = {"t1": 20.0, "dt": 0.01, "save_every": 10}
    for runs in (1000, 10_000):
        mu = np.random.default_rng(0).standard_normal((runs, 3))
        states = nd.State(np.broadcast_to(np.eye(3), (runs, 3, 3)), mu)
        with tempfile.TemporaryDirectory() as folder:
            places = (Path(folder) / f"{number}.zarr" for number in itertools.count())
            made: list[Path] = []

            def write(states: nd.State = states, places: Iterator[Path] = places, made: list[Path] = made) -> None:
                made.append(next(places))
                nd.simulate_many(body, states, out=made[-1], **options)

            def compute(states: nd.State = states) -> None:
                nd.simulate_many(body, states, **options)

            pairs = [
                (seconds(compute, 3, clock), seconds(write, 3, clock))
                for clock in (time.perf_counter, time.process_time)
            ]
            size = sum(file.stat().st_size for file in made[-1].rglob("*") if file.is_file())
            content = np.random.default_rng(0).bytes(size)
            plain = seconds(lambda content=content, folder=folder: put(Path(folder) / "plain", content), 5)
        print(f"save_every = 10, {runs} runs, {size / 1e6:.0f} MB; a plain file of as many bytes {plain:.3f} s")
        for name, (memory, disk) in zip(("", "CPU "), pairs, strict=True):
            print(f"  {name}in memory {memory:.3f} s, to disk {disk:.3f} s: {100 * (disk / memory - 1):.0f} % more")


def dask() -> None:
    """Blocks of about a second by Dask's workers, against processes that do nothing else."""
    from distributed import Client, LocalCluster

    body = nd.models.RigidBody((1.0, 2.0, 3.0))
    states = [body.state(Omega=(0.1, 1.0 + 1e-3 * k, 0.0)) for k in range(16)]
    many.LEAST_BLOCK = many.LARGEST_BLOCK = 2
    options = {"t1": 1e5, "dt": 0.01, "save_every": 10**6, "progress": False}
    with (
        tempfile.TemporaryDirectory() as folder,
        LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        out = Path(folder) / "runs.zarr"

        def alone() -> None:
            with one_core():
                nd.simulate_many(body, states, out=out, overwrite=True, **options)

        own = seconds(alone, 2)
        theirs = seconds(lambda: nd.simulate_many(body, states, out=out, overwrite=True, client=client, **options), 2)
    blocks = len(states) // 2
    print(f"{blocks} blocks of {own / blocks:.2f} s: by a worker of Dask {100 * (theirs / own - 1):.1f} % longer")


def million() -> None:
    """The memory of a million runs that are written as they come."""
    with tempfile.TemporaryDirectory() as folder:
        started = time.perf_counter()
        run = subprocess.run(
            [sys.executable, "-c", MILLION, f"{folder}/runs.zarr"], capture_output=True, text=True, check=True
        )
    print(f"1,000,000 runs to disk: {float(run.stdout):.0f} MiB, {time.perf_counter() - started:.0f} s")


if __name__ == "__main__":
    print(processor())
    for part in (own_parameters, cores, writing, dask, million):
        part()
