"""Forces along a string: wind, current, drag, or a user's own."""

import abc
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from naiad.errors import InputError
from naiad.mechanics import Scalar
from naiad.numerics import Module, static
from naiad.numerics.checks import positive

Vector = Float[Array, "3"]


class StringPoint(NamedTuple):
    """A point of a string: its place x and the velocity v of the string there, that relative to the fluid, the unit
    tangent (towards the end), and the stretched length over the unstretched; vectors in space."""

    x: Vector
    v: Vector
    through_fluid: Vector
    tangent: Vector
    stretch: Any
    t: Scalar


class AbstractLoad(Module):
    """A force along a string, in N for each metre of its stretched length, in space."""

    @abc.abstractmethod
    def __call__(self, point: StringPoint) -> Vector:
        """The force at this point."""


class GivenLoad(AbstractLoad):
    """The load of a plain function of a point."""

    function: Callable[..., Any] = static()

    def __call__(self, point: StringPoint) -> Vector:
        return jnp.asarray(self.function(point))


class LineDrag(AbstractLoad):
    """- rho D/2 (C_n |u_n| u_n + pi C_t |u_t| u_t): drag across and along a string, u its velocity through the fluid.

    `fluid` rho [kg/m^3], `diameter` D [m], `normal` C_n and `tangential` C_t [driscoll2000].
    """

    fluid: float
    diameter: float
    normal: float = 1.2
    tangential: float = 0.0

    def __post_init__(self):
        for name in ("fluid", "diameter"):
            positive(f"LineDrag: {name}", getattr(self, name))
        for name in ("normal", "tangential"):
            positive(f"LineDrag: {name}", getattr(self, name), zero=True)

    def __call__(self, point: StringPoint) -> Vector:
        u = point.through_fluid
        along = jnp.dot(u, point.tangent) * point.tangent
        across = u - along
        push = self.normal * size(across) * across + jnp.pi * self.tangential * size(along) * along
        return -0.5 * self.fluid * self.diameter * push


def size(x: Vector) -> Float[Array, ""]:
    """|x|, whose derivative is taken for 0 at x = 0."""
    square = jnp.dot(x, x)
    some = square > 0.0
    return jnp.where(some, jnp.sqrt(jnp.where(some, square, 1.0)), 0.0)


def checked_loads(loads: Any) -> tuple[AbstractLoad, ...]:
    """Loads as users give them, one or several: `AbstractLoad`s or functions of a `StringPoint`; or an `InputError`."""
    given = tuple(loads) if isinstance(loads, tuple | list) else (loads,)
    return tuple(_checked(each) for each in given)


def _checked(load: Any) -> AbstractLoad:
    if not callable(load):
        raise InputError(f"{load!r} is no load; expected one such as LineDrag(...), or a function of a `StringPoint`.")
    made = load if isinstance(load, AbstractLoad) else GivenLoad(load)
    with jax.enable_x64(True):
        rest, down = jnp.zeros(3), jnp.array((0.0, 0.0, 1.0))
        point = StringPoint(x=rest, v=rest, through_fluid=rest, tangent=down, stretch=jnp.ones(()), t=0.0)
        shape = jax.eval_shape(made, point).shape
    if shape != (3,):
        raise InputError(f"A load has shape {shape}; expected (3,): a force in N/m, in space.")
    return made
