"""The velocities of a step of a string, by Newton's method: the nodes are eliminated up to the last, then the ends."""

from typing import Any

import jax.numpy as jnp
from jaxtyping import Array, Float

from naiad.numerics import Dense, Newton, Root
from naiad.numerics.newton import Corrected, by_improving, implicit
from naiad.strings.elimination import Last, eliminate, substitute
from naiad.strings.landing import land
from naiad.strings.linear import solve_chain
from naiad.strings.problem import Problem, Solved, Velocities, floor_of, piece, tip_legs


def solve(newton: Newton, problem: Problem, guess: Any) -> Root:
    """The velocities for which every momentum is met, `Solved`, with the residual as the root's memory. The guess is
    one of all, or of those of the ends alone where the nodes' equations are linear."""

    def find(problem, guess):
        if problem.rule.linear(problem.system):
            return solve_chain(newton, problem, guess)

        def correct(last):
            xi, correction, size, residual = _improve(problem, last[0])
            return Corrected((xi, residual), correction, size, jnp.isfinite(correction))

        end = newton.iterate(correct, newton.settling(floor_of(problem)), (guess, jnp.zeros(())), jnp.full((), jnp.inf))
        xi, residual = end.x
        return end._replace(x=_landed(problem, xi), memory=residual)

    def improve(problem, solved):
        return _landed(problem, _improve(problem, solved.xi)[0])

    return implicit(find, by_improving(improve))(problem, guess)


def _landed(problem: Problem, xi: Velocities) -> Solved:
    return Solved(xi, tip_legs(problem, xi.tip), land(problem, xi))


def _improve(problem: Problem, xi: Velocities) -> tuple[Velocities, Any, Any, Any]:
    """A step of Newton's method: the new velocities, the largest correction, the largest velocity and the residual of
    the ends."""
    system, g, t, h = problem.system, problem.g, problem.t, problem.h
    s, speed = system.wound(g, t), system.reel_speed(xi.ends, t, h)
    begin = system.outlet(t), jnp.zeros(3), system.outlet_rate(t, h)
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
