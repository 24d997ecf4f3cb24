"""Exact flows of parts of a quadratic Hamiltonian H = mu . A mu / 2 on the dual of a Lie algebra.

A part mu . Q mu / 2 whose velocity xi = Q mu stays constant along its own flow moves by the one-parameter group of xi:
mu -> Ad*_{exp(h xi)} mu, g -> g exp(h xi). That holds for every Q of rank one (a screw motion), for every Q on a
commuting subalgebra (the kick), and for |Pi|^2 / 2 on so(3)* and se(3)*.
"""

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
from jaxtyping import Array, Float

from naiad.groups import SE3, SO3, AbstractGroup, Pose
from naiad.mechanics import Scalar, State
from naiad.numerics import cross, hat, stumpff, stumpff_below

Vector = Float[Array, " n"]


Flow = Callable[[State, Scalar], tuple[State, Scalar]]
"""From a state and a time to the state after it, and the square of the angle that it turned by."""


class Turns:
    """Increments of the rotations and screws of a group, by series that hold for angles up to `reach` (None: for
    all)."""

    def __init__(self, group: AbstractGroup, reach: float | None):
        self.group = group
        self._reach = reach

    def increment(self, x: Vector) -> tuple[Any, Scalar]:
        """exp(x) - e, and the square of the angle."""
        if isinstance(self.group, SO3):
            return self._rotation(x)
        if isinstance(self.group, SE3):
            Omega, v = self.group.split(x)
            rotation, u = self._rotation(Omega)
            turned = cross(Omega, v)
            return Pose(rotation, v + self.c(2, u) * turned + self.c(3, u) * cross(Omega, turned)), u
        return self.group.expm1(x), jnp.zeros(())

    def carried(self, increment: Any, mu: Vector) -> Vector:
        """Ad*_{e + increment} mu."""
        if isinstance(self.group, SO3):
            return _turned_back(increment, mu)
        if isinstance(self.group, SE3):
            Pi, p = self.group.split(mu)
            return jnp.concatenate(
                [_turned_back(increment.R, Pi - cross(increment.x, p)), _turned_back(increment.R, p)]
            )
        return self.group.Ad_dual_advance(increment, mu)

    def moved(self, state: State, increment: Any, mu: Vector) -> State:
        """g (e + increment), with the momentum mu."""
        return State(self.group.advance(state.g, increment), mu)

    def c(self, k: int, u: Scalar) -> Scalar:
        """The Stumpff function c_k(u)."""
        return stumpff(k, u) if self._reach is None else stumpff_below(k, u, self._reach**2)

    def _rotation(self, Omega: Float[Array, "3"]) -> tuple[Float[Array, "3 3"], Scalar]:
        u, X = jnp.dot(Omega, Omega), hat(Omega)
        return self.c(1, u) * X + self.c(2, u) * (X @ X), u


def _turned_back(d: Float[Array, "3 3"], v: Float[Array, "3"]) -> Float[Array, "3"]:
    """(I + d)^T v, the small diagonal of d last."""
    x, y, z = v
    return jnp.stack(
        [
            x + d[1, 0] * y + d[2, 0] * z + d[0, 0] * x,
            y + d[2, 1] * z + d[0, 1] * x + d[1, 1] * y,
            z + d[0, 2] * x + d[1, 2] * y + d[2, 2] * z,
        ]
    )


def screw(turns: Turns, rate: Scalar, axis: Vector) -> Flow:
    """rate (axis . mu)^2 / 2, on any group: a motion along the fixed direction `axis` of the algebra."""

    def flow(state, h):
        increment, u = turns.increment((h * rate * jnp.dot(axis, state.mu)) * axis)
        return turns.moved(state, increment, turns.carried(increment, state.mu)), u

    return flow


def along_axis(turns: Turns, i: int, A: Float[Array, "6 6"]) -> Flow:
    """The part of A in (Pi_i, p_i) on se(3)*: the turn about an axis and the shift along it commute."""
    turn, shift = jnp.eye(6)[i], jnp.eye(6)[i + 3]

    def flow(state, h):
        Pi, p = state.mu[i], state.mu[i + 3]
        angle, way = A[i, i] * Pi + A[i, i + 3] * p, A[i + 3, i] * Pi + A[i + 3, i + 3] * p
        increment, u = turns.increment(h * (angle * turn + way * shift))
        return turns.moved(state, increment, turns.carried(increment, state.mu)), u

    return flow


def kick(turns: Turns, m: Float[Array, "3 3"]) -> Flow:
    """p . m p / 2 on se(3)*: p stays, Pi gains h p x m p, of which only the traceless part of m counts."""

    def flow(state, h):
        p, q, r = state.mu[3:]
        d1, d2, d3 = m[2, 2] - m[1, 1], m[0, 0] - m[2, 2], m[1, 1] - m[0, 0]
        torque = jnp.stack(
            [
                d1 * q * r + m[0, 2] * p * q - m[0, 1] * p * r + m[1, 2] * (q * q - r * r),
                d2 * r * p + m[0, 1] * q * r - m[1, 2] * q * p + m[0, 2] * (r * r - p * p),
                d3 * p * q + m[1, 2] * r * p - m[0, 2] * r * q + m[0, 1] * (p * p - q * q),
            ]
        )
        shift = Pose(jnp.zeros((3, 3)), h * (m @ state.mu[3:]))
        return turns.moved(state, shift, jnp.concatenate([state.mu[:3] + h * torque, state.mu[3:]])), jnp.zeros(())

    return flow


def sphere(turns: Turns, rate: Scalar) -> Flow:
    """rate |Pi|^2 / 2 on so(3)* and se(3)*: Pi stays, p turns about it."""

    def flow(state, h):
        Pi, p = state.mu[:3], state.mu[3:]
        Omega = h * rate * Pi
        increment, u = turns.increment(jnp.concatenate([Omega, jnp.zeros_like(p)]))
        if len(p):
            turned = cross(Omega, p)
            p = p - turns.c(1, u) * turned + turns.c(2, u) * cross(Omega, turned)
        return turns.moved(state, increment, jnp.concatenate([Pi, p])), u

    return flow


def both(first: Flow, second: Flow) -> Flow:
    """One flow after another; of parts that commute it is the flow of their sum."""

    def flow(state, h):
        state, u = first(state, h)
        state, v = second(state, h)
        return state, jnp.maximum(u, v)

    return flow
