"""The minimum into which a point falls: the fast inertial relaxation engine [bitzek2006]."""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

Vector = Float[Array, " n"]
MIX, KEPT, GROWS, SHRINKS, PATIENCE = 0.1, 0.99, 1.1, 0.5, 5


class Fallen(NamedTuple):
    """Where the fall ended, and whether the force is below the tolerance there."""

    x: Vector
    converged: Bool[Array, ""]


class _Fall(NamedTuple):
    x: Vector
    v: Vector
    force: Vector
    h: Float[Array, ""]
    mix: Float[Array, ""]
    downhill: Int[Array, ""]
    steps: Int[Array, ""]


def fallen(
    force: Callable[[Vector], Vector],
    start: Vector,
    *,
    h: Any,
    reach: Any,
    tolerance: Any,
    max_steps: int = 20_000,
) -> Fallen:
    """The point where the force vanishes: motion of unit masses from rest, steered along the force, and stopped when it
    goes uphill. `h` is the first step in time, at most ten times as large later on; no component moves by more than
    `reach` a step."""

    def step(at: _Fall) -> _Fall:
        down = at.force @ at.v > 0.0
        long = down & (at.downhill > PATIENCE)
        h = jnp.where(down, jnp.where(long, jnp.minimum(GROWS * at.h, 10.0 * h0), at.h), SHRINKS * at.h)
        mix = jnp.where(down, jnp.where(long, KEPT * at.mix, at.mix), MIX)
        along = jnp.sqrt((at.v @ at.v) / jnp.maximum(at.force @ at.force, 1e-300))
        v = jnp.where(down, (1.0 - mix) * at.v + mix * along * at.force, 0.0) + h * at.force
        v = v * jnp.minimum(1.0, reach / jnp.maximum(h * jnp.max(jnp.abs(v)), 1e-300))
        x = at.x + h * v
        return _Fall(x, v, force(x), h, mix, jnp.where(down, at.downhill + 1, 0), at.steps + 1)

    def moves(at: _Fall) -> Bool[Array, ""]:
        return (jnp.max(jnp.abs(at.force)) > tolerance) & (at.steps < max_steps)

    h0, zero = jnp.asarray(h, float), jnp.zeros((), int)
    first = _Fall(start, jnp.zeros_like(start), force(start), h0, jnp.asarray(MIX), zero, zero)
    end = jax.lax.while_loop(moves, step, first)
    return Fallen(end.x, jnp.max(jnp.abs(end.force)) <= tolerance)
