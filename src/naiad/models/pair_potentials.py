"""Potentials between two bodies, functions of the second's pose in the frame of the first."""

import abc
from typing import Any, NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from naiad.numerics import Module

Vector = Float[Array, "3"]
Matrix = Float[Array, "3 3"]


class Body(NamedTuple):
    """What a potential may know of a body: its number, mass and inertia in its own frame."""

    index: Int[Array, ""]
    m: Float[Array, ""]
    J: Matrix


class AbstractPairPotential(Module):
    """U(r, Q, a, b): r = R_a^T (x_b - x_a) and Q = R_a^T R_b are where b is seen from a.

    Whatever is written in r and Q is invariant under rigid motions of space, so momenta are conserved.
    """

    @abc.abstractmethod
    def __call__(self, r: Vector, Q: Matrix, a: Body, b: Body) -> Float[Array, ""]:
        """The energy of the pair."""


class Gravity(AbstractPairPotential):
    """Gravity of extended bodies to second order in their size over their distance (MacCullagh's formula for both):

    U = -G m_a m_b / |r| - G / (2 |r|^3) (m_b (tr J_a - 3 u . J_a u) + m_a (tr J_b - 3 u . Q J_b Q^T u)), u = r / |r|.
    """

    G: float = 1.0

    def __call__(self, r: Vector, Q: Matrix, a: Body, b: Body) -> Float[Array, ""]:
        square = r @ r
        back = r @ Q
        shapes = b.m * (jnp.trace(a.J) - 3.0 * (r @ a.J @ r) / square)
        shapes += a.m * (jnp.trace(b.J) - 3.0 * (back @ b.J @ back) / square)
        return -self.G * (a.m * b.m + 0.5 * shapes / square) / jnp.sqrt(square)


class LennardJones(AbstractPairPotential):
    """U = 4 depth ((radius / |r|)^12 - (radius / |r|)^6), of the distance alone."""

    depth: float = 1.0
    radius: float = 1.0

    def __call__(self, r: Vector, Q: Matrix, a: Body, b: Body) -> Float[Array, ""]:
        attraction = (self.radius**2 / (r @ r)) ** 3
        return 4.0 * self.depth * (attraction**2 - attraction)


class Dipoles(AbstractPairPotential):
    """U = strength (d_a . d_b - 3 (d_a . u) (d_b . u)) / |r|^3 + 4 depth (radius / |r|)^12: dipoles along an axis of
    each body, with a soft core (Stockmayer's fluid without the attraction).

    `moment` is in the body's frame: three numbers for all bodies, or three for each.
    """

    moment: Any = (0.0, 0.0, 1.0)
    strength: float = 1.0
    depth: float = 1.0
    radius: float = 1.0

    def __call__(self, r: Vector, Q: Matrix, a: Body, b: Body) -> Float[Array, ""]:
        moment = jnp.asarray(self.moment)
        own = moment if moment.ndim == 1 else moment[a.index]
        other = Q @ (moment if moment.ndim == 1 else moment[b.index])
        square = r @ r
        pairing = own @ other - 3.0 * (own @ r) * (other @ r) / square
        return self.strength * pairing / (square * jnp.sqrt(square)) + 4.0 * self.depth * (self.radius**2 / square) ** 6


class AlignedLennardJones(AbstractPairPotential):
    """Lennard-Jones with a well that depends on how two axes lie to each other and to the line between them:

    U = 4 depth (s^12 - (1 + bend P_2(u_a . u_b) + lean (P_2(u_a . r/|r|) + P_2(u_b . r/|r|))) s^6), s = radius / |r|,

    u_a, u_b the third axes of the bodies and P_2(x) = (3 x^2 - 1) / 2: the first terms of a Gay-Berne potential in
    spherical harmonics.
    """

    depth: float = 1.0
    radius: float = 1.0
    bend: float = 0.3
    lean: float = 0.2

    def __call__(self, r: Vector, Q: Matrix, a: Body, b: Body) -> Float[Array, ""]:
        square = r @ r
        attraction = (self.radius**2 / square) ** 3
        along = (1.5 * (r[2] ** 2 + (r @ Q[:, 2]) ** 2) / square) - 1.0
        well = 1.0 + self.bend * (1.5 * Q[2, 2] ** 2 - 0.5) + self.lean * along
        return 4.0 * self.depth * (attraction**2 - well * attraction)
