"""What a gait reaches in one period from rest, for one gait or for many, and its derivatives."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from naiad.compiler import execute, execute_rows
from naiad.errors import InputError
from naiad.groups import AbstractGroup
from naiad.locomotion.abstract_swimmer import AbstractSwimmer
from naiad.locomotion.checks import check_free
from naiad.locomotion.cycle import Cycle, cycle
from naiad.locomotion.gait import AbstractGait
from naiad.locomotion.magnus import magnus
from naiad.locomotion.numbers import with_numbers
from naiad.locomotion.reconstruction import GAUSS, STEPS
from naiad.locomotion.swimmer import Swimmer
from naiad.mechanics import Scalar
from naiad.mechanics.connection import connection_of
from naiad.numerics import Module, static
from naiad.numerics.arguments import checked_throughout
from naiad.retractions import Exponential


class NetMotion(NamedTuple):
    """The displacement g of one period, and g^-1 dg / dp for the numbers p of the gait: a gait whose arrays have the
    components of the algebra along a first axis. The period has no influence, and the derivative 0."""

    g: Any
    gradient: Any


@checked_throughout
def net_motion(swimmer: Swimmer, gait: AbstractGait, steps: int = STEPS) -> Any:
    """The displacement of one period from rest, a pose: a pure function of the numbers of swimmer and gait, to be
    differentiated or mapped. For links that are alone in the fluid, or a `tabulated` swimmer."""
    check_free(swimmer)
    frame, h = swimmer.frame, gait.period / steps

    def velocity(t):
        shape = gait.motion(t)
        return -(connection_of(swimmer.inertia(shape.theta), frame.dim) @ shape.rates)

    def advance(g, k):
        xi = jnp.stack([velocity(h * (k + c)) for c in GAUSS.c])
        return frame.compose(g, frame.exp(magnus(frame, h, xi))), None

    return jax.lax.scan(advance, frame.identity(), jnp.arange(steps, dtype=float))[0]


@checked_throughout
def net_motions(swimmer: Swimmer, gaits: Any, steps: int = STEPS) -> Any:
    """`net_motion` of many gaits at once, in the lanes of vector registers and on all cores: poses stacked along the
    first axis. `gaits` is a sequence of gaits of one form, or a gait whose arrays have a leading axis."""
    check_free(swimmer)
    if isinstance(gaits, AbstractGait):
        sizes = {np.shape(leaf)[0] for leaf in jax.tree.leaves(gaits) if np.ndim(leaf)}
        if len(sizes) != 1:
            raise InputError(f"A gait with arrays of {sorted(sizes)} rows; expected a row for each of many gaits.")
        count = sizes.pop()
        rows = jax.tree.map(lambda leaf: np.full(count, leaf) if np.ndim(leaf) == 0 else np.asarray(leaf), gaits)
    else:
        rows = _stacked(gaits)
    return execute_rows(_net_motion, _Ride(swimmer, _checked(steps)), rows, parameters=(0,))


@checked_throughout
def net_motion_with_gradient(swimmer: AbstractSwimmer, gait: AbstractGait, steps: int = STEPS) -> NetMotion:
    """The displacement of one period and its derivatives with respect to all numbers of the gait.

    They are those of the discrete motion, to round-off, from the inertia and its slopes along the gait alone; so
    coupled swimmers need no table.
    """
    run = cycle(swimmer, gait, _checked(steps))
    g, change = displacement(swimmer.frame, run)
    columns = [with_numbers(gait, row) for row in change]
    gradient = jax.tree.map(lambda *leaves: np.stack(leaves), *columns)
    return NetMotion(g, gradient.replaced(period=np.zeros((swimmer.frame.dim, *np.shape(gait.period)))))


def displacement(frame: AbstractGroup, run: Cycle) -> tuple[Any, Float[np.ndarray, "d p"]]:
    """The displacement of a cycle, and g^-1 dg / dp."""
    steps, d = len(run.xi) // 3, frame.dim
    xi = run.xi.reshape(steps, 3, d)
    path = execute(_path, frame, run.h, xi, parameters=(0,))
    net = jax.tree.map(lambda leaf: np.asarray(leaf)[-1], path)
    after = jax.tree.map(lambda leaf: np.asarray(leaf)[1:], path)
    share = execute_rows(_share, (frame, net, run.h), xi, after, parameters=(0,)).reshape(-1, d, d)
    return net, np.einsum("sab,sbp->ap", share, run.xi_slopes)


def _path(frame: AbstractGroup, h: Scalar, xi: Float[Array, "s 3 d"]) -> Any:
    """The poses before the first and after each step."""

    def advance(g, nodes):
        g = frame.compose(g, frame.exp(magnus(frame, h, nodes)))
        return g, g

    first = frame.identity()
    _, rest = jax.lax.scan(advance, first, xi)
    return jax.tree.map(lambda one, others: jnp.concatenate([jnp.asarray(one)[None], others]), first, rest)


def _share(given: Any, xi: Float[Array, "3 d"], after: Any) -> Float[Array, "3 d d"]:
    """[i, :, b]: how the displacement of all steps changes with component b of xi_i of this one, after which the pose
    is `after`: Ad_{g^-1 after} dexp_{-Theta} dTheta."""
    frame, net, h = given
    exp, back = Exponential(), frame.compose(frame.inverse(net), after)

    def change(direction):
        Theta, turned = jax.jvp(lambda nodes: magnus(frame, h, nodes), (xi,), (direction,))
        return frame.Ad(back, exp.dtau(frame, -Theta, turned))

    size = 3 * frame.dim
    columns = jax.vmap(change)(jnp.eye(size).reshape(size, 3, frame.dim))
    return jnp.swapaxes(columns.reshape(3, frame.dim, frame.dim), 1, 2)


class _Ride(Module):
    """A swimmer, and the steps of a period."""

    swimmer: Swimmer
    steps: int = static()


def _net_motion(ride: _Ride, gait: AbstractGait) -> Any:
    return net_motion(ride.swimmer, gait, ride.steps)


def _stacked(gaits: Sequence[AbstractGait]) -> Any:
    forms = {(jax.tree.structure(gait), tuple(np.shape(leaf) for leaf in jax.tree.leaves(gait))) for gait in gaits}
    if len(forms) != 1:
        raise InputError(f"{len(gaits)} gaits of {len(forms)} forms; expected at least one, all of one form.")
    return jax.tree.map(lambda *leaves: np.stack(leaves), *gaits)


def _checked(steps: int) -> int:
    if steps < 1:
        raise InputError(f"steps = {steps!r}; expected a whole number of at least 1.")
    return int(steps)
