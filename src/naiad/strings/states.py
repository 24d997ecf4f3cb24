"""States of a string: whether one can be, and that of a straight string."""

from typing import TYPE_CHECKING, Any

import jax.numpy as jnp
import numpy as np

from naiad.errors import InputError
from naiad.mechanics import Scalar, State
from naiad.numerics.checks import vector

if TYPE_CHECKING:
    from naiad.strings.pendulum import StringPendulum


def checked_string(system: "StringPendulum", state: State, t: Scalar) -> State:
    """A state whose elements have a length and whose reel has string on it and off it; or an `InputError`."""
    q = np.vstack([np.asarray(system.start(t)), state.g.q])
    gaps = np.linalg.norm(np.diff(q, axis=0), axis=1)
    if np.any(gaps == 0.0):
        first = int(np.argmin(gaps))
        raise InputError(f"Nodes {first} and {first + 1} of the string coincide; give different places (`q`).")
    if system.reeled or system.schedule is not None:
        assert system.reel is not None
        s = float(system.wound(state.g, t))
        if not system.reel.guide <= s < system.length:
            raise InputError(
                f"s = {s:g} m of string on the reel; expected at least the guide way's {system.reel.guide:g} m and "
                f"less than the length {system.length:g} m."
            )
    return state


def straight_string(
    system: "StringPendulum", direction: Any, s: float | None, s_v: Any, strain: float, tip_velocity: Any, t: float
) -> dict[str, Any]:
    """Nodes, their velocities, and the length on a reel that turns and its rate, of a straight string."""
    along = vector("direction", direction)
    if not np.any(along):
        raise InputError("direction = 0; expected the direction of the string.")
    if system.reeled and s is None:
        raise InputError("straight(): give s, the length of string on the reel.")
    length = float(system.element_length(system.wound(None, t) if s is None else s)) * (1.0 + strain)
    numbers = np.arange(1, system.elements + 1)[:, None]
    unit = along / np.linalg.norm(along)
    at_rest = system.reeled and system.link_length is None
    speed = 0.0 if at_rest else float(system.reel_speed(jnp.ravel(jnp.asarray(0.0 if s_v is None else s_v)), t))
    growing = -speed * (1.0 + strain) / system.elements
    v = np.asarray(system.start_rate(t)) + numbers * growing * unit
    v[-1] += vector("tip_velocity", tip_velocity)
    reel = ({"s": [s]} if system.reeled else {}) | ({} if s_v is None else {"s_v": s_v})
    return {"q": np.asarray(system.start(t)) + numbers * length * unit, "q_v": v, **reel}
