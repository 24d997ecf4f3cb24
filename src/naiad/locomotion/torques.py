"""Inverse dynamics: the torques at the joints that make a swimmer follow a gait, their power and their work.

With v = (xi, theta') and mu = K_gg xi + K_gt theta', Hamel's equations are

    K v' + (sum_a theta_a' dK/dtheta_a) v = (ad*_xi mu, tau + 1/2 v . (dK/dtheta) v),

and where shapes do not commute, ad*_theta' of their own momentum is added to the last.
The first rows give xi', since theta'' is known, and the others tau. [kanso2005, eqs. (5.4), (5.18)] lack the
reaction of the hinges and the last term, the change of the coupled inertia with the shape.
"""

from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from naiad.compiler import execute_rows
from naiad.groups import AbstractGroup
from naiad.locomotion.abstract_swimmer import AbstractSwimmer
from naiad.locomotion.checks import check_free
from naiad.locomotion.gait import AbstractGait, ShapeMotion
from naiad.locomotion.reconstruction import STEPS, growing, reconstruct, shape_at, stage, steps_between
from naiad.numerics import solve
from naiad.numerics.arguments import checked_throughout

NODES, PANELS = 10, 24
"""Gauss points of a panel, panels a period, for the work: that of the paper's fish has an error below 1e-10 J."""


class GaitTorques(NamedTuple):
    """At times: the torques, conjugate to the angles (positive work when an angle grows; those of a ball joint act on
    its link, in the link's frame); their power; their work since the first time; and the kinetic energy of links and
    fluid."""

    times: np.ndarray
    torques: Float[np.ndarray, "s m"]
    power: Float[np.ndarray, " s"]
    work: Float[np.ndarray, " s"]
    kinetic_energy: Float[np.ndarray, " s"]


@checked_throughout
def gait_torques(
    swimmer: AbstractSwimmer,
    gait: AbstractGait,
    times: Any,
    *,
    start: Any = None,
    momentum: Any = None,
    steps: int = STEPS,
    nodes: int = NODES,
) -> GaitTorques:
    """The torques along a gait at `times`, which grow; the other arguments are those of `reconstruct`.

    The work is the integral of the power, by Gauss's quadrature at so many `nodes` between neighbouring times, or on
    pieces of what lies between them if that is long; it equals the change of the kinetic energy.
    """
    check_free(swimmer)
    times = growing(times)
    between, weights, kept = _quadrature(times, float(gait.period) / PANELS, nodes)
    every, place = np.unique(np.concatenate([times, between]), return_inverse=True)
    shape = execute_rows(shape_at, gait, every, parameters=(0,))
    K, slopes = swimmer.inertias_with_slopes(shape.theta)
    if momentum is None:
        xi = execute_rows(stage, swimmer.frame, K, shape.rates, parameters=(0,)).drift
    else:
        xi = reconstruct(swimmer, gait, every, start=start, momentum=momentum, steps=steps).xi
    torques, energy = execute_rows(
        hinge_torques, (swimmer.frame, swimmer.shapes), K, slopes, xi, shape, parameters=(0,)
    )
    power = np.sum(torques * shape.rates, axis=1)
    at, inside = place[: times.size], place[times.size :]
    work = np.concatenate([[0.0], np.cumsum(weights * power[inside])])[kept]
    return GaitTorques(times, torques[at], power[at], work, energy[at])


def hinge_torques(
    groups: tuple[AbstractGroup, AbstractGroup],
    K: Float[Array, "n n"],
    slopes: Float[Array, "m n n"],
    xi: Any,
    shape: ShapeMotion,
) -> tuple[Any, Any]:
    """The torques and the kinetic energy, of a swimmer whose group and group of shapes these are."""
    frame, shapes = groups
    d, v = frame.dim, jnp.concatenate([xi, shape.rates])
    momenta, carried = K @ v, jnp.einsum("aij,j->ai", slopes, v)
    change = shape.rates @ carried
    known = frame.ad_dual(xi, momenta[:d]) - change[:d] - K[:d, d:] @ shape.accelerations
    acceleration = jnp.concatenate([solve(K[:d, :d], known), shape.accelerations])
    inertial = K[d:] @ acceleration + change[d:] - shapes.ad_dual(shape.rates, momenta[d:])
    return inertial - 0.5 * carried @ v, 0.5 * v @ momenta


def _quadrature(times: np.ndarray, longest: float, count: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Gauss's points between the times, their weights, and how many of them lie before each time."""
    x, w = np.polynomial.legendre.leggauss(count)
    h, kept = steps_between(times, longest)
    begin = times[0] + np.concatenate([[0.0], np.cumsum(h)[:-1]])
    nodes = begin[:, None] + 0.5 * h[:, None] * (1.0 + x)
    return nodes.ravel(), np.outer(0.5 * h, w).ravel(), count * kept
