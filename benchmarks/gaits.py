"""Gaits of the three-link fish: many at once, their gradients, a coupled period, the optimiser.

python -m benchmarks.gaits
"""

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.compare import table
from naiad.locomotion import (
    FORWARD,
    FourierGait,
    net_motion_with_gradient,
    net_motions,
    optimise_gait,
    reconstruct,
    tabulated,
    three_link_fish,
)

GAITS, GOAL_S, COUPLED_GOAL_S, COUPLED_ERROR = 10_000, 2.0, 2.0, 1e-7
COUPLED, DECOUPLED = np.array([44.131286513, -17.668303620]), np.array([41.4127260433, -16.2821494068])


def seconds(call: Callable[[], Any], rounds: int = 5) -> tuple[float, float]:
    """The least wall time and the least CPU time of all threads, of some rounds."""
    call()
    wall, cpu = [], []
    for _ in range(rounds):
        started, used = time.perf_counter(), time.process_time()
        call()
        wall.append(time.perf_counter() - started)
        cpu.append(time.process_time() - used)
    return min(wall), min(cpu)


def random_gaits() -> FourierGait:
    """Two harmonics, angles of up to some 2 rad."""
    mean, cosines, sines = (np.random.default_rng(k).normal(size=(GAITS, n, 2)) for k, n in enumerate((1, 2, 2)))
    fade = np.array([[0.5], [0.15]])
    return FourierGait(0.3 * mean[:, 0], fade * cosines, fade * sines)


def row(name: str, call: Callable[[], Any], error: float, goal: float | None = None, rounds: int = 5) -> list[str]:
    """Name, times, error, and whether a goal is met (by CPU time: other work on the machine does not count)."""
    wall, cpu = seconds(call, rounds)
    met = "" if goal is None else f"{goal:g} s: {'met' if cpu <= goal else 'missed'}"
    return [name, f"{wall:.3g}", f"{cpu:.3g}", f"{error:.1g}", met]


def rows() -> list[list[str]]:
    """One row for each task."""
    fish, gaits, found = three_link_fish(), random_gaits(), []
    exact = net_motions(fish, gaits, steps=384).x
    for steps in (32, 48, 96):

        def many(steps=steps):
            return net_motions(fish, gaits, steps=steps).x

        found.append(row(f"{GAITS} gaits, {steps} steps", many, float(np.max(np.abs(many() - exact))), GOAL_S))

    def one():
        return net_motion_with_gradient(fish, FORWARD).g.x

    found.append(row("one gait with its gradient, 96 steps", one, float(np.max(np.abs(one() - DECOUPLED)))))
    coupled = three_link_fish(coupled=True)
    for steps in (32, 96):

        def period(steps=steps):
            return reconstruct(coupled, FORWARD, [0.0, 2.0 * np.pi], steps=steps).g.x[-1]

        error = float(np.max(np.abs(period() - COUPLED)))
        goal = COUPLED_GOAL_S if error <= COUPLED_ERROR else None
        found.append(row(f"a period of the coupled forward gait, {steps} steps", period, error, goal, rounds=2))
    fast, same = tabulated(coupled, -1.05, 1.05), [FORWARD] * 1000

    def tables():
        return net_motions(fast, same).x

    error = float(np.max(np.abs(tables() - COUPLED)))
    found.append(row("1000 gaits of the coupled fish, from a table", tables, error, rounds=2))
    for harmonics in (1, 3, 5):

        def best(harmonics=harmonics):
            return optimise_gait(fish, harmonics=harmonics)

        name = f"optimiser, harmonics = {harmonics}, 4 starts: {best().value:.5f} m"
        found.append(row(name, best, best().spread * best().value, rounds=2))
    return found


def report() -> str:
    """The table of README.md."""
    return table(["", "wall, s", "CPU, s", "largest error, m", "goal"], rows())


if __name__ == "__main__":
    print(report())
