"""The variational integrator of a string, in O(N)."""

from typing import Any, Literal, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from naiad.errors import InputError
from naiad.integrators.method import AbstractOneStepMethod, StepInfo, renormalised
from naiad.integrators.string.inextensible import held, pulled, solve_links
from naiad.integrators.string.joints import kicked_by_joints
from naiad.integrators.string.rules import RULES, Rule
from naiad.integrators.string.solve import TAU, Problem, Velocities, solve, tip_forces, tip_legs
from naiad.mechanics import LagrangianSystem, Scalar, Span, State, StringSystem, pull_back
from naiad.mechanics.string_parts import pairs
from naiad.numerics import static


class Memory(NamedTuple):
    """The velocities of the last two steps."""

    last: Velocities
    before: Velocities


class StringVariational(AbstractOneStepMethod):
    """The variational integrator of a `StringSystem`, in O(N) for N elements [lee2010].

    L_d = h T(g*, (g_{k+1} - g_k)/h) - h (V_k + V_{k+1})/2 with differences in the ambient space. `scheme` says where
    the inertia is taken and where forces act:

    - "paper": at the start, and all of the forces there too: second order for a fixed length, else first;
    - "symmetric": half-way, and half of the forces at each end: second order;
    - "imex": the same, with the elastic energy half-way too: implicit in the waves along the string, explicit in the
      rest [stern2009].

    For given velocities of the ends the equations of the nodes are linear (but for "imex"): they are eliminated in a
    sweep. A step that cannot be solved, or that starts from what is not `admissible`, leaves the state where it is.
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
        return Memory(xi, xi)

    def advance(self, system: StringSystem, state, memory, t, h, inputs):
        g, rule = state.g, self.rule
        kicked = _kicked(system, rule, g, Velocities(*system.split(state.mu)), t, 0.5 * h)
        problem = Problem(system, rule, g, kicked.rows, kicked.ends, t, h)
        guess = jax.tree.map(lambda last, before: 2.0 * last - before, memory.last, memory.before)
        if system.constraint is None:
            solved = solve(problem, guess)
        else:
            solved, links = solve_links(problem, guess)
            kicked = kicked._replace(rows=pulled(kicked.rows, system.start(t), g.q, links))
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
        momenta = _landed(system, rule, g, moved, xi, kicked.rows, landed, t, h)
        momenta = _kicked(system, rule, moved, momenta, t + h, 0.5 * h)
        if system.constraint is not None:
            momenta = held(system, moved, momenta, t + h)
        new = State(moved, jnp.concatenate([momenta.rows.reshape(-1), momenta.ends]))
        good = solved.converged & system.admissible(g, t)
        end = jax.tree.map(lambda new, old: jnp.where(good, new, old), new, state)
        return end, Memory(xi, memory.last), StepInfo(solved.iterations, solved.residual, good, correction)


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


def _kicked(system: StringSystem, rule: Rule, g: Any, p: Velocities, t: Scalar, time: Scalar) -> Velocities:
    """Momenta after the potentials at the nodes have acted for some time."""
    s, tip = system.wound(g, t), _tip_slope(system, g, t)

    def element(carry, each):
        pulled, total = carry
        index, near, far, row = each
        by = jax.grad(rule.element_potential, argnums=2)(system, index, Span(near, far, s), t)
        return (by.near, total + by.s), row - time * (pulled + by.far)

    each = (system.numbers(), *pairs(system.start(t), g.q), p.rows)
    (_, total), rows = jax.lax.scan(element, (tip[:3], jnp.zeros(())), each, reverse=True)
    kicked = Velocities(rows, p.ends - time * (tip[3:].at[0].add(total) if system.reeled else tip[3:]))
    return kicked if system.joint_potential is None else kicked_by_joints(system, g, kicked, t, time)


def _landed(
    system: StringSystem,
    rule: Rule,
    g: Any,
    moved: Any,
    xi: Velocities,
    rows: Any,
    landed: Float[Array, " n"],
    t: Scalar,
    h: Scalar,
) -> Velocities:
    """The momenta at the end of a step before the potentials there act: `rows` and `landed` (the ends, with what they
    give to the last node), D_g of the elements' action at constant increments, and the forces of the elements."""
    if not (system.uneven or rule.implicit):  # T does not depend on g
        return Velocities(rows.at[-1].add(landed[:3]), landed[3:])
    s, s1, speed = system.wound(g, t), system.wound(moved, t + h), system.reel_speed(xi.ends, t, h)

    def element(carry, each):
        given, total = carry
        index, near, far, near_rate, far_rate, near1, far1, row = each
        at, rate = Span(near, far, s), Span(near_rate, far_rate, speed)
        by = jax.grad(rule.element_action, argnums=2)(system, index, at, rate, t, h)
        if system.element_force is not None:
            by = _with_forces(system, rule, index, by, (at, Span(near1, far1, s1)), rate, t, h)
        return (by.near, total + by.s), row + given + by.far

    nodes = *pairs(system.start(t), g.q), *pairs(system.start_rate(t, h), xi.rows)
    ends = pairs(system.start(t + h), moved.q)
    (_, total), rows = jax.lax.scan(
        element, (landed[:3], jnp.zeros(())), (system.numbers(), *nodes, *ends, rows), reverse=True
    )
    return Velocities(rows, landed[3:].at[0].add(total) if system.reeled else landed[3:])


def _with_forces(
    system: StringSystem, rule: Rule, index: Any, slope: Span, at: tuple[Span, Span], rate: Span, t: Scalar, h: Scalar
) -> Span:
    """The slope of an element's action with its forces at the start and at the end of a step."""
    for part, place, time in ((rule.force, at[0], t), (1.0 - rule.force, at[1], t + h)):
        if part:
            force = system.element_force(index, place, rate, time)
            slope = jax.tree.map(lambda a, f, part=part: a + part * h * f, slope, force)
    return slope
