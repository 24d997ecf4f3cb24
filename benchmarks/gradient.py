"""The derivative of a run of a vehicle with respect to its inertia, compiled and through XLA.

python -m benchmarks.gradient
"""

import time
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import naiad as nd
from benchmarks.compare import table

STEPS, ROUNDS = 1000, 10
VEHICLE = nd.models.KirchhoffBody.ellipsoid((8.0, 1.5, 2.0), density=1.0)
START = VEHICLE.state(Omega=(0.2, 0.1, 0.5), v=(1.0, 0.0, 0.0))
TARGET = np.array([9.0, 1.0, 1.0])


def miss(K: Any) -> Any:
    """The square of the distance from a target at the end."""
    end = nd.propagate(VEHICLE.replaced(K=K), START, dt=0.01, steps=STEPS)
    return jnp.sum((end.g.x - TARGET) ** 2)


def row(name: str, function: Callable[..., Any]) -> list[object]:
    """CPU time of all threads, compiled and by XLA: the least of some calls, and the first, with nothing on disk."""
    ways = [nd.compile(function, cache=False), nd.double(jax.jit(function))]
    first = [seconds(way) for way in ways]
    later = [min(seconds(way) for _ in range(ROUNDS)) for way in ways]
    return [name, 1e3 * later[0], 1e3 * later[1], later[1] / later[0], *first]


def seconds(way: Callable[..., Any]) -> float:
    """CPU time of a call."""
    started = time.process_time()
    jax.block_until_ready(way(VEHICLE.K))
    return time.process_time() - started


def report() -> str:
    """The table of README.md."""
    rows = [row("the miss", miss), row("its gradient, 36 numbers", jax.grad(miss))]
    head = ["", "compiled, ms", "XLA, ms", "XLA / compiled", "first call compiled, s", "first call XLA, s"]
    return table(head, rows)


if __name__ == "__main__":
    print(report())
