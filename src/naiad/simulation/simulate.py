"""The front door: run a system through time."""

import functools
import os
from collections.abc import Callable, Mapping
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import ArrayLike

from naiad.compiler import Engine, check_engine, execute
from naiad.compiler.compiled import nodes
from naiad.compiler.fingerprint import Unknown, Version
from naiad.errors import InputError
from naiad.integrators import AbstractMethod, check_method, default_method
from naiad.mechanics import LagrangianSystem, Scalar, State
from naiad.mechanics.functions import explained
from naiad.mechanics.initial import fitted_state, form
from naiad.mechanics.system import examine
from naiad.numerics import check_double
from naiad.numerics.arguments import checked
from naiad.numerics.checks import is_known
from naiad.simulation import loop
from naiad.simulation.checks import (
    check_cadence,
    check_levels,
    check_names,
    check_output_every,
    check_reconstruct,
    check_system,
    check_times,
)
from naiad.simulation.noise import Noise, check_increments, source
from naiad.simulation.plan import ROOM, Observable, Plan, Routine
from naiad.simulation.run import finished, run
from naiad.simulation.section import Section
from naiad.simulation.trajectory import Trajectory


@checked
@explained
def simulate(
    system: LagrangianSystem,
    state: State,
    *,
    t1: float,
    dt: float,
    t0: float = 0.0,
    method: AbstractMethod | None = None,
    noise: Noise | ArrayLike | None = None,
    save_every: int | None = None,
    outputs: Mapping[str, Observable] | None = None,
    output_every: int | None = None,
    monitors: Mapping[str, Observable] | None = None,
    sections: Mapping[str, Section] | None = None,
    out: str | os.PathLike[str] | None = None,
    overwrite: bool = False,
    progress: bool | Callable[[float], None] | None = None,
    engine: Engine = "auto",
    reconstruct: bool = True,
    throw: bool = False,
) -> Trajectory:
    """The motion of `system` from `state` at t0 to t1, in steps of dt (the last one shorter if t1 is no whole number of
    steps away). A method that chooses its steps (`EnergySteps`, `ReversibleSteps`) begins with one of dt and ends at
    its first node that is not before t1; the times of its nodes are in `run.t`.

    - `method`: the integrator; if not given, the one that fits the system (`naiad.integrators.default_method`).
    - `noise`: the increments of the Wiener processes of a system with a heat bath: `Noise(seed)`, or an array with one
      row a step, of variance dt.
    - `save_every`: every how many steps a node is saved (about 1000 nodes in all if not given); the first always is,
      and so is the last of a run that comes to t1.
    - `outputs`: functions f(state, t) recorded at the saved nodes, or every `output_every` steps: then they are in the
      record along a dimension of their own, `output_time`; `monitors`: scalar ones whose maximum, mean and trend are
      kept over every step; `sections`: surfaces whose crossings are located, `Section(function, direction, terminal)`.
    - `out`: a Zarr directory to which the run is written as it goes, so that its length is not bound by memory (the
      arrays of the result are read from there when they are used) and a killed run keeps what it had, at OUT.partial,
      with a checkpoint about every second from which `resume(OUT, system, method)` goes on; one run at a time may write
      there. SIGTERM ends the process when what was computed is written.
    - `progress`: a bar on long runs (by default where there is a terminal), or a function that is told the fraction
      done.
    - `engine`: "compiled" runs the steps as machine code, "xla" through `jax.jit`; "auto" is "compiled", or "xla" with
      a warning where something cannot be compiled.
    - `reconstruct`: False leaves the configuration g out, which saves time, for an `EulerPoincareSystem`, whose
      momentum moves by itself.
    - `throw`: True raises a `RunError` where the run does not come to t1 or to a terminal section.

    Without `throw` a run that cannot go on ends early, warns, and says why in `outcome`; what was computed until then
    is kept. So does Ctrl-C, between two pieces of about half a second. Steps that turn by more than a quarter of a turn
    are warned of.
    """
    method = default_method(system) if method is None else method
    system = check_system(system)
    check_method(method, system, noise=True)
    start, h, steps, rest = check_times(t0, t1, dt)
    until = None
    if method.variable:
        until, rest = float(t1), 0.0
    state = fitted_state(system.group, state)
    check_reconstruct(reconstruct, system, sections or {}, state, start)
    check_names(system, outputs or {})
    routine = Routine.unchecked(
        system=system,
        method=method,
        outputs=dict(outputs or {}),
        monitors=dict(monitors or {}),
        sections=dict(sections or {}),
        reconstruct=reconstruct,
        apart=output_every is not None,
        room=ROOM,
    )
    cadence = check_cadence(save_every, output_every, steps)
    check_output_every(output_every, outputs)
    random = source(noise, method, system, steps + (rest > 0.0))
    plan = Plan(routine, start, h, 0, steps, rest, cadence, check_engine(engine), random, until)
    standing, frame, sound = execute(loop.start, routine, state, start, h, parameters=(0,), engine=plan.engine)
    if not sound:
        examine(system, state, start)
    check_levels(standing.levels)
    rows, end = run(plan, standing, frame, out=out, overwrite=overwrite, progress=progress)
    return finished(plan, rows, end, throw)


@checked
@explained
def propagate(
    system: LagrangianSystem,
    state: State,
    *,
    dt: Scalar,
    steps: int,
    t0: Scalar = 0.0,
    method: AbstractMethod | None = None,
    noise: Any = None,
) -> State:
    """The state after `steps` steps: a pure function of system and state, for JAX to differentiate or batch.

    It begins at `t0`: of several calls one after the other, each of a system that depends on time needs its own. Of a
    method that chooses its steps it is the state after so many of them, whenever that is. Its momentum is NaN
    where the motion comes to the `limit` of the system.
    `noise` are the increments of a system with a heat bath, an array with one row a step.
    """
    if not 0 <= steps < 2**31:
        raise InputError(f"propagate: steps = {steps}; expected a whole number from 0 to 2147483647.")
    for name, value in (("dt", dt), ("t0", t0)):
        if is_known(value):
            check_double(f"propagate: {name}", value)
    method = default_method(system) if method is None else method
    start, h = jnp.asarray(t0, float), jnp.asarray(dt, float)
    given, structure = jax.tree.flatten(State(*state))
    if (structure, list(map(np.shape, given))) != form(system.group):
        raise InputError(
            f"propagate: the state is none of {type(system).__name__}, whose group is {system.group!r}; make it with "
            "system.state(...)."
        )
    check_method(method, system, noise=True, traced=not all(map(is_known, jax.tree.leaves(system))))
    check_increments(noise, method, system, steps)
    rows = None if noise is None else jnp.asarray(noise, float)
    leaves, tree = jax.tree.flatten((system, method, state))
    arrays = [jnp.asarray(leaf, float) if isinstance(leaf, float) else leaf for leaf in leaves]
    if all(isinstance(leaf, (np.ndarray, np.generic, jax.Array)) for leaf in arrays):
        return _propagated(_version(tree).current(), tree, steps, arrays, start, h, rows)
    return _steps(system, method, state, steps, start, h, rows)


@functools.lru_cache
def _version(tree: Any) -> Version:
    """Which version of what the classes of a tree compute is in force."""
    return Version(nodes(tree))


@functools.partial(jax.jit, static_argnums=(0, 1, 2))
def _propagated(_: str | Unknown, tree: Any, steps: int, leaves: list[Any], start: Any, h: Any, rows: Any) -> State:
    system, method, state = jax.tree.unflatten(tree, leaves)
    return _steps(system, method, state, steps, start, h, rows)


def _steps(
    system: LagrangianSystem, method: AbstractMethod, state: State, steps: int, start: Any, h: Any, rows: Any
) -> State:
    def body(carry, each):
        k, increment = each
        inputs = None if increment is None else increment / h
        moved = method.onward(system, carry, k, start + k * h, h, inputs)
        return method.bounded(system, moved, start + (k + 1) * h, h), None

    carry, _ = jax.lax.scan(body, method.init(system, state, start, h), (jnp.arange(steps), rows))
    return method.state(system, carry)
