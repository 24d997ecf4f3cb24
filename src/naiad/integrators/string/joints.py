"""The slope of the energy of the joints between elements, each of which couples three nodes."""

from typing import Any

import jax
import jax.numpy as jnp

from naiad.integrators.string.solve import Velocities
from naiad.mechanics import Scalar, StringSystem
from naiad.mechanics.string_parts import pairs


def joint_slope(system: StringSystem, g: Any, t: Scalar) -> Velocities:
    """The gradient of the joints' energies in the nodes and in s."""
    s, start = system.wound(g, t), system.start(t)
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


def kicked_by_joints(system: StringSystem, g: Any, p: Velocities, t: Scalar, time: Scalar) -> Velocities:
    """Momenta after the joints have acted for some time."""
    return jax.tree.map(lambda p, slope: p - time * slope, p, joint_slope(system, g, t))
