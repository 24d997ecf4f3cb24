"""The outer solar system, sun and five planets: kicks and drifts, and Wisdom-Holman, beside REBOUND.

CPU nanoseconds a step; and CPU seconds for 1e5 years with an energy error of 1e-9, each with the largest step of
some that has it.

python -m benchmarks.planets        # REBOUND is measured where it is installed (the extra `bench`)
"""

import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

import naiad as nd
from benchmarks.compare import one_core, table
from naiad.integrators import AbstractMethod
from naiad.studies.planets.outer_solar_system import MASSES, POSITIONS, VELOCITIES, G
from naiad.studies.provenance import processor

BODIES = nd.models.PointMasses(MASSES, G)
Q, V = (given - MASSES @ given / MASSES.sum() for given in (POSITIONS, VELOCITIES))
START = BODIES.state(q=Q, v=V)
YEARS = 36525e3
"""A hundred thousand, in days."""
SHORT = 400_000
"""Steps of which one is timed."""
SAMPLES = 500
ROUNDS = 5


class Run(NamedTuple):
    """Takes a number of steps, looking at the energy at some nodes or at none; the energies that it has seen."""

    run: Callable[[int, int], np.ndarray]
    dt: float


def ours(method: AbstractMethod, dt: float) -> Run:
    """`simulate`, start-up included."""

    def run(steps: int, every: int) -> np.ndarray:
        done = nd.simulate(BODIES, START, t1=steps * dt, dt=dt, method=method, save_every=every, progress=False)
        return done.energy.to_numpy() if every < steps else np.zeros(0)

    return Run(run, dt)


def rebound_run(integrator: str, dt: float, **settings: Any) -> Run:
    """A simulation of REBOUND, never synchronised but where the energy is looked at."""
    import rebound

    def run(steps: int, every: int) -> np.ndarray:
        simulation = rebound.Simulation()
        simulation.G = G
        for m, (x, y, z), (vx, vy, vz) in zip(MASSES, Q, V, strict=True):
            simulation.add(m=m, x=x, y=y, z=z, vx=vx, vy=vy, vz=vz)
        simulation.integrator, simulation.dt = integrator, dt
        for name, value in settings.items():
            setattr(simulation.integrator, name, value)
        energies = [simulation.energy()]
        for _ in range(steps // every):
            simulation.steps(every)
            simulation.synchronize()
            energies.append(simulation.energy())
        return np.array(energies)

    return Run(run, dt)


def works() -> tuple[dict[str, Run], dict[str, Run]]:
    """What is timed by the step, and what over 1e5 years."""
    single = {
        "kicks and drifts: naiad, `Nystrom(2)`": ours(nd.Nystrom(2), 10.0),
        "the same by Newton's method: naiad, `Variational()`": ours(nd.Variational(), 10.0),
        "Wisdom-Holman: naiad, `WisdomHolman((2, 2))`": ours(nd.WisdomHolman((2, 2)), 100.0),
    }
    whole = {
        "naiad, `WisdomHolman()`": ours(nd.WisdomHolman(), 720.0),
        "naiad, `WisdomHolman((8, 2))`": ours(nd.WisdomHolman((8, 2)), 360.0),
        "naiad, `Nystrom(6)`": ours(nd.Nystrom(6), 170.0),
        "naiad, `Nystrom(8)`": ours(nd.Nystrom(8), 200.0),
    }
    try:
        import rebound  # noqa: F401
    except ImportError:
        return single, whole
    unsynchronised = {"safe_mode": 0, "keep_unsynchronized": 1}
    single |= {
        "kicks and drifts: REBOUND, leapfrog": rebound_run("leapfrog", 10.0),
        "Wisdom-Holman: REBOUND, WHFast": rebound_run("whfast", 100.0, corrector=17, **unsynchronised),
    }
    lazy = {"kernel": "LAZY", "corrector2": 1}
    whole |= {
        "REBOUND, WHFast, corrector 17": rebound_run("whfast", 105.0, corrector=17, **unsynchronised),
        "REBOUND, WHFast, both correctors, lazy kernel": rebound_run(
            "whfast", 230.0, corrector=17, **lazy, **unsynchronised
        ),
        "REBOUND, SABA(10,6,4)": rebound_run("saba", 720.0, type="10_6_4", **unsynchronised),
    }
    return single, whole


def best(runs: dict[str, Run], count: Callable[[Run], int]) -> dict[str, float]:
    """CPU seconds of so many steps, the least of some interleaved rounds; each is called once before."""
    least = dict.fromkeys(runs, float("inf"))
    for number in range(ROUNDS + 1):
        for name, each in runs.items():
            steps = count(each)
            before = time.process_time()
            each.run(steps, steps)
            if number:
                least[name] = min(least[name], time.process_time() - before)
    return least


def report() -> str:
    """The two tables; a peer that is not installed is left out."""
    single, whole = works()
    with one_core():
        nanoseconds = {name: 1e9 * s / SHORT for name, s in best(single, lambda _: SHORT).items()}
        seconds = best(whole, lambda each: round(YEARS / each.dt))
    rows = []
    for name, each in whole.items():
        steps = round(YEARS / each.dt)
        energies = each.run(steps, steps // SAMPLES)
        rows.append([name, f"{each.dt:g}", f"{np.abs(energies / energies[0] - 1).max():.1e}", seconds[name]])
    by_step = table([f"{processor()}", "ns a step"], [[name, nanoseconds[name]] for name in sorted(nanoseconds)])
    return f"{by_step}\n\n{table(['1e5 years', 'step, days', 'largest energy error', 'CPU s'], rows)}"


if __name__ == "__main__":
    print(report())
