"""Gauss's collocation: the equations of motion to round-off, in steps that are long."""

import dataclasses
import functools
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from naiad.errors import InputError
from naiad.integrators.method import AbstractOneStepMethod, StepInfo, truncated, velocity_floor
from naiad.integrators.vprk import flat, reduced
from naiad.mechanics import LagrangianSystem, Scalar, State
from naiad.numerics import Newton, static
from naiad.numerics.newton import EPS, STALLED, Corrected, Root, implicit
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

    def memory(self, system: LagrangianSystem, state: State, t: Scalar) -> Slopes:
        """The slopes at the stages of the last step, those of Theta only where mu depends on it; to begin with, the
        ones at the node."""
        rates = system.equations(state, t)
        at_node = rates.mu if reduced(system) else jnp.concatenate([rates.xi, rates.mu])
        return jnp.tile(at_node, (self.stages, 1))

    def advance(self, system, state, memory, t, h, inputs):
        group, tau, n = system.group, self.retraction, system.group.dim
        times = t + jnp.asarray(collocation(self.stages).c) * h
        weights = jnp.concatenate([jnp.ones((self.stages, 1)), h * jnp.asarray(collocation(self.stages).a)], axis=1)
        guess = jax.lax.map(lambda each: _summed(each, memory), jnp.asarray(continued(self.stages)))
        start, per_step = jnp.zeros(n), 1 / jnp.abs(h)

        def turning(Theta, xi):
            return tau.dtau_inv(group, -Theta, xi)

        if reduced(system):

            def momentum(time, mu):
                return system.equations(State(state.g, mu), time).mu

            found = self._found(momentum, times, weights, state.mu, guess, [per_step * jnp.max(jnp.abs(state.mu))])
            mus = jax.lax.map(lambda each: _summed(each, jnp.concatenate([state.mu[None], found.x])), weights)
            xis = jax.lax.map(lambda each: system.velocity(state.g, each[1], each[0]), (times, mus))
            turned = self._found(
                lambda xi, Theta: turning(Theta, xi), xis, weights, start, xis, [self.newton.floor / EPS]
            )
            slopes = jnp.where(turned.converged, turned.x, jnp.nan), found.x
        else:

            def both(time, y):
                Theta, mu = y[:n], y[n:]
                rates = system.equations(State(group.compose(state.g, tau.tau(group, Theta)), mu), time)
                return jnp.concatenate([turning(Theta, rates.xi), rates.mu])

            scale = (velocity_floor(group, state.g, h) + self.newton.floor) / EPS
            scales = [scale, per_step * jnp.max(jnp.abs(system.legendre(state.g, jnp.full(n, scale), t)))]
            found = self._found(both, times, weights, jnp.concatenate([start, state.mu]), guess, scales)
            slopes = found.x[:, :n], found.x[:, n:]
        b = jnp.asarray(collocation(self.stages).b)
        Theta, mu = (h * (b @ each) for each in slopes)
        end = State(group.advance(state.g, tau.increment(group, Theta)), state.mu + mu)
        return end, found.x, StepInfo.solved(found.iterations, found.memory, found.converged)

    def _found(self, slope: Any, rows: Any, weights: Any, y: Float[Array, " n"], guess: Slopes, scales: Any) -> Root:
        """The slopes at the stages, `slope(row, Y)` with Y the sum of y and the slopes with `weights`: from a guess, or
        from zero if that leads nowhere. y has as many parts as there are `scales`, of slopes that matter to each."""

        def again(slopes: Slopes, before: Slopes, rows: Any, weights: Any, y: Any) -> tuple[Slopes, Any, Any]:
            """What the slopes become, with the squares of each stage and part: of the change since some time before,
            and of all."""
            values = jnp.concatenate([y[None], slopes])

            def stage(each):
                row, weights, before = each
                new = slope(row, _summed(weights, values))
                return new, _squares(new - before, len(scales)), _squares(new, len(scales))

            return jax.lax.map(stage, (rows, weights, before))

        once, captured = jax.closure_convert(again, guess, guess, rows, weights, y)
        newton = dataclasses.replace(self.newton, floor=0.0)  # which is among the scales
        stop = newton.settling(0.0, quadratic=False)

        def find(given, guess_scales):
            guess, scales = guess_scales
            none = jnp.asarray(scales) ** 2 / STALLED**2

            def correct(slopes: Slopes) -> Corrected:
                """Two rounds, after which it is seen how far they went: that takes half as long as one."""
                new, changes, sizes = once(once(slopes, slopes, *given)[0], slopes, *given)
                size = jnp.sum(sizes, axis=0) + none
                far = jnp.sum(changes, axis=0) / jnp.where(size == 0, 1.0, size)
                return Corrected(new, jnp.sqrt(jnp.max(far)), jnp.ones(()), iterations=2)

            def try_(last: _Tries) -> _Tries:
                start = jnp.where(last.count > 0, 0.0, guess)
                root = newton.iterate(correct, stop, start, jnp.full((), jnp.inf))
                return _Tries(root._replace(iterations=last.root.iterations + root.iterations), last.count + 1)

            count, change = jnp.zeros((), int), jnp.zeros(())
            nothing = Root(jnp.zeros_like(guess), count, jnp.zeros((), bool), change)
            goes_on = lambda last: ~last.root.converged & (last.count < 2)  # noqa: E731
            return jax.lax.while_loop(goes_on, try_, _Tries(nothing, count)).root

        def differentiate(given, given_dot, slopes):
            def new(slopes: Slopes, *given: Any) -> Slopes:
                return once(slopes, slopes, *given)[0]

            def left(flat: Any) -> Any:
                return flat - new(flat.reshape(slopes.shape), *given).reshape(-1)

            change = jax.jvp(functools.partial(new, slopes), given, given_dot)[1]
            linear = jax.linearize(left, slopes.reshape(-1))[1]
            return Dense().solve(linear, change.reshape(-1)).reshape(slopes.shape)

        root = implicit(find, differentiate)((rows, weights, y, *captured), (guess, jnp.asarray(scales)))
        return root._replace(x=jnp.where(root.converged, root.x, 0.0))  # a number, for it is no NaN that ends the run


class _Tries(NamedTuple):
    root: Root
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
