"""What every swimmer has: a kinetic energy that rigid motions leave alone, whatever it is made of."""

import abc
from typing import Any, NamedTuple

import jax
import numpy as np
from jaxtyping import Array, Float

from naiad.compiler import execute
from naiad.errors import InputError
from naiad.groups import AbstractGroup, Product
from naiad.locomotion.shapes import in_rows
from naiad.mechanics import LagrangianSystem, Scalar, State, identity
from naiad.mechanics.labels import angles
from naiad.numerics import solve
from naiad.numerics.arguments import checked_throughout
from naiad.numerics.checks import floats


class Inertias(NamedTuple):
    """K(theta) for each of several shapes, and its derivatives dK/dtheta_a as `slopes[:, a]`; along theta exp(s e_a)
    where shapes are no vectors."""

    K: Float[np.ndarray, "s n n"]
    slopes: Float[np.ndarray, "s m n n"]


class AbstractSwimmer(LagrangianSystem):
    """A body that changes its shape in an ideal fluid: ell = v . K(theta) v / 2, v = (xi, theta').

    A configuration is (g, theta): the pose of its frame, in SE(2) or SE(3), and its shape, an element of the group
    `shapes`; xi is the velocity of the frame, seen from it. K holds the inertia of body and fluid.

    Rigid motions are a symmetry: the momentum (impulse) of the whole is conserved.
    """

    derives = ("lagrangian",)
    definite = True
    labels = angles("theta", "joint angles", ("joint",))

    @property
    @abc.abstractmethod
    def frame(self) -> AbstractGroup:
        """The group of its frame: SE(2) or SE(3)."""

    @property
    @abc.abstractmethod
    def shapes(self) -> AbstractGroup:
        """The group of shapes."""

    @abc.abstractmethod
    def inertia(self, theta: Any) -> Float[Array, "n n"]:
        """K(theta)."""

    @abc.abstractmethod
    def inertias(self, shapes: Any) -> Float[np.ndarray, "s n n"]:
        """K for several shapes, in rows."""

    @abc.abstractmethod
    def inertias_with_slopes(self, shapes: Any) -> Inertias:
        """K and its derivatives for several shapes, in rows."""

    @property
    def angle_count(self) -> int:
        """The number of angles: the dimension of the group of shapes."""
        return self.shapes.dim

    @property
    def group(self) -> AbstractGroup:
        """SE(2) or SE(3), times the group of shapes."""
        return Product(g=self.frame, theta=self.shapes)

    @property
    def symmetry_dim(self) -> int:
        """The dimension of the rigid motions."""
        return self.frame.dim

    def symmetry(self, s: Float[Array, " d"], g: Any) -> Any:
        """Rigid motions; `noether` is the momentum of the whole in space."""
        return g._replace(g=self.frame.compose(self.frame.exp(s), g.g))

    @checked_throughout
    def start(
        self, theta: Any = None, rates: Any = None, *, pose: Any = None, momentum: Any = None, xi: Any = None
    ) -> State:
        """The state with these angles and rates (zero), the base at `pose` (the identity), and the `momentum` in space
        (none), or in its place the velocity `xi` of the base in its own frame.

        mu = K (xi, rates), where xi, unless it is given, is K_gg^-1 (Ad*_g J - K_gt rates).
        """
        if momentum is not None and xi is not None:
            raise InputError(
                "start: both momentum and xi were given; give the momentum in space or the base's velocity."
            )
        d, shape = self.frame.dim, self.shapes
        rows, _ = in_rows(shape, identity(shape) if theta is None else theta)
        theta, rates = jax.tree.map(lambda leaf: leaf[0], rows), _vector("rates", rates, self.angle_count)
        g = jax.tree.map(np.asarray, self.frame.identity() if pose is None else pose)
        K = self.inertias(theta)[0]
        if xi is None:
            body = execute(_in_body, self.frame, g, _vector("momentum", momentum, d), parameters=(0,))
            velocity = np.linalg.solve(K[:d, :d], body - K[:d, d:] @ rates)
        else:
            velocity = _vector("xi", xi, d)
        return self.state(self.group.identity()._replace(g=g, theta=theta), mu=K @ [*velocity, *rates])

    def locked(self, state: State) -> State:
        """The state just after the hinges are stopped at once: the momentum stays, K_gg xi = mu_g, and the angles rest.
        From rest, the swimmer stops as well."""
        d = self.frame.dim
        K, body = self.inertias(state.g.theta)[0], np.asarray(state.mu)[:d]
        return State(state.g, K[:, :d] @ np.linalg.solve(K[:d, :d], body))

    def lagrangian(self, g: Any, xi: Float[Array, " n"], t: Scalar) -> Float[Array, ""]:
        """The kinetic energy."""
        return 0.5 * xi @ self.inertia(g.theta) @ xi

    def velocity(self, g: Any, mu: Float[Array, " n"], t: Scalar = 0.0) -> Float[Array, " n"]:
        """K^-1 mu."""
        return solve(self.inertia(g.theta), mu)


def _in_body(frame: AbstractGroup, g: Any, J: Any) -> Any:
    return frame.Ad_dual(g, J)


def _vector(name: str, value: Any, size: int) -> np.ndarray:
    array = np.zeros(size) if value is None else np.atleast_1d(floats(name, value))
    if array.shape != (size,) or not np.all(np.isfinite(array)):
        raise InputError(f"{name} = {value!r}; expected {size} finite number{'' if size == 1 else 's'}.")
    return array
