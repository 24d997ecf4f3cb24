"""Newton's method over a tree, with the Jacobian of the guess kept: a chord."""

import functools
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from naiad.numerics import Newton, Root
from naiad.numerics.newton import EPS, STALLED, Corrected, Verdict, by_improving, implicit
from naiad.numerics.rows import Rows
from naiad.trees.rules import Vector
from naiad.trees.sweeps import Bodies, Sweeps, turns
from naiad.trees.system import TreeSystem
from naiad.trees.tree import Tree

WEIGHTS = np.array([[4.0, -6.0, 4.0, -1.0], [1.0, 0.0, 0.0, 0.0]])
"""Of the last four rates in a guess of the next: exact for cubics; and the last one."""
TOLERANCE = 1e-15  # of the error of a turn, relative to the largest
FLOOR = 1e-10  # relative corrections below this that do not shrink are rounding
SLOW = 0.05  # corrections that shrink less call for a new Jacobian
SQUARED = 1e-9  # a relative correction whose square is rounding
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
        return self.system.total_force is not None

    def kicks(self, work: Rows, dx: Vector) -> tuple[Any, Vector]:
        """What forces add to the momenta of the bodies, in space, if there are any; and the momentum of the root."""
        if self.system.total_force is None:
            return None, self.p
        tree, h = self.sweeps.tree, self.sweeps.h
        xi = step_velocity(tree, self.g.R, turns(work) / h, dx / h)
        moments, push = split(tree, 0.5 * h * self.system.total_force(self.g, xi, self.t))
        return jnp.einsum("nij,nj->ni", self.g.R, moments), self.p + push


class Guess(NamedTuple):
    """dx/h of the last four steps, kappa, and how many steps ago it was measured."""

    shifts: Float[Array, "4 3"]
    kappa: Float[Array, ""]
    age: Int[Array, ""]


class Turns(NamedTuple):
    """The rows at the solution, which hold the turns, and the root's displacement."""

    work: Rows
    dx: Vector


class Kept(NamedTuple):
    """What is kept of a solution: kappa and its age, and the largest residual."""

    kappa: Float[Array, ""]
    age: Int[Array, ""]
    residual: Float[Array, ""]


class _Corrections(NamedTuple):
    """Those with one Jacobian: the size of the first and of the last, kappa, and whether they grew."""

    first: Float[Array, ""]
    last: Float[Array, ""]
    kappa: Float[Array, ""]
    diverged: Bool[Array, ""]


class _Attempt(NamedTuple):
    """Where the last chord got, whether the next goes on from there or begins again from the last rates, with a new
    Jacobian for each correction (`anew`); whether it found the root, or there is no hope."""

    at: Turns
    kept: Kept
    again: Bool[Array, ""]
    anew: Bool[Array, ""]
    found: Bool[Array, ""]
    over: Bool[Array, ""]


def solve(newton: Newton, problem: Problem, guess: Guess) -> Root:
    """The turns of all bodies and the root's displacement dx for which every momentum is met, `Turns`, and `Kept`.

    The Jacobian of the guess is kept for all corrections: a chord. The m-th correction leaves an error of about kappa
    d_1 d_m, d the largest correction of a turn; kappa = d_2 / d_1^2 is measured every few steps. Where a third
    correction then shows that d_2 was rounding, one was enough for this d_1, and is taken to be so up to twice its
    size. Where forces depend on the velocity the error is d_m^2 / d_{m-1}. Corrections that shrink slowly call for a
    new Jacobian; if they grow, it begins again from the last rates, with a new one for each.
    """

    def find(problem, guess):
        nowhere, no = Turns(problem.sweeps.empty(), jnp.zeros(3)), jnp.zeros((), bool)
        start = _Attempt(nowhere, Kept(guess.kappa, guess.age + 1, jnp.zeros(())), no, no, no, no)
        chords = newton.iterate(
            lambda last: _chord(newton, problem, guess, last),
            lambda _, chord, count: Verdict((), chord.x.found, chord.x.over),
            start,
        )
        return chords._replace(x=chords.x.at, memory=chords.x.kept)

    return implicit(find, by_improving(_improve))(problem, guess)


def _chord(newton: Newton, problem: Problem, guess: Guess, last: _Attempt) -> Corrected:
    """Corrections with one Jacobian, that of where they begin."""
    sweeps = problem.sweeps
    weights = sweeps.h * jnp.where(last.anew, jnp.asarray(WEIGHTS[1]), jnp.asarray(WEIGHTS[0]))
    dx = jnp.where(last.again, last.at.dx, weights @ guess.shifts)
    work, shift = _factorised(problem, last.at.work, weights, dx, again=last.again)

    def correct(at):
        (work, dx), shift, _ = at
        dx = dx + shift
        work, correction, size = sweeps.correct(work, dx, shift)
        spins, p = problem.kicks(work, dx)
        work, residual = sweeps.reduce(work, spins)
        shift, miss = sweeps.shift(work, p)
        return Corrected((Turns(work, dx), shift, jnp.maximum(residual, miss)), correction, size)

    zero, no = jnp.zeros(()), jnp.zeros((), bool)
    fresh = guess.age < REFRESH
    stop = functools.partial(_settled, newton, linear=problem.linear, fresh=fresh, anew=last.anew, h=sweeps.h)
    begin = _Corrections(zero, zero, last.kept.kappa, no)
    end = newton.iterate(correct, stop, (Turns(work, dx), shift, zero), begin)
    at, _, residual = end.x
    age = jnp.where((end.iterations > 1) & ~fresh, 0, last.kept.age)  # measured again
    retry = end.memory.diverged & ~last.anew
    attempt = _Attempt(
        at,
        Kept(end.memory.kappa, age, residual),
        again=~retry,
        anew=last.anew | retry,
        found=end.converged,
        over=end.memory.diverged & ~retry,
    )
    return Corrected(attempt, end.memory.last, zero, iterations=end.iterations)


def _settled(
    newton: Newton,
    before: _Corrections,
    corrected: Corrected,
    count: Any,
    *,
    linear: bool,
    fresh: Any,
    anew: Any,
    h: Any,
) -> Verdict:
    """Whether the turns need no more corrections, or another Jacobian."""
    d, size = corrected.correction, corrected.size
    begins, second = count == 0, count == 1
    first = jnp.where(begins, d, before.first)
    ratio = d / jnp.where(begins, d, before.last)
    kappa = jnp.where(second & (first > 0.0), d / first**2, before.kappa)
    tolerance = max(TOLERANCE, newton.tolerance) * size
    rounded = (count == 2) & (before.last <= FLOOR * size) & (ratio > 0.5)
    kappa = jnp.where(rounded, jnp.minimum(kappa, 0.25 * tolerance / first**2), kappa)
    measuring = second & ~fresh & ~anew & (d <= FLOOR * size) & (not linear)
    error = d * ratio if linear else kappa * first * d
    known = ~begins if linear else ~begins | fresh
    small = jnp.where(anew, d <= SQUARED * size, (error <= tolerance) & known)
    floor = EPS if linear else STALLED * EPS  # a turn below eps moves no entry of R
    if newton.floor:
        floor = floor + 0.5 * newton.floor * jnp.abs(h)
    still = ~begins & (ratio > 0.5) & (d <= FLOOR * size + floor)
    converged = ((small | still) & ~measuring) | (d == 0.0)
    diverged = ~jnp.isfinite(d) | (~begins & (ratio > 1.0) & ~still)
    slow = (anew & (not linear)) | (~begins & (ratio > (0.5 if linear else SLOW)))
    return Verdict(_Corrections(first, d, kappa, diverged), converged, diverged | (slow & ~measuring))


def _improve(problem: Problem, at: Turns) -> Turns:
    """One step of Newton's method, or more where the Jacobian leaves out the forces."""
    sweeps, (work, dx) = problem.sweeps, at
    for _ in range(IMPLICIT_ROUNDS if problem.linear else 1):
        work, shift = _factorised(problem, work, jnp.zeros(4), dx, again=jnp.ones((), bool))
        dx = dx + shift
        work = sweeps.correct(work, dx, shift).work
        work, _ = sweeps.reduce(work, problem.kicks(work, dx)[0])
    return Turns(work, dx)


def _factorised(
    problem: Problem, work: Rows, weights: Float[Array, "4"], dx: Vector, *, again: Any
) -> tuple[Rows, Vector]:
    """The rows with the Jacobian eliminated where a chord begins, and the correction of the root's displacement."""
    work = problem.sweeps.begin(work, problem.bodies, weights, dx, again=again)
    spins, p = problem.kicks(work, dx)
    work = problem.sweeps.factorise(work, spins)
    return work, problem.sweeps.shift(work, p)[0]


def split(tree: Tree, vector: Float[Array, " n"]) -> tuple[Float[Array, "N 3"], Vector]:
    """The parts of the bodies and of the root, which are zeros if it is pinned."""
    size = 3 * tree.count
    return jnp.reshape(vector[:size], (tree.count, 3)), jnp.zeros(3) if tree.pinned else vector[size:]


def joined(tree: Tree, rows: Float[Array, "N 3"], last: Vector) -> Float[Array, " n"]:
    """The vector of these parts."""
    flat = rows.reshape(-1)
    return flat if tree.pinned else jnp.concatenate([flat, last])


def step_velocity(tree: Tree, R: Any, rates: Float[Array, "N 3"], shift: Vector) -> Float[Array, " n"]:
    """The velocity of a step, in the body frames at its start, from C/h and dx/h: 2 R^T C/h and dx/h."""
    return joined(tree, 2.0 * jnp.einsum("nji,nj->ni", R, rates), shift)
