"""Sections: surfaces in phase space whose crossings are located on the way."""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from naiad.errors import InputError
from naiad.mechanics import LagrangianSystem, Scalar, State
from naiad.mechanics.functions import with_system
from naiad.numerics import Module, static


class Section(Module):
    """The surface function(state, t) = 0, or function(system, state, t) = 0, crossed upwards (`direction` 1), downwards
    (-1) or both ways (0).

    A crossing is located by stepping again from the node before it with a fraction of h, at the method's own order, and
    from there, where it is near, along the equations of motion. The run goes on, or stops there if `terminal`. With
    `pairs`, two crossings within one step are found as well, where the function has its turning point between the
    nodes; that takes its rate of change at every step.
    """

    function: Callable[..., Scalar]
    direction: int = static(default=1)
    terminal: bool = static(default=False)
    pairs: bool = static(default=False)

    def __post_init__(self):
        if self.direction not in (-1, 0, 1):
            raise InputError(f"Section: direction = {self.direction!r}; expected 1 (rising), -1 (falling) or 0 (both).")
        if self.pairs and self.terminal:
            raise InputError("Section: pairs and terminal are both asked for; a run can stop at plain crossings only.")

    def level(self, system: LagrangianSystem, state: State, t: Scalar) -> "Level":
        """The function, and its rate along the motion."""
        value = jnp.asarray(self.value(system, state, t), float)
        rate = self.rate(system, state, t) if self.pairs else jnp.zeros(())
        return Level(value, rate, jnp.where(jnp.isnan(value) | jnp.isnan(rate), 1.0, 0.0))

    def value(self, system: LagrangianSystem, state: State, t: Scalar) -> Scalar:
        """The function."""
        return with_system(self.function, system)(state, t)

    def rate(self, system: LagrangianSystem, state: State, t: Scalar) -> Float[Array, ""]:
        """d/dt of the function along the motion."""
        rates = system.equations(state, t)
        moving = State(system.group.tangent(state.g, rates.xi), rates.mu)
        return jax.jvp(with_system(self.function, system), (state, jnp.asarray(t, float)), (moving, jnp.ones(())))[1]

    def crossed(self, before: Any, after: Any) -> Any:
        """Whether the sign of the function changed in the wanted direction; zero belongs to the side it arrives at."""
        rising = (before < 0) & (after >= 0)
        falling = (before > 0) & (after <= 0)
        return {1: rising, -1: falling, 0: rising | falling}[self.direction]

    def met(self, before: "Level", after: "Level", h: Scalar) -> Bool[Array, ""]:
        """Whether there is something to be located between two nodes."""
        crossed = self.crossed(before.value, after.value)
        return crossed | self.turned(before, after, h) if self.pairs else crossed

    def turned(self, before: "Level", after: "Level", h: Scalar) -> Bool[Array, ""]:
        """Whether the function may have come to zero and gone away again, without a change of sign at the nodes.

        It comes nearer at the one node and goes away at the other, and the tangents there reach zero before they meet:
        where it bends to one side only it lies between them and its chord.
        """
        a, b, comes, goes = before.value, after.value, before.rate, after.rate
        reach = jnp.abs(a * goes) + jnp.abs(b * comes) < jnp.abs(h * comes * goes)
        return (a * b > 0) & (a * comes < 0) & (b * goes > 0) & reach


class Level(NamedTuple):
    """The value of a section's function at a node, its rate of change (zero where nobody asks for it), and at how many
    nodes until then one of them was no number, so that crossings may have been missed."""

    value: Float[Array, ""]
    rate: Float[Array, ""]
    lost: Any = 0.0

    def after(self, before: "Level") -> "Level":
        """The same at the node after another."""
        return self._replace(lost=before.lost + self.lost)

    @property
    def bare(self) -> "Level":
        """The same without what is said of other nodes."""
        return self._replace(lost=None)


def lost_sight(name: str, nodes: Any, where: str = "") -> str:
    """What to say of a section that was no number at so many nodes."""
    return (
        f"sections[{name!r}] was NaN at {int(nodes)} of the nodes{where}, and crossings next to them may be missing; "
        "give the section a function that is a number wherever the motion comes."
    )


class Passage(NamedTuple):
    """A step in which a section is met: its time, its size where the method chooses it, what is kept of the carry
    before it, the section's levels at both ends, and its noise."""

    t: Scalar
    h: Scalar | None
    kept: Any
    before: Level
    after: Level
    inputs: Any


class Located(NamedTuple):
    """A crossing within a step: the time and the state there, and whether there is one."""

    t: Scalar
    state: State
    found: Bool[Array, ""]


class _Search(NamedTuple):
    low: Scalar
    high: Scalar
    fraction: Scalar
    step: Scalar
    iterations: Scalar
    at: Scalar
    state: State
    found: Bool[Array, ""]
    done: Bool[Array, ""]


class _Point(NamedTuple):
    """A fraction of a step, and the section's level there."""

    at: Scalar
    level: Level


class _Turn(NamedTuple):
    """Two points between which the function turns, the one looked at last, whether it is beyond the surface, and how
    many were looked at."""

    low: _Point
    high: _Point
    last: _Point
    beyond: Bool[Array, ""]
    count: Scalar


NEAR = 1e-12  # a step of this size ends at round-off: it is almost Newton's, the rate being that of the exact motion
SHORT = 0.025  # of a step: so far Runge and Kutta's method of order 4 adds nothing to the error of the method
OFTEN = 60  # points at which a turning point is looked for, which takes two or three


class Stretch(NamedTuple):
    """The motion within one step of h from t: the state at its start, `state_at` a fraction of it, and `onward` from a
    state and time for a short while (None: only `state_at` knows the way)."""

    system: LagrangianSystem
    start: State
    state_at: Callable[[Scalar], State]
    onward: Callable[[State, Scalar, Scalar], State] | None
    t: Scalar
    h: Scalar

    def crossings(self, section: Section, before: Level, after: Level) -> Located:
        """Those in a step in which the section is met, as rows: there are two where the function turns and both
        directions count."""
        low, high = _Point(jnp.zeros(()), before), _Point(jnp.ones(()), after)
        if not section.pairs:
            found = self._crossing(section, low, high, jnp.ones((), bool))
            return jax.tree.map(lambda leaf: leaf[None], found)
        crossed = section.crossed(before.value, after.value)
        turn = self._turn(section, low, high)
        first, second = _either(crossed, (low, high), (low, turn.last)), (turn.last, high)
        if section.direction:  # the function rises from below before it turns, or from beyond after that
            begins = crossed | ((before.value < 0) == (section.direction == 1))
            rows, there = jax.tree.map(lambda leaf: leaf[None], _either(begins, first, second)), [crossed | turn.beyond]
        else:
            rows = jax.tree.map(lambda *leaves: jnp.stack(leaves), first, second)
            there = [crossed | turn.beyond, turn.beyond]
        each = lambda row: self._crossing(section, *row)  # noqa: E731
        return jax.lax.map(each, (*rows, jnp.stack(there)))

    def _turn(self, section: Section, low: _Point, high: _Point) -> _Turn:
        """Where the function is beyond the surface between two points, if it turned there: at the turning point of the
        cubic through both, or nearer, as long as it may be at all."""
        below = low.level.value < 0

        def goes_on(s: _Turn) -> Bool[Array, ""]:
            within = section.turned(s.low.level, s.high.level, (s.high.at - s.low.at) * self.h)
            return ~s.beyond & within & (s.count < OFTEN)

        def nearer(s: _Turn) -> _Turn:
            width = s.high.at - s.low.at
            _, b, c, d = _cubic(s.low.level, s.high.level, width * self.h)
            at = s.low.at + width * jnp.clip(_quadratic_zero(b, 2 * c, 3 * d, ~below), 0.0, 1.0)
            point = _Point(at, section.level(self.system, self.state_at(at), self.t + at * self.h).bare)
            comes = (point.level.rate > 0) == below
            ends = _either(comes, (point, s.high), (s.low, point))
            return _Turn(*ends, point, jnp.not_equal(point.level.value < 0, below), s.count + 1)

        return jax.lax.while_loop(goes_on, nearer, _Turn(low, high, high, jnp.zeros((), bool), jnp.zeros(())))

    def _crossing(self, section: Section, low: _Point, high: _Point, exists: Bool[Array, ""]) -> Located:
        """The crossing between two points that lie on different sides, if it `exists`."""
        before, after, width = low.level, high.level, high.at - low.at
        rising = after.value > before.value
        if not section.pairs:  # no rate is known
            before = before._replace(rate=section.rate(self.system, self.start, self.t))
            after = after._replace(rate=2 * (after.value - before.value) / (width * self.h) - before.rate)
        guess = low.at + width * _cubic_zero(_cubic(before, after, width * self.h), rising)
        small = jnp.finfo(float).eps * jnp.abs(after.value - before.value)
        search = self._search(low.at, high.at, guess, exists)
        if self.onward is None:
            return self._located(self._zero(section, self.state_at, search, rising, small), exists)
        onward = self.onward
        near = self._zero(section, self.state_at, search, rising, small, SHORT)
        landed, t, slack = near.state, self.t + near.at * self.h, jnp.abs(near.fraction - near.at)

        def state_at(fraction: Scalar) -> State:
            return onward(landed, t, (fraction - near.at) * self.h)

        # the short way ends a little elsewhere, but at a turning point the other crossing is near
        least, most = jnp.where(low.at > 0, low.at, -jnp.inf), jnp.where(high.at < 1, high.at, jnp.inf)
        left, right = jnp.maximum(near.low - slack, least), jnp.minimum(near.high + slack, most)
        wide = near._replace(low=left, high=right, iterations=jnp.zeros(()), done=near.found)
        return self._located(self._zero(section, state_at, wide, rising, small), exists)

    def _search(self, low: Any, high: Any, guess: Any, exists: Bool[Array, ""]) -> _Search:
        """For a zero between two fractions of the step, if it `exists`, from a guess."""
        low, high, guess = (jnp.asarray(each, float) for each in (low, high, guess))
        nowhere = jax.tree.map(lambda leaf: jnp.zeros_like(leaf), self.start)
        return _Search(low, high, guess, jnp.ones(()), jnp.zeros(()), jnp.zeros(()), nowhere, ~exists, ~exists)

    def _located(self, search: _Search, found: Bool[Array, ""]) -> Located:
        return Located(self.t + search.at * self.h, search.state, found)

    def _zero(
        self,
        section: Section,
        state_at: Callable[[Scalar], State],
        begin: _Search,
        rising: Any,
        small: Any,
        enough: float = 0.0,
    ) -> _Search:
        """The search for a zero by Newton's method, kept in a bracket that is halved where Newton's method leaves it:
        until it is found, the function being `small` or the fraction standing still, or is `enough` of a step away."""

        def refine(s: _Search) -> _Search:
            state, time = state_at(s.fraction), self.t + s.fraction * self.h
            value = section.value(self.system, state, time)
            beyond = (value >= 0) == rising
            low, high = jnp.where(beyond, s.low, s.fraction), jnp.where(beyond, s.fraction, s.high)
            newton = s.fraction - value / (self.h * section.rate(self.system, state, time))
            stuck = (s.iterations >= 8) & (s.iterations % 2 == 0)  # with noise the rate is not that of the step
            inside = (newton >= low) & (newton <= high) & ~stuck
            onward = jnp.where(inside, newton, 0.5 * (low + high))
            step = onward - s.fraction
            found = (jnp.abs(s.step) <= NEAR) | (jnp.abs(value) <= small) | ~jnp.isfinite(value)
            done = found | (inside & (jnp.abs(step) <= enough))
            return _Search(low, high, onward, step, s.iterations + 1, s.fraction, state, found, done)

        return jax.lax.while_loop(lambda s: ~s.done & (s.iterations < 120), refine, begin)


def _cubic(before: Level, after: Level, h: Scalar) -> tuple[Scalar, Scalar, Scalar, Scalar]:
    """The coefficients of the polynomial from 0 to 1 that has the values and rates of two levels, h apart."""
    a, b, slope, rise = before.value, h * before.rate, h * after.rate, after.value - before.value
    return a, b, 3 * rise - 2 * b - slope, b + slope - 2 * rise


def _quadratic_zero(a: Scalar, b: Scalar, c: Scalar, rising: Any) -> Scalar:
    """Where a + b x + c x^2 rises through zero, or falls."""
    root = jnp.sqrt(jnp.maximum(b**2 - 4 * a * c, 0.0))
    return -2 * a / (b + jnp.where(rising, root, -root))


def _cubic_zero(cubic: tuple[Scalar, Scalar, Scalar, Scalar], rising: Any) -> Scalar:
    """About where it goes through zero between 0 and 1: where the parabola with its start and end does, and two steps
    of Newton's method."""
    a, b, c, d = cubic
    x = jnp.clip(_quadratic_zero(a, b, c + d, rising), 0.0, 1.0)
    for _ in range(2):
        slope = b + x * (2 * c + x * 3 * d)
        x = jnp.clip(x - (a + x * (b + x * (c + x * d))) / jnp.where(slope == 0, 1.0, slope), 0.0, 1.0)
    return x


def _either(which: Any, yes: Any, no: Any) -> Any:
    return jax.tree.map(lambda one, other: jnp.where(which, one, other), yes, no)
