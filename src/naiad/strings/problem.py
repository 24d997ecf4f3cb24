"""The equations of a step of a string: what its elements and its ends need for their velocities."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from naiad.mechanics import Scalar, pull_back
from naiad.numerics import outer
from naiad.retractions import Cayley
from naiad.strings.elimination import Piece
from naiad.strings.nodes import Nodes
from naiad.strings.parts import Span
from naiad.strings.rules import Rule, moved
from naiad.strings.system import StringSystem

TAU = Cayley()


class Problem(NamedTuple):
    """The equations of a step from g: the legs at its start are `nodes` at the nodes and `ends` at reel and body."""

    system: StringSystem
    rule: Rule
    g: Any
    nodes: Nodes
    ends: Float[Array, " m"]
    t: Scalar
    h: Scalar


class Winding(NamedTuple):
    """The length on the reel at the start and at the end of a step, and its mean rate."""

    s: Any
    end: Any
    speed: Any


class Velocities(NamedTuple):
    """Those of a step: Delta q/h, and Delta s/h and the Cayley map's Omega, as far as there are any."""

    rows: Float[Array, "N 3"]
    ends: Float[Array, " m"]

    @property
    def tip(self) -> Float[Array, " n"]:
        """Those of the last node and of the ends."""
        return jnp.concatenate([self.rows[-1], self.ends])


class TipLegs(NamedTuple):
    """The ends, in the algebra of the last node, the reel and the body: the momentum at the start of a step, and what
    the derivative in g at a constant increment and the force add to it."""

    mu_minus: Float[Array, " n"]
    minus: Float[Array, " n"]


class Landing(NamedTuple):
    """Where the nodes are after a step, and the momenta there without what the ends give: those of the nodes, and what
    the elements add to the reel's."""

    q: Float[Array, "N 3"]
    nodes: Nodes
    reel: Float[Array, ""]


class Solved(NamedTuple):
    """The velocities of a step, and the legs of the ends and the landing that belong to them."""

    xi: Velocities
    legs: TipLegs
    landing: Landing


def winding(problem: Problem, ends: Float[Array, " m"]) -> Winding:
    """What the reel does in a step with these velocities of the ends."""
    system, g, t, h = problem.system, problem.g, problem.t, problem.h
    s, speed = system.wound(g, t), system.reel_speed(ends, t, h)
    return Winding(s, s + h * speed if system.reeled else system.wound(g, t + h), speed)


def element_legs(problem: Problem, index: Any, at: Span, rate: Span) -> Span:
    """The momenta at the start of a step that an element needs for its rates: - D_{g_k} L_d = D_r L_d / h - D_g L_d,
    less the forces there."""
    system, rule, t, h = problem.system, problem.rule, problem.t, problem.h
    _, momenta = rule.element_slopes(system, index, at, rate, t, h)
    if system.element_force is None:
        return momenta
    force = system.element_force(index, at, rate, t)
    return jax.tree.map(lambda p, f: p - rule.force * h * f, momenta, force)


def piece(problem: Problem, index: Any, near: Any, far: Any, s: Any, speed: Any) -> Piece:
    """The equations of an element at the velocities of its nodes; data of a node are (q, momentum, velocity)."""
    system, rule, t, h = problem.system, problem.rule, problem.t, problem.h
    at, rate = Span(near[0], far[0], s), Span(near[2], far[2], speed)
    x, y, d = rate.near, rate.far, at.near - at.far
    form, momentum, change, rise = rule.by_speed(system, index, s, speed, h)
    value, *slopes = momentum.value_and_slopes(x, y, d)
    legs = jnp.concatenate([*form.legs(rule.place, h, x, y, d), value[None]])
    own = jnp.kron(jnp.array([row[:2] for row in form.couplings(rule.place, h)]), jnp.eye(3))
    column = jnp.concatenate(change.legs(rule.place, h, x, y, d))
    jacobian = _bordered(own, column, jnp.concatenate(slopes), rise.value(x, y, d))
    if rule.implicit:
        more, stiff = _stiff_legs(problem, at, rate)
        legs, jacobian = legs + more, jacobian + stiff
    if system.element_force is not None:

        def force(rate):
            value = rule.force * h * system.element_force(index, at, Span.of(rate), t).flat()
            return value, value

        slope, value = jax.jacfwd(force, has_aux=True)(rate.flat())
        legs, jacobian = legs - value, jacobian - slope
    return Piece(legs - jnp.concatenate([jnp.zeros(3), far[1], jnp.zeros(1)]), jacobian)


def _stiff_legs(problem: Problem, at: Span, rate: Span) -> tuple[Float[Array, "7"], Float[Array, "7 7"]]:
    """h D U of the elastic energy U(|d|, s, |d'|, s') of a step, in the ends of an element and s at its start, and the
    derivative of that in the rates: d and d' are the ways along it at the start and at the end."""
    h, end = problem.h, moved(at, rate, problem.h)

    def slopes(length, s):
        values = jax.grad(problem.system.stiff_between, argnums=(0, 1))(at.length, jnp.asarray(at.s, float), length, s)
        return values, values

    derivatives, (pull, turn) = jax.jacfwd(slopes, argnums=(0, 1), has_aux=True)(end.length, jnp.asarray(end.s, float))
    (by_length, by_s), (turn_by_length, turn_by_s) = jax.tree.map(lambda each: h * h * each, derivatives)
    n, m = ((each.far - each.near) * (1.0 / each.length) for each in (at, end))
    first, last = jnp.concatenate([-n, n]), jnp.concatenate([-m, m])
    own = jnp.kron(jnp.array([[1.0, -1.0], [-1.0, 1.0]]), by_length * outer(n, m))
    legs = h * jnp.concatenate([pull * first, turn[None]])
    return legs, _bordered(own, by_s * first, turn_by_length * last, turn_by_s)


def _bordered(own: Any, column: Any, row: Any, corner: Any) -> Float[Array, "7 7"]:
    """A matrix of the nodes' equations with the column and the row of s."""
    return jnp.zeros((7, 7)).at[:6, :6].set(own).at[:6, 6].set(column).at[6, :6].set(row).at[6, 6].set(corner)


def tip_legs(problem: Problem, x: Float[Array, " n"]) -> TipLegs:
    """The legs of the ends at a velocity, with the forces on them at the start of the step.

    In the ambient space the rate is r = (g_{k+1} - g_k)/h, so that - D_{g_k} L_d = D_r L_d / h - D_g L_d. That of the
    attitude is taken in the frame at the start, of which the momenta in r then need no turn.
    """
    system, t, h = problem.system, problem.t, problem.h
    group, at = system.tip_group, system.tip_element(problem.g)
    increment = TAU.increment(group, h * x)
    rate = jax.tree.map(lambda each: each * (1.0 / h), increment)
    frame, local = (at.R, at._replace(R=jnp.eye(3))) if system.turning else (None, at)

    def mean(element, rate):
        moving = system.tip_rate(rate, t, h)._replace(frame=frame)
        return problem.rule.tip_mean(system, system.tip_place(element, t), moving, t, h)

    by_g, by_rate = jax.grad(mean, argnums=(0, 1))(at, rate)
    minus = pull_back(group, at, jax.tree.map(lambda g: h * g, by_g))
    push = problem.rule.force * h * tip_forces(system, problem.g, x, t)
    mu_minus = pull_back(group, local, by_rate) - minus - push
    if system.turning:
        turned = jax.tree.map(jnp.zeros_like, by_rate)._replace(R=by_rate.R @ increment.R.T)
        minus = minus + pull_back(group, local, turned)
    return TipLegs(mu_minus, minus + push)


def tip_forces(system: StringSystem, g: Any, x: Float[Array, " n"], t: Scalar) -> Float[Array, " n"]:
    """The forces on the ends and on the reel, at a configuration and a velocity of the ends."""
    total = jnp.zeros_like(x)
    if system.tip_force is not None:
        total = total + system.tip_force(system.tip_place(system.tip_element(g), t), x, t)
    if system.reeled and system.reel_force is not None:
        on_reel = slice(3, 3 + system.reel_dim)
        total = total.at[on_reel].add(system.reel_force(g, x[on_reel], t))
    return total


def floor_of(problem: Problem, *lengths: Any) -> Float[Array, ""]:
    """eps max |q|/h, with other `lengths` if need be: velocities below it move nothing, and are all that a string at
    rest has."""
    reach = jnp.max(jnp.abs(jnp.asarray(problem.g.q)))
    for length in lengths:
        reach = jnp.maximum(reach, length)
    return jnp.finfo(float).eps * reach / jnp.abs(problem.h)
