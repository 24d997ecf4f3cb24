"""The step of a string that does not stretch: the lengths of its elements are held by multipliers, in O(N).

mu_minus(g_k, xi_k) = mu_k + A_k^T lambda with the lengths right at g_{k+1}, then mu_{k+1} = mu_plus + A_{k+1}^T lambda'
with the rates of the lengths right at the node (RATTLE [andersen1983]); A is the slope of (|d|^2 - l(s)^2)/2, d the way
along an element and l its length with s on the reel: a link pulls at the two nodes of its element and, where the reel
turns, at the reel.
"""

from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from naiad.mechanics import Scalar
from naiad.numerics import Dense, Newton, Root
from naiad.numerics import solve as solve_linear
from naiad.numerics.newton import Corrected, by_improving, implicit
from naiad.strings.landing import land
from naiad.strings.links import LinkPiece, eliminate_links, substitute_links
from naiad.strings.nodes import Nodes
from naiad.strings.parts import Span, pairs
from naiad.strings.problem import Problem, Solved, Velocities, floor_of, piece, tip_legs, winding
from naiad.strings.system import StringSystem


def pulled(
    system: StringSystem, g: Any, nodes: Nodes, links: Float[Array, " N"], t: Scalar
) -> tuple[Nodes, Float[Array, ""]]:
    """The nodes' momenta + A^T links, and what the links add to the reel's."""
    near, far = pairs(system.outlet(t), g.q)
    pull = links[:, None] * (far - near)
    moved = Nodes(nodes.before - pull + pairs(jnp.zeros(3), pull)[0], nodes.last + pull[-1])
    return moved, -_half_square(system, system.wound(g, t))[1] * jnp.sum(links)


def solve_links(newton: Newton, problem: Problem, guess: Velocities) -> Root:
    """The velocities of a step, its start pulled by the links: `Solved`, with the residual as the root's memory."""

    def find(problem, guess):
        wound = jnp.asarray(problem.system.wound(problem.g, problem.t))
        floor = floor_of(problem, wound)  # the lengths are rounded as s is

        def correct(last):
            xi, links, residual = _improve(problem, last[0])
            changes = jax.tree.map(lambda a, b: jnp.max(jnp.abs(a - b), initial=0.0), xi, last[0])
            sizes = jax.tree.map(lambda a: jnp.max(jnp.abs(a), initial=0.0), xi)
            correction = jnp.maximum(*changes)
            return Corrected((xi, links, residual), correction, jnp.maximum(*sizes), jnp.isfinite(correction))

        start = guess, jnp.zeros(problem.system.elements), jnp.zeros(())
        end = newton.iterate(correct, newton.settling(floor), start, jnp.full((), jnp.inf))
        xi, links, residual = end.x
        return end._replace(x=_landed(problem, xi, links), memory=residual)

    def improve(problem, solved):
        return _landed(problem, *_improve(problem, solved.xi)[:2])

    return implicit(find, by_improving(improve))(problem, guess)


def _landed(problem: Problem, xi: Velocities, links: Float[Array, " N"]) -> Solved:
    nodes, reel = pulled(problem.system, problem.g, problem.nodes, links, problem.t)
    landing = land(problem._replace(nodes=nodes), xi)
    return Solved(xi, tip_legs(problem, xi.tip), landing._replace(reel=landing.reel + reel))


def _improve(problem: Problem, xi: Velocities) -> tuple[Velocities, Float[Array, " N"], Float[Array, ""]]:
    """A step of Newton's method for velocities and multipliers."""
    system, g, t, h = problem.system, problem.g, problem.t, problem.h
    s, s1, speed = winding(problem, xi.ends)
    (_, slope), (kept, end_slope) = _half_square(system, s), _half_square(system, s1)

    def pieces(index, near, far):
        residual, J = piece(problem, index, near, far, s, speed)
        d = far[0] - near[0]
        end = d + h * (far[2] - near[2])
        off = (0.5 * jnp.dot(end, end) - kept) / h
        return _linked(residual, J, pull=(d, slope), row=(end, end_slope), off=off)

    begin = system.outlet(t), jnp.zeros(3), system.outlet_rate(t, h)
    each = (system.numbers(), (jnp.asarray(g.q), problem.nodes.rows, xi.rows))
    factors, last = eliminate_links(pieces, begin, each, border=system.reeled)
    x0 = jnp.concatenate([xi.rows[-1], jnp.zeros(1), xi.ends])
    matrix, right = last.equations(x0.size)
    target = right + jnp.concatenate([jnp.zeros(4), problem.ends])

    def mismatch(x):
        return matrix @ (x - x0) + _with_link(tip_legs(problem, _without_link(x)).mu_minus) - target

    change = -Dense().newton_step(mismatch, x0)
    rows, links = substitute_links(factors, change[:3], change[3], change[4] if system.reeled else 0.0)
    new = Velocities(xi.rows + rows, xi.ends + change[4:])
    return new, links, jnp.max(jnp.abs(mismatch(x0)))


def held(
    system: StringSystem, g: Any, nodes: Nodes, ends: Float[Array, " m"], t: Scalar
) -> tuple[Nodes, Float[Array, " m"]]:
    """Momenta with the pull of the links that keeps the lengths of the elements to their rates at the node."""
    s, speed = system.wound(g, t), system.reel_speed(jnp.zeros(1), t)
    _, slope = _half_square(system, s)

    def pieces(index, near, far):
        def momentum(rate):
            at = Span(near[0], far[0], s)
            return system.kinetic_momenta(index, at, Span.of(rate)).flat()

        rate = Span(near[2], jnp.zeros(3), speed).flat()
        residual = momentum(rate) - jnp.concatenate([jnp.zeros(3), far[1], jnp.zeros(1)])
        d = far[0] - near[0]
        off = -jnp.dot(d, near[2]) - slope * speed
        return _linked(residual, jax.jacfwd(momentum)(rate), pull=(d, slope), row=(d, slope), off=off)

    begin = system.outlet(t), jnp.zeros(3), system.outlet_rate(t)
    each = (system.numbers(), (jnp.asarray(g.q), nodes.rows, jnp.zeros_like(nodes.rows)))
    factors, last = eliminate_links(pieces, begin, each, border=system.reeled)
    group, at = system.tip_group, system.tip_element(g)

    def kinetic(x):
        change = group.tangent(at, _without_link(x))
        return system.tip_kinetic(system.tip_place(at, t), system.tip_rate(change, t))

    nothing = jnp.zeros(group.dim + 1)
    matrix, right = last.equations(group.dim + 1)
    own = jnp.concatenate([jnp.zeros(4), ends]) - jax.grad(kinetic)(nothing)
    x = solve_linear(matrix + jax.hessian(kinetic)(nothing), right + own)
    _, links = substitute_links(factors, x[:3], x[3], x[4] if system.reeled else 0.0)
    nodes, reel = pulled(system, g, nodes, links, t)
    return nodes, ends.at[0].add(reel) if system.reeled else ends


def _half_square(system: StringSystem, s: Any) -> tuple[Float[Array, ""], Float[Array, ""]]:
    """l^2/2 of the length l of an element with s on the reel, and its slope in s."""
    return jax.value_and_grad(lambda s: 0.5 * system.link_length(s) ** 2)(jnp.asarray(s, float))


def _linked(residual: Any, J: Any, *, pull: Any, row: Any, off: Any) -> LinkPiece:
    """The equations of an element with that of its link. `pull` and `row` are (d, l dl/ds): where the link pulls, and
    where its length is right."""
    (d, turn), (end, end_turn) = pull, row
    column, slopes = jnp.concatenate([d, -d, turn[None]]), jnp.concatenate([-end, end, -end_turn[None]])
    matrix = jnp.zeros((8, 8)).at[:7, :7].set(J).at[:7, 7].set(column).at[7, :7].set(slopes)
    return LinkPiece(jnp.concatenate([residual, off[None]]), matrix)


def _without_link(x: Float[Array, " m"]) -> Float[Array, " n"]:
    """The velocities of the ends out of the unknowns at the last node, of which the fourth is its link."""
    return jnp.concatenate([x[:3], x[4:]])


def _with_link(x: Float[Array, " n"]) -> Float[Array, " m"]:
    return jnp.concatenate([x[:3], jnp.zeros(1), x[3:]])
