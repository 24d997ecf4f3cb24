"""Newton's method on pytrees, to round-off, with an implicit derivative.

There is one loop, `Newton.iterate`. What corrects the unknowns (a residual and a linear solve: dense, along a chain, by
sweeps over a tree, by elimination along a string) and what ends it are given to it.
"""

import functools
import math
import sys
from collections.abc import Callable
from typing import Any, Literal, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from naiad.errors import InputError
from naiad.numerics.module import Module, static
from naiad.numerics.structure import AbstractStructure, Dense

EPS = sys.float_info.epsilon
STALLED = 1e3  # units of rounding: corrections below that shrink no more are nothing else

Residual = Callable[[Float[Array, " n"]], Float[Array, " n"]]


class Root(NamedTuple):
    """A root and how it was found: the unknowns, the iterations, whether it is one, and what the stopping rule or the
    caller keeps of it, which has no derivative."""

    x: Any
    iterations: Int[Array, ""]
    converged: Bool[Array, ""]
    memory: Any = ()


class Corrected(NamedTuple):
    """Unknowns after a correction, with whatever else came of it: the largest correction and the largest unknown,
    whether it was the correction of Newton's method, and how many iterations it took."""

    x: Any
    correction: Float[Array, ""]
    size: Float[Array, ""]
    good: Any = True
    iterations: Any = 1


class Verdict(NamedTuple):
    """What a stopping rule says: what it remembers, whether the root is found, and whether to give up."""

    memory: Any
    converged: Bool[Array, ""]
    over: Bool[Array, ""]


Correct = Callable[[Any], Corrected]
Stop = Callable[[Any, Corrected, Int[Array, ""]], Verdict]


class Newton(Module):
    """Solve r(x) = 0 by x <- x - A^-1 r(x), until the next correction would be lost in round-off.

    With the exact Jacobian A = r'(x) convergence is quadratic: the m-th correction d_m predicts d_{m+1} = d_m (d_m /
    d_{m-1})^2, the first one d_1^2 / |x|. With `jacobian="inertia"` A is a matrix near the Jacobian at the guess,
    factorised once (for a variational integrator the inertia matrix, off by O(h)): more iterations, which cost less;
    d_{m+1} = d_m^2 / d_{m-1}. The iteration ends when the prediction is below `tolerance` |x|, by default the rounding
    of x, or when corrections at the level of round-off no longer shrink, which quadratic ones do: some hundred units in
    the last place of x, or of a floor, below which x is nothing but the rounding of larger terms that cancel. A method
    knows one, the velocity that moves no entry of the configuration; `floor` is added to it, for forces whose parts
    cancel to more than that. A step to where r or r' is not a number is halved. The derivative of the root with respect
    to everything that r depends on is the implicit one, -r'(x)^-1 dr, in forward and reverse mode.
    """

    max_iterations: int = static(default=50)
    jacobian: Literal["exact", "inertia"] = static(default="exact")
    tolerance: float = static(default=0.5 * EPS)
    floor: float = static(default=0.0)

    def __post_init__(self):
        if self.jacobian not in ("exact", "inertia"):
            raise InputError(f"Newton: jacobian = {self.jacobian!r}; expected 'exact' or 'inertia'.")
        if not 0.0 < self.tolerance < 1.0 or not 0.0 <= self.floor < math.inf:
            raise InputError(
                f"Newton: tolerance = {self.tolerance!r}, floor = {self.floor!r}; expected a relative error between 0 "
                "and 1, and a number that is not negative."
            )

    def root(
        self,
        residual: Residual,
        guess: Float[Array, " n"],
        structure: AbstractStructure | None = None,
        inertia: Residual | None = None,
        floor: Float[Array, ""] | float = 0.0,
        enough: Float[Array, ""] | None = None,
    ) -> Root:
        """The root of `residual` near `guess`; `structure` says how the Jacobian couples the unknowns, `inertia` is a
        linear function near it, and unknowns below `floor` are rounding. A guess whose residuals are at most `enough`
        is the root."""
        coupling = Dense() if structure is None else structure
        function, given = jax.closure_convert(residual, guess)  # what it depends on becomes an argument
        near: Any = None
        near_given: list[Any] = []
        if inertia is None:
            self.check_exact()
        elif self.jacobian == "inertia":
            near, near_given = jax.closure_convert(inertia, guess)

        def find(all_given, start):
            given, near_given, floor, enough = all_given
            if near is None:
                correct = functools.partial(coupling.newton_step, lambda x: function(x, *given))
            else:
                inverse = coupling.inverse(lambda x: near(x, *near_given), start.size)
                correct = lambda x: inverse(function(x, *given))  # noqa: E731
            trial, before = _Trial(start, start, jnp.zeros_like(start)), jnp.full((), jnp.inf)
            found = jnp.zeros((), bool) if enough is None else jnp.max(jnp.abs(function(start, *given))) <= enough
            stop = self.settling(floor, near is None)
            end = self.iterate(functools.partial(_halved, correct), stop, trial, before, found)
            return end._replace(x=end.x.x, memory=())

        def differentiate(all_given, all_given_dot, x):
            given, given_dot = all_given[0], all_given_dot[0]
            _, change = jax.jvp(lambda *values: function(x, *values), tuple(given), tuple(given_dot))
            linear = jax.linearize(lambda x: function(x, *given), x)[1]
            return -coupling.solve(linear, change)

        return implicit(find, differentiate)((given, near_given, jnp.asarray(floor, guess.dtype), enough), guess)

    def iterate(self, correct: Correct, stop: Stop, guess: Any, memory: Any = (), found: Any = None) -> Root:
        """Corrections from a guess on until the stopping rule, which begins with a `memory`, ends them; none where the
        guess is `found` to be the root."""

        def iteration(last: _Progress) -> _Progress:
            found = correct(last.x)
            verdict = stop(last.memory, found, last.iterations)
            return _Progress(found.x, *verdict, last.iterations + found.iterations)

        no = jnp.zeros((), bool)
        end = jax.lax.while_loop(
            lambda p: ~p.converged & ~p.over & (p.iterations < self.max_iterations),
            iteration,
            _Progress(guess, memory, no if found is None else found, no, jnp.zeros((), int)),
        )
        return Root(end.x, end.iterations, end.converged, end.memory)

    def settling(self, floor: Any, quadratic: bool = True) -> Stop:
        """The stopping rule of this class; its memory is the size of the last correction, infinite for none."""
        level = (STALLED if quadratic else 1.0) * floor + self.floor  # a chord may just be slow
        quick = 0.1 if quadratic else 0.5  # at such a level quadratic corrections shrink by far more

        def stop(before, found, count):
            correction, size = found.correction, found.size
            begins = jnp.isinf(before)
            share = correction / jnp.where(begins, size, before)  # one quotient: they take long
            ratio = jnp.where(begins, 0.0, share)
            shrinks = jnp.where(begins, share, share**2) if quadratic else ratio
            negligible = (correction * shrinks <= self.tolerance * size) & (quadratic | ~begins)
            stalled = (ratio > 0.5) & (correction <= STALLED * EPS * size)
            nothing = ((ratio > quick) & (correction <= level)) | (correction == 0)
            converged = found.good & (negligible | stalled | nothing)
            return Verdict(correction, converged, ~jnp.isfinite(correction))

        return stop

    def check_exact(self) -> None:
        """Raise an `InputError` if another Jacobian than the exact one is asked for, where there is no other."""
        if self.jacobian != "exact":
            raise InputError(
                "Newton(jacobian='inertia') is for steps whose unknowns are velocities alone; these equations have no "
                "inertia matrix near their Jacobian. Use Newton()."
            )


def implicit(
    find: Callable[[Any, Any], Root], differentiate: Callable[[Any, Any, Any], Any]
) -> Callable[[Any, Any], Root]:
    """`find(given, guess)` with the implicit derivative of the root x with respect to what is given, which
    `differentiate(given, given_dot, x)` gives: -r'(x)^-1 dr."""

    @jax.custom_jvp
    def solved(given, guess):
        return find(given, guess)

    @solved.defjvp
    def tangent(primals, tangents):
        root = solved(*primals)
        change = differentiate(primals[0], tangents[0], root.x)
        return root, jax.tree.map(_no_tangent, root)._replace(x=change)

    return solved


def by_improving(improve: Callable[[Any, Any], Any]) -> Callable[[Any, Any, Any], Any]:
    """The implicit derivative by a step of Newton's method from the root, `improve(given, x)`, in which only what is
    given varies: the same linear solve as that of the iteration."""
    return lambda given, given_dot, x: jax.jvp(lambda given: improve(given, x), (given,), (given_dot,))[1]


class _Progress(NamedTuple):
    """Where the iteration stands."""

    x: Any
    memory: Any
    converged: Bool[Array, ""]
    over: Bool[Array, ""]
    iterations: Int[Array, ""]


class _Trial(NamedTuple):
    """x = base - step."""

    x: Float[Array, " n"]
    base: Float[Array, " n"]
    step: Float[Array, " n"]


def _halved(correct: Residual, last: _Trial) -> Corrected:
    """The next trial: Newton's, or one with half the last step where that is not a number."""
    newton_step = correct(last.x)
    good = jnp.all(jnp.isfinite(newton_step))
    base, step = jnp.where(good, last.x, last.base), jnp.where(good, newton_step, 0.5 * last.step)
    x = base - step
    return Corrected(_Trial(x, base, step), jnp.max(jnp.abs(step)), jnp.max(jnp.abs(x)), good)


def _no_tangent(leaf: Any) -> Any:
    """The tangent of a number that is not differentiated, and of a count."""
    return jnp.zeros_like(leaf) if jnp.issubdtype(leaf.dtype, jnp.inexact) else np.zeros(leaf.shape, jax.dtypes.float0)
