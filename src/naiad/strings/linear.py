"""The velocities of a step of a string whose nodes' equations are linear once s' is known: Newton's method for ends.

For given velocities of the last node and of the reel the nodes are eliminated from the guide way on, and how theirs
change with those follows from the same elimination. So Newton's method is one for the ends alone; from a good guess its
first step is enough, and what is left of all equations says whether it was.
"""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float

from naiad.numerics import Newton, Root, solve
from naiad.numerics.newton import Corrected, Verdict
from naiad.strings.landing import land
from naiad.strings.nodes import to_nodes
from naiad.strings.parts import Span
from naiad.strings.problem import Problem, Solved, TipLegs, Velocities, element_legs, tip_legs

ROUNDING = 32 * 2.0**-52  # of an equation, in parts of what it is a sum of


class Swept(NamedTuple):
    """back_{j-1} x_{j-1} + diagonal_j x_j + ahead_j x_{j+1} = right_j for the node j before each element, eliminated to
    x_j = z_j - G_j x_{j+1} with z_j = inverse_j right_j - lower_j z_{j-1}; at the last node diagonal x + back z_{N-1}
    is left. The guide way is not an unknown: its inverse is 0."""

    inverse: Float[Array, " N"]
    lower: Float[Array, " N"]
    G: Float[Array, " N"]
    diagonal: Float[Array, ""]
    back: Float[Array, ""]

    def forward(self, right: Float[Array, "N 3"]) -> tuple[Float[Array, "N 3"], Float[Array, "3"]]:
        """z of right sides, and what they take from that of the last node."""

        def element(z, each):
            right, inverse, lower = each
            z = inverse * right - lower * z
            return z, z

        last, z = jax.lax.scan(element, jnp.zeros(3), (right, self.inverse, self.lower))
        return z, self.back * last

    def backward(self, z: Float[Array, "N 3"], x: Float[Array, "3"]) -> Float[Array, "N 3"]:
        """The solution at the node after each element, given that at the last."""

        def element(x, each):
            z, G = each
            return z - G * x, x

        return jax.lax.scan(element, x, (z, self.G), reverse=True)[1]

    def responses(
        self, z: Float[Array, "N 3"], weights: Float[Array, "N 3"]
    ) -> tuple[Float[Array, "N 3"], Float[Array, " N"], Float[Array, "3"], Float[Array, ""]]:
        """The solution where the last node's is 0 and its derivative in that, a number, at the node after each element;
        and the sums over the nodes before the elements of `weights` times these."""

        def element(carry, each):
            x, share, by_share, by_z = carry
            z, G, weight = each
            new, part = z - G * x, -G * share
            return (new, part, by_share + part * weight, by_z + new * weight), (x, share)

        zero = jnp.zeros(3)
        (_, _, by_share, by_z), (changes, shares) = jax.lax.scan(
            element, (zero, jnp.ones(()), zero, zero), (z, self.G, weights), reverse=True
        )
        return changes, shares, by_share, jnp.sum(by_z)


class _Attempt(NamedTuple):
    """Velocities of the ends and of the nodes after the elements (None: they follow later), the legs of the ends, what
    is left of the ends' equations, and whether all equations are met."""

    x: Float[Array, " n"]
    rows: Any
    legs: TipLegs
    residual: Float[Array, ""]
    met: Bool[Array, ""]


class _Needed(NamedTuple):
    """What the ends must have of momentum for the string, and its slope in their velocities."""

    value: Float[Array, " n"]
    slope: Float[Array, "n n"]


def solve_chain(newton: Newton, problem: Problem, guess: Float[Array, " n"]) -> Root:
    """The velocities for which every momentum is met, from a guess of those of the ends; with what is left of the ends'
    equations, for which the last correction takes the string's as linear."""
    if problem.system.reeled:
        end = _repeated(newton, lambda x: _with_reel(newton, problem, x), guess)
        rows = end.x.rows
    else:
        chain, z, right = _eliminated(problem, guess)
        end = _repeated(newton, lambda x: _attempt(newton, problem, x, _needed(chain, x, right)), guess)
        rows = chain.backward(z, end.x.x[:3])
    xi = Velocities(rows, end.x.x[3:])
    return end._replace(x=Solved(xi, end.x.legs, land(problem, xi)), memory=end.x.residual)


def _repeated(newton: Newton, attempt: Callable[[Any], Corrected], guess: Float[Array, " n"]) -> Root:
    """The attempt that meets the equations."""

    def stop(_, found, count):
        good = jnp.isfinite(found.x.residual)
        return Verdict((), good & found.x.met, ~good)

    nothing = jax.tree.map(lambda made: jnp.zeros(made.shape, made.dtype), jax.eval_shape(attempt, guess).x)
    return newton.iterate(lambda last: attempt(last.x), stop, nothing._replace(x=guess))


def _needed(chain: Swept, x: Float[Array, " n"], right: Float[Array, "3"]) -> _Needed:
    """What the last node needs after the elimination."""
    n = x.size
    slope = jnp.zeros((n, n)).at[:3, :3].set(chain.diagonal * jnp.eye(3))
    return _Needed(jnp.zeros(n).at[:3].set(chain.diagonal * x[:3] - right), slope)


def _with_reel(newton: Newton, problem: Problem, x0: Float[Array, " n"]) -> Corrected:
    """Nodes that fit the velocities of the last one and of the reel in `x0`, a step of Newton's method for the ends,
    and nodes that follow it."""
    chain, z, right = _eliminated(problem, x0)
    rows = chain.backward(z, x0[:3])
    (right_change, slope), (last_change, last_slope), (border, border_slope) = _by_speed(problem, rows, x0[3])
    z, taken = chain.forward(right_change)
    changes, shares, by_share, by_change = chain.responses(z, slope)
    by_share, by_change = by_share + last_slope, by_change + border_slope
    value, inertia = _needed(chain, x0, right)
    inertia = inertia.at[:3, 3].set(taken - last_change).at[3, :3].set(by_share).at[3, 3].set(by_change)
    found = _attempt(newton, problem, x0, _Needed(value.at[3].set(border), inertia))
    x, _, legs, residual, met = found.x

    def follow():
        return rows + shares[:, None] * (x - x0)[:3] + changes * (x - x0)[3]

    def checked():
        return _checked(problem, Velocities(follow(), x[3:]), legs, chain.diagonal)

    residual, met = jax.lax.cond(_negligible(newton, found), lambda: (residual, met), checked)
    return found._replace(x=_Attempt(x, follow(), legs, residual, met))


def _attempt(newton: Newton, problem: Problem, x0: Float[Array, " n"], needed: _Needed) -> Corrected:
    """A step of Newton's method for mu_minus(x) + `needed` = (0, ends). The equations are met to rounding, or after a
    correction whose square is negligible."""

    def twice(x):
        mu = tip_legs(problem, x).mu_minus
        return mu, mu

    jacobian, mu = jax.jacfwd(twice, has_aux=True)(x0)
    target = jnp.concatenate([jnp.zeros(3), problem.ends])
    change = solve(jacobian + needed.slope, target - mu - needed.value)
    x = x0 + change
    legs = tip_legs(problem, x)
    residual, met = _left(problem, legs, needed.value + needed.slope @ change)
    found = Corrected(_Attempt(x, None, legs, residual, met), jnp.max(jnp.abs(change)), jnp.max(jnp.abs(x)))
    return found._replace(x=found.x._replace(met=met | _negligible(newton, found)))


def _negligible(newton: Newton, found: Corrected) -> Bool[Array, ""]:
    """Whether the square of a correction is."""
    return found.correction <= math.sqrt(newton.tolerance) * found.size + newton.floor


def _left(problem: Problem, legs: TipLegs, needed: Float[Array, " n"]) -> tuple[Float[Array, ""], Bool[Array, ""]]:
    """What is left of the equations of the ends, and whether it is rounding in each of them."""
    target, met = jnp.concatenate([jnp.zeros(3), problem.ends]), jnp.ones((), bool)
    off = legs.mu_minus + needed - target
    size = jnp.abs(legs.mu_minus) + jnp.abs(needed) + jnp.abs(target)
    cuts = np.cumsum([3, *(factor.dim for factor in problem.system.ends.values())])
    for part, whole in zip(jnp.split(off, cuts), jnp.split(size, cuts), strict=True):
        if part.size:
            met = met & (jnp.max(jnp.abs(part)) <= ROUNDING * jnp.max(whole))
    return jnp.max(jnp.abs(off)), met


def _checked(problem: Problem, xi: Velocities, legs: TipLegs, diagonal: Any) -> tuple[Any, Any]:
    """What is left of all equations, and whether it is rounding, with the `diagonal` of the nodes' for their size."""
    system, g, t, h = problem.system, problem.g, problem.t, problem.h
    s, speed = system.wound(g, t), system.reel_speed(xi.ends, t, h)

    def element(node, one):
        near, near_rate = node
        index, far, far_rate, momentum = one
        legs = element_legs(problem, index, Span(near, far, s), Span(near_rate, far_rate, speed))
        return (far, far_rate), momentum - legs.near, -legs.far, (legs.s, jnp.max(jnp.abs(momentum)))

    begin = system.outlet(t), system.outlet_rate(t, h)
    each = system.numbers(), jnp.asarray(g.q), xi.rows, problem.nodes.before
    off, last, (reel, sizes) = to_nodes(element, begin, each, jnp.zeros(3))
    inner = jnp.max(jnp.abs(off[1:]), initial=0.0)
    needed = jnp.zeros_like(legs.mu_minus).at[:3].set(-(problem.nodes.last + last)).at[3].set(jnp.sum(reel))
    residual, met = _left(problem, legs, needed)
    fits = inner <= ROUNDING * (jnp.max(sizes) + diagonal * jnp.max(jnp.abs(xi.tip)))
    return jnp.maximum(inner, residual), met & fits


def _eliminated(problem: Problem, x0: Float[Array, " n"]) -> tuple[Swept, Float[Array, "N 3"], Float[Array, "3"]]:
    """The nodes eliminated for the s' of `x0`: the chain, z, and the right side that is left at the last node.

    The equations of an element are found on the way: each elimination waits for the quotient of the one before, which
    leaves the time for it. The guide way has an infinite diagonal: it is not an unknown.
    """
    system, rule, t, h = problem.system, problem.rule, problem.t, problem.h
    s, speed = system.wound(problem.g, t), system.reel_speed(x0[3:], t, h)

    def element(carry, one):
        near, right, diagonal, inverse, z, coupling, back = carry
        index, far, momentum = one
        rate = jnp.zeros(3) if system.guide is None else jnp.where(index > 0, 0.0, system.outlet_rate(t, h))
        form = rule.forms(system, index, s, speed, h)[0]
        (own, ahead, _), (back_next, far_own, _) = form.couplings(rule.place, h)
        to_near, to_far = form.legs(rule.place, h, rate, jnp.zeros(3), near - far)
        inverse = 1.0 / (diagonal + own - coupling * inverse)
        lower = inverse * back
        z = inverse * (right + momentum - to_near) - lower * z
        after = far, -to_far, far_own, inverse, z, ahead * back_next, back_next
        return after, (inverse, lower, inverse * ahead, z)

    zero, nothing = jnp.zeros(()), jnp.zeros(3)
    begin = system.outlet(t), nothing, jnp.full((), jnp.inf), zero, nothing, zero, zero
    each = system.numbers(), jnp.asarray(problem.g.q), problem.nodes.before
    (_, right, diagonal, inverse, z, coupling, back), made = jax.lax.scan(element, begin, each)
    chain = Swept(*made[:3], diagonal - coupling * inverse, back)
    return chain, made[3], problem.nodes.last + right - back * z


def _by_speed(problem: Problem, rows: Float[Array, "N 3"], speed: Any) -> tuple[Any, Any, Any]:
    """How the equations change with s': the right sides for the changes of the nodes' velocities and the slope, in the
    nodes' velocities, of what the elements need of the reel's momentum, before each element and at the last node; that
    momentum, and its own slope."""
    system, rule, t, h = problem.system, problem.rule, problem.t, problem.h
    s = system.wound(problem.g, t)

    def element(node, one):
        near, near_rate = node
        index, far, far_rate = one

        x, y, d = near_rate, far_rate, near - far
        _, momentum, change, rise = rule.by_speed(system, index, s, speed, h)
        near_change, far_change = change.legs(rule.place, h, x, y, d)
        value, near_slope, far_slope = momentum.value_and_slopes(x, y, d)
        to_near, to_far = (-near_change, near_slope), (-far_change, far_slope)
        return (far, far_rate), to_near, to_far, (value, rise.value(x, y, d))

    begin, each = (system.outlet(t), system.outlet_rate(t, h)), (system.numbers(), jnp.asarray(problem.g.q), rows)
    before, last, reel = to_nodes(element, begin, each, (jnp.zeros(3), jnp.zeros(3)))
    return before, last, jax.tree.map(jnp.sum, reel)
