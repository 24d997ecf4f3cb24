"""Carnot's term: the force on a reel from the jump of strain and speed where the string enters the guide way.

Inside, the string has no strain; just outside it has `strain`. Per unit of length the jump carries
mu strain^2 speed^2/2 of kinetic energy and W(strain) of elastic energy [lee2010, eq. (21)].
"""

from typing import Any

import jax.numpy as jnp
from jaxtyping import Array, Float

CARNOT = {
    "paper": "-(mu strain^2 speed^2/2 + W): loses energy in retrieval, but gives it in deployment",
    "dissipative": "the same against the speed: loses energy both ways",
    "none": "no term",
}
"""The terms by name."""


def carnot_force(kind: str, loss: Any, speed: Any, smooth: Any) -> Float[Array, ""]:
    """The generalised force on s for a `loss` per unit of length; `dissipative` has its full size at speeds well above
    `smooth`."""
    if kind == "none":
        return jnp.zeros(())
    return -loss if kind == "paper" else -loss * speed / jnp.sqrt(speed**2 + smooth**2)
