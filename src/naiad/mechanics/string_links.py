"""A chain of nodes whose elements are links: each has one number of its own, a multiplier, and one equation more.

Node j has x_j in R^3, the link before it y_j. Eliminated from the start,

    x_j = z_j - G_j x_{j+1} - k_j y_{j+1},     y_j = e_j - f_j . x_{j+1} - m_j y_{j+1},

so that at the end there remain D x + u y = b and w . x + sigma y = beta (`Last`), to which the end adds its own. The
blocks of a node with its link have D definite, and sigma - w . D^-1 u does not vanish.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from naiad.mechanics.string_elimination import Last, Piece
from naiad.numerics import inverse3, outer


class LinkFactors(NamedTuple):
    """z, G, k and e, f, m of the node before each element and of the link before that."""

    z: Float[Array, "N 3"]
    G: Float[Array, "N 3 3"]
    k: Float[Array, "N 3"]
    e: Float[Array, " N"]
    f: Float[Array, "N 3"]
    m: Float[Array, " N"]


def eliminate_links(pieces: Callable[[Any, Any, Any], Piece], begin: Any, each: Any) -> tuple[LinkFactors, Last]:
    """The sweep from the start to the end, as `eliminate`; the seventh of the equations of a piece is its link's."""

    def element(carry, one):
        near, last = carry
        index, far = one
        r, J = pieces(index, near, far)
        inner = jnp.where(index > 0, 1.0, 0.0)  # the start does not move
        P = inverse3(last.D + J[:3, :3])
        Pu, wP = P @ last.u, last.w @ P
        rest = last.sigma - jnp.dot(last.w, Pu)
        Q, right = P + outer(Pu, wP) / rest, last.b - r[:3]
        z = inner * (Q @ right - Pu * (last.beta / rest))
        G, k = inner * (Q @ J[:3, 3:6]), inner * (Q @ J[:3, 6])
        e = (last.beta - jnp.dot(wP, right)) / rest
        f, m = -(wP @ J[:3, 3:6]) / rest, -jnp.dot(wP, J[:3, 6]) / rest
        back, link = J[3:6, :3], J[6, :3]
        after = Last(
            J[3:6, 3:6] - back @ G,
            -r[3:6] - back @ z,
            J[3:6, 6] - back @ k,
            J[6, 3:6] - link @ G,
            J[6, 6] - jnp.dot(link, k),
            -r[6] - jnp.dot(link, z),
        )
        return (far, after), LinkFactors(z, G, k, e, f, m)

    zero, none = jnp.zeros(()), jnp.zeros(3)
    first = Last(jnp.eye(3), none, none, none, jnp.ones(()), zero)
    (_, last), factors = jax.lax.scan(element, (begin, first), each)
    return factors, last


def substitute_links(
    factors: LinkFactors, x: Float[Array, "3"], y: Float[Array, ""]
) -> tuple[Float[Array, "N 3"], Float[Array, " N"]]:
    """The sweep back: the solution at all nodes and links, given that at the end."""

    def element(carry, each):
        x, y = carry
        z, G, k, e, f, m = each
        return (z - G @ x - k * y, e - jnp.dot(f, x) - m * y), (x, y)

    return jax.lax.scan(element, (x, y), factors, reverse=True)[1]
