"""The step of a string that does not stretch: the lengths of its elements are held by multipliers, in O(N).

mu_minus(g_k, xi_k) = mu_k + A_k^T lambda with the lengths right at g_{k+1}, then mu_{k+1} = mu_plus + A_{k+1}^T lambda'
with the rates of the lengths right at the node (RATTLE [andersen1983]); A is the slope of (|d|^2 - l^2)/2, d the way
along an element.
"""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from naiad.integrators.string.landing import land
from naiad.integrators.string.nodes import Nodes
from naiad.integrators.string.problem import GIVE_UP, Problem, Solved, Velocities, reach_of, tip_legs
from naiad.integrators.string.solve import piece, settled
from naiad.mechanics import Scalar, Span, StringSystem
from naiad.mechanics.string_elimination import Piece
from naiad.mechanics.string_links import eliminate_links, substitute_links
from naiad.mechanics.string_parts import pairs
from naiad.numerics import Dense
from naiad.numerics import solve as solve_linear


class _Iteration(NamedTuple):
    xi: Velocities
    links: Float[Array, " N"]
    correction: Float[Array, ""]
    iterations: Int[Array, ""]
    residual: Float[Array, ""]
    goes_on: Bool[Array, ""]
    converged: Bool[Array, ""]


def pulled(nodes: Nodes, start: Any, q: Any, links: Float[Array, " N"]) -> Nodes:
    """Momenta + A^T links: each link pulls at the two nodes of its element."""
    near, far = pairs(start, q)
    pull = links[:, None] * (far - near)
    return Nodes(nodes.before - pull + pairs(jnp.zeros(3), pull)[0], nodes.last + pull[-1])


def solve_links(problem: Problem, guess: Velocities) -> Solved:
    """The velocities of a step, its start pulled by the links."""
    reach = reach_of(problem)

    def iterate(last: _Iteration) -> _Iteration:
        xi, links, residual = _improve(problem, last.xi)
        changes = jax.tree.map(lambda a, b: jnp.max(jnp.abs(a - b), initial=0.0), xi, last.xi)
        sizes = jax.tree.map(lambda a: jnp.max(jnp.abs(a), initial=0.0), xi)
        correction, size = jnp.maximum(*changes), jnp.maximum(*sizes)
        small = settled(correction, last.correction, size, reach)
        good, count = jnp.isfinite(correction), last.iterations + 1
        return _Iteration(xi, links, correction, count, residual, good & ~small & (count < GIVE_UP), good & small)

    zero, no = jnp.zeros(()), jnp.zeros((), bool)
    start = _Iteration(
        guess, jnp.zeros(problem.system.elements), jnp.full((), jnp.inf), jnp.zeros((), int), zero, ~no, no
    )
    end = jax.lax.while_loop(lambda i: i.goes_on, iterate, start)
    nodes = pulled(problem.nodes, problem.system.start(problem.t), problem.g.q, end.links)
    landing, legs = land(problem._replace(nodes=nodes), end.xi)[0], tip_legs(problem, end.xi.tip)
    return Solved(end.xi, legs, landing, end.iterations, end.residual, end.converged)


def _improve(problem: Problem, xi: Velocities) -> tuple[Velocities, Float[Array, " N"], Float[Array, ""]]:
    """A step of Newton's method for velocities and multipliers."""
    system, g, t, h = problem.system, problem.g, problem.t, problem.h
    s, speed = system.wound(g, t), system.reel_speed(xi.ends, t, h)
    length = system.link_length(t + h)

    def pieces(index, near, far):
        residual, J = piece(problem, index, near, far, s, speed)
        d = far[0] - near[0]
        end = d + h * (far[2] - near[2])
        off = 0.5 * (jnp.dot(end, end) - length**2) / h
        return _linked(residual, J, pull=d, slope=end, off=off)

    begin = system.start(t), jnp.zeros(3), system.start_rate(t, h)
    each = (system.numbers(), (jnp.asarray(g.q), problem.nodes.rows, xi.rows))
    factors, last = eliminate_links(pieces, begin, each)
    x0 = jnp.concatenate([xi.rows[-1], jnp.zeros(1), xi.ends])
    matrix, right = last.equations(x0.size)
    target = right + jnp.concatenate([jnp.zeros(4), problem.ends])

    def mismatch(x):
        return matrix @ (x - x0) + _with_link(tip_legs(problem, _without_link(x)).mu_minus) - target

    change = -Dense().newton_step(mismatch, x0)
    rows, links = substitute_links(factors, change[:3], change[3])
    new = Velocities(xi.rows + rows, xi.ends + change[4:])
    return new, links, jnp.max(jnp.abs(mismatch(x0)))


def held(system: StringSystem, g: Any, nodes: Nodes, ends: Float[Array, " m"], t: Scalar) -> Nodes:
    """Momenta with the pull of the links that keeps the lengths of the elements to their rates at the node."""
    s, none = system.wound(g, t), jnp.zeros(0)
    speed = system.reel_speed(none, t)
    length, length_rate = jax.jvp(system.link_length, (jnp.asarray(t, float),), (jnp.ones(()),))

    def pieces(index, near, far):
        def momentum(rate):
            at = Span(near[0], far[0], s)
            return jax.grad(system.element_kinetic, argnums=2)(index, at, Span.of(rate)).flat()

        rate = Span(near[2], jnp.zeros(3), speed).flat()
        residual = momentum(rate) - jnp.concatenate([jnp.zeros(3), far[1], jnp.zeros(1)])
        d = far[0] - near[0]
        off = -jnp.dot(d, near[2]) - length * length_rate
        return _linked(residual, jax.jacfwd(momentum)(rate), pull=d, slope=d, off=off)

    start = system.start(t)
    begin = start, jnp.zeros(3), system.start_rate(t)
    each = (system.numbers(), (jnp.asarray(g.q), nodes.rows, jnp.zeros_like(nodes.rows)))
    factors, last = eliminate_links(pieces, begin, each)
    group, at = system.tip_group, system.tip_element(g)

    def kinetic(x):
        change = group.tangent(at, _without_link(x))
        return system.tip_kinetic(system.tip_place(at, t), system.tip_rate(change, t))

    nothing = jnp.zeros(group.dim + 1)
    matrix, right = last.equations(group.dim + 1)
    own = jnp.concatenate([jnp.zeros(4), ends]) - jax.grad(kinetic)(nothing)
    x = solve_linear(matrix + jax.hessian(kinetic)(nothing), right + own)
    _, links = substitute_links(factors, x[:3], x[3])
    return pulled(nodes, start, g.q, links)


def _linked(residual: Any, J: Any, *, pull: Any, slope: Any, off: Any) -> Piece:
    """The equations of an element with those of its link, in place of the reel's."""
    row = jnp.concatenate([-slope, slope, jnp.zeros(1)])
    column = jnp.concatenate([pull, -pull])
    return Piece(residual.at[6].set(off), J.at[:6, 6].set(column).at[6].set(row))


def _without_link(x: Float[Array, " m"]) -> Float[Array, " n"]:
    """The velocities of the ends out of the unknowns at the last node, of which the fourth is its link."""
    return jnp.concatenate([x[:3], x[4:]])


def _with_link(x: Float[Array, " n"]) -> Float[Array, " m"]:
    return jnp.concatenate([x[:3], jnp.zeros(1), x[3:]])
