"""Fixed costs: what a call takes that has run before, a run on its way to disk, the picture of a long run, and a
derivative that is not compiled yet."""

import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax.numpy as jnp
import numpy as np

import naiad as nd
from benchmarks.bench_start import fresh
from benchmarks.compare import Work, compare, table
from naiad.compiler.backends.llvm.machine import processor

BODY = nd.models.RigidBody((1.0, 2.0, 3.0))
VEHICLE = nd.models.KirchhoffBody.ellipsoid((8.0, 1.5, 2.0), density=1.0)
STEPS = 100
TIMES = 20
NODES = 10**6

DERIVATIVE = """
import naiad as nd
from naiad.studies.trees.three_ellipsoids import OMEGA, XDOT, three_ellipsoids
bodies = three_ellipsoids()
state = bodies.state(R_Omega=OMEGA, x_v=XDOT)
"""
DEFECT = "nd.diagnostics.symplecticity_defect(bodies, nd.TreeVariational(), state, dt=0.01)"
EXPONENT = "nd.diagnostics.lyapunov_exponent(bodies, state, dt=0.01, steps=100)"


def calls() -> str:
    """Calls that have run before, in the order in which a user's loop makes them."""
    state = BODY.state(Omega=(0.7, 0.4, -0.5))
    moving = VEHICLE.state(Omega=(0.2, 0.1, 0.5), v=(1.0, 0.0, 0.0))
    compiled, x = nd.compile(lambda x: 2.0 * jnp.sin(x)), np.ones(3)
    turns = iter(range(10**9))

    def run(system: Any, state: nd.State) -> nd.Trajectory:
        return nd.simulate(system, state, t1=0.01 * STEPS, dt=0.01)

    def loop() -> nd.State:
        return run(VEHICLE, VEHICLE.state(Omega=(0.2, 0.1, 0.5 + 1e-6 * next(turns)), v=(1.0, 0.0, 0.0))).final

    works: dict[str, tuple[Callable[[], Any], float | None]] = {
        f"`simulate`, {STEPS} steps, rigid body": (lambda: run(BODY, state), 0.5),
        f"`simulate`, {STEPS} steps, Kirchhoff vehicle": (lambda: run(VEHICLE, moving), 0.5),
        "`state`, Kirchhoff vehicle": (lambda: VEHICLE.state(Omega=(0.2, 0.1, 0.5), v=(1.0, 0.0, 0.0)), None),
        "`state`, `simulate`, `final`, another velocity each time": (loop, None),
        f"`simulate_many`, 8 states, {STEPS} steps": (
            lambda: nd.simulate_many(BODY, [state] * 8, t1=0.01 * STEPS, dt=0.01),
            None,
        ),
        f"`propagate`, {STEPS} steps": (lambda: nd.propagate(BODY, state, dt=0.01, steps=STEPS), None),
        "`compile(f)(x)`, three numbers": (lambda: compiled(x), None),
    }
    seconds = compare({name: Work(_repeated(call), TIMES) for name, (call, _) in works.items()}, rounds=20)
    return table(
        ["", "ms", "goal"], [[n, 1e3 * seconds[n], "" if goal is None else goal] for n, (_, goal) in works.items()]
    )


def records() -> str:
    """A run of which every node is kept, in memory and on disk, and its picture."""
    state = BODY.state(Omega=(0.7, 0.4, -0.5))
    with tempfile.TemporaryDirectory() as folder:
        numbers = iter(range(1000))

        def run(**options: Any) -> nd.Trajectory:
            return nd.simulate(BODY, state, t1=0.01 * NODES, dt=0.01, save_every=1, **options)

        works = {"memory": Work(run), "disk": Work(lambda: run(out=Path(folder) / f"{next(numbers)}.zarr"))}
        seconds = compare(works, rounds=5)
        kept = run()
        seconds["all that follows from it"] = _seconds(lambda: kept.dataset)
        seconds["the figure, to a PNG"] = _seconds(lambda: kept.plot().savefig(Path(folder) / "run.png"))
    goals = {"disk": "about memory's"}
    return table([f"{NODES:.0e} nodes", "s", "goal"], [[name, s, goals.get(name, "")] for name, s in seconds.items()])


def derivatives() -> str:
    """The derivative of a step of three connected ellipsoids in a fresh process, beyond what the state takes."""
    rows = []
    with tempfile.TemporaryDirectory() as bytecode:
        for name, code in (("symplecticity", DEFECT), ("Lyapunov exponent, 100 steps", EXPONENT)):
            with tempfile.TemporaryDirectory() as cache:
                begun = [fresh(DERIVATIVE, cache, bytecode) for _ in range(2)][1]  # the state's own code is there
                cold, warm = (fresh(DERIVATIVE + code, cache, bytecode) - begun for _ in range(2))
            rows.append([name, cold, warm, "a few"])
    return table(["three ellipsoids", "cold, s", "warm, s", "goal"], rows)


def _repeated(call: Callable[[], Any]) -> Callable[[], Any]:
    return lambda: [call() for _ in range(TIMES)]


def _seconds(call: Callable[[], Any]) -> float:
    started = time.perf_counter()
    call()
    return time.perf_counter() - started


def report() -> str:
    """The tables, and where they were made."""
    return "\n\n".join([f"Processor: {processor().name}.", calls(), records(), derivatives()])


if __name__ == "__main__":
    print(report())
