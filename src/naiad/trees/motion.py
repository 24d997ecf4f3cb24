"""The motion of a tree of bodies that belongs to a momentum, in O(N): a sweep up to the root and one down.

With Omega the angular velocity of a body in its own frame and B the velocity of its own joint in space, a subtree
answers as

    L = G B + H Omega + lin,      rho = H^T B + X Omega + tau,

L the momentum through the joint, in space, and rho the moment of momentum about it that the joint would have to pass,
in the body's frame. A ball joint passes none, a hinge none about its axis: Omega = Q^T Omega_parent + (what it lets
free), Q = R_parent^T R, which is eliminated. The velocity of the centre is B + A Omega with A = R hat(own), that of a
child's joint v - D Omega with D = R hat(other): nothing is asked of R, so that for ball joints the velocity inverts
d T/d xi exactly where round-off or a Runge-Kutta method has taken R off SO(3).
"""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from naiad.numerics import inverse3, outer, times_hat
from naiad.numerics.arguments import checked_throughout
from naiad.numerics.rows import places
from naiad.trees.tree import Tree

(spin, v, lin, tau, R, A, D, G, H, X, K), WIDTH = places(vectors="spin v lin tau", matrices="R A D G H X K")

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
        row, parent, R_, Pi_, J, M, coupling, own, other = each
        entries = [(R, R_), (A, times_hat(R_, own)), (D, times_hat(R.read(work, parent), other))]
        entries += [] if coupling is None else [(H, R_ @ coupling)]
        for place, value in [*entries, (G, R_ @ M @ R_.T), (X, J), (tau, -Pi_)]:
            work = place.write(work, row, value)
        return work, None

    bodies = jax.tree.map(jnp.asarray, (g.R, Pi, tree.J, tree.M, tree.D, tree.own, tree.other))
    work, _ = jax.lax.scan(begin, work, (*numbers(tree), *bodies))

    def up(work, each):
        row, parent, kind, axis = each
        A_, D_, G_, H_, X_ = (place.read(work, row) for place in (A, D, G, H, X))
        X_ = X_ + H_.T @ A_
        H_ = H_ + G_ @ A_
        X_ = _symmetric(X_ + A_.T @ H_)
        l_ = lin.read(work, row)
        tau_ = tau.read(work, row) + l_ @ A_
        K_ = inverse3(X_) if tree.balls else freedom(kind, X_, axis, axis)
        for place, value in ((H, H_), (X, X_), (K, K_), (tau, tau_)):
            work = place.write(work, row, value)
        HK = H_ @ K_
        G_, l_ = _symmetric(G_ - HK @ H_.T), l_ - HK @ tau_
        behind = G_ @ D_
        passed = [(G, G_), (H, -behind), (X, D_.T @ behind), (lin, l_), (tau, -(l_ @ D_))]
        if not tree.balls:
            Q = _relative(work, row, parent)
            held = jnp.where(kind == 0, 0.0, Q)
            turned = (H_ - HK @ X_) @ held.T
            cut = D_.T @ turned
            stiff = held @ (X_ - X_ @ K_ @ X_) @ held.T
            passed += [(H, turned), (X, stiff - cut - cut.T), (tau, held @ (tau_ - X_ @ (K_ @ tau_)))]
        for place, value in passed:
            work = place.add(work, parent, value)
        return work, None

    work, _ = jax.lax.scan(up, work, (*numbers(tree), kinds(tree), jnp.asarray(tree.axis)), reverse=True)
    rate = jnp.zeros(3) if tree.pinned else inverse3(G.read(work, 0)) @ (mu[size:] - lin.read(work, 0))
    work = v.write(work, 0, rate)

    def down(work, each):
        row, parent, kind = each
        joint = v.read(work, parent) - D.read(work, row) @ spin.read(work, parent)
        moment = tau.read(work, row) + joint @ H.read(work, row)
        if tree.balls:
            Omega, passed = -(K.read(work, row) @ moment), jnp.zeros(3)
        else:
            X_, above = X.read(work, row), spin.read(work, parent) @ _relative(work, row, parent)
            Omega = jnp.where(kind == 0, 0.0, above)
            Omega = Omega - K.read(work, row) @ (moment + X_ @ Omega)
            passed = jnp.where(kind == 0, 0.0, R.read(work, row) @ (moment + X_ @ Omega))
        work = spin.write(work, row, Omega)
        work = v.write(work, row, joint + A.read(work, row) @ Omega)
        return work, (Omega, passed)

    _, (Omega, passed) = jax.lax.scan(down, work, (*numbers(tree), kinds(tree)))
    return Motion(jnp.concatenate([Omega.reshape(-1)] if tree.pinned else [Omega.reshape(-1), rate]), passed)


def _symmetric(S: Float[Array, "3 3"]) -> Float[Array, "3 3"]:
    """Without its skew part, which is rounding: H^T in place of a row of its own would make it grow along a chain."""
    return 0.5 * (S + S.T)


def _relative(work: Any, row: Any, parent: Any) -> Float[Array, "3 3"]:
    """R_parent^T R."""
    return R.read(work, parent).T @ R.read(work, row)
