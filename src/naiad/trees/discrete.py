"""Discrete Lagrangians of trees of bodies: velocities replaced by differences of the ambient matrices."""

from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from naiad.mechanics import Scalar
from naiad.numerics import hat
from naiad.retractions import AbstractRetraction
from naiad.trees.tree import Tree

SCHEMES = {"lgvi": 1, "trapezoid": 2, "midpoint": 2}
"""The discrete Lagrangians by name, with their orders."""


def kinetic_action(
    tree: Tree, scheme: str, g: Any, xi: Float[Array, " n"], h: Scalar, tau: AbstractRetraction
) -> Float[Array, ""]:
    """The kinetic part of L_d, with u_i the displacements of the centres and F = tau(h xi):

    - `midpoint`: (1/h) sum_i (u_i . S_i u_i / 2 + tr((I - F_i) Jd_i)), S = R M R^T half-way, Jd = tr(J)/2 I - J;
    - `lgvi`: the same with S_i at the left node; the square of the part of u_i that is the turn da_i of the body's own
      arm a_i, da_i . S_i da_i / 2, goes into J_i - hat(a_i) M_i hat(a_i) instead [lee2009, eq. (30)];
    - `trapezoid`: the mean of `lgvi` and its adjoint, which has S_i at the right node.

    Differences are formed from the increment F - I, without cancellation.
    """
    group = tree.group
    change = group_change(g, tau.increment(group, h * xi))
    _, u = jax.jvp(tree.centres, (g,), (change,))  # the centres are affine in g
    turn = tau.increment(group, h * xi).R
    if scheme == "midpoint":
        half = tau.increment(group, tau.half(group, h * xi))
        return (_form(tree, g.R + g.R @ half.R, u) + _turning(turn, tree.J)) / h
    arms = jnp.einsum("nij,nj->ni", change.R, tree.own)
    moving = _form(tree, g.R, u) - _form(tree, g.R, arms)
    if scheme == "trapezoid":
        end = g.R + change.R
        moving = 0.5 * (moving + _form(tree, end, u) - _form(tree, end, arms))
    skew = jax.vmap(hat)(jnp.asarray(tree.own))
    return (moving + _turning(turn, tree.J - skew @ tree.M @ skew)) / h


def group_change(g: Any, increment: Any) -> Any:
    """g (e + increment) - g in the ambient space."""
    return g._replace(R=g.R @ increment.R, **({"x": increment.x} if "x" in g._fields else {}))


def _form(tree: Tree, R: Float[Array, "N 3 3"], u: Float[Array, "N 3"]) -> Float[Array, ""]:
    """sum_i u_i . R_i M_i R_i^T u_i / 2."""
    V = jnp.einsum("nji,nj->ni", R, u)
    return 0.5 * jnp.einsum("ni,nij,nj->", V, tree.M, V)


def _turning(increment: Float[Array, "N 3 3"], J: Any) -> Float[Array, ""]:
    """sum_i tr((I - F_i) Jd_i), from F - I."""
    half = 0.5 * jnp.trace(J, axis1=1, axis2=2)[:, None, None] * jnp.eye(3) - J
    return -jnp.sum(increment * jnp.swapaxes(half, 1, 2))
