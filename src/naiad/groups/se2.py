"""Rigid motions of the plane."""

from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from naiad.groups.group import AbstractGroup, Names
from naiad.groups.so2 import rotation
from naiad.numerics.series import dexp_inv_coefficient, stumpff
from naiad.numerics.vectors import quarter_turn

Twist = Float[Array, "3"]


class PlanarPose(NamedTuple):
    """An element of SE(2): the angle beta, not wrapped, and the position x."""

    beta: Float[Array, ""]
    x: Float[Array, "2"]


class SE2(AbstractGroup):
    """SE(2), acting on points by p -> R(beta) p + x; the algebra is xi = (Omega, v), both in the body frame."""

    free = True

    @property
    def dim(self) -> int:
        return 3

    @property
    def names(self) -> Names:
        return Names(("beta", "x"), ("Omega", "v"), ("Pi", "p"))

    def identity(self) -> PlanarPose:
        return PlanarPose(jnp.zeros(()), jnp.zeros(2))

    def compose(self, g: PlanarPose, f: PlanarPose) -> PlanarPose:
        return PlanarPose(jnp.add(g.beta, f.beta), self.act(g, f.x))

    def inverse(self, g: PlanarPose) -> PlanarPose:
        return PlanarPose(jnp.negative(g.beta), -rotation(g.beta).T @ g.x)

    def hat(self, x: Twist) -> Float[Array, "3 3"]:
        Omega, v = self.split(x)
        zero = jnp.zeros_like(Omega)
        return jnp.stack([zero, -Omega, v[0], Omega, zero, v[1], zero, zero, zero]).reshape(3, 3)

    def vee(self, X: Float[Array, "3 3"]) -> Twist:
        return jnp.stack([0.5 * (X[1, 0] - X[0, 1]), X[0, 2], X[1, 2]])

    def Ad(self, g: PlanarPose, x: Twist) -> Twist:
        """Ad_g (Omega, v) = (Omega, R v - Omega J x)."""
        Omega, v = self.split(x)
        return self._join(Omega, rotation(g.beta) @ v - Omega * quarter_turn(g.x))

    def ad(self, x: Twist, y: Twist) -> Twist:
        """[(Omega, v), (y, z)] = (0, Omega J z - y J v)."""
        (Omega, v), (y, z) = self.split(x), self.split(y)
        return self._join(jnp.zeros_like(y), quarter_turn(Omega * z - y * v))

    def expm1(self, x: Twist) -> PlanarPose:
        """beta = Omega, x = (sin Omega / Omega) v + ((1 - cos Omega) / Omega) J v."""
        Omega, v = self.split(x)
        u = Omega**2
        return PlanarPose(Omega, stumpff(1, u) * v + Omega * stumpff(2, u) * quarter_turn(v))

    def advance(self, g: PlanarPose, d: PlanarPose) -> PlanarPose:
        return self.compose(g, d)

    def Ad_change(self, d: PlanarPose, x: Twist) -> Twist:
        Omega, v = self.split(x)
        turned = jnp.sin(d.beta) * quarter_turn(v) - 2.0 * jnp.sin(0.5 * d.beta) ** 2 * v
        return self._join(jnp.zeros_like(Omega), turned - Omega * quarter_turn(d.x))

    def tangent(self, g: PlanarPose, x: Twist) -> PlanarPose:
        Omega, v = self.split(x)
        return PlanarPose(Omega, rotation(g.beta) @ v)

    def log(self, g: PlanarPose) -> Twist:
        """Omega = beta, v = (beta/2) cot(beta/2) x - (beta/2) J x; needs |beta| < 2 pi."""
        u = g.beta**2
        v = (1.0 - u * dexp_inv_coefficient(u)) * g.x - 0.5 * g.beta * quarter_turn(g.x)
        return self._join(g.beta, v)

    def act(self, g: PlanarPose, v: Float[Array, "2"]) -> Float[Array, "2"]:
        return rotation(g.beta) @ v + g.x

    def split(self, x: Twist) -> tuple[Float[Array, ""], Float[Array, "2"]]:
        x = jnp.asarray(x)
        return x[0], x[1:]

    def error(self, g: PlanarPose) -> Float[Array, ""]:
        return jnp.zeros(())

    def spin(self, x: Twist) -> Float[Array, ""]:
        return jnp.abs(x[0])

    def versine(self, g: PlanarPose, f: PlanarPose) -> Float[Array, ""]:
        return 1.0 - jnp.cos(f.beta - g.beta)

    def renormalise(self, g: PlanarPose) -> PlanarPose:
        return g

    def random(self, rng: np.random.Generator) -> PlanarPose:
        return PlanarPose._make([np.asarray(rng.uniform(-np.pi, np.pi)), rng.standard_normal(2)])

    @staticmethod
    def _join(Omega: Float[Array, ""], v: Float[Array, "2"]) -> Twist:
        return jnp.concatenate([jnp.reshape(Omega, (1,)), v])
