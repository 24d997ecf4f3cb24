"""The reel of a string: a drum, a guide way, a moment, and Carnot's term."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from naiad.errors import InputError
from naiad.mechanics import Scalar
from naiad.numerics import Module, static
from naiad.numerics.arguments import required_arguments
from naiad.numerics.checks import number, positive
from naiad.strings.carnot import CARNOT


class Reel(Module):
    """A drum of radius d on which the string winds, and a guide way at the distance b [lee2010, section 2.1].

    - `radius` d [m], `inertia` kappa [kg]: the drum's moment of inertia is kappa d^2; `guide` b [m];
    - `drop` [m]: how far the axis of the drum lies below the guide way (by default -b: above it);
    - `moment` u [N m], positive where it winds the string in: a number, a function u(t), or a function u(g, speed, t)
      of the configuration and of s';
    - `carnot`: "paper", "dissipative" or "none" (see `CARNOT`); `smooth` [m/s]: the speed below which the dissipative
      term fades, so that it is continuous;
    - `locked`: whether the drum is held.
    """

    radius: float
    inertia: float
    guide: float
    drop: float
    moment: Any
    smooth: float
    law_of_moment: Any = static()
    carnot: str = static()
    locked: bool = static()

    def __init__(
        self,
        *,
        radius: float = 0.5,
        inertia: float = 1.0,
        guide: float = 0.5,
        drop: float | None = None,
        moment: float | Callable[..., Any] = 0.0,
        carnot: str = "paper",
        smooth: float = 1e-3,
        locked: bool = False,
    ):
        if carnot not in CARNOT:
            raise InputError(f"carnot = {carnot!r}; expected one of {', '.join(CARNOT)}.")
        self.radius, self.inertia = positive("radius", radius), positive("inertia", inertia, zero=True)
        self.guide, self.smooth = positive("guide", guide, zero=True), positive("smooth", smooth)
        self.drop = -self.guide if drop is None else number("drop", drop)
        self.moment = 0.0 if callable(moment) else number("moment", moment)
        self.law_of_moment = _checked(moment) if callable(moment) else None
        self.carnot, self.locked = carnot, bool(locked)

    def first_moment(self, s: Any) -> Any:
        """int z of the string on the drum, z its depth below the guide way [lee2010, eq. (5), corrected]."""
        d, out = self.radius, s - self.guide
        return out * self.drop + d**2 * (jnp.cos(out / d) - 1.0)

    def depth(self, s: Any) -> Any:
        """The slope of that: the depth of the string's end on the drum."""
        return self.drop - self.radius * jnp.sin((s - self.guide) / self.radius)

    def control(self, g: Any, speed: Any, t: Scalar) -> Float[Array, ""]:
        """The moment u."""
        if self.law_of_moment is None:
            return jnp.asarray(self.moment)
        function, arguments = self.law_of_moment
        return jnp.asarray(function(t) if arguments == 1 else function(g, speed, t))


def _checked(function: Callable[..., Any]) -> tuple[Callable[..., Any], int]:
    """A moment with the number of its arguments, 1 or 3."""
    needed = required_arguments(function)
    if needed not in (1, 3):
        raise InputError(
            f"moment is a function of {needed} arguments; expected u(t) or u(g, speed, t), giving a number in N m."
        )
    if needed == 1:
        with jax.enable_x64(True):
            shape = jax.eval_shape(lambda t: jnp.asarray(function(t)), jnp.zeros(())).shape
        if shape != ():
            raise InputError(f"moment is a function whose value has shape {shape}; expected a number in N m.")
    return function, needed
