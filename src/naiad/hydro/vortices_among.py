"""Point vortices among several bodies of the plane: their energy and the bodies' momenta, by boundary elements.

The sources s that keep the flow of the vortices out of bodies at rest satisfy (A + O) s = -u_n, u_n being its normal
velocity; the momenta of the bodies are those of `coupling` with its potential and normal velocity beside those of s,
and the energy has half of each vortex in the stream function of s. All nodes are one array here: short programs.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from naiad.hydro.boundary import Boundary, Level
from naiad.hydro.coupling import stacked


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
    gamma, z = jnp.asarray(gamma), jnp.asarray(places) @ jnp.asarray([1.0, 1.0j])
    sizes = [level.size for level in levels]
    owner = np.repeat(np.arange(len(levels)), sizes)
    share = 1.0 / np.repeat(sizes, sizes)
    own = owner[:, None] == owner
    turn, origin = jnp.exp(1j * poses[:, 0])[owner], (poses[:, 1] + 1j * poses[:, 2])[owner]
    nodes = turn * np.concatenate([level.z for level in levels]) + origin
    normals = turn * np.concatenate([level.normal for level in levels])
    h, a, b = (stacked([getattr(level, name) for level in levels]) for name in "hab")

    away = jnp.where(own, 1.0, nodes[:, None] - nodes)
    square = away.real**2 + away.imag**2
    P = 0.5 * jnp.log(square) * share
    O = jnp.where(own, 0.0, (normals[:, None].real * away.real + normals[:, None].imag * away.imag) / square * share)  # noqa: E741
    outward = a.T @ P - b.T @ O

    apart = nodes[:, None] - z
    through = (normals * jnp.sum(gamma / apart, axis=1)).imag / (2.0 * jnp.pi)
    angle = _angle(apart / (origin[:, None] - z))
    potential = angle @ gamma / (2.0 * jnp.pi)
    found = jnp.linalg.solve(
        O + stacked([level.A for level in levels]), jnp.concatenate([h, -through[:, None]], axis=1)
    )
    s = found[:, -1]
    M = density * (stacked([each.inertia for each in boundaries]) - outward @ found[:, :-1])
    impulse = -density * (outward @ s + a.T @ potential - b.T @ through)

    first, second = np.triu_indices(len(gamma), 1)
    gap = z[first] - z[second]
    pairs = -0.25 / jnp.pi * jnp.sum(gamma[first] * gamma[second] * jnp.log(gap.real**2 + gap.imag**2))
    return AmongVortices(0.5 * (M + M.T), impulse, density * (pairs + 0.5 * (share * s) @ angle @ gamma))


def _angle(ratio: Any) -> Any:
    """Of what is seen from a vortex: from the origin of a body to a node. Turned about, it is that at the vortex."""
    return jnp.arctan2(ratio.imag, ratio.real)
