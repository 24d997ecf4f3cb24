"""External forces on a body in water, and the current that they see."""

import abc
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from naiad.errors import InputError
from naiad.forces.signals import AbstractSignal
from naiad.groups import Pose
from naiad.mechanics import Scalar
from naiad.mechanics.functions import mistake_of
from naiad.numerics import Module, static
from naiad.numerics.arguments import checked, checked_throughout

Vector = Float[Array, "3"]
Wrench = Float[Array, "6"]


class Motion(NamedTuple):
    """Where a body is and how it moves: pose (R, x), velocities Omega, v = R^T x' and `through_water`, that of the
    origin relative to the water, all three in the body frame."""

    R: Float[Array, "3 3"]
    x: Vector
    Omega: Vector
    v: Vector
    through_water: Vector
    t: Scalar


class AbstractForce(Module):
    """A force on a body, as the wrench (torque about the body's origin, force) in the body frame."""

    @abc.abstractmethod
    def __call__(self, motion: Motion) -> Wrench:
        """The wrench during this motion."""


class GivenForce(AbstractForce):
    """The force of a plain function of the motion."""

    function: Callable[..., Any] = static()

    def __call__(self, motion: Motion) -> Wrench:
        return jnp.asarray(self.function(motion))


@checked
def checked_forces(forces: Any) -> tuple[AbstractForce, ...]:
    """Forces as users give them, one or several: `AbstractForce`s or functions of a `Motion`; or an `InputError`."""
    given = tuple(forces) if isinstance(forces, tuple | list) else (forces,)
    return tuple(_checked(each) for each in given)


@checked_throughout
def force_on_pose(
    forces: tuple[AbstractForce, ...], current: AbstractSignal | None, g: Pose, xi: Wrench, t: Scalar
) -> Wrench:
    """The sum of the forces on SE(3), xi = (Omega, v) in the body frame: a `force(g, xi, t)` of a system."""
    Omega, v = xi[:3], xi[3:]
    water = relative_velocity(current, g.R, v, t)
    motion = Motion(g.R, g.x, Omega, v, water, t)
    total = jnp.zeros(6)
    for each in forces:
        total = total + each(motion)
    return total


@checked_throughout
def force_on_product(
    forces: tuple[AbstractForce, ...], current: AbstractSignal | None, R: Any, x: Any, Omega: Any, x_dot: Any, t: Scalar
) -> Wrench:
    """The sum of the forces on SO(3) x R^3: the torque in the body frame, then the force in space, as x' is."""
    xi = jnp.concatenate([Omega, x_dot @ R])
    wrench = force_on_pose(forces, current, Pose(R, x), xi, t)
    return jnp.concatenate([wrench[:3], R @ wrench[3:]])


@checked_throughout
def relative_velocity(current: AbstractSignal | None, R: Any, v: Vector, t: Scalar) -> Vector:
    """v - R^T U(t): the velocity of the body's origin relative to water that moves at U(t) in space everywhere."""
    return v if current is None else v - current(t) @ R


def _checked(force: Any) -> AbstractForce:
    if not callable(force):
        raise InputError(f"{force!r} is no force; expected one such as Drag(...), or a function of a `Motion`.")
    made = force if isinstance(force, AbstractForce) else GivenForce(force)
    own = made.function if isinstance(made, GivenForce) else made
    with jax.enable_x64(True):
        rest = Motion(jnp.eye(3), *[jnp.zeros(3)] * 4, t=jnp.zeros(()))
        name = getattr(own, "__name__", type(own).__name__)
        mistake = mistake_of(f"The force {name}", own, {"motion": rest})
        if mistake is not None:
            raise InputError(mistake)
        shape = jax.eval_shape(made, rest).shape
    if shape != (6,):
        raise InputError(f"A force has shape {shape}; expected (6,): torque, then force, in the body frame.")
    return made
