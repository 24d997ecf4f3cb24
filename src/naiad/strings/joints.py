"""The slope of the energy of the joints between elements, each of which couples three nodes."""

from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from naiad.mechanics import Scalar
from naiad.strings.nodes import Nodes
from naiad.strings.parts import pairs
from naiad.strings.problem import Velocities
from naiad.strings.system import StringSystem


def joint_slope(system: StringSystem, g: Any, t: Scalar) -> Velocities:
    """The gradient of the joints' energies in the nodes and in s."""
    s, start = system.wound(g, t), system.outlet(t)
    at, after = pairs(start, g.q)
    before, _ = pairs(start, at)

    def joint(carry, each):
        at_far, at_middle, total = carry
        index, *nodes = each
        by_before, by_at, by_after, by_s = jax.grad(system.joint_potential, argnums=(1, 2, 3, 4))(index, *nodes, s, t)
        return (at_middle + by_at, by_before, total + by_s), at_far + by_after

    none = jnp.zeros(3)
    each = (system.numbers(), before, at, after)
    (_, _, total), rows = jax.lax.scan(joint, (none, none, jnp.zeros(())), each, reverse=True)
    ends = jnp.zeros(system.structure.border)
    return Velocities(rows, ends.at[0].set(total) if system.reeled else ends)


def kicked_by_joints(
    system: StringSystem, g: Any, nodes: Nodes, ends: Float[Array, " m"], t: Scalar, time: Scalar
) -> tuple[Nodes, Float[Array, " m"]]:
    """Momenta after the joints have acted for some time."""
    slope = joint_slope(system, g, t)
    before, _ = pairs(jnp.zeros(3), slope.rows)
    return Nodes(nodes.before - time * before, nodes.last - time * slope.rows[-1]), ends - time * slope.ends
