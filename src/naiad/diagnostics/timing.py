"""The CPU time of a compiled run, without what surrounds it."""

import math
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from naiad import interrupts
from naiad.compiler import execute
from naiad.diagnostics.fitting import fitting
from naiad.errors import InputError
from naiad.integrators import AbstractMethod
from naiad.mechanics import LagrangianSystem, State
from naiad.numerics.arguments import checked
from naiad.simulation.drive import CHUNK_SECONDS, FIRST_STEPS, next_budget

LEAST_SECONDS = 0.01
MOST_STEPS = 2**52


class TimedRun(NamedTuple):
    """The state at the end, whether every step converged, and the CPU seconds of the run."""

    state: State
    converged: bool
    seconds: float


@checked
def timed_run(
    system: LagrangianSystem,
    method: AbstractMethod,
    state: State,
    *,
    dt: float,
    steps: int,
    rounds: int = 3,
    progress: Callable[[float], None] | None = None,
) -> TimedRun:
    """A run of so many steps in machine code: the best of some rounds, each of so many runs that a clock can see them.

    Compilation and the call are not in the time. A long run goes in pieces, between which an interrupt is heard.
    """
    if not 1 <= steps <= MOST_STEPS or rounds < 1:
        raise InputError(f"timed_run: steps = {steps}, rounds = {rounds}; expected at least one of each.")
    state = fitting(system, state, method, dt=dt)
    form = jax.eval_shape(lambda: method.init(system, state, jnp.zeros(()), jnp.zeros(())))
    nowhere = jax.tree.map(lambda leaf: np.zeros(leaf.shape, leaf.dtype), form), np.asarray(True)

    def piece(standing: Any, first: int, last: int, times: int = 1) -> tuple[Any, float]:
        interrupts.check()
        before = time.process_time()
        found = execute(_runs, system, method, state, standing, dt, first, last, times, parameters=(0,))
        return found, time.process_time() - before

    def pieces(told: Callable[[float], None] | None = None) -> tuple[Any, float]:
        found, node, seconds, budget = (state, nowhere), 0, 0.0, FIRST_STEPS
        while node < steps:
            stop = min(steps, node + budget)
            found, taken = piece(found[1], node, stop)
            budget = next_budget(budget, stop - node, taken)
            node, seconds = stop, seconds + taken
            if told is not None:
                told(node / steps)
        return found, seconds

    piece(nowhere, 0, 0)  # so that it is compiled
    (end, (_, converged)), seconds = pieces(progress)
    if seconds > CHUNK_SECONDS:
        return TimedRun(end, bool(converged), min([seconds, *(pieces()[1] for _ in range(rounds - 1))]))
    times, seconds = 1, piece(nowhere, 0, steps)[1]
    while seconds < LEAST_SECONDS:
        times = math.ceil(times * max(2.0, min(100.0, 1.5 * LEAST_SECONDS / max(seconds, 1e-9))))
        seconds = piece(nowhere, 0, steps, times)[1]
    best = min([seconds, *(piece(nowhere, 0, steps, times)[1] for _ in range(rounds - 1))])
    return TimedRun(end, bool(converged), best / times)


def _runs(
    system: LagrangianSystem,
    method: AbstractMethod,
    state: State,
    standing: Any,
    h: Any,
    first: Any,
    last: Any,
    times: Any,
) -> tuple[State, Any]:
    """So many times the steps from node `first`, where a run stands (node 0: at the state), to node `last`."""

    def begin():
        return method.init(system, state, 0.0, h), jnp.ones((), bool)

    def run(_, latest):
        def step(k, standing):
            carry = method.onward(system, standing[0], k, k * h, h)
            return carry, standing[1] & method.info(carry).converged

        start = jax.lax.cond(first == 0, begin, lambda: standing)
        carry, converged = jax.lax.fori_loop(first, last, step, start)
        return carry, converged & latest[1]

    end = jax.lax.fori_loop(0, times, run, standing)
    return method.state(system, end[0]), end
