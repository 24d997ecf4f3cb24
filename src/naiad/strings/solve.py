"""The velocities of a step of a string, by Newton's method: the nodes are eliminated up to the last, then the ends."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from naiad.numerics import Dense
from naiad.strings.elimination import Last, Piece, eliminate, substitute
from naiad.strings.landing import land
from naiad.strings.linear import solve_chain
from naiad.strings.parts import Span
from naiad.strings.problem import GIVE_UP, Problem, Solved, Velocities, element_legs, reach_of, tip_legs


class _Iteration(NamedTuple):
    xi: Velocities
    correction: Float[Array, ""]
    iterations: Int[Array, ""]
    residual: Float[Array, ""]
    goes_on: Bool[Array, ""]
    converged: Bool[Array, ""]


def piece(problem: Problem, index: Any, near: Any, far: Any, s: Any, speed: Any) -> Piece:
    """The equations of an element at the velocities of its nodes; data of a node are (q, momentum, velocity)."""
    rate = Span(near[2], far[2], speed).flat()
    target = jnp.concatenate([jnp.zeros(3), far[1], jnp.zeros(1)])

    def twice(rate):
        value = element_legs(problem, index, Span(near[0], far[0], s), Span.of(rate)).flat()
        return value, value

    jacobian, value = jax.jacfwd(twice, has_aux=True)(rate)
    return Piece(value - target, jacobian)


def improve(problem: Problem, xi: Velocities) -> tuple[Velocities, Any, Any, Any]:
    """A step of Newton's method: the new velocities, the largest correction, the largest velocity and the residual of
    the ends."""
    system, g, t, h = problem.system, problem.g, problem.t, problem.h
    s, speed = system.wound(g, t), system.reel_speed(xi.ends, t, h)
    begin = system.start(t), jnp.zeros(3), system.start_rate(t, h)
    factors, last = eliminate(
        lambda index, near, far: piece(problem, index, near, far, s, speed),
        begin,
        (system.numbers(), (jnp.asarray(g.q), problem.nodes.rows, xi.rows)),
        scalar=problem.rule.linear(system),
        border=system.reeled,
    )
    x0 = xi.tip
    change, residual = _ends(problem, last, x0)
    x = x0 + change
    rows, largest, size = substitute(factors, change[:3], change[3] if system.reeled else 0.0, xi.rows)
    largest, size = (jnp.maximum(a, jnp.max(jnp.abs(b))) for a, b in ((largest, change), (size, x)))
    return Velocities(rows, x[3:]), largest, size, residual


def _ends(problem: Problem, last: Last, x0: Float[Array, " n"]) -> tuple[Float[Array, " n"], Any]:
    """The correction of the velocities of the last node, the reel and the body, with what the string leaves at the last
    node; and the largest residual before it."""
    matrix, right = last.equations(x0.size)
    target = right + jnp.concatenate([jnp.zeros(3), problem.ends])

    def mismatch(x):
        return matrix @ (x - x0) + tip_legs(problem, x).mu_minus - target

    return -Dense().newton_step(mismatch, x0), jnp.max(jnp.abs(mismatch(x0)))


def settled(correction: Any, before: Any, size: Any, reach: Any) -> Bool[Array, ""]:
    """Whether velocities of this size need no more corrections after this one and the one before (infinite for none).

    The m-th correction d_m predicts the next, d_m (d_m / d_{m-1})^2, the first one d_1^2 / |xi|; it is over when that
    is below rounding, or when corrections at the level of rounding shrink no more.
    """
    eps, ratio = jnp.finfo(float).eps, correction / before
    shrinks = jnp.where(jnp.isinf(before), correction / size, ratio**2)
    still = (ratio > 0.5) & (correction <= 1e3 * eps * size + eps * reach)
    return (correction * shrinks <= 0.5 * eps * size) | still | (correction == 0.0)


@jax.custom_jvp
def solve(problem: Problem, guess: Any) -> Solved:
    """The velocities for which every momentum is met; the derivative is the implicit one. The guess is one of all, or
    of those of the ends alone where the nodes' equations are linear."""
    if problem.rule.linear(problem.system):
        return solve_chain(problem, guess)

    reach = reach_of(problem)

    def iterate(last: _Iteration) -> _Iteration:
        xi, correction, size, residual = improve(problem, last.xi)
        small = settled(correction, last.correction, size, reach)
        good, count = jnp.isfinite(correction), last.iterations + 1
        return _Iteration(xi, correction, count, residual, good & ~small & (count < GIVE_UP), good & small)

    zero, no = jnp.zeros(()), jnp.zeros((), bool)
    start = _Iteration(guess, jnp.full((), jnp.inf), jnp.zeros((), int), zero, ~no, no)
    end = jax.lax.while_loop(lambda i: i.goes_on, iterate, start)
    landing, legs = land(problem, end.xi)[0], tip_legs(problem, end.xi.tip)
    return Solved(end.xi, legs, landing, end.iterations, end.residual, end.converged)


@solve.defjvp
def _implicit(primals, tangents):
    """One step of Newton's method at the solution, where only what it depends on varies."""
    solved = solve(*primals)
    _, xi = jax.jvp(lambda problem: improve(problem, solved.xi)[0], primals[:1], tangents[:1])

    def after(problem, xi):
        return tip_legs(problem, xi.tip), land(problem, xi)[0]

    _, (legs, landing) = jax.jvp(after, (primals[0], solved.xi), (tangents[0], xi))
    none: Any = np.zeros((), jax.dtypes.float0)  # the tangent of a count
    return solved, Solved(xi, legs, landing, none, jnp.zeros(()), none)
