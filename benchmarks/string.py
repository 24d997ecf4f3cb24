"""The O(N) step of a string pendulum: CPU nanoseconds an element and step for N elements, with a fixed length and with
a reel; and the paper's three runs.

python -m benchmarks.string
"""

import functools
import time

import jax
import numpy as np

import naiad as nd
from benchmarks.compare import one_core, table
from benchmarks.connected import march
from naiad.compiler import Compiled
from naiad.models import HangingBody, Reel, StringPendulum
from naiad.studies.string_cases import CASES, CENTRE, INERTIA, pendulum, start
from naiad.studies.string_pendulum import StringPendulum as Study

COUNTS = (20, 100, 1000, 10_000)
ELEMENTS = 200_000  # element-steps in a round
ROUNDS = 5
SCHEMES = ("paper", "symmetric", "imex")


def moving(count: int, *, reel: bool) -> tuple[StringPendulum, nd.State]:
    """A string of 10 m with N elements, bent and moving everywhere."""
    rng = np.random.default_rng(0)
    string = StringPendulum(
        length=100.0,
        density=0.025,
        stiffness=40.0,
        elements=count,
        body=HangingBody(0.1, CENTRE, INERTIA),
        reel=Reel(moment=2.09, locked=not reel),
        wound=0.0 if reel else 90.0,
    )
    length = 10.0 / count
    q = np.arange(1, count + 1)[:, None] * length * np.array((0.6, 0.0, 0.8))
    q = q + 0.02 * length * rng.normal(size=(count, 3))
    more = {"s": [90.0], "s_v": [0.1]} if reel else {}
    return string, string.state(q=q, q_v=0.3 * rng.normal(size=(count, 3)), R_Omega=rng.normal(size=3), **more)


def nanoseconds(count: int, scheme: str, *, reel: bool) -> float:
    """An element and a step, the best of some rounds."""
    system, state = moving(count, reel=reel)
    method = nd.StringVariational(scheme)  # pyright: ignore[reportArgumentType]
    steps = max(ELEMENTS // count, 20)
    h = 0.01 / count
    run = Compiled(functools.partial(march, method))
    best = np.inf
    run(system, state, h, 1)
    for _ in range(ROUNDS):
        started = time.process_time()
        run(system, state, h, steps)
        best = min(best, time.process_time() - started)
    return best / steps / count * 1e9


def papers_runs() -> float:
    """Seconds of the three runs of the paper together, compiled before."""
    total = 0.0
    for name, case in CASES.items():
        study = Study(case=name)
        system = pendulum(study)
        state = start(study, system)
        options = {"dt": study.dt, "method": nd.StringVariational("paper"), "save_every": 10**6}
        nd.simulate(system, state, t1=study.dt, **options)
        best = np.inf
        for _ in range(3):
            started = time.process_time()
            run = nd.simulate(system, state, t1=case.t1, **options)
            best = min(best, time.process_time() - started)
        assert run.outcome is nd.Outcome.COMPLETED
        total += best
    return total


def main() -> None:
    """Print the tables."""
    rows = []
    with one_core(), jax.enable_x64(True):
        for reel, what in ((False, "fixed length"), (True, "reel")):
            for scheme in SCHEMES if reel else ("symmetric", "imex"):
                rows.append((f"{what}, {scheme}", *(f"{nanoseconds(n, scheme, reel=reel):.0f}" for n in COUNTS)))
        print(table(("ns an element and step", *(f"N = {n:,}" for n in COUNTS)), rows))
        print(f"\nThe paper's three runs (56,000 steps of 20 elements): {papers_runs():.2f} s")


if __name__ == "__main__":
    main()
