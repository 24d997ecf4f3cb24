"""The sweeps of a step over a tree: down to the leaves, up to the root. All vectors are in space.

Row 0 is the ground, which does not turn and moves by dx with the root's joint; row i + 1 is body i. A row holds the
joints a, b in the body and in its parent at the start, a1, b1 at the guess, and their changes da, db; the Cayley vector
C of the turn; the displacement u of the centre; the momenta P of the body and L through its joint; the moment r that is
missing; and the blocks of the Jacobian at the joint, once the bodies below are eliminated,

    dL = G dB + H w + zz,        d rho = Y dB + X w + bz,

with dB the change of the joint's displacement, w that of the turn and rho the moment about the joint. A ball joint
passes no moment, so that to its parent a whole subtree is one 3 x 3 matrix.
"""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from naiad.numerics import Module, cross, hat_times, inverse3, times_hat
from naiad.numerics.rows import Place, Rows, places
from naiad.trees.motion import freedom, kinds, numbers
from naiad.trees.rules import AbstractBodyRule, Matrix, Turned, Vector, cayley_factor, change, composed, congruent
from naiad.trees.tree import Tree

(a, b, C, u, P, da, db, a1, b1, w, du, pi, L, r, zz, bz, t, R, S, J, G, H, Y, X), WIDTH = places(
    vectors="a b C u P da db a1 b1 w du pi L r zz bz t", matrices="R S J G H Y X"
)
(n, n1, T, K), MIXED_WIDTH = places(vectors="n n1 T", matrices="K", start=WIDTH)
(D,), COUPLED_WIDTH = places(vectors="", matrices="D", start=MIXED_WIDTH)
BALL, HINGE = 0, 1


class Bodies(NamedTuple):
    """The bodies at the start of a step, a row each: attitudes, momenta in the body frames, C/h of the last four steps,
    inertias and joints."""

    R: Float[Array, "N 3 3"]
    Pi: Float[Array, "N 3"]
    rates: Float[Array, "N 12"]
    J: Float[Array | np.ndarray, "N 3 3"]
    M: Float[Array | np.ndarray, "N 3 3"]
    D: Float[Array | np.ndarray, "N 3 3"] | None
    own: Float[Array | np.ndarray, "N 3"]
    other: Float[Array | np.ndarray, "N 3"]
    axis: Float[Array | np.ndarray, "N 3"]


class Corrected(NamedTuple):
    """After a correction: the rows, the largest correction of a turn, and the largest turn."""

    work: Rows
    correction: Float[Array, ""]
    size: Float[Array, ""]


class Landed(NamedTuple):
    """The end of a step: attitudes, momenta in the body frames, C/h, and the round-off correction of R."""

    R: Float[Array, "N 3 3"]
    Pi: Float[Array, "N 3"]
    rates: Float[Array, "N 3"]
    correction: Float[Array, ""]


class Sweeps(Module):
    """The sweeps over a tree of one step of h, by the discrete Lagrangian of a rule."""

    tree: Tree
    rule: AbstractBodyRule
    h: Any

    def empty(self) -> Rows:
        """Rows of zeros."""
        width = COUPLED_WIDTH if self.tree.D is not None else WIDTH if self.tree.balls else MIXED_WIDTH
        return jnp.zeros((self.tree.count + 1, width))

    def begin(self, work: Rows, bodies: Bodies, weights: Float[Array, "4"], dx: Vector, *, again: Any) -> Rows:
        """Down: the bodies in space, their momenta at the guess, and the blocks of the Jacobian.

        The guess is the weighted sum of the last rates, or the turn that the rows hold if it is done `again`.
        """

        def body(work, each):
            row, parent, kind, start = each
            own, other = start.R @ start.own, R.read(work, parent) @ start.other
            guess = jnp.where(again, C.read(work, row), weights @ start.rates.reshape(4, 3))
            if not self.tree.balls:
                work, guess = _begin_hinge(work, row, parent, kind, start.R @ start.axis, guess)
            S_, J_ = congruent(start.R, start.M), congruent(start.R, start.J)
            if self.rule.correction:
                J_ = J_ - hat_times(own, times_hat(S_, own))
            if start.D is not None:
                work = D.write(work, row, congruent(start.R, start.D))
            at, db_ = self._displaced(work, row, parent, own, other, guess, S_, J_)
            entries = [(a, own), (b, other), (a1, own + at.da), (b1, other + db_), (R, start.R), (S, S_), (J, J_)]
            entries += [(pi, start.R @ start.Pi), *zip((G, H, Y, X), self.rule.blocks(at), strict=True)]
            return self._evaluated(_written(work, row, entries), row, at, db_), None

        work = _ground(work, dx, jnp.zeros(3))
        work = _written(work, 0, [(R, jnp.eye(3)), *((block, jnp.zeros((3, 3))) for block in (G, H, Y, X))])
        return jax.lax.scan(body, work, (*numbers(self.tree), kinds(self.tree), bodies))[0]

    def correct(self, work: Rows, dx: Vector, shift: Vector) -> Corrected:
        """Down: the corrected turns, after the root has been shifted to dx, and the momenta there."""

        def body(carry, each):
            work, largest, size = carry
            row, parent, kind = each
            last, above = C.read(work, row), w.read(work, parent)
            joint = du.read(work, parent) + cross(above, b1.read(work, row))
            right = t.read(work, row) - Y.read(work, row) @ joint
            if self.tree.balls:
                spin = X.read(work, row) @ right
                new = last + _cayley_change(last, spin)
            else:
                spin = above + K.read(work, row) @ (right - X.read(work, row) @ above)
                work, new = _correct_hinge(work, row, parent, kind, last, spin)
            at, db_ = self._displaced(
                work, row, parent, a.read(work, row), b.read(work, row), new, S.read(work, row), J.read(work, row)
            )
            work = _written(work, row, [(w, spin), (du, joint - cross(spin, a1.read(work, row)))])
            work = self._evaluated(work, row, at, db_)
            return Corrected(work, _largest(largest, new - last), _largest(size, new)), None

        start = Corrected(_ground(work, dx, shift), jnp.zeros(()), jnp.zeros(()))
        return jax.lax.scan(body, start, (*numbers(self.tree), kinds(self.tree)))[0]

    def factorise(self, work: Rows, kicks: Any) -> Rows:
        """Up: the Jacobian eliminated from the leaves to the root, and what `reduce` does."""

        def body(work, each):
            row, parent, kind, kick = each
            arm, arm1, out, out1 = a.read(work, row), a1.read(work, row), b.read(work, row), b1.read(work, row)
            G_, H_, Y_, X_ = (block.read(work, row) for block in (G, H, Y, X))
            H_ = H_ + times_hat(G_, arm1)
            X_ = X_ + times_hat(Y_, arm1) - hat_times(arm, H_)
            Y_ = Y_ - hat_times(arm, G_)
            if self.tree.balls:
                HK = H_ @ (X_ := inverse3(X_))
                passed = []
            else:
                K_ = freedom(kind, X_, n.read(work, row), n1.read(work, row))
                HK, XK, held = H_ @ K_, X_ @ K_, jnp.where(kind == BALL, 0.0, 1.0)
                H1, Y1, X1 = held * (H_ - HK @ X_), held * (Y_ - XK @ Y_), held * (X_ - XK @ X_)
                passed = [(H, H1), (Y, Y1), (X, X1 - times_hat(Y1, out1) + hat_times(out, H1))]
                work = K.write(work, row, K_)
            Z = G_ - HK @ Y_
            behind = times_hat(Z, out1)
            passed += [(G, Z), (H, -behind), (Y, hat_times(out, Z)), (X, -hat_times(out, behind))]
            work = _written(work, row, [(H, HK), (Y, Y_), (X, X_)])
            for block, value in passed:
                work = block.add(work, parent, value)
            return self._reduced(work, row, parent, kind, kick)[0], None

        return jax.lax.scan(body, work, (*numbers(self.tree), kinds(self.tree), kicks), reverse=True)[0]

    def reduce(self, work: Rows, kicks: Any) -> tuple[Rows, Float[Array, ""]]:
        """Up: the momenta through the joints, the right-hand sides, and the largest residual.

        `kicks` are moments on the bodies that are added to their momenta, if any.
        """

        def body(carry, each):
            work, largest = carry
            row, parent, kind, kick = each
            work, miss = self._reduced(work, row, parent, kind, kick)
            return (work, _largest(largest, miss)), None

        each = (*numbers(self.tree), kinds(self.tree), kicks)
        return jax.lax.scan(body, (work, jnp.zeros(())), each, reverse=True)[0]

    def shift(self, work: Rows, p: Any) -> tuple[Vector, Float[Array, ""]]:
        """The correction of the root's displacement, and the residual of L_0 = p."""
        if self.tree.pinned:
            return jnp.zeros(3), jnp.zeros(())
        miss = L.read(work, 0) - p
        return -(inverse3(G.read(work, 0)) @ (miss + zz.read(work, 0))), jnp.max(jnp.abs(miss))

    def land(self, work: Rows, kicks: Any, *, renormalise: bool) -> Landed:
        """Up: the attitudes and the momenta at the end, pi' = pi - u x P + sum_c db_c x L_c - da x L.

        This is the plus leg, less what the minus leg misses: it keeps the total angular momentum to round-off.
        """

        def body(carry, each):
            work, largest = carry
            row, parent, kind, kick = each
            turn, impulse, start = C.read(work, row), L.read(work, row), R.read(work, row)
            k = cayley_factor(turn)
            moved = start + jnp.stack([change(k, turn, column) for column in start.T], axis=1)
            if renormalise:
                change_ = 0.5 * moved @ (jnp.eye(3) - moved.T @ moved)
                moved, largest = moved + change_, _largest(largest, change_.reshape(-1))
            own = pi.read(work, row) - cross(u.read(work, row), P.read(work, row)) - cross(da.read(work, row), impulse)
            own = own if kick is None else own + kick
            given = cross(db.read(work, row), impulse)
            if not self.tree.balls:
                held = jnp.where(kind == BALL, 0.0, _moment(work, row, kick))
                own, given = own + held, given - held
            return (pi.add(work, parent, given), largest), (moved, own @ moved, turn * rate)

        each, rate = (*numbers(self.tree), kinds(self.tree), kicks), 1.0 / self.h
        (_, largest), ends = jax.lax.scan(body, (work, jnp.zeros(())), each, reverse=True)
        return Landed(*ends, largest)

    def _displaced(
        self, work: Rows, row: Any, parent: Any, own: Vector, other: Vector, turn: Vector, S_: Matrix, J_: Matrix
    ) -> tuple[Turned, Vector]:
        """The step of a body that turns by cay(turn), u = u_parent + db - da, and db."""
        da_, above = change(cayley_factor(turn), turn, own), C.read(work, parent)
        db_ = change(cayley_factor(above), above, other)
        D_ = None if self.tree.D is None else D.read(work, row)
        return Turned(S_, J_, D_, own, turn, da_, u.read(work, parent) + db_ - da_, 1.0 / self.h), db_

    def _evaluated(self, work: Rows, row: Any, at: Turned, db_: Vector) -> Rows:
        """The row with its momenta, and the sums over its children begun."""
        momenta, zero = self.rule.momenta(at), jnp.zeros(3)
        entries = [(C, at.C), (u, at.u), (da, at.da), (db, db_), (P, momenta.P), (L, momenta.P), (zz, zero), (bz, zero)]
        return _written(work, row, [*entries, (r, momenta.ell - pi.read(work, row))])

    def _reduced(self, work: Rows, row: Any, parent: Any, kind: Any, kick: Any) -> tuple[Rows, Vector]:
        arm, out, impulse, rest = a.read(work, row), b.read(work, row), L.read(work, row), zz.read(work, row)
        moment = _moment(work, row, kick)
        bent = bz.read(work, row) - cross(arm, rest)
        right = -moment - bent
        work = t.write(work, row, right)
        pushed = rest + H.read(work, row) @ right
        passed = [(L, impulse), (r, cross(out, impulse)), (zz, pushed), (bz, cross(out, pushed))]
        miss = moment
        if not self.tree.balls:
            held = jnp.where(kind == BALL, 0.0, 1.0)
            passed += [(r, held * moment), (bz, held * (bent + X.read(work, row) @ (K.read(work, row) @ right)))]
            axis = n.read(work, row)
            miss = jnp.where(kind == BALL, moment, jnp.where(kind == HINGE, jnp.dot(axis, moment) * axis, 0.0))
        for place, value in passed:
            work = place.add(work, parent, value)
        return work, miss


def turns(work: Rows) -> Float[Array, "N 3"]:
    """The Cayley vectors of all bodies."""
    return work[1:, C.start : C.start + 3]


def _written(work: Rows, row: Any, entries: list[tuple[Place, Any]]) -> Rows:
    for place, value in entries:
        work = place.write(work, row, value)
    return work


def _ground(work: Rows, dx: Vector, shift: Vector) -> Rows:
    """The ground displaced by dx, the last correction being `shift`, with nothing hanging on it yet."""
    return _written(work, 0, [(u, dx), (du, shift), *((place, jnp.zeros(3)) for place in (C, w, L, r, zz, bz))])


def _moment(work: Rows, row: Any, kick: Any) -> Vector:
    """The moment about the joint that is missing: what a hinge or a weld passes on."""
    moment = r.read(work, row) - cross(a.read(work, row), L.read(work, row))
    return moment if kick is None else moment - kick


def _largest(largest: Any, values: Any) -> Float[Array, ""]:
    return jnp.maximum(largest, jnp.max(jnp.abs(values)))


def _cayley_change(turn: Vector, spin: Vector) -> Vector:
    """The change of the Cayley vector when the end turns by a small rotation: (w - C x w + C (C.w))/2."""
    return 0.5 * (spin - cross(turn, spin) + jnp.dot(turn, spin) * turn)


def _begin_hinge(work: Rows, row: Any, parent: Any, kind: Any, axis: Vector, guess: Vector) -> tuple[Rows, Vector]:
    """A guess that the joint allows: a hinge turns by tan(angle/2) n = T from its parent, a weld by nothing."""
    above = C.read(work, parent)
    turned = jnp.where(kind == HINGE, jnp.dot(axis, composed(-above, guess)) * axis, jnp.zeros(3))
    held = composed(above, turned)
    work = _written(work, row, [(n, axis), (n1, axis + change(cayley_factor(above), above, axis)), (T, turned)])
    return work, jnp.where(kind == BALL, guess, held)


def _correct_hinge(work: Rows, row: Any, parent: Any, kind: Any, last: Vector, spin: Vector) -> tuple[Rows, Vector]:
    """The corrected turn that the joint allows; the angle's rate gives dT = (1 + |T|^2) n/2."""
    turned, above = T.read(work, row), C.read(work, parent)
    rate = jnp.dot(n1.read(work, row), spin - w.read(work, parent))
    turned = turned + 0.5 * (1.0 + jnp.dot(turned, turned)) * rate * n.read(work, row)
    turned = jnp.where(kind == HINGE, turned, jnp.zeros(3))
    new = jnp.where(kind == BALL, last + _cayley_change(last, spin), composed(above, turned))
    return T.write(work, row, turned), new
