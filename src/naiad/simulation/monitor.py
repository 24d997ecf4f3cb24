"""Running statistics of a scalar over every step of a run."""

from typing import NamedTuple

import jax.numpy as jnp

from naiad.mechanics import Scalar


class Monitor(NamedTuple):
    """Largest, smallest and mean value of a scalar, and its line over time, in one pass [welford1962]."""

    count: Scalar
    max: Scalar
    min: Scalar
    mean: Scalar
    mean_time: Scalar
    covariance: Scalar
    time_variance: Scalar

    @classmethod
    def empty(cls) -> "Monitor":
        """No value yet."""
        zero = jnp.zeros(())
        return cls(zero, jnp.full((), -jnp.inf), jnp.full((), jnp.inf), zero, zero, zero, zero)

    def record(self, t: Scalar, value: Scalar) -> "Monitor":
        """The statistics with one more value."""
        count = self.count + 1
        dt, dy = t - self.mean_time, value - self.mean
        mean, mean_time = self.mean + dy / count, self.mean_time + dt / count
        return Monitor(
            count,
            jnp.maximum(self.max, value),
            jnp.minimum(self.min, value),
            mean,
            mean_time,
            self.covariance + dt * (value - mean),
            self.time_variance + dt * (t - mean_time),
        )

    @property
    def slope(self) -> float:
        """The slope of the least-squares line (0 for fewer than two values)."""
        return float(self.covariance / self.time_variance) if self.time_variance > 0 else 0.0

    @property
    def largest(self) -> float:
        """The largest absolute value."""
        return max(abs(float(self.max)), abs(float(self.min)))
