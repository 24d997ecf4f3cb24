"""The CPU time of a compiled run, without what surrounds it."""

import math
import time
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

import naiad as nd
from naiad.compiler import execute
from naiad.integrators import AbstractMethod

LEAST_SECONDS = 0.01


class TimedRun(NamedTuple):
    """The state at the end, whether every step converged, and the CPU seconds of the run."""

    state: nd.State
    converged: bool
    seconds: float


def timed_run(
    system: nd.LagrangianSystem, method: AbstractMethod, state: nd.State, *, dt: float, steps: int, rounds: int = 3
) -> TimedRun:
    """A run of so many steps in machine code: the best of some rounds, each of so many runs that a clock can see them.

    Compilation and the call are not in the time.
    """

    def run(times: int) -> tuple[tuple[nd.State, Any], float]:
        before = time.process_time()
        end = execute(_runs, system, method, state, dt, steps, times)
        return end, time.process_time() - before

    (end, converged), _ = run(1)
    times, seconds = 1, run(1)[1]
    while seconds < LEAST_SECONDS:
        times = math.ceil(times * max(2.0, min(100.0, 1.5 * LEAST_SECONDS / max(seconds, 1e-9))))
        seconds = run(times)[1]
    best = min(seconds, *(run(times)[1] for _ in range(rounds - 1)))
    return TimedRun(end, bool(converged), best / times)


def _runs(
    system: nd.LagrangianSystem, method: AbstractMethod, state: nd.State, h: Any, steps: Any, times: Any
) -> tuple[nd.State, Any]:
    def run(_, last):
        def step(k, standing):
            carry = method.step(system, standing[0], k * h, h)
            return carry, standing[1] & method.info(carry).converged

        carry, converged = jax.lax.fori_loop(0, steps, step, (method.init(system, state, 0.0, h), last[1]))
        return method.state(system, carry), converged

    return jax.lax.fori_loop(0, times, run, (jax.tree.map(jnp.asarray, state), jnp.ones((), bool)))
