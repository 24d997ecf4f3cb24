"""Complex numbers as pairs of real arrays, for programs that are differentiated and compiled, which have none."""

from typing import Any, NamedTuple

import jax.numpy as jnp


class Pair(NamedTuple):
    """x + i y, elementwise."""

    x: Any
    y: Any

    @classmethod
    def of(cls, points: Any) -> "Pair":
        """From an array whose last axis is (x, y)."""
        points = jnp.asarray(points)
        return cls(points[..., 0], points[..., 1])

    @property
    def square(self) -> Any:
        """|z|^2."""
        return self.x * self.x + self.y * self.y

    @property
    def column(self) -> "Pair":
        """Of a row of numbers, with an axis of one behind it."""
        return Pair(self.x[:, None], self.y[:, None])

    @property
    def conjugate(self) -> "Pair":
        return Pair(self.x, -self.y)

    def plus(self, other: "Pair") -> "Pair":
        return Pair(self.x + other.x, self.y + other.y)

    def minus(self, other: "Pair") -> "Pair":
        return Pair(self.x - other.x, self.y - other.y)

    def times(self, other: "Pair") -> "Pair":
        return Pair(self.x * other.x - self.y * other.y, self.x * other.y + self.y * other.x)

    def scaled(self, factor: Any) -> "Pair":
        """Times a real number."""
        return Pair(factor * self.x, factor * self.y)

    def over(self, other: "Pair") -> "Pair":
        return self.times(other.conjugate).scaled(1.0 / other.square)

    def root(self) -> "Pair":
        """One of the two square roots; its derivatives exist everywhere but at 0."""
        size = jnp.sqrt(self.square)
        right = self.x >= 0.0
        large = jnp.sqrt(0.5 * (size + jnp.where(right, self.x, -self.x)))
        small = 0.5 * self.y / large
        return Pair(jnp.where(right, large, small), jnp.where(right, small, large))
