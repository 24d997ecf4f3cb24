"""Gauss's collocation: the equations of motion to round-off, in steps that are long."""

import functools
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from naiad.errors import InputError
from naiad.integrators.method import AbstractOneStepMethod, OneStepCarry, StepInfo, truncated, velocity_floor
from naiad.integrators.vprk import flat, reduced
from naiad.mechanics import LagrangianSystem, Scalar, State
from naiad.mechanics.features import OF_A_STEP
from naiad.numerics import Newton, static
from naiad.numerics.newton import EPS, STALLED, Root, implicit
from naiad.numerics.structure import Dense
from naiad.numerics.tableaux import collocation
from naiad.retractions import AbstractRetraction, Exponential

Slopes = Float[Array, "s n"]

MOST = 16  # stages: more would gain nothing in double precision


class Collocation(AbstractOneStepMethod):
    """Collocation at the points of Gauss for mu and Theta in g tau(Theta), of order twice the `stages`.

    The slopes at the stages are found by iteration, from those of the step before, continued; it contracts for steps
    that are short against the fastest motion, and `newton` says when it ends. The stages have nothing to do with each
    other within a round, and go side by side in the lanes of vector registers. Quadratic invariants of the equations
    for mu alone, as energy and Casimirs of a rigid body or a vehicle, are kept exactly, and on R^n the method is
    symplectic [hairer2006, sections IV.2 and VI.4]; elsewhere it keeps the rest as well as its order makes it: with 8
    stages to round-off, in steps with which others have three digits.
    """

    stages: int = static(default=8)
    retraction: AbstractRetraction = Exponential()
    newton: Newton = Newton(max_iterations=100)
    renormalise: bool = static(default=True)

    honours = OF_A_STEP
    symplectic = False
    failure = "The iteration for the stages did not contract: the step is too long for the motion; take a smaller dt."

    def __post_init__(self):
        if not isinstance(self.stages, int) or not 1 <= self.stages <= MOST:
            raise InputError(f"Collocation: stages = {self.stages!r}; expected a whole number from 1 to {MOST}.")
        self.newton.check_exact()

    def check(self, system: LagrangianSystem) -> None:
        self.retraction.check(system.group)
        if truncated(self.retraction):
            raise InputError(
                f"Collocation was given {self.retraction!r}, which cuts dexp^-1; only the whole one makes the method "
                "one of its order: leave order out."
            )

    def order(self, system: LagrangianSystem) -> int:
        return 2 * self.stages

    def symmetric(self, system: LagrangianSystem) -> bool:
        by_exp = isinstance(self.retraction, Exponential)
        return flat(system.group, by_exp=by_exp) or (by_exp and self.stages == 1)

    def memory(self, system: LagrangianSystem, state: State, t: Scalar) -> "_Known":
        """To begin with, the slopes at the node."""
        rates = system.equations(state, t)
        at_node = rates.mu if reduced(system) else jnp.concatenate([rates.xi, rates.mu])
        return _Known(jnp.tile(at_node, (self.stages, 1)), jnp.zeros((), int))

    def kept(self, carry: OneStepCarry) -> OneStepCarry:
        """The state: the slopes are many, and within the step they are not worth their place."""
        return self.bare(carry)._replace(memory=None)

    def within(self, system: LagrangianSystem, carry: Any, t: Scalar, h: Scalar, inputs: Any = None) -> State:
        known = self.memory(system, carry.state, t)
        return super().within(system, carry._replace(memory=known), t, h, inputs)

    def advance(self, system, state, memory, t, h, inputs):
        group, tau, n = system.group, self.retraction, system.group.dim
        times = t + jnp.asarray(collocation(self.stages).c) * h
        a, b = (jnp.asarray(each) for each in (collocation(self.stages).a, collocation(self.stages).b))
        weights, first = h * a, h * (a @ continued(self.stages))
        start, per_step = jnp.zeros(n), 1 / jnp.abs(h)

        def turning(Theta, xi):
            return tau.dtau_inv(group, -Theta, xi)

        if reduced(system):

            def momentum(time, mu):
                return system.equations(State(state.g, mu), time).mu

            scales = [per_step * jnp.max(jnp.abs(state.mu))]
            found = self._found(momentum, times, weights, state.mu, memory.slopes, first, scales, memory.ahead)
            mus = jax.lax.map(lambda each: state.mu + _summed(each, found.x), weights)
            xis = jax.lax.map(lambda each: system.velocity(state.g, each[1], each[0]), (times, mus))
            turned = self._found(
                lambda xi, Theta: turning(Theta, xi), xis, weights, start, xis, weights, [self.newton.floor / EPS]
            )
            slopes = jnp.where(turned.converged, turned.x, jnp.nan), found.x
        else:

            def both(time, y):
                Theta, mu = y[:n], y[n:]
                rates = system.equations(State(group.compose(state.g, tau.tau(group, Theta)), mu), time)
                return jnp.concatenate([turning(Theta, rates.xi), rates.mu])

            scale = (velocity_floor(group, state.g, h) + self.newton.floor) / EPS
            scales = [scale, per_step * jnp.max(jnp.abs(system.legendre(state.g, jnp.full(n, scale), t)))]
            y = jnp.concatenate([start, state.mu])
            found = self._found(both, times, weights, y, memory.slopes, first, scales, memory.ahead)
            slopes = found.x[:, :n], found.x[:, n:]
        # numbers where the iteration fails, for it is no NaN that ends the run; of all slopes it would take longer
        Theta, mu = (jnp.where(found.converged, _summed(h * b, each), 0.0) for each in slopes)
        end = State(group.advance(state.g, tau.increment(group, Theta)), state.mu + mu)
        known, change = _Known(found.x, self._ahead(found.memory)), jnp.sqrt(found.memory.latest)
        return end, known, StepInfo.solved(found.iterations, change, found.converged)

    def _found(
        self,
        slope: Any,
        rows: Any,
        weights: Any,
        y: Float[Array, " n"],
        known: Slopes,
        first: Any,
        scales: Any,
        ahead: Any = 0,
    ) -> Root:
        """The slopes at the stages, `slope(row, Y)` with Y the sum of y and the slopes with `weights`: from those at Y
        by the `first` weights and slopes that are known, or from those at y if that leads nowhere. y has as many parts
        as there are `scales`, of slopes that matter to each; so many rounds more go `ahead` before it is looked at how
        far they went."""

        def again(slopes: Slopes, rows: Any, weights: Any, y: Any) -> tuple[Slopes, Any, Any]:
            """What the slopes become, with the squares of each stage and part: of the change, and of all."""

            def stage(each):
                row, weights, before = each
                new = slope(row, y + _summed(weights, slopes))
                return new, _squares(new - before, len(scales)), _squares(new, len(scales))

            return jax.lax.map(stage, (rows, weights, slopes))

        once, captured = jax.closure_convert(again, known, rows, weights, y)
        most = self.newton.max_iterations

        def find(given, start):
            known, first, scales, ahead = start
            rows, _, *others = given
            begun = once(known, rows, first, *others)[0]
            none, unknown = jnp.asarray(scales) ** 2 / STALLED**2, (jnp.zeros(()), jnp.ones(()))

            def goes_on(last: _Rounds) -> Any:
                return ~self._converged(last) & jnp.isfinite(last.latest) & (last.count < most)

            def two_more(last: _Rounds) -> _Rounds:
                """Looking how far they went takes half as long as one."""
                between, earlier, _ = once(last.slopes, *given)
                slopes, latest, sizes = once(between, *given)
                size = jnp.sum(sizes, axis=0) + none
                size = jnp.where(size == 0, 1.0, size)
                far = [jnp.max(jnp.sum(changes, axis=0) / size) for changes in (earlier, latest)]
                return _Rounds(slopes, *far, last.count + 2)

            def try_(last: _Tries) -> _Tries:
                start = jnp.where(last.count > 0, 0.0, begun)
                on = jax.lax.fori_loop(0, ahead, lambda _, slopes: once(slopes, *given)[0], start)
                rounds = jax.lax.while_loop(goes_on, two_more, _Rounds(on, *unknown, 1 + ahead))
                return _Tries(rounds, last.taken + rounds.count, last.count + 1)

            zero = jnp.zeros((), int)
            nothing = _Tries(_Rounds(jnp.zeros_like(known), *unknown, zero), zero, zero)
            missing = lambda last: ~self._converged(last.rounds) & (last.count < 2)  # noqa: E731
            end = jax.lax.while_loop(missing, try_, nothing)
            return Root(end.rounds.slopes, end.taken, self._converged(end.rounds), end.rounds)

        def differentiate(given, given_dot, slopes):
            def new(slopes: Slopes, *given: Any) -> Slopes:
                return once(slopes, *given)[0]

            def left(flat: Any) -> Any:
                return flat - new(flat.reshape(slopes.shape), *given).reshape(-1)

            change = jax.jvp(functools.partial(new, slopes), given, given_dot)[1]
            linear = jax.linearize(left, slopes.reshape(-1))[1]
            return Dense().solve(linear, change.reshape(-1)).reshape(slopes.shape)

        return implicit(find, differentiate)((rows, weights, y, *captured), (known, first, jnp.asarray(scales), ahead))

    def _converged(self, rounds: "_Rounds") -> Bool[Array, ""]:
        """Whether the next change would be below the tolerance, or the last two are rounding, and shrink no more."""
        earlier, latest = rounds.earlier, rounds.latest
        stalled = (latest > 0.5 * earlier) & (latest <= (STALLED * EPS) ** 2)
        return (latest**2 <= self.newton.tolerance**2 * jnp.minimum(earlier, 1.0)) | stalled

    def _ahead(self, rounds: "_Rounds") -> Int[Array, ""]:
        """How many rounds of the next step may go ahead: all but the first and the last two of those needed now."""
        enough = (rounds.latest <= self.newton.tolerance**2) | (rounds.latest >= rounds.earlier)  # without the last
        return jnp.clip(rounds.count - 3 - enough, 0, max(self.newton.max_iterations - 3, 0))


class _Known(NamedTuple):
    """What is known from the last step: the slopes at the stages, those of Theta only where mu depends on it, and how
    many rounds may go ahead of those of which it is seen how far they go."""

    slopes: Slopes
    ahead: Int[Array, ""]


class _Rounds(NamedTuple):
    """The slopes after so many rounds, and the squares of the changes in the last two, as shares of what they are."""

    slopes: Slopes
    earlier: Float[Array, ""]
    latest: Float[Array, ""]
    count: Int[Array, ""]


class _Tries(NamedTuple):
    """The last try, the rounds of all, and how many there were."""

    rounds: _Rounds
    taken: Int[Array, ""]
    count: Int[Array, ""]


def _summed(weights: Float[Array, " k"], rows: Float[Array, "k n"]) -> Float[Array, " n"]:
    """The sum of rows with weights, in two halves that do not wait for each other."""
    half = len(weights) // 2
    return weights[:half] @ rows[:half] + weights[half:] @ rows[half:]


def _squares(slopes: Float[Array, " n"], parts: int) -> Float[Array, " parts"]:
    return jnp.sum(slopes.reshape(parts, -1) ** 2, axis=1)


def continued(stages: int) -> np.ndarray:
    """What gives slopes at the stages of a step from those of the step before it, by the polynomial through them."""
    c = np.asarray(collocation(stages).c)
    others = ~np.eye(stages, dtype=bool)
    return np.array([[np.prod((1 + x - c[o]) / (c[j] - c[o])) for j, o in enumerate(others)] for x in c])
