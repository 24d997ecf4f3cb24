"""The deployment of a tether: a length that grows by a constant fraction in a unit of time, then stays."""

from typing import Any

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from naiad.forces import AbstractSignal
from naiad.mechanics import Scalar


class Deployment(AbstractSignal):
    """The length on the reel while the length outside goes from l_0 to l_1 as l' = c l, the rate c fading at last.

    c is constant up to t_1, falls like a cosine over `fade`, and is 0 thereafter.
    """

    total: float
    before: float
    rate: float
    until: float
    fade: float

    @classmethod
    def to(cls, total: float, before: float, after: float, rate: float, fade: float) -> "Deployment":
        """The deployment that ends at the length `after`."""
        return cls(total, before, rate, float(np.log(after / before)) / rate - 0.5 * fade, fade)

    @property
    def end(self) -> Any:
        """When it is over."""
        return self.until + self.fade

    def outside(self, t: Scalar) -> Float[Array, ""]:
        """The length outside."""
        late = jnp.clip((t - self.until) / self.fade, 0.0, 1.0)
        steady = jnp.minimum(t, self.until) + 0.5 * self.fade * (late + jnp.sin(jnp.pi * late) / jnp.pi)
        return self.before * jnp.exp(self.rate * steady)

    def __call__(self, t: Scalar) -> Float[Array, ""]:
        return self.total - self.outside(t)
