"""The variational integrator of a string, in O(N)."""

from typing import Any, Literal, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from naiad.errors import InputError
from naiad.integrators.method import AbstractOneStepMethod, StepInfo, renormalised
from naiad.integrators.string.joints import add, joint_slope
from naiad.integrators.string.rules import RULES, Rule
from naiad.integrators.string.solve import TAU, Problem, Velocities, solve, tip_forces, tip_legs
from naiad.mechanics import LagrangianSystem, Scalar, Span, State, StringSystem, pull_back
from naiad.mechanics.string_parts import pairs
from naiad.numerics import static


class Memory(NamedTuple):
    """The velocities of the last two steps, and the slope of the potentials at the node."""

    last: Velocities
    before: Velocities
    slope: Velocities


class StringVariational(AbstractOneStepMethod):
    """The variational integrator of a `StringSystem`, in O(N) for N elements [lee2010].

    L_d = h T(g*, (g_{k+1} - g_k)/h) - h (V_k + V_{k+1})/2 with differences in the ambient space. `scheme` says where
    the inertia is taken and where forces act:

    - "paper": at the start, and all of the forces there too: second order for a fixed length, else first;
    - "symmetric": half-way, and half of the forces at each end: second order;
    - "imex": the same, with the elastic energy half-way too: implicit in the waves along the string, explicit in the
      rest [stern2009].

    For given velocities of the ends the equations of the nodes are linear (but for "imex"): they are eliminated in a
    sweep. A step that cannot be solved, or that leaves what is `admissible`, leaves the state where it is.
    """

    scheme: Literal["paper", "symmetric", "imex"] = static(default="symmetric")
    renormalise: bool = static(default=True)

    failure = (
        "a step could not be solved: the string on the reel ran out, the body was wound in, or dt is too long for the "
        "fastest wave (h below the time in which it runs along half an element); take a smaller dt or scheme='imex'."
    )

    def __post_init__(self):
        if self.scheme not in RULES:
            raise InputError(f"StringVariational: scheme = {self.scheme!r}; expected {', '.join(map(repr, RULES))}.")

    @property
    def rule(self) -> Rule:
        """What the scheme is."""
        return RULES[self.scheme]

    def check(self, system: LagrangianSystem) -> None:
        if not isinstance(system, StringSystem):
            raise InputError(
                f"StringVariational needs a StringSystem; {type(system).__name__} was given. Use Variational for it."
            )

    def order(self, system: StringSystem) -> int:
        return 2 if self.symmetric(system) else 1

    def symmetric(self, system: StringSystem) -> bool:
        return self.rule.symmetric or not system.uneven

    def memory(self, system: StringSystem, state: State, t: Scalar) -> Memory:
        """Constant rates, those of the node."""
        xi = Velocities(*system.split(system.velocity(state.g, state.mu, t)))
        return Memory(xi, xi, _slope(system, self.rule, state.g, t))

    def advance(self, system: StringSystem, state, memory, t, h, inputs):
        g, rule = state.g, self.rule
        mu = Velocities(*system.split(state.mu))
        kicked = jax.tree.map(lambda p, slope: p - 0.5 * h * slope, mu, memory.slope)
        problem = Problem(system, rule, g, kicked.rows, kicked.ends, t, h)
        guess = jax.tree.map(lambda last, before: 2.0 * last - before, memory.last, memory.before)
        solved = solve(problem, guess)
        xi = solved.xi
        group = system.tip_group
        x = jnp.concatenate([xi.rows[-1], xi.ends])
        legs = tip_legs(problem, x)
        increment = TAU.increment(group, h * x)
        moved, correction = _moved(system, g, xi.rows, increment, h, renormalise=self.renormalise)
        pushed = jnp.concatenate([jnp.zeros(3), kicked.ends]) + legs.minus
        landed = group.Ad_dual_advance(increment, pushed)
        if rule.force < 1.0:
            landed = landed + (1.0 - rule.force) * h * tip_forces(system, moved, x, t + h)
        momenta, slope = _landed(system, rule, g, xi, moved, kicked, landed, t, h)
        new = State(moved, jnp.concatenate([momenta.rows.reshape(-1), momenta.ends]))
        good = solved.converged & system.admissible(moved, t + h)
        end = jax.tree.map(lambda new, old: jnp.where(good, new, old), new, state)
        return end, Memory(xi, memory.last, slope), StepInfo(solved.iterations, solved.residual, good, correction)


def _moved(
    system: StringSystem, g: Any, rows: Float[Array, "N 3"], increment: Any, h: Scalar, *, renormalise: bool
) -> tuple[Any, Float[Array, ""]]:
    """The configuration after a step, and the round-off correction of the attitude."""
    correction = jnp.zeros(())
    parts = {"q": jnp.asarray(g.q) + h * rows}
    if system.reeled:
        parts["s"] = g.s + increment.s
    if system.turning:
        factor = system.ends["R"]
        R = factor.advance(g.R, increment.R)
        parts["R"], correction = renormalised(factor, R) if renormalise else (R, correction)
    return g._replace(**parts), correction


def _tip_slope(system: StringSystem, g: Any, t: Scalar) -> Float[Array, " n"]:
    """The left-trivialised gradient of the potential of the ends."""
    group, at = system.tip_group, system.tip_element(g)
    return pull_back(group, at, jax.grad(lambda element: system.tip_potential(system.tip_place(element, t), t))(at))


def _slope(system: StringSystem, rule: Rule, g: Any, t: Scalar) -> Velocities:
    """The left-trivialised gradient of the potentials at the nodes of time."""
    s, tip = system.wound(g, t), _tip_slope(system, g, t)

    def element(carry, each):
        pulled, total = carry
        index, near, far = each
        by = jax.grad(rule.element_potential, argnums=2)(system, index, Span(near, far, s), t)
        return (by.near, total + by.s), pulled + by.far

    each = (system.numbers(), *pairs(system.start(t), g.q))
    (_, total), rows = jax.lax.scan(element, (tip[:3], jnp.zeros(())), each, reverse=True)
    slope = Velocities(rows, tip[3:].at[0].add(total) if system.reeled else tip[3:])
    return slope if system.joint_potential is None else add(slope, joint_slope(system, g, t))


def _landed(
    system: StringSystem,
    rule: Rule,
    g: Any,
    xi: Velocities,
    moved: Any,
    kicked: Velocities,
    landed: Float[Array, " n"],
    t: Scalar,
    h: Scalar,
) -> tuple[Velocities, Velocities]:
    """The momenta at the end of a step, kicked + D_g (h T) - h/2 slope, and the slope of the potentials there.

    `landed` are those of the ends of the string without the slope; the first three numbers are added to the last node.
    """
    s, s1, speed = system.wound(g, t), system.wound(moved, t + h), system.reel_speed(xi.ends, t, h)
    start, rate, start1 = system.start(t), system.start_rate(t, h), system.start(t + h)
    tip_slope = _tip_slope(system, moved, t + h)

    def element(carry, each):
        given, pulled, sum_given, sum_pulled = carry
        index, near, far, near_rate, far_rate, near1, far1, p = each
        at, rate, at1 = Span(near, far, s), Span(near_rate, far_rate, speed), Span(near1, far1, s1)
        by_at = jax.grad(rule.element_action, argnums=2)(system, index, at, rate, t, h)
        if system.element_force is not None:
            by_at = _with_forces(system, rule, index, by_at, at, at1, rate, t, h)
        by_new = jax.grad(rule.element_potential, argnums=2)(system, index, at1, t + h)
        slope = pulled + by_new.far
        row = p + given + by_at.far - 0.5 * h * slope
        return (by_at.near, by_new.near, sum_given + by_at.s, sum_pulled + by_new.s), (row, slope)

    each = (system.numbers(), *pairs(start, g.q), *pairs(rate, xi.rows), *pairs(start1, moved.q), kicked.rows)
    zero = jnp.zeros(())
    begin = (landed[:3], tip_slope[:3], zero, zero)
    (_, _, given, pulled), (rows, slopes) = jax.lax.scan(element, begin, each, reverse=True)
    slope_ends, ends = tip_slope[3:], landed[3:]
    if system.reeled:
        slope_ends, ends = slope_ends.at[0].add(pulled), ends.at[0].add(given)
    slope, momenta = Velocities(slopes, slope_ends), Velocities(rows, ends - 0.5 * h * slope_ends)
    if system.joint_potential is None:
        return momenta, slope
    joints = joint_slope(system, moved, t + h)
    return jax.tree.map(lambda p, slope: p - 0.5 * h * slope, momenta, joints), add(slope, joints)


def _with_forces(
    system: StringSystem, rule: Rule, index: Any, by_at: Span, at: Span, at1: Span, rate: Span, t: Scalar, h: Scalar
) -> Span:
    """The slope of an element's action, and the forces of the element at the start and at the end of a step."""
    before = jax.tree.map(lambda a, f: a + rule.force * h * f, by_at, system.element_force(index, at, rate, t))
    if rule.force == 1.0:
        return before
    after = system.element_force(index, at1, rate, t + h)
    return jax.tree.map(lambda a, f: a + (1.0 - rule.force) * h * f, before, after)
