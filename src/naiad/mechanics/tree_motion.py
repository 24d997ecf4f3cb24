"""The motion of a tree of bodies that belongs to a momentum, in O(N): a sweep up to the root and one down.

In space, with w the angular velocity of a body and B the velocity of its own joint, a subtree answers as

    L = G B + H w + lin,      rho = Y B + X w + tau,

L the momentum through the joint and rho the moment of momentum about it that the joint would have to pass. A ball joint
passes none, a hinge none about its axis: w = w_parent + (what it lets free), which is eliminated.
"""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from naiad.mechanics.tree import Tree
from naiad.numerics import cross, hat_times, inverse3, outer, times_hat
from naiad.numerics.arguments import checked_throughout
from naiad.numerics.rows import places

(a, b, n, w, v, lin, tau, R, G, H, Y, X, K), WIDTH = places(vectors="a b n w v lin tau", matrices="R G H Y X K")

KINDS = {"free": 0, "pinned": 0, "ball": 0, "hinge": 1, "weld": 2}


class Motion(NamedTuple):
    """Velocities, and the moments of momentum that hinges and welds pass on, in space (zeros for ball joints)."""

    xi: Float[Array, " n"]
    passed: Float[Array, "N 3"]


def numbers(tree: Tree) -> tuple[Array, Array]:
    """The rows of the bodies and of their parents, below row 0: the ground."""
    rows = jnp.arange(1, tree.count + 1)
    return rows, rows - 1 if tree.chain else jnp.asarray(tree.parents) + 1


def kinds(tree: Tree) -> Array:
    """Which joints are balls, hinges and welds: 0, 1, 2."""
    return jnp.asarray([KINDS[kind] for kind in tree.joints])


def freedom(kind: Any, X: Float[Array, "3 3"], n: Float[Array, "3"], n1: Float[Array, "3"]) -> Float[Array, "3 3"]:
    """K with w = w_parent - K (rho at w_parent): X^-1 for a ball joint, n' n^T / (n . X n') for a hinge, zero for a
    weld."""
    along = jnp.dot(n, X @ n1)
    hinge = outer(n1, n) / jnp.where(kind == 1, along, 1.0)
    return jnp.where(kind == 0, inverse3(X), jnp.where(kind == 1, hinge, 0.0))


@checked_throughout
def motion(tree: Tree, g: Any, mu: Float[Array, " n"]) -> Motion:
    """The velocity with the momentum mu along what the joints let free."""
    count, size = tree.count, 3 * tree.count
    Pi = jnp.reshape(mu[:size], (count, 3))
    work = R.write(jnp.zeros((count + 1, WIDTH)), 0, jnp.eye(3))

    def begin(work, each):
        row, parent, R_, Pi_, J, M, own, other, axis = each
        S, spin = R_ @ M @ R_.T, R_ @ J @ R_.T
        entries = [(R, R_), (a, R_ @ own), (b, R.read(work, parent) @ other), (tau, -(R_ @ Pi_)), (G, S), (X, spin)]
        for place, value in [*entries, (n, R_ @ axis)]:
            work = place.write(work, row, value)
        return work, None

    bodies = (jnp.asarray(g.R), Pi, tree.J, tree.M, tree.own, tree.other, tree.axis)
    work, _ = jax.lax.scan(begin, work, (*numbers(tree), *map(jnp.asarray, bodies)))

    def up(work, each):
        row, parent, kind = each
        own, out = a.read(work, row), b.read(work, row)
        G_, H_, Y_, X_ = (place.read(work, row) for place in (G, H, Y, X))
        H_ = H_ + times_hat(G_, own)
        X_ = X_ + times_hat(Y_, own) - hat_times(own, H_)
        Y_ = Y_ - hat_times(own, G_)
        l_ = lin.read(work, row)
        tau_ = tau.read(work, row) - cross(own, l_)
        axis = n.read(work, row)
        K_ = inverse3(X_) if tree.balls else freedom(kind, X_, axis, axis)
        HK = H_ @ K_
        for place, value in ((Y, Y_), (X, X_), (K, K_), (tau, tau_)):
            work = place.write(work, row, value)
        G_, l_ = G_ - HK @ Y_, l_ - HK @ tau_
        behind = times_hat(G_, out)
        passed = [(G, G_), (H, -behind), (Y, hat_times(out, G_)), (X, -hat_times(out, behind))]
        passed += [(lin, l_), (tau, cross(out, l_))]
        if not tree.balls:
            held = jnp.where(kind == 0, 0.0, 1.0)
            H_, XK = held * (H_ - HK @ X_), X_ @ K_
            Y_, X_ = held * (Y_ - XK @ Y_), held * (X_ - XK @ X_)
            tau_ = held * (tau_ - XK @ tau_)
            passed += [(H, H_), (Y, Y_), (X, X_ - times_hat(Y_, out) + hat_times(out, H_)), (tau, tau_)]
        for place, value in passed:
            work = place.add(work, parent, value)
        return work, None

    work, _ = jax.lax.scan(up, work, (*numbers(tree), kinds(tree)), reverse=True)
    rate = jnp.zeros(3) if tree.pinned else inverse3(G.read(work, 0)) @ (mu[size:] - lin.read(work, 0))
    work = v.write(work, 0, rate)

    def down(work, each):
        row, parent, kind = each
        above = w.read(work, parent)
        joint = v.read(work, parent) + cross(above, b.read(work, row))
        moment = tau.read(work, row) + Y.read(work, row) @ joint
        if tree.balls:
            spin, passed = -(K.read(work, row) @ moment), jnp.zeros(3)
        else:
            X_ = X.read(work, row)
            spin = above - K.read(work, row) @ (moment + X_ @ above)
            passed = jnp.where(kind == 0, 0.0, moment + X_ @ spin)
        work = w.write(work, row, spin)
        work = v.write(work, row, joint - cross(spin, a.read(work, row)))
        return work, (spin @ R.read(work, row), passed)

    _, (Omega, passed) = jax.lax.scan(down, work, (*numbers(tree), kinds(tree)))
    return Motion(jnp.concatenate([Omega.reshape(-1)] if tree.pinned else [Omega.reshape(-1), rate]), passed)
