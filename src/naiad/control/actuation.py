"""What acts on a system and what it costs: force maps and cost rates."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from naiad.compiler import execute
from naiad.errors import InputError
from naiad.mechanics import Scalar
from naiad.numerics import Module
from naiad.numerics.arguments import checked_throughout
from naiad.numerics.checks import finite, floats


class Directions(Module):
    """The force B u in the body frame: a column of B for each control."""

    B: Float[Array | np.ndarray, "n nu"]

    def __init__(self, B: Any):
        array = floats("B", B)
        if array.ndim != 2 or not array.size or not finite(array):
            raise InputError(f"B has shape {array.shape}; expected a matrix of finite numbers, a column a control.")
        self.B = array

    def __call__(self, g: Any, u: Float[Array, " nu"], t: Scalar) -> Float[Array, " n"]:
        return jnp.asarray(self.B) @ u


def gains(push: Any, g: Any, u: np.ndarray) -> np.ndarray:
    """The derivatives of a force in the controls, a column each."""
    return push.B if isinstance(push, Directions) else execute(_gains, push, g, u, parameters=())


def _gains(push: Any, g: Any, u: Any) -> Float[Array, "n nu"]:
    return jax.jacfwd(lambda u: push(g, u, 0.0))(u)


@checked_throughout
def effort(g: Any, xi: Any, u: Any, t: Any) -> Any:
    """|u|^2 / 2: the cost rate of least effort."""
    return 0.5 * jnp.dot(u, u)


@checked_throughout
def elapsed(g: Any, xi: Any, u: Any, t: Any) -> Any:
    """1: the cost rate of least time."""
    return jnp.ones(())
