"""Where a motion of a group comes from: the geometric phase of its shape, and the dynamic phase of its momentum."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from naiad.compiler import execute, execute_rows
from naiad.errors import InputError
from naiad.groups import AbstractGroup
from naiad.integrators import Variational
from naiad.mechanics import LagrangePoincareSystem, RouthSystem, Scalar, identity
from naiad.mechanics.routh import step_action, step_turn
from naiad.numerics import Module
from naiad.numerics.arguments import checked
from naiad.simulation import Trajectory


class Phases(NamedTuple):
    """A motion of the group at times, g = dynamic geometric, each stacked along time: `geometric` is what the changes
    of shape do without momentum, from g(0) on (the horizontal lift; over a closed loop of shapes, the holonomy), and
    `dynamic` what the momentum adds."""

    times: Float[np.ndarray, " k"]
    g: Any
    geometric: Any
    dynamic: Any


@checked
def phases(run: Trajectory) -> Phases:
    """The phases of a run of a `LagrangePoincareSystem`, or of a `RouthSystem`, whose group motion is reconstructed
    from the identity on.

    Both are those of the steps: the geometric one solves the discrete momentum of each step for zero, given its change
    of shape, the reconstruction for that of the run [jalnapurkar2006]. So a run without momentum has no dynamic phase,
    and a Routh run turns as the unreduced one, to round-off. It takes a run by `Variational` with every step saved.
    """
    whole, shapes, times = _saved(run)
    system, none = run.system, np.zeros(whole.base.dim)
    if isinstance(system, RouthSystem):
        g = _transported(run, whole, shapes, np.asarray(system.mu), identity(whole.base))
    else:
        g = run.g[0]
    geometric = _transported(run, whole, shapes, none, _rows(g, 0))
    return Phases(times, g, geometric, execute_rows(_quotient, whole.base, g, geometric, parameters=(0,)))


class _Steps(Module):
    """Whose steps: the system, its method, and the momentum."""

    whole: LagrangePoincareSystem
    method: Any
    mu: Float[np.ndarray, " d"]


def _saved(run: Trajectory) -> tuple[LagrangePoincareSystem, Any, np.ndarray]:
    """The whole system, its shapes, and when."""
    system, method = run.system, run.method
    if not isinstance(system, LagrangePoincareSystem | RouthSystem) or not isinstance(method, Variational):
        raise InputError(
            f"phases: a run of {type(system).__name__} by {type(method).__name__}; expected one of a "
            "LagrangePoincareSystem or a RouthSystem by Variational."
        )
    times = run.t.to_numpy()
    if len(times) - 1 != run.statistics["steps"]:
        raise InputError(
            f"phases: {len(times)} nodes of {run.statistics['steps']} steps are saved; expected every one: "
            "simulate(..., save_every=1)."
        )
    return (system.whole, run.g, times) if isinstance(system, RouthSystem) else (system, run.g[1], times)


def _transported(run: Trajectory, whole: LagrangePoincareSystem, shapes: Any, mu: np.ndarray, first: Any) -> Any:
    """The places in the group, along the steps with this momentum."""
    times = run.t.to_numpy()
    ends = _rows(shapes, slice(-1)), _rows(shapes, slice(1, None))
    turns = execute_rows(_turn, _Steps(whole, run.method, mu), *ends, times[:-1], np.diff(times), parameters=(0,))
    return execute(_path, whole.base, first, turns, parameters=(0,))


def _rows(tree: Any, part: Any) -> Any:
    return jax.tree.map(lambda leaf: leaf[part], tree)


def _turn(steps: _Steps, start: Any, end: Any, t: Scalar, h: Scalar) -> Any:
    """tau(h xi) of the step between two shapes."""
    whole, tau, shape = steps.whole, steps.method.retraction, steps.whole.shape
    v = tau.inverse(shape, shape.compose(shape.inverse(start), end)) / h
    action = step_action(whole, steps.method.discrete(whole), tau, start, v, t, h)
    return tau.tau(whole.base, h * step_turn(whole.base, action, tau, jnp.asarray(steps.mu), h))


def _path(base: AbstractGroup, first: Any, turns: Any) -> Any:
    def advance(g, turn):
        g = base.compose(g, turn)
        return g, g

    _, rest = jax.lax.scan(advance, first, turns)
    return jax.tree.map(lambda one, others: jnp.concatenate([jnp.asarray(one)[None], others]), first, rest)


def _quotient(base: AbstractGroup, g: Any, geometric: Any) -> Any:
    return base.compose(g, base.inverse(geometric))
