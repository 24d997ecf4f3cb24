"""Exact flows of parts of a quadratic Hamiltonian H = mu . A mu / 2 on the dual of a Lie algebra.

A part mu . Q mu / 2 whose velocity xi = Q mu stays constant along its own flow moves by the one-parameter group of xi:
mu -> Ad*_{exp(h xi)} mu, g -> g exp(h xi). That holds for every Q of rank one (a screw motion), for every Q on a
commuting subalgebra (the kick, an axis), and for |Pi|^2 / 2 on so(3)* and se(3)*.
"""

import abc
from typing import Any

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from naiad.groups import SE3, SO3, AbstractGroup, Pose
from naiad.mechanics import Scalar, State
from naiad.numerics import Module, cross, hat, static, stumpff, stumpff_below, times_stumpff_below

Vector = Float[Array, " n"]
Axes = tuple[int, int, int]
Moved = tuple[State, Scalar]
"""The state after a flow, and the square of the angle that it turned by, over that of the pace."""


class Turns(Module):
    """Rotations and screw motions of a group, by short series that hold for angles up to `reach` (None: for all)."""

    group: AbstractGroup = static()
    reach: float | None = static(default=None)

    def moved(self, state: State, s: Scalar, x: Scalar, y: Vector, mu: Vector | None = None) -> Moved:
        """g exp(s x y) with Ad*_{exp(s x y)} mu, or with the momentum that is given; y may be known long before x."""
        d, v = self._increment(s, x, y)
        return State(self.group.advance(state.g, d), self._carried(d, state.mu) if mu is None else mu), v

    def c(self, k: int, s: Scalar, v: Any, factor: Scalar | float = 1.0) -> Float[Array, ""]:
        """factor c_k(s^2 v), a Stumpff function; powers of s and the factor, which many steps share, are left to the
        coefficients."""
        if self.reach is None:
            return factor * stumpff(k, s * s * v)
        return stumpff_below(k, v, s * s, self.reach**2, factor)

    def _increment(self, s: Scalar, x: Scalar, y: Vector) -> tuple[Any, Scalar]:
        """exp(s x y) - e, and the square of the angle over s^2."""
        if isinstance(self.group, SO3):
            return self._rotation(s, x, y)
        if isinstance(self.group, SE3):
            Omega, w = self.group.split(y)
            rotation, v = self._rotation(s, x, Omega)
            turned, way = cross(Omega, w), s * x
            shift = way * w + (way * way) * (self.c(2, s, v) * turned + self.c(3, s, v) * way * cross(Omega, turned))
            return Pose(rotation, shift), v
        return self.group.expm1(s * x * y), jnp.zeros(())

    def _rotation(self, s: Scalar, x: Scalar, Omega: Float[Array, "3"]) -> tuple[Float[Array, "3 3"], Scalar]:
        square, X = x * x, hat(Omega)
        v = jnp.dot(Omega, Omega) * square
        return self._sine(x, s, v) * X + (self.c(2, s, v, s * s) * square) * (X @ X), v

    def _sine(self, x: Any, s: Scalar, v: Any) -> Float[Array, ""]:
        """s x c_1(s^2 v), where x is there before v."""
        if self.reach is None:
            return s * x * stumpff(1, s * s * v)
        return times_stumpff_below(x, 1, v, s * s, self.reach**2, s)

    def _carried(self, d: Any, mu: Vector) -> Vector:
        """Ad*_{e + d} mu."""
        if isinstance(self.group, SO3):
            return _turned_back(d, mu)
        if isinstance(self.group, SE3):
            Pi, p = self.group.split(mu)
            return jnp.concatenate([_turned_back(d.R, Pi - cross(d.x, p)), _turned_back(d.R, p)])
        return self.group.Ad_dual_advance(d, mu)


def _turned_back(d: Float[Array, "3 3"], v: Float[Array, "3"]) -> Float[Array, "3"]:
    """(I + d)^T v, the diagonal of d last: it is there last."""
    x, y, z = v
    return jnp.stack(
        [
            x + d[1, 0] * y + d[2, 0] * z + d[0, 0] * x,
            y + d[2, 1] * z + d[0, 1] * x + d[1, 1] * y,
            z + d[0, 2] * x + d[1, 2] * y + d[2, 2] * z,
        ]
    )


class AbstractFlow(Module):
    """The flow of a part of a Hamiltonian."""

    @abc.abstractmethod
    def flow(self, turns: Turns, state: State, h: Scalar) -> Moved:
        """The state after a time h."""

    @abc.abstractmethod
    def pace(self, h: Scalar) -> Scalar:
        """What of the angle of a flow is known before its state."""

    @abc.abstractmethod
    def fastest(self, K: np.ndarray, energy: float) -> float:
        """The largest angular velocity of the flow where mu . K^-1 mu / 2 <= energy."""


class Screw(AbstractFlow):
    """rate (axis . mu)^2 / 2, on any group: a motion along the fixed direction `axis` of the algebra."""

    rate: Scalar
    axis: Any

    def flow(self, turns: Turns, state: State, h: Scalar) -> Moved:
        return turns.moved(state, self.pace(h), jnp.dot(self.axis, state.mu), self.axis)

    def pace(self, h: Scalar) -> Scalar:
        return h * self.rate

    def fastest(self, K: np.ndarray, energy: float) -> float:
        turning = np.linalg.norm(self.axis[:3])
        return float(abs(self.rate) * turning * np.sqrt(2 * energy * (self.axis @ K @ self.axis)))


class AlongAxis(AbstractFlow):
    """The part of A in (Pi_i, p_i) on se(3)*: the turn about an axis and the shift along it commute."""

    i: int = static()
    A: Float[Array, "6 6"]

    def flow(self, turns: Turns, state: State, h: Scalar) -> Moved:
        i, j, A = self.i, self.i + 3, self.A
        Pi, p = state.mu[i], state.mu[j]
        angle, way = A[i, i] * Pi + A[i, j] * p, A[j, i] * Pi + A[j, j] * p
        return turns.moved(state, h, 1.0, angle * jnp.eye(6)[i] + way * jnp.eye(6)[j])

    def pace(self, h: Scalar) -> Scalar:
        return h

    def fastest(self, K: np.ndarray, energy: float) -> float:
        return float(np.sqrt(2 * energy * self.A[self.i, self.i]))


class Kick(AbstractFlow):
    """p . m p / 2 on se(3)*: p stays, Pi gains h p x m p, of which only the traceless part of m counts. `first` are the
    axes in the order in which the components of p are known, when it follows a turn."""

    m: Float[Array, "3 3"]
    first: Axes = static(default=(0, 1, 2))

    def flow(self, turns: Turns, state: State, h: Scalar) -> Moved:
        (x, y, z), (p, q, r), m = state.mu[:3], state.mu[3:], h * self.m
        qr, rp, pq = q * r, r * p, p * q

        def gained(i: int, j: int) -> Scalar:
            """(m_jj - m_ii) p_i p_j, which waits for the later of the two."""
            soon, late = sorted((i, j), key=self.first.index)
            return ((m[j, j] - m[i, i]) * state.mu[3 + soon]) * state.mu[3 + late]

        Pi = jnp.stack(
            [
                x + gained(1, 2) + m[0, 2] * pq - m[0, 1] * rp + m[1, 2] * (q * q - r * r),
                y + gained(2, 0) + m[0, 1] * qr - m[1, 2] * pq + m[0, 2] * (r * r - p * p),
                z + gained(0, 1) + m[1, 2] * rp - m[0, 2] * qr + m[0, 1] * (p * p - q * q),
            ]
        )
        shift = Pose(jnp.zeros((3, 3)), m @ state.mu[3:])
        return State(turns.group.advance(state.g, shift), jnp.concatenate([Pi, state.mu[3:]])), jnp.zeros(())

    def pace(self, h: Scalar) -> Scalar:
        return h

    def fastest(self, K: np.ndarray, energy: float) -> float:
        return 0.0


class Sphere(AbstractFlow):
    """rate |Pi|^2 / 2 on so(3)* and se(3)*: Pi stays, p turns about it. `first` are the axes in the order in which the
    components of Pi are known."""

    rate: Scalar
    first: Axes = static(default=(0, 1, 2))

    def flow(self, turns: Turns, state: State, h: Scalar) -> Moved:
        Pi, p, s = state.mu[:3], state.mu[3:], self.pace(h)
        v = sum(Pi[i] * Pi[i] for i in self.first)
        if len(p):
            turned = cross(Pi, p)
            p = p - turns.c(1, s, v, s) * turned + turns.c(2, s, v, s * s) * cross(Pi, turned)
        along = jnp.concatenate([Pi, jnp.zeros_like(p)])
        return turns.moved(state, s, 1.0, along, jnp.concatenate([Pi, p]))[0], v

    def pace(self, h: Scalar) -> Scalar:
        return h * self.rate

    def fastest(self, K: np.ndarray, energy: float) -> float:
        return float(abs(self.rate) * np.sqrt(2 * energy * np.linalg.eigvalsh(K[:3, :3])[-1]))
