"""Unit quaternions."""

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from naiad.groups.group import AbstractGroup, Names
from naiad.numerics.series import rotation_angle_ratio, stumpff
from naiad.numerics.vectors import cross

Quaternion = Float[Array, "4"]
Vector = Float[Array, "3"]


class S3(AbstractGroup):
    """S^3, the double cover of SO(3); an element is (w, x, y, z).

    hat(Omega) = (0, Omega/2), so that Omega is the body angular velocity and the bracket the cross product.
    """

    @property
    def dim(self) -> int:
        return 3

    @property
    def names(self) -> Names:
        return Names(("q",), ("Omega",), ("Pi",))

    def identity(self) -> Quaternion:
        return jnp.array([1.0, 0.0, 0.0, 0.0])

    def compose(self, g: Quaternion, f: Quaternion) -> Quaternion:
        """Hamilton's product (a, u)(b, v) = (a b - u.v, a v + b u + u cross v)."""
        a, u, b, v = g[0], g[1:], f[0], f[1:]
        return jnp.concatenate([(a * b - jnp.dot(u, v))[None], a * v + b * u + cross(u, v)])

    def inverse(self, g: Quaternion) -> Quaternion:
        return g * np.array([1.0, -1.0, -1.0, -1.0])

    def hat(self, x: Vector) -> Quaternion:
        return jnp.concatenate([jnp.zeros(1), 0.5 * x])

    def vee(self, X: Quaternion) -> Vector:
        return 2.0 * X[1:]

    def Ad(self, g: Quaternion, x: Vector) -> Vector:
        """Ad_q x = R(q) x, the vector part of q (0, x) q^-1."""
        t = 2.0 * cross(g[1:], x)
        return x + g[0] * t + cross(g[1:], t)

    def ad(self, x: Vector, y: Vector) -> Vector:
        return cross(x, y)

    def expm1(self, x: Vector) -> Quaternion:
        """exp(x) = (cos(t/2), sin(t/2) x/t), t = |x|."""
        u = 0.25 * jnp.dot(x, x)
        return jnp.concatenate([(-u * stumpff(2, u))[None], 0.5 * stumpff(1, u) * x])

    def advance(self, g: Quaternion, d: Quaternion) -> Quaternion:
        return g + self.compose(g, d)

    def Ad_change(self, d: Quaternion, x: Vector) -> Vector:
        t = 2.0 * cross(d[1:], x)
        return (1.0 + d[0]) * t + cross(d[1:], t)

    def tangent(self, g: Quaternion, x: Vector) -> Quaternion:
        return self.compose(g, self.hat(x))

    def log(self, g: Quaternion) -> Vector:
        """The vector x with exp(x) = q and |x| < 2 pi."""
        return rotation_angle_ratio(g[0], jnp.dot(g[1:], g[1:])) * g[1:]

    def act(self, g: Quaternion, v: Vector) -> Vector:
        return self.Ad(g, v)

    def split(self, x: Vector) -> tuple[Vector]:
        return (jnp.asarray(x),)

    def error(self, g: Quaternion) -> Float[Array, ""]:
        return jnp.abs(jnp.sqrt(jnp.dot(g, g)) - 1.0)

    def spin(self, x: Vector) -> Float[Array, ""]:
        return jnp.sqrt(jnp.dot(x, x))

    def versine(self, g: Quaternion, f: Quaternion) -> Float[Array, ""]:
        return 2.0 - 2.0 * jnp.dot(g, f) ** 2

    def renormalise(self, g: Quaternion) -> Quaternion:
        return 0.5 * (3.0 - jnp.dot(g, g)) * g

    def random(self, rng: np.random.Generator) -> np.ndarray:
        q = rng.standard_normal(4)
        return q / np.sqrt(q @ q)
