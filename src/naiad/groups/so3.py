"""Rotations of space."""

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from naiad.groups.group import AbstractGroup, Names
from naiad.numerics.series import rotation_angle_ratio, stumpff
from naiad.numerics.vectors import cross, hat, vee

Rotation = Float[Array, "3 3"]
Vector = Float[Array, "3"]


RESOLVED = 4.0 * np.finfo(float).eps
"""|R^T R - I| from which on it is corrected. Less is below half a unit in the last place of the larger entries of R: it
would be taken from the smaller ones alone, which turns R a little, every time the same way along an orbit."""


class SO3(AbstractGroup):
    """SO(3); an element is the rotation matrix R, body to space, and Omega is the angular velocity in the body."""

    @property
    def dim(self) -> int:
        return 3

    @property
    def names(self) -> Names:
        return Names(("R",), ("Omega",), ("Pi",))

    def identity(self) -> Rotation:
        return jnp.eye(3)

    def compose(self, g: Rotation, f: Rotation) -> Rotation:
        return jnp.matmul(g, f)

    def inverse(self, g: Rotation) -> Rotation:
        return jnp.transpose(g)

    def hat(self, x: Vector) -> Float[Array, "3 3"]:
        return hat(x)

    def vee(self, X: Float[Array, "3 3"]) -> Vector:
        return vee(X)

    def Ad(self, g: Rotation, x: Vector) -> Vector:
        return jnp.matmul(g, x)

    def ad(self, x: Vector, y: Vector) -> Vector:
        return cross(x, y)

    def expm1(self, x: Vector) -> Float[Array, "3 3"]:
        """exp(x) - I = (sin t / t) hat(x) + ((1 - cos t) / t^2) hat(x)^2, t = |x| [bourabee2007, section 5.5]."""
        u, X = jnp.dot(x, x), hat(x)
        return stumpff(1, u) * X + stumpff(2, u) * (X @ X)

    def advance(self, g: Rotation, d: Float[Array, "3 3"]) -> Rotation:
        return g + g @ d

    def Ad_change(self, d: Float[Array, "3 3"], x: Vector) -> Vector:
        return jnp.matmul(d, x)

    def tangent(self, g: Rotation, x: Vector) -> Float[Array, "3 3"]:
        return g @ hat(x)

    def log(self, g: Rotation) -> Vector:
        """The vector x with exp(x) = R and |x| <= pi, accurate up to pi itself, from the quaternion of R."""
        q = quaternion(g)
        return rotation_angle_ratio(q[0], jnp.dot(q[1:], q[1:])) * q[1:]

    def act(self, g: Rotation, v: Vector) -> Vector:
        return jnp.matmul(g, v)

    def split(self, x: Vector) -> tuple[Vector]:
        return (jnp.asarray(x),)

    def error(self, g: Rotation) -> Float[Array, ""]:
        defect = jnp.transpose(g) @ g - jnp.eye(3)
        return jnp.sqrt(jnp.sum(defect**2))

    def spin(self, x: Vector) -> Float[Array, ""]:
        return jnp.sqrt(jnp.dot(x, x))

    def versine(self, g: Rotation, f: Rotation) -> Float[Array, ""]:
        return 0.5 * (3.0 - jnp.sum(g * f))

    def rotations(self, g: Rotation) -> tuple[Rotation]:
        return (g,)

    def renormalise(self, g: Rotation) -> Rotation:
        defect = jnp.eye(3) - jnp.transpose(g) @ g
        share = jnp.where(jnp.sum(defect**2) > RESOLVED**2, 0.5, 0.0)
        return g + share * (g @ defect)

    def random(self, rng: np.random.Generator) -> np.ndarray:
        w, *v = (q := rng.standard_normal(4)) / np.sqrt(q @ q)
        V = np.array([[0.0, -v[2], v[1]], [v[2], 0.0, -v[0]], [-v[1], v[0], 0.0]])
        return np.eye(3) + 2.0 * w * V + 2.0 * V @ V


def quaternion(R: Rotation) -> Float[Array, "4"]:
    """The unit quaternion q = (w, x, y, z) of R with w >= 0.

    The matrix 4 q q^T is linear in R; its largest column is the one that determines q without cancellation.
    """
    trace, v = R[0, 0] + R[1, 1] + R[2, 2], 2.0 * vee(R)
    corner = R + jnp.transpose(R) + (1.0 - trace) * jnp.eye(3)
    first = jnp.concatenate([jnp.reshape(1.0 + trace, (1,)), v])
    Q = jnp.concatenate([first[None], jnp.concatenate([v[:, None], corner], axis=1)])
    largest = jnp.arange(4) == jnp.argmax(jnp.sum(Q * jnp.eye(4), axis=0))
    column = jnp.sum(jnp.where(largest, Q, 0.0), axis=1)
    q = column / jnp.sqrt(jnp.dot(column, column))
    return jnp.where(q[0] < 0.0, -q, q)
