"""Moves from rest to rest as functions of time: of a trolley, and of a hoist."""

from typing import Any

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from naiad.forces import AbstractSignal
from naiad.mechanics import Scalar

SHAPERS = {
    "plain": ((1.0,), (0.0,)),
    "zv": ((0.5, 0.5), (0.0, 0.5)),
    "zvd": ((0.25, 0.5, 0.25), (0.0, 0.5, 1.0)),
}
"""Weights of the parts of a move, and their delays in periods of the swing [singer1990]."""


def smooth_step(x: Any) -> Float[Array, ""]:
    """From 0 to 1 for x from 0 to 1, with no speed and no acceleration at the ends."""
    x = jnp.clip(x, 0.0, 1.0)
    return x**3 * (10.0 + x * (6.0 * x - 15.0))


class ShapedMove(AbstractSignal):
    """A move along the first axis: the same move in parts, each delayed, so that the swings they leave cancel."""

    distance: float
    duration: float
    weights: Float[Array | np.ndarray, " n"]
    delays: Float[Array | np.ndarray, " n"]

    def __call__(self, t: Scalar) -> Float[Array, "3"]:
        x = jnp.asarray(0.0)
        for weight, delay in zip(jnp.asarray(self.weights), jnp.asarray(self.delays), strict=True):
            x = x + weight * smooth_step((t - delay) / self.duration)
        return jnp.stack([self.distance * x, 0.0 * x, 0.0 * x])


class Hoist(AbstractSignal):
    """The length on the reel for a length outside that goes from one value to another."""

    total: float
    before: float
    after: float
    duration: float

    def __call__(self, t: Scalar) -> Float[Array, ""]:
        return self.total - self.before - (self.after - self.before) * smooth_step(t / self.duration)
