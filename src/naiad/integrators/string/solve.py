"""The velocities of a step of a string: the nodes are eliminated up to the last, then the ends are solved for."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from naiad.integrators.string.rules import Rule
from naiad.mechanics import Scalar, Span, StringSystem, pull_back
from naiad.mechanics.string_elimination import Last, Piece, eliminate, substitute
from naiad.numerics import Dense, Newton
from naiad.retractions import Cayley

GIVE_UP = 30  # iterations
TAU = Cayley()


class Problem(NamedTuple):
    """The equations of a step from g: the legs at its start are `rows` at the nodes and `ends` at reel and body."""

    system: StringSystem
    rule: Rule
    g: Any
    rows: Float[Array, "N 3"]
    ends: Float[Array, " m"]
    t: Scalar
    h: Scalar

    @property
    def linear(self) -> bool:
        """Whether the equations of the nodes are linear once the ends are known, and one sweep solves them."""
        return not self.system.reeled and self.scalar

    @property
    def scalar(self) -> bool:
        """Whether the coupling of two nodes is the same in all directions."""
        return not self.rule.implicit and self.system.element_force is None


class Velocities(NamedTuple):
    """Those of a step: Delta q/h, and Delta s/h and the Cayley map's Omega, as far as there are any."""

    rows: Float[Array, "N 3"]
    ends: Float[Array, " m"]


class Solved(NamedTuple):
    """The velocities of a step, and how they were found."""

    xi: Velocities
    iterations: Int[Array, ""]
    residual: Float[Array, ""]
    converged: Bool[Array, ""]


class TipLegs(NamedTuple):
    """The ends, in the algebra of the last node, the reel and the body: the momentum at the start of a step, and what
    the derivative in g at a constant increment and the force add to it."""

    mu_minus: Float[Array, " n"]
    minus: Float[Array, " n"]


class _Iteration(NamedTuple):
    xi: Velocities
    correction: Float[Array, ""]
    iterations: Int[Array, ""]
    residual: Float[Array, ""]
    goes_on: Bool[Array, ""]
    converged: Bool[Array, ""]


def tip_legs(problem: Problem, x: Float[Array, " n"]) -> TipLegs:
    """The legs of the ends at a velocity, with the forces on them at the start of the step.

    In the ambient space the rate is r = (g_{k+1} - g_k)/h, so that - D_{g_k} L_d = D_r L_d / h - D_g L_d.
    """
    system, t, h = problem.system, problem.t, problem.h
    group, at = system.tip_group, system.tip_element(problem.g)
    increment = jax.tree.map(lambda each: each / h, TAU.increment(group, h * x))
    rate = increment._replace(R=at.R @ increment.R) if system.turning else increment

    def action(element, rate):
        return problem.rule.tip_action(system, system.tip_place(element, t), system.tip_rate(rate, t, h), h)

    by_g, by_rate = jax.grad(action, argnums=(0, 1))(at, rate)
    leg = jax.tree.map(lambda r, g: r / h - g, by_rate, by_g)
    if system.turning:
        by_g = by_g._replace(R=by_g.R + by_rate.R @ increment.R.T)
    push = problem.rule.force * h * tip_forces(system, problem.g, x, t)
    return TipLegs(pull_back(group, at, leg) - push, pull_back(group, at, by_g) + push)


def tip_forces(system: StringSystem, g: Any, x: Float[Array, " n"], t: Scalar) -> Float[Array, " n"]:
    """The forces on the ends and on the reel, at a configuration and a velocity of the ends."""
    total = jnp.zeros_like(x)
    if system.tip_force is not None:
        total = total + system.tip_force(system.tip_place(system.tip_element(g), t), x, t)
    if system.reeled and system.reel_force is not None:
        total = total.at[3].add(system.reel_force(g, x[3], t))
    return total


def piece(problem: Problem, index: Any, near: Any, far: Any, s: Any, speed: Any) -> Piece:
    """The equations of an element at the velocities of its nodes; data of a node are (q, momentum, velocity)."""
    system, rule, t, h = problem.system, problem.rule, problem.t, problem.h

    def legs(rate):
        at = Span(near[0], far[0], s)
        by_at, by_rate = jax.grad(rule.element_action, argnums=(2, 3))(system, index, at, Span.of(rate), t, h)
        momenta = by_rate.flat() / h - by_at.flat()
        if system.element_force is None:
            return momenta
        return momenta - rule.force * h * system.element_force(index, at, Span.of(rate), t).flat()

    rate = Span(near[2], far[2], speed).flat()
    target = jnp.concatenate([jnp.zeros(3), far[1], jnp.zeros(1)])

    def twice(rate):
        value = legs(rate)
        return value, value

    jacobian, value = jax.jacfwd(twice, has_aux=True)(rate)
    return Piece(value - target, jacobian)


def improve(problem: Problem, xi: Velocities) -> tuple[Velocities, Any, Any, Any, Any]:
    """Newton's method for the nodes, the ends being solved for exactly: the new velocities, the largest correction, the
    largest velocity, the residual of the ends and whether they were found."""
    system, g, t, h = problem.system, problem.g, problem.t, problem.h
    s, speed = system.wound(g, t), system.reel_speed(xi.ends, t, h)
    begin = system.start(t), jnp.zeros(3), system.start_rate(t, h)
    factors, last = eliminate(
        lambda index, near, far: piece(problem, index, near, far, s, speed),
        begin,
        (system.numbers(), (jnp.asarray(g.q), problem.rows, xi.rows)),
        scalar=problem.scalar,
        border=system.reeled,
    )
    x0 = jnp.concatenate([xi.rows[-1], xi.ends])
    x, residual, found = _ends(problem, last, x0)
    change = x - x0
    rows, largest, size = substitute(factors, change[:3], change[3] if system.reeled else 0.0, xi.rows)
    largest, size = (jnp.maximum(a, jnp.max(jnp.abs(b))) for a, b in ((largest, change), (size, x)))
    return Velocities(rows, x[3:]), largest, size, residual, found


def _ends(problem: Problem, last: Last, x0: Float[Array, " n"]) -> tuple[Float[Array, " n"], Any, Any]:
    """The velocities of the last node, the reel and the body that balance what the string leaves at the last node; one
    step of Newton's method where the nodes call for more sweeps anyway."""
    matrix, right = last.equations(x0.size)
    target = right + jnp.concatenate([jnp.zeros(3), problem.ends])

    def mismatch(x):
        return matrix @ (x - x0) + tip_legs(problem, x).mu_minus - target

    if problem.linear:
        root = Newton().root(mismatch, x0)
        residual = jnp.max(jnp.abs(mismatch(root.x)))
        at_rest = residual <= jnp.finfo(float).eps * reach_of(problem) * jnp.max(jnp.abs(matrix))
        return root.x, residual, root.converged | at_rest
    step = Dense().newton_step(mismatch, x0)
    return x0 - step, jnp.max(jnp.abs(mismatch(x0))), jnp.ones((), bool)


def reach_of(problem: Problem) -> Float[Array, ""]:
    """max |q|/h: velocities below its round-off move nothing, and are all that a string at rest has."""
    return jnp.max(jnp.abs(jnp.asarray(problem.g.q))) / jnp.abs(problem.h)


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
def solve(problem: Problem, guess: Velocities) -> Solved:
    """The velocities for which every momentum is met; the derivative is the implicit one."""
    if problem.linear:
        xi, _, _, residual, found = improve(problem, guess)
        return Solved(xi, jnp.ones((), int), residual, found)

    reach = reach_of(problem)

    def iterate(last: _Iteration) -> _Iteration:
        xi, correction, size, residual, found = improve(problem, last.xi)
        small = settled(correction, last.correction, size, reach)
        good = found & jnp.isfinite(correction)
        count = last.iterations + 1
        return _Iteration(xi, correction, count, residual, good & ~small & (count < GIVE_UP), good & small)

    zero, no = jnp.zeros(()), jnp.zeros((), bool)
    start = _Iteration(guess, jnp.full((), jnp.inf), jnp.zeros((), int), zero, ~no, no)
    end = jax.lax.while_loop(lambda i: i.goes_on, iterate, start)
    return Solved(end.xi, end.iterations, end.residual, end.converged)


@solve.defjvp
def _implicit(primals, tangents):
    """One step of Newton's method at the solution, where only what it depends on varies."""
    solved = solve(*primals)
    _, xi = jax.jvp(lambda problem: improve(problem, solved.xi)[0], primals[:1], tangents[:1])
    none: Any = np.zeros((), jax.dtypes.float0)  # the tangent of a count
    return solved, Solved(xi, none, jnp.zeros(()), none)
