"""Steps and their derivatives in the left trivialisation of T*G: coordinates (eta, nu) of (g exp(eta), mu + nu)."""

import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from naiad.compiler import Unsupported, execute_rows
from naiad.diagnostics.fitting import check_steps, fitting
from naiad.groups import AbstractGroup
from naiad.integrators import AbstractMethod, AbstractOneStepMethod, Splitting, Variational
from naiad.mechanics import LagrangianSystem, State
from naiad.numerics.arguments import checked, checked_throughout
from naiad.numerics.checks import positives
from naiad.strings import StringSystem
from naiad.trees import TreeVariational

Flow = Callable[[State], State]
COMPILED = 6
"""The most dimensions of a group for which the derivative of any step is worth scalar code; that of a step with one
stage is for twice as many. XLA takes three to five times as long, but comes to an end with any."""


@checked
def one_step(system: LagrangianSystem, method: AbstractMethod, t: float, h: float) -> Flow:
    """The map of one step from a fresh start, as a function of the state."""
    time, step = jnp.asarray(t, float), jnp.asarray(h, float)

    def flow(state: State) -> State:
        return method.state(system, method.step(system, _fresh_start(system, method, state, time, step), time, step))

    return flow


def many_steps(system: LagrangianSystem, method: AbstractMethod, t: float, h: float, steps: Any) -> Flow:
    """The map of some steps from a fresh start, as a function of the state."""
    time, step = jnp.asarray(t, float), jnp.asarray(h, float)

    def flow(state: State) -> State:
        carry = _fresh_start(system, method, state, time, step)
        carry = jax.lax.fori_loop(0, steps, lambda k, c: method.onward(system, c, k, time + k * step, step), carry)
        return method.state(system, carry)

    return flow


def _fresh_start(system: LagrangianSystem, method: AbstractMethod, state: State, t: Any, h: Any) -> Any:
    carry = method.init(system, state, t, h)
    if isinstance(method, AbstractOneStepMethod):  # its memory moves the solver's start, not the step
        carry = carry._replace(memory=jax.lax.stop_gradient(carry.memory))
    return carry


def units(group: AbstractGroup, sizes: tuple[float, float]) -> np.ndarray:
    """The size of every coordinate (eta, nu), from those of displacements and momenta."""
    return np.repeat(positives("sizes", sizes, 2), group.dim)


@checked_throughout
def displaced(group: AbstractGroup, state: State, coordinates: Float[Array, " m"]) -> State:
    """(g exp(eta), mu + nu)."""
    eta, nu = coordinates[: group.dim], coordinates[group.dim :]
    return State(group.compose(state.g, group.exp(eta)), state.mu + nu)


@checked_throughout
def coordinates(group: AbstractGroup, origin: State, state: State) -> Float[Array, " m"]:
    """(eta, nu) of a state near an origin."""
    return jnp.concatenate([group.log(group.compose(group.inverse(origin.g), state.g)), state.mu - origin.mu])


@checked
def step_jacobian(
    system: LagrangianSystem, method: AbstractMethod, state: State, *, dt: float, t: float = 0.0, steps: int = 1
) -> tuple[State, Float[Array, "m m"]]:
    """The state after some steps, and the derivative of their map."""
    check_steps("step_jacobian", steps)
    n, state = system.group.dim, fitting(system, state, method, dt=dt, t=t)
    loops = isinstance(system, StringSystem) or isinstance(method, TreeVariational | Splitting)  # code that stays short
    short = loops or n <= COMPILED or (n <= 2 * COMPILED and isinstance(method, Variational))
    about, numbers = (system, method), (float(t), float(dt)) if steps == 1 else (float(t), float(dt), steps)
    shared = range(2, 3 + len(numbers))
    pushed_by = functools.partial(
        execute_rows, _pushed, about, np.eye(2 * n), state, *numbers, parameters=(0,), shared=shared
    )
    try:
        images, columns = pushed_by(engine="compiled" if short else "xla")
    except Unsupported:  # longer than it was taken for
        images, columns = pushed_by(engine="xla")
    return jax.tree.map(lambda leaf: leaf[0], images), columns.T


def _pushed(about, direction, state, t, h, steps=None):
    """The state after some steps (one, without a loop to differentiate, if none are given), and the derivative of their
    map in a direction."""
    system, method = about
    flow = one_step(system, method, t, h) if steps is None else many_steps(system, method, t, h, steps)
    return pushed(system.group, flow, state, direction)


def pushed(
    group: AbstractGroup, flow: Flow, state: State, direction: Float[Array, " m"]
) -> tuple[State, Float[Array, " m"]]:
    """The image of a state under a flow, and the derivative of the flow in a direction."""

    def local(z):
        image = flow(displaced(group, state, z))
        return coordinates(group, jax.lax.stop_gradient(image), image), image

    _, change, image = jax.jvp(local, (jnp.zeros(2 * group.dim),), (direction,), has_aux=True)
    return image, change
