"""The reel of a string: a drum, a guide way, a moment, and Carnot's term."""

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from naiad.errors import InputError
from naiad.mechanics import Scalar
from naiad.numerics import Module, static
from naiad.numerics.arguments import required_arguments
from naiad.numerics.checks import is_known, number, positive
from naiad.strings.carnot import CARNOT


class Reel(Module):
    """A drum of radius d on which the string winds, and a guide way at the distance b [lee2010, section 2.1].

    - `radius` d [m], `inertia` kappa [kg]: the drum's moment of inertia is kappa d^2; `guide` b [m];
    - `drop` [m]: how far the axis of the drum lies below the guide way (by default -b: above it);
    - `moment` u [N m], positive where it winds the string in: a number, a function u(t), or a function u(g, speed, t)
      of the configuration and of the speed of the drum's surface, s' where nothing stretches on it;
    - `inside`: the number of elements of the string inside, if it stretches there too, or what parts of it they have,
      from the end that is fixed to the drum (fine near the guide way: (5, 2, 1)); 0 is a string that does not stretch
      inside, as in the paper;
    - `friction`: that of the string as it slides over the drum, over the force with which the drum holds it; below the
      speed `slip` [m/s] it fades, so that it is continuous: the string creeps where it would stick;
    - `carnot`: "paper", "dissipative" or "none" (see `CARNOT`); by default "paper" where nothing stretches inside, else
      none, as there is no jump at the guide way then;
    - `smooth` [m/s]: the speed below which the dissipative term fades, so that it is continuous;
    - `locked`: whether the drum is held.
    """

    radius: float
    inertia: float
    guide: float
    drop: float
    moment: Any
    smooth: float
    friction: float | None
    slip: float
    shares: tuple[float, ...] = static()
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
        inside: int | Sequence[float] = 0,
        friction: float = 0.0,
        slip: float = 0.05,
        carnot: str | None = None,
        smooth: float = 1e-3,
        locked: bool = False,
    ):
        if carnot is not None and carnot not in CARNOT:
            raise InputError(f"carnot = {carnot!r}; expected one of {', '.join(CARNOT)}.")
        self.slip = positive("slip", slip)
        rubbing = positive("friction", friction, zero=True)
        self.shares, self.friction = _shares(inside), None if is_known(rubbing) and not rubbing else rubbing
        if self.shares and carnot not in (None, "none"):
            raise InputError(
                f"carnot = {carnot!r} for a string that stretches inside: strain and speed do not jump at the guide "
                "way; leave it out."
            )
        if self.friction is not None and not self.shares:
            raise InputError(
                f"friction = {friction!r} on the drum, over which a string that does not stretch inside cannot slide; "
                "give `inside`, the number of its elements there."
            )
        self.radius, self.inertia = positive("radius", radius), positive("inertia", inertia, zero=True)
        self.guide, self.smooth = positive("guide", guide, zero=True), positive("smooth", smooth)
        self.drop = -self.guide if drop is None else number("drop", drop)
        self.moment = 0.0 if callable(moment) else number("moment", moment)
        self.law_of_moment = _checked(moment) if callable(moment) else None
        self.carnot = carnot or ("none" if self.shares else "paper")
        self.locked = bool(locked)

    def first_moment(self, s: Any) -> Any:
        """int z of the string on the drum, z its depth below the guide way [lee2010, eq. (5), corrected]."""
        d, out = self.radius, s - self.guide
        return out * self.drop + d**2 * (jnp.cos(out / d) - 1.0)

    def control(self, g: Any, speed: Any, t: Scalar) -> Float[Array, ""]:
        """The moment u."""
        if self.law_of_moment is None:
            return jnp.asarray(self.moment)
        function, arguments = self.law_of_moment
        return jnp.asarray(function(t) if arguments == 1 else function(g, speed, t))


def _shares(inside: Any) -> tuple[float, ...]:
    """The parts of the string inside that its elements have."""
    whole = isinstance(inside, int | np.integer) and not isinstance(inside, bool)
    try:
        parts = np.full(max(inside, 0), 1.0) if whole else np.asarray(inside, float)
    except (TypeError, ValueError):
        parts = np.zeros((1, 1))
    if (whole and inside < 0) or parts.ndim != 1 or not np.all(np.isfinite(parts)) or np.any(parts <= 0.0):
        raise InputError(
            f"inside = {inside!r}; expected the number of elements of the string inside, or positive parts, one each."
        )
    return tuple((parts / np.sum(parts)).tolist())


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
