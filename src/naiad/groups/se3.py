"""Rigid motions of space."""

from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from naiad.groups.group import AbstractGroup, Names
from naiad.groups.so3 import SO3
from naiad.numerics.series import dexp_inv_coefficient, stumpff
from naiad.numerics.vectors import cross, hat, vee

Twist = Float[Array, "6"]


class Pose(NamedTuple):
    """An element of SE(3): the rotation R, body to space, and the position x in space."""

    R: Float[Array, "3 3"]
    x: Float[Array, "3"]


class SE3(AbstractGroup):
    """SE(3), acting on points by p -> R p + x; the algebra is xi = (Omega, v), both in the body frame."""

    @property
    def dim(self) -> int:
        return 6

    @property
    def names(self) -> Names:
        return Names(("R", "x"), ("Omega", "v"), ("Pi", "p"))

    def identity(self) -> Pose:
        return Pose(jnp.eye(3), jnp.zeros(3))

    def compose(self, g: Pose, f: Pose) -> Pose:
        return Pose(jnp.matmul(g.R, f.R), self.act(g, f.x))

    def inverse(self, g: Pose) -> Pose:
        return Pose(jnp.transpose(g.R), -jnp.matmul(g.x, g.R))

    def hat(self, x: Twist) -> Float[Array, "4 4"]:
        Omega, v = self.split(x)
        return jnp.concatenate([jnp.concatenate([hat(Omega), v[:, None]], axis=1), jnp.zeros((1, 4))])

    def vee(self, X: Float[Array, "4 4"]) -> Twist:
        return jnp.concatenate([vee(X[:3, :3]), X[:3, 3]])

    def Ad(self, g: Pose, x: Twist) -> Twist:
        """Ad_(R,x) (Omega, v) = (R Omega, R v + x cross R Omega)."""
        Omega, v = self.split(x)
        turned = jnp.matmul(g.R, Omega)
        return jnp.concatenate([turned, jnp.matmul(g.R, v) + cross(g.x, turned)])

    def ad(self, x: Twist, y: Twist) -> Twist:
        """[(Omega, v), (y, z)] = (Omega cross y, Omega cross z + v cross y)."""
        (Omega, v), (y, z) = self.split(x), self.split(y)
        return jnp.concatenate([cross(Omega, y), cross(Omega, z) + cross(v, y)])

    def expm1(self, x: Twist) -> Pose:
        """R = exp(Omega), x = v + c_2 Omega x v + c_3 Omega x (Omega x v), c_k the Stumpff functions of |Omega|^2."""
        Omega, v = self.split(x)
        u, turned = jnp.dot(Omega, Omega), cross(Omega, v)
        return Pose(SO3().expm1(Omega), v + stumpff(2, u) * turned + stumpff(3, u) * cross(Omega, turned))

    def advance(self, g: Pose, d: Pose) -> Pose:
        return Pose(g.R + g.R @ d.R, g.x + g.R @ d.x)

    def Ad_change(self, d: Pose, x: Twist) -> Twist:
        Omega, v = self.split(x)
        turned = d.R @ Omega
        return jnp.concatenate([turned, d.R @ v + cross(d.x, Omega + turned)])

    def tangent(self, g: Pose, x: Twist) -> Pose:
        Omega, v = self.split(x)
        return Pose(g.R @ hat(Omega), g.R @ v)

    def log(self, g: Pose) -> Twist:
        """Omega = log R, v = x - Omega x x / 2 + beta(|Omega|^2) Omega x (Omega x x)."""
        Omega = SO3().log(g.R)
        turned = cross(Omega, g.x)
        v = g.x - 0.5 * turned + dexp_inv_coefficient(jnp.dot(Omega, Omega)) * cross(Omega, turned)
        return jnp.concatenate([Omega, v])

    def act(self, g: Pose, v: Float[Array, "3"]) -> Float[Array, "3"]:
        return jnp.matmul(g.R, v) + g.x

    def split(self, x: Twist) -> tuple[Float[Array, "3"], Float[Array, "3"]]:
        x = jnp.asarray(x)
        return x[:3], x[3:]

    def error(self, g: Pose) -> Float[Array, ""]:
        return SO3().error(g.R)

    def spin(self, x: Twist) -> Float[Array, ""]:
        return SO3().spin(x[:3])

    def versine(self, g: Pose, f: Pose) -> Float[Array, ""]:
        return SO3().versine(g.R, f.R)

    def rotations(self, g: Pose) -> tuple[Float[Array, "3 3"]]:
        return (g.R,)

    def renormalise(self, g: Pose) -> Pose:
        return Pose(SO3().renormalise(g.R), g.x)

    def random(self, rng: np.random.Generator) -> Pose:
        return Pose._make([SO3().random(rng), rng.standard_normal(3)])
