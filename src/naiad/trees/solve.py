"""Newton's method over a tree, with the Jacobian of the guess kept: a chord."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from naiad.numerics.rows import Rows
from naiad.trees.rules import Vector
from naiad.trees.sweeps import Bodies, Sweeps, turns
from naiad.trees.system import TreeSystem
from naiad.trees.tree import Tree

WEIGHTS = np.array([[4.0, -6.0, 4.0, -1.0], [1.0, 0.0, 0.0, 0.0]])
"""Of the last four rates in a guess of the next: exact for cubics; and the last one."""
TOLERANCE = 1e-15  # of the error of a turn, relative to the largest
FLOOR = 1e-10  # relative corrections below this that do not shrink are rounding
EPS = np.finfo(float).eps  # a turn below this moves no entry of R
SLOW = 0.05  # corrections that shrink less call for a new Jacobian
SQUARED = 1e-9  # a relative correction whose square is rounding
GIVE_UP = 50  # iterations
REFRESH = 16  # steps after which kappa is measured again

IMPLICIT_ROUNDS = 12  # of Newton's method for a derivative where the Jacobian leaves out the forces


class Problem(NamedTuple):
    """The equations of a step: the sweeps, the bodies and the momentum p of the root at the start, and the system at
    (g, t), whose forces act."""

    sweeps: Sweeps
    bodies: Bodies
    p: Vector
    system: TreeSystem
    g: Any
    t: Any

    @property
    def linear(self) -> bool:
        """Whether corrections shrink by a constant factor: where forces depend on the velocity."""
        return self.system.force is not None

    def kicks(self, work: Rows, dx: Vector) -> tuple[Any, Vector]:
        """What forces add to the momenta of the bodies, in space, if there are any; and the momentum of the root."""
        if self.system.force is None:
            return None, self.p
        tree, h = self.sweeps.tree, self.sweeps.h
        xi = step_velocity(tree, self.g.R, turns(work), dx, h)
        moments, push = split(tree, 0.5 * h * self.system.force(self.g, xi, self.t))
        return jnp.einsum("nij,nj->ni", self.g.R, moments), self.p + push


class Guess(NamedTuple):
    """dx/h of the last four steps, kappa, and how many steps ago it was measured."""

    shifts: Float[Array, "4 3"]
    kappa: Float[Array, ""]
    age: Int[Array, ""]


class Solved(NamedTuple):
    """The rows at the solution, the root's displacement, kappa and its age, and how it went."""

    work: Rows
    dx: Vector
    kappa: Float[Array, ""]
    age: Int[Array, ""]
    iterations: Int[Array, ""]
    residual: Float[Array, ""]
    converged: Bool[Array, ""]


class _Chord(NamedTuple):
    """Iterations with one Jacobian: how far they are, the first and the last correction."""

    work: Rows
    dx: Vector
    shift: Vector
    first: Float[Array, ""]
    last: Float[Array, ""]
    kappa: Float[Array, ""]
    count: Int[Array, ""]
    residual: Float[Array, ""]
    goes_on: Bool[Array, ""]
    converged: Bool[Array, ""]
    diverged: Bool[Array, ""]


class _Attempt(NamedTuple):
    """Chords in a row: each from where the last one got, or from the last rates after the first that diverged."""

    solved: Solved
    again: Bool[Array, ""]
    retries: Int[Array, ""]
    goes_on: Bool[Array, ""]


@jax.custom_jvp
def solve(problem: Problem, guess: Guess) -> Solved:
    """The turns of all bodies and the root's displacement dx for which every momentum is met.

    The m-th correction leaves an error of about kappa d_1 d_m, d the largest correction of a turn; kappa = d_2 / d_1^2
    is measured every few steps. Where forces depend on the velocity it is d_m^2 / d_{m-1}. Corrections that shrink
    slowly call for a new Jacobian; if they grow, it begins again from the last rates, with a new one for each. The
    derivative is the implicit one.
    """
    sweeps, linear = problem.sweeps, problem.linear

    def chord(attempt: _Attempt) -> _Attempt:
        last = attempt.solved
        weights = sweeps.h * jnp.where(attempt.retries > 0, jnp.asarray(WEIGHTS[1]), jnp.asarray(WEIGHTS[0]))
        dx = jnp.where(attempt.again, last.dx, weights @ guess.shifts)
        work = sweeps.begin(last.work, problem.bodies, weights, dx, again=attempt.again)
        spins, p = problem.kicks(work, dx)
        work = sweeps.factorise(work, spins)
        shift, _ = sweeps.shift(work, p)
        zero, no = jnp.zeros(()), jnp.zeros((), bool)
        start = _Chord(work, dx, shift, zero, zero, last.kappa, jnp.zeros((), int), zero, ~no, no, no)
        anew = attempt.retries > 0
        end = jax.lax.while_loop(lambda c: c.goes_on, lambda c: correct(c, anew), start)
        retry = end.diverged & ~anew
        iterations = last.iterations + end.count
        measured = end.count > 1
        age = jnp.where(measured, 0, last.age)
        solved = Solved(end.work, end.dx, end.kappa, age, iterations, end.residual, end.converged)
        goes_on = ~end.converged & (retry | ~end.diverged) & (iterations < GIVE_UP)
        return _Attempt(solved, ~retry, attempt.retries + retry, goes_on)

    def correct(c: _Chord, anew: Any) -> _Chord:
        dx = c.dx + c.shift
        work, d, size = sweeps.correct(c.work, dx, c.shift)
        spins, p = problem.kicks(work, dx)
        work, residual = sweeps.reduce(work, spins)
        shift, miss = sweeps.shift(work, p)
        begins, second = c.count == 0, c.count == 1
        first = jnp.where(begins, d, c.first)
        ratio = d / jnp.where(begins, d, c.last)
        kappa = jnp.where(second & (first > 0.0), d / first**2, c.kappa)
        error = d * ratio if linear else kappa * first * d
        fresh = ~begins if linear else ~begins | (guess.age < REFRESH)
        small = jnp.where(anew, d <= SQUARED * size, (error <= TOLERANCE * size) & fresh)
        still = ~begins & (ratio > 0.5) & (d <= FLOOR * size + EPS)
        converged = small | still | (d == 0.0)
        diverged = ~jnp.isfinite(d) | (~begins & (ratio > 1.0) & ~still)
        slow = (anew & (not linear)) | (~begins & (ratio > (0.5 if linear else SLOW)))
        goes_on = ~converged & ~diverged & ~slow & (c.count < GIVE_UP)
        residual = jnp.maximum(residual, miss)
        return _Chord(work, dx, shift, first, d, kappa, c.count + 1, residual, goes_on, converged, diverged)

    none, no = jnp.zeros((), int), jnp.zeros((), bool)
    start = Solved(sweeps.empty(), jnp.zeros(3), guess.kappa, guess.age + 1, none, jnp.zeros(()), no)
    return jax.lax.while_loop(lambda a: a.goes_on, chord, _Attempt(start, no, none, ~no)).solved


@solve.defjvp
def _implicit(primals, tangents):
    """One step of Newton's method at the solution, where only what it depends on varies."""
    solved = solve(*primals)

    def ends(problem: Problem) -> tuple[Rows, Vector]:
        sweeps, work, dx = problem.sweeps, solved.work, solved.dx
        for _ in range(IMPLICIT_ROUNDS if problem.linear else 1):
            work = sweeps.begin(work, problem.bodies, jnp.zeros(4), dx, again=jnp.ones((), bool))
            spins, p = problem.kicks(work, dx)
            work = sweeps.factorise(work, spins)
            shift, _ = sweeps.shift(work, p)
            dx = dx + shift
            work = sweeps.correct(work, dx, shift).work
            work, _ = sweeps.reduce(work, problem.kicks(work, dx)[0])
        return work, dx

    _, (work, dx) = jax.jvp(ends, primals[:1], tangents[:1])
    none: Any = np.zeros((), jax.dtypes.float0)  # the tangent of a count
    zero = jnp.zeros(())
    return solved, Solved(work, dx, zero, none, none, zero, none)


def split(tree: Tree, vector: Float[Array, " n"]) -> tuple[Float[Array, "N 3"], Vector]:
    """The parts of the bodies and of the root, which are zeros if it is pinned."""
    size = 3 * tree.count
    return jnp.reshape(vector[:size], (tree.count, 3)), jnp.zeros(3) if tree.pinned else vector[size:]


def joined(tree: Tree, rows: Float[Array, "N 3"], last: Vector) -> Float[Array, " n"]:
    """The vector of these parts."""
    flat = rows.reshape(-1)
    return flat if tree.pinned else jnp.concatenate([flat, last])


def step_velocity(tree: Tree, R: Any, turned: Float[Array, "N 3"], dx: Vector, h: Any) -> Float[Array, " n"]:
    """The velocity of a step, in the body frames at its start: 2 R^T C/h and dx/h."""
    return joined(tree, (2.0 / h) * jnp.einsum("nji,nj->ni", R, turned), dx / h)
