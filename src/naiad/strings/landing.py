"""The elements of a string at both ends of a step: the potentials act on the momenta for half of it, and what the step
itself does to them."""

from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from naiad.mechanics import Scalar
from naiad.strings.nodes import Nodes, to_nodes
from naiad.strings.parts import Span
from naiad.strings.problem import Landing, Problem, Velocities, winding
from naiad.strings.rules import Rule
from naiad.strings.system import StringSystem


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


def land(problem: Problem, xi: Velocities) -> Landing:
    """The end of a step: the momenta at its start, D_g of the elements' action at constant increments, their forces and
    half a step of the potentials there."""
    system, rule, g, t, h = problem.system, problem.rule, problem.g, problem.t, problem.h
    s, s1, speed = winding(problem, xi.ends)

    def element(node, one):
        near, near_rate, near1 = node
        index, far, far_rate, momentum = one
        far1 = far + h * far_rate
        at, end, rate = Span(near, far, s), Span(near1, far1, s1), Span(near_rate, far_rate, speed)
        by_at, _ = rule.element_slopes(system, index, at, rate, t, h)
        push = _plus(jax.tree.map(lambda g: h * g, by_at), rule.force * h, system.element_force, index, at, rate, t)
        push = _plus(push, (1.0 - rule.force) * h, system.element_force, index, end, rate, t + h)
        by_end = jax.grad(rule.element_potential, argnums=2)(system, index, end, t + h)
        given = jax.tree.map(lambda p, v: p - 0.5 * h * v, push, by_end)
        return (far, far_rate, far1), momentum + given.near, given.far, (far1, given.s)

    begin = system.outlet(t), system.outlet_rate(t, h), system.outlet(t + h)
    each = system.numbers(), jnp.asarray(g.q), xi.rows, problem.nodes.before
    before, last, (q, given) = to_nodes(element, begin, each, jnp.zeros(3))
    return Landing(q, Nodes(before, problem.nodes.last + last), jnp.sum(given))


def _plus(slope: Span, part: Any, force: Any, *where: Any) -> Span:
    """A slope and part of a force."""
    if force is None or (isinstance(part, float) and part == 0.0):
        return slope
    return jax.tree.map(lambda a, f: a + part * f, slope, force(*where))
