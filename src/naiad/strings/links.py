"""A chain of nodes whose elements are links: each has one number of its own, a multiplier, and one equation more.

Node j has x_j in R^3, the link before it y_j; one number v, the border, may be coupled to all of them. Eliminated from
the start,

    x_j = z_j - G_j x_{j+1} - k_j y_{j+1} - p_j v,     y_j = e_j - f_j . x_{j+1} - m_j y_{j+1} - n_j v,

so that at the end there remain D x + u y + c v = b, w . x + sigma y + gamma v = beta (`Last`) and a . x + alpha y +
tau v = rho (`Border`), to which the end adds its own. The blocks of a node with its link have D definite, and sigma - w
. D^-1 u does not vanish.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from naiad.numerics import inverse3, outer
from naiad.strings.elimination import Last


class LinkPiece(NamedTuple):
    """What an element adds to the equations of its nodes, of the border and of its link: residual and Jacobian (near,
    far, v, y)."""

    residual: Float[Array, "8"]
    jacobian: Float[Array, "8 8"]


class Border(NamedTuple):
    """What is left of the border at the end: its part c and gamma of the other equations, and its own."""

    c: Float[Array, "3"]
    gamma: Any
    a: Float[Array, "3"]
    alpha: Any
    tau: Any
    rho: Any


class LastLink(NamedTuple):
    """What is left at the last node and its link, and of the border if there is one."""

    own: Last
    border: Border | None

    def equations(self, dim: int) -> tuple[Float[Array, "n n"], Float[Array, " n"]]:
        """Matrix and right-hand side for the unknowns (x, y, v, ...), `dim` in all; zeros elsewhere."""
        matrix, right = self.own.equations(dim)
        if self.border is None:
            return matrix, right
        c, gamma, a, alpha, tau, rho = self.border
        matrix = matrix.at[:3, 4].set(c).at[3, 4].set(gamma)
        return matrix.at[4, :3].set(a).at[4, 3].set(alpha).at[4, 4].set(tau), right.at[4].set(rho)


class LinkFactors(NamedTuple):
    """z, G, k, p and e, f, m, n of the node before each element and of the link before that."""

    z: Float[Array, "N 3"]
    G: Float[Array, "N 3 3"]
    k: Float[Array, "N 3"]
    e: Float[Array, " N"]
    f: Float[Array, "N 3"]
    m: Float[Array, " N"]
    p: Any
    n: Any


def eliminate_links(
    pieces: Callable[[Any, Any, Any], LinkPiece], begin: Any, each: Any, *, border: bool
) -> tuple[LinkFactors, LastLink]:
    """The sweep from the start to the end, as `eliminate`."""

    def element(carry, one):
        near, (last, edge) = carry
        index, far = one
        r, J = pieces(index, near, far)
        inner = jnp.where(index > 0, 1.0, 0.0)  # the start does not move
        P = inverse3(last.D + J[:3, :3])
        Pu, wP = P @ last.u, last.w @ P
        share = 1.0 / (last.sigma - jnp.dot(last.w, Pu))
        Q, right = P + outer(Pu, wP) * share, last.b - r[:3]
        z = inner * (Q @ right - Pu * (last.beta * share))
        G, k = inner * (Q @ J[:3, 3:6]), inner * (Q @ J[:3, 7])
        e = (last.beta - jnp.dot(wP, right)) * share
        f, m = -(wP @ J[:3, 3:6]) * share, -jnp.dot(wP, J[:3, 7]) * share
        back, link = J[3:6, :3], J[7, :3]
        after = Last(
            J[3:6, 3:6] - back @ G,
            -r[3:6] - back @ z,
            J[3:6, 7] - back @ k,
            J[7, 3:6] - link @ G,
            J[7, 7] - jnp.dot(link, k),
            -r[7] - jnp.dot(link, z),
        )
        if edge is None:
            return (far, LastLink(after, None)), LinkFactors(z, G, k, e, f, m, None, None)
        column, row = edge.c + J[:3, 6], edge.a + J[6, :3]
        p = inner * (Q @ column - Pu * (edge.gamma * share))
        n = (edge.gamma - jnp.dot(wP, column)) * share
        edge = Border(
            J[3:6, 6] - back @ p,
            J[7, 6] - jnp.dot(link, p),
            J[6, 3:6] - row @ G - edge.alpha * f,
            J[6, 7] - jnp.dot(row, k) - edge.alpha * m,
            edge.tau + J[6, 6] - jnp.dot(row, p) - edge.alpha * n,
            edge.rho - r[6] - jnp.dot(row, z) - edge.alpha * e,
        )
        return (far, LastLink(after, edge)), LinkFactors(z, G, k, e, f, m, p, n)

    zero, none = jnp.zeros(()), jnp.zeros(3)
    edge = Border(none, zero, none, zero, zero, zero) if border else None
    first = LastLink(Last(jnp.eye(3), none, none, none, jnp.ones(()), zero), edge)
    (_, last), factors = jax.lax.scan(element, (begin, first), each)
    return factors, last


def substitute_links(
    factors: LinkFactors, x: Float[Array, "3"], y: Float[Array, ""], v: Any
) -> tuple[Float[Array, "N 3"], Float[Array, " N"]]:
    """The sweep back: the solution at all nodes and links, given that at the end and of the border."""

    def element(carry, each):
        x, y = carry
        z, G, k, e, f, m, p, n = each
        near, link = z - G @ x - k * y, e - jnp.dot(f, x) - m * y
        return (near, link) if p is None else (near - p * v, link - n * v), (x, y)

    return jax.lax.scan(element, (x, y), factors, reverse=True)[1]
