"""Point vortices among several bodies of the plane: their energy and the bodies' momenta, by boundary elements.

The sources s that keep the flow of the vortices out of bodies at rest satisfy (A + O) s = -u_n, u_n being its normal
velocity; the momenta of the bodies are those of `coupling` with its potential and normal velocity beside those of s,
and the energy has half of each vortex in the stream function of s. All nodes are one array here: short programs, of
real numbers.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from naiad.hydro.boundary import Boundary, Level
from naiad.hydro.coupling import stacked
from naiad.hydro.pair import Pair
from naiad.numerics import solver


class AmongVortices(NamedTuple):
    """What bodies have among vortices, three rows a body in its frame: the added inertia, their momenta at rest, less
    those of the vortices themselves, and the energy then."""

    inertia: Float[Array, "m m"]
    impulse: Float[Array, " m"]
    energy: Float[Array, ""]


def among_vortices(
    boundaries: Sequence[Boundary],
    levels: Sequence[Level],
    poses: Float[Array, "n 3"],
    density: float,
    gamma: Float[Array, " k"],
    places: Float[Array, "k 2"],
) -> AmongVortices:
    """`places` are in the frame of the poses. Circulations around the bodies are zero."""
    gamma, z = jnp.asarray(gamma), Pair.of(places)
    sizes = [level.size for level in levels]
    owner = np.repeat(np.arange(len(levels)), sizes)
    share = 1.0 / np.repeat(sizes, sizes)
    own = owner[:, None] == owner
    turn = Pair(jnp.cos(poses[:, 0])[owner], jnp.sin(poses[:, 0])[owner])
    origin = Pair(poses[owner, 1], poses[owner, 2])
    nodes = turn.times(_joined([level.z for level in levels])).plus(origin)
    normals = turn.times(_joined([level.normal for level in levels]))
    h, a, b = (stacked([getattr(level, name) for level in levels]) for name in "hab")

    away = nodes.column.minus(nodes)
    square = jnp.where(own, 1.0, away.square)
    P = 0.5 * jnp.log(square) * share
    O = jnp.where(own, 0.0, normals.column.times(away.conjugate).x / square * share)  # noqa: E741
    outward = a.T @ P - b.T @ O

    apart = nodes.column.minus(z)
    through = normals.column.over(apart).y @ gamma / (2.0 * jnp.pi)
    angle = _angle(apart.over(origin.column.minus(z)))
    potential = angle @ gamma / (2.0 * jnp.pi)
    dipoles = solver(O + stacked([level.A for level in levels]))  # of the poses alone, as is M
    s = -dipoles(through)
    M: Any = density * (stacked([each.inertia for each in boundaries]) - outward @ dipoles(jnp.asarray(h)))
    impulse = -density * (outward @ s + a.T @ potential - b.T @ through)

    first, second = np.triu_indices(len(gamma), 1)
    gap = Pair(z.x[first] - z.x[second], z.y[first] - z.y[second])
    pairs = -0.25 / jnp.pi * jnp.sum(gamma[first] * gamma[second] * jnp.log(gap.square))
    return AmongVortices(0.5 * (M + M.T), impulse, density * (pairs + 0.5 * (share * s) @ angle @ gamma))


def _joined(parts: Sequence[np.ndarray]) -> Pair:
    whole = np.concatenate(parts)
    return Pair(np.real(whole), np.imag(whole))


def _angle(ratio: Pair) -> Any:
    """Of what is seen from a vortex: from the origin of a body to a node. Turned about, it is that at the vortex."""
    return jnp.arctan2(ratio.y, ratio.x)
