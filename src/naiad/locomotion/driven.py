"""Swimmers whose hinges are driven, sprung or damped: how they move, given the torques."""

from typing import Any

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from naiad.errors import InputError
from naiad.groups import AbstractGroup, Rn
from naiad.locomotion.checks import check_free
from naiad.locomotion.hinge_torque import AbstractHingeTorque, hinge_torque
from naiad.locomotion.swimmer import COUPLED, Swimmer
from naiad.mechanics import LagrangianSystem, Scalar, State
from naiad.numerics.arguments import checked_throughout
from naiad.numerics.checks import finite, floats, friction_matrix, namespace


class DrivenSwimmer(LagrangianSystem):
    """A swimmer with torques, springs and dampers at its hinges.

    ell = v . K(theta) v / 2 - (theta - rest) . stiffness (theta - rest) / 2, v = (xi, theta'), and the angles feel the
    force tau(theta, theta', t) - damping theta'. Its equations are, with mu the first rows of K v,

        K v' + K' v = (ad*_xi mu, tau - damping theta' - stiffness (theta - rest) + v . (dK/dtheta) v / 2):

    [kanso2005, eqs. (5.4), (5.18)] with the reaction of the hinges, and with the change of the inertia with the shape.
    All these act inside: the momentum of the whole is conserved, from rest it stays zero.

    `torque` is numbers, a function of t or of (theta, theta', t), or an `AbstractHingeTorque`, in N m for each m of
    depth in the plane; `stiffness` and `damping` are a number for all hinges, one for each, or a symmetric matrix; none
    of them is needed, and without them the hinges are free. A swimmer whose links the fluid couples is to be
    `tabulated` first.
    """

    swimmer: Swimmer
    torque: AbstractHingeTorque | None
    stiffness: Float[Array | np.ndarray, "m m"] | None
    rest: Float[Array | np.ndarray, " m"]
    damping: Float[Array | np.ndarray, "m m"] | None

    definite = True

    def __init__(
        self, swimmer: Swimmer, *, torque: Any = None, stiffness: Any = None, rest: Any = 0.0, damping: Any = None
    ):
        check_free(swimmer)
        if isinstance(swimmer.fluid, COUPLED):
            raise InputError(
                "The inertia of this swimmer is by boundary elements, which is too slow for its dynamics; make a table "
                "of it first, as in DrivenSwimmer(tabulated(swimmer, -1.5, 1.5))."
            )
        if stiffness is not None and not isinstance(swimmer.shapes, Rn):
            raise InputError("This swimmer has ball joints, and springs are for hinges; use `ConnectedBodies` for it.")
        joints = swimmer.angle_count
        self.swimmer, self.torque = swimmer, hinge_torque(torque, joints)
        self.stiffness, self.damping = _matrix("stiffness", stiffness, joints), _matrix("damping", damping, joints)
        self.rest = _angles("rest", rest, joints)

    @property
    def group(self) -> AbstractGroup:
        """That of the swimmer."""
        return self.swimmer.group

    labels = Swimmer.labels

    @property
    def symmetry_dim(self) -> int:
        """That of the rigid motions."""
        return self.swimmer.symmetry_dim

    def symmetry(self, s: Float[Array, " d"], g: Any) -> Any:
        """Rigid motions."""
        return self.swimmer.symmetry(s, g)

    @property
    def force(self) -> Any:
        """Torques and dampers; none if there is neither."""
        return None if self.torque is None and self.damping is None else self._force

    def lagrangian(self, g: Any, xi: Float[Array, " n"], t: Scalar) -> Float[Array, ""]:
        """The kinetic energy less that of the springs."""
        return self.swimmer.lagrangian(g, xi, t) - self.spring_energy(g.theta)

    def velocity(self, g: Any, mu: Float[Array, " n"], t: Scalar = 0.0) -> Float[Array, " n"]:
        """K^-1 mu."""
        return self.swimmer.velocity(g, mu, t)

    def spring_energy(self, theta: Float[Array, " m"]) -> Float[Array, ""]:
        """(theta - rest) . stiffness (theta - rest) / 2."""
        if self.stiffness is None:
            return jnp.zeros(())
        bent = theta - jnp.asarray(self.rest)
        return 0.5 * bent @ jnp.asarray(self.stiffness) @ bent

    def power(self, state: State, t: Scalar = 0.0) -> Float[Array, "2"]:
        """What the torques put in, and what the dampers take out: their difference is the change of the energy."""
        rates = self.velocity(state.g, state.mu, t)[self.swimmer.frame.dim :]
        driven = jnp.zeros(()) if self.torque is None else self.torque(state.g.theta, rates, t) @ rates
        damped = jnp.zeros(()) if self.damping is None else rates @ jnp.asarray(self.damping) @ rates
        return jnp.stack([driven, damped])

    @checked_throughout
    def start(self, theta: Any = None, rates: Any = None, **others: Any) -> State:
        """The state of given angles, rates and momentum (see `Swimmer.start`)."""
        return self.swimmer.start(theta, rates, **others)

    def released(self) -> "DrivenSwimmer":
        """The same without torques."""
        return self.replaced(torque=None)

    def _force(self, g: Any, xi: Float[Array, " n"], t: Scalar) -> Float[Array, " n"]:
        d = self.swimmer.frame.dim
        rates, torques = xi[d:], jnp.zeros(self.swimmer.angle_count)
        if self.torque is not None:
            torques = torques + self.torque(g.theta, rates, t)
        if self.damping is not None:
            torques = torques - jnp.asarray(self.damping) @ rates
        return jnp.concatenate([jnp.zeros(d), torques])


def _matrix(name: str, value: Any, joints: int) -> np.ndarray | None:
    if value is None:
        return None
    return friction_matrix(name, namespace(value).full(joints, value) if np.ndim(value) == 0 else value, joints)


def _angles(name: str, value: Any, joints: int) -> Any:
    array = floats(name, value)
    if array.shape not in ((), (1,), (joints,)) or not finite(array):
        raise InputError(f"{name} = {value!r}; expected a finite angle for all hinges or one for each of {joints}.")
    return namespace(array).broadcast_to(array, joints).copy()
