"""The elements of a string at both ends of a step: the potentials act on the momenta for half of it, and what the step
itself does to them."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from naiad.mechanics import Scalar
from naiad.strings.nodes import Nodes, to_nodes
from naiad.strings.parts import Span
from naiad.strings.problem import Landing, Problem, Velocities, winding
from naiad.strings.rules import Rule
from naiad.strings.system import StringSystem


class Mismatch(NamedTuple):
    """What is left of the equations of a step without the ends: the largest residual of an inner node and the largest
    momentum of one, the residual of the last node, and what the elements need of the reel's momentum."""

    inner: Float[Array, ""]
    scale: Float[Array, ""]
    last: Float[Array, "3"]
    reel: Float[Array, ""]


def kicked(
    system: StringSystem, rule: Rule, g: Any, rows: Float[Array, "N 3"], t: Scalar, time: Scalar
) -> tuple[Nodes, Float[Array, ""]]:
    """The momenta of the nodes after the potentials of the elements have acted for some time, and what this adds to the
    reel's."""
    s = system.wound(g, t)

    def element(near, one):
        index, far, row = one
        by = jax.grad(rule.element_potential, argnums=2)(system, index, Span(near, far, s), t)
        return far, -time * by.near, row - time * by.far, by.s

    each = system.numbers(), jnp.asarray(g.q), rows
    before, last, by_s = to_nodes(element, system.outlet(t), each, jnp.zeros(3))
    return Nodes(before, last), -time * jnp.sum(by_s)


def land(problem: Problem, xi: Velocities) -> tuple[Landing, Mismatch]:
    """The end of a step: the momenta at its start, D_g of the elements' action at constant increments, their forces and
    half a step of the potentials there; and how far the momenta at the start are from what the velocities need."""
    system, rule, g, t, h = problem.system, problem.rule, problem.g, problem.t, problem.h
    s, s1, speed = winding(problem, xi.ends)

    def element(node, one):
        near, near_rate, near1 = node
        index, far, far_rate, momentum = one
        far1 = far + h * far_rate
        at, end, rate = Span(near, far, s), Span(near1, far1, s1), Span(near_rate, far_rate, speed)
        by_at, legs = rule.element_slopes(system, index, at, rate, t, h)
        legs = _plus(legs, -rule.force * h, system.element_force, index, at, rate, t)
        push = _plus(jax.tree.map(lambda g: h * g, by_at), rule.force * h, system.element_force, index, at, rate, t)
        push = _plus(push, (1.0 - rule.force) * h, system.element_force, index, end, rate, t + h)
        by_end = jax.grad(rule.element_potential, argnums=2)(system, index, end, t + h)
        given = jax.tree.map(lambda p, v: p - 0.5 * h * v, push, by_end)
        to_near, to_far = (momentum + given.near, momentum - legs.near), (given.far, -legs.far)
        return (far, far_rate, far1), to_near, to_far, (far1, given.s, legs.s, jnp.max(jnp.abs(momentum)))

    begin = system.outlet(t), system.outlet_rate(t, h), system.outlet(t + h)
    each = system.numbers(), jnp.asarray(g.q), xi.rows, problem.nodes.before
    nothing = jnp.zeros(3), jnp.zeros(3)
    (before, off), (last, last_off), (q, given, needed, sizes) = to_nodes(element, begin, each, nothing)
    landing = Landing(q, Nodes(before, problem.nodes.last + last), jnp.sum(given))
    inner = jnp.max(jnp.abs(off[1:]), initial=0.0)
    return landing, Mismatch(inner, jnp.max(sizes), problem.nodes.last + last_off, jnp.sum(needed))


def _plus(slope: Span, part: Any, force: Any, *where: Any) -> Span:
    """A slope and part of a force."""
    if force is None or (isinstance(part, float) and part == 0.0):
        return slope
    return jax.tree.map(lambda a, f: a + part * f, slope, force(*where))
