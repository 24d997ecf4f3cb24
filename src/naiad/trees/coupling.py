"""What the coupling of turn and motion adds to the discrete Lagrangian of one body, all vectors in space.

L_c = (2/h) sum_k weight_k C . D_k u, where 2 C stands for the angle of the turn and D_k = R_k D R_k^T is taken in
frames R_k: that of the start, of the end, or of half the turn. With B = I + hat(C) + C C^T a small turn w of the end
changes C by B^T w/2, one of the start by -B w/2.
"""

from typing import NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Float

from naiad.numerics import cross, hat, hat_times, outer, times_hat

Vector = Float[Array, "3"]
Matrix = Float[Array, "3 3"]


class Frame(NamedTuple):
    """Where a coupling is taken: D there; how much of it; by how much, `ahead` w, the frame turns with a small turn w
    of the end, and the transpose `back` of that for the start; and `bend` w, the change of the vector s where `back` is
    (I - hat(s))/2."""

    D: Matrix
    weight: float
    back: Matrix
    ahead: Matrix
    bend: Matrix


def coupling_momenta(C: Vector, u: Vector, rate: Float[Array, ""], frames: list[Frame]) -> tuple[Vector, Vector]:
    """What is added to P and ell: (2/h) D C, and (1/h) B^T D u + (2/h) back (C x D u + u x D C)."""
    P, ell = jnp.zeros(3), jnp.zeros(3)
    for frame in frames:
        share = frame.weight * rate
        q, DC = frame.D @ u, frame.D @ C
        P = P + 2.0 * share * DC
        ell = ell + share * (q - cross(C, q) + jnp.dot(C, q) * C)
        ell = ell + 2.0 * share * (frame.back @ (cross(C, q) + cross(u, DC)))
    return P, ell


def coupling_blocks(C: Vector, u: Vector, rate: Float[Array, ""], frames: list[Frame]) -> tuple[Matrix, Matrix, Matrix]:
    """What is added to H, Y and X: the derivatives of `coupling_momenta`; G has no share."""
    eye = jnp.eye(3)
    turned = eye - hat(C) + outer(C, C)  # B^T
    H, Y, X = jnp.zeros((3, 3)), jnp.zeros((3, 3)), jnp.zeros((3, 3))
    for D, weight, back, ahead, bend in frames:
        share = weight * rate
        q, DC = D @ u, D @ C
        dq = (times_hat(D, u) - hat(q)) @ ahead
        dDC = 0.5 * D @ turned + (times_hat(D, C) - hat(DC)) @ ahead
        H = H + 2.0 * share * dDC
        Y = Y + share * (turned @ D + 2.0 * back @ (hat_times(C, D) - hat(DC)))
        bent = 0.5 * (hat(q) + jnp.dot(C, q) * eye + outer(C, q)) @ turned
        moved = hat_times(C, dq) - 0.5 * hat(q) @ turned + hat_times(u, dDC)
        y = cross(C, q) + cross(u, DC)
        X = X + share * (turned @ dq + bent + 2.0 * back @ moved + hat_times(y, bend))
    return H, Y, X
