"""The time of a run whose steps differ: a sum that keeps what round-off would take."""

from typing import NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Float

from naiad.mechanics import Scalar


class Clock(NamedTuple):
    """The time t, what was lost when it was rounded, and the shortest and the longest step so far."""

    t: Float[Array, ""]
    lost: Float[Array, ""]
    shortest: Float[Array, ""]
    longest: Float[Array, ""]

    @classmethod
    def at(cls, t: Scalar, h: Scalar) -> "Clock":
        """Before the first step, which is to be about h."""
        size = jnp.abs(jnp.asarray(h, float))
        return cls(jnp.asarray(t, float), jnp.zeros(()), size, size)

    def after(self, h: Scalar) -> "Clock":
        """One step of h later: Kahan's sum."""
        added = h + self.lost
        t = self.t + added
        size = jnp.abs(h)
        return Clock(t, added - (t - self.t), jnp.minimum(self.shortest, size), jnp.maximum(self.longest, size))

    @property
    def figures(self) -> dict[str, Float[Array, ""]]:
        """The statistics of a run."""
        return {"step_min": self.shortest, "step_max": self.longest}
