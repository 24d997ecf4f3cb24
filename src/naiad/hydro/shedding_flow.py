"""The flow around a plate or an ellipse with the vortices that it sheds: what leaves the edge, and how they move."""

from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Complex, Float

from naiad.hydro.elliptic_cylinder import EllipticCylinder

FIRST, LATER = 0.5, 1.0 / 3.0
"""Where a vortex begins: so much of a step behind the edge; at a plate later so much of the way to the one before. (At
the blunt edge of an ellipse the flow is at rest, and those before may linger.)"""


class SheddingFlow(NamedTuple):
    """z = s + c/s outside |s| = R; velocities are u - i v. `total` is the circulation of body and wake together."""

    R: float
    c: float
    added: Float[np.ndarray, "3 3"]
    density: float
    total: float = 0.0

    @classmethod
    def of(cls, body: EllipticCylinder, density: float, total: float = 0.0) -> "SheddingFlow":
        """Around this body."""
        a, b = float(body.a), float(body.b)
        return cls(0.5 * (a + b), 0.25 * (a * a - b * b), body.added_inertia(density), density, total)

    @property
    def edge(self) -> float:
        """Where the vortices leave, in the frame of the body."""
        return -self.R - self.c / self.R

    def mapped(self, z: Complex[np.ndarray, " n"]) -> Complex[np.ndarray, " n"]:
        """s of places z in the frame of the body."""
        root = np.sqrt(z * z - 4.0 * self.c + 0j)
        return 0.5 * (z + np.where(np.real(root * np.conj(z)) < 0.0, -root, root))

    def of_motion(self, s: Any, xi: np.ndarray) -> Any:
        """dw/ds of the body's motion."""
        V, c, R2 = complex(*xi[1:]), self.c, self.R**2
        return (V * R2 - V.conjugate() * c) / s**2 + 2j * xi[0] * c * R2 / s**3

    def of_total(self, s: Any) -> Any:
        """dw/ds of the circulation that body and wake have together."""
        return self.total / (2j * np.pi * s)

    def of_vortex(self, s: Any, other: Any) -> Any:
        """dw/ds of a unit vortex and its image, which leaves the opposite circulation around the body."""
        return (1.0 / (s - other) - 1.0 / (s - self.R**2 / np.conj(other))) / (2j * np.pi)

    def slip(self, X: Complex[np.ndarray, " n"], gamma: np.ndarray, xi: np.ndarray) -> float:
        """What the edge has of a velocity relative to the body, along it, in the plane of s: Kutta's condition is that
        there is none."""
        s = complex(-self.R)
        rigid = complex(*xi[1:]) + 1j * xi[0] * self.edge
        w = self.of_motion(s, xi) - (1.0 - self.c / s**2) * rigid.conjugate() + self.of_total(s)
        return float((1j * s * (w + np.sum(gamma * self.of_vortex(s, self.mapped(X))))).real)

    def slip_of_vortex(self, X: complex) -> float:
        """The same of a unit vortex alone."""
        s = complex(-self.R)
        return float((1j * s * self.of_vortex(s, self.mapped(np.array([X]))[0])).real)

    def rates(self, z: Complex[np.ndarray, " n"], gamma: np.ndarray, pose: np.ndarray, xi: np.ndarray) -> np.ndarray:
        """The velocities of the vortices in space, with Routh's term."""
        s = self.mapped(seen(z, pose))
        slope, bend = 1.0 - self.c / s**2, 2.0 * self.c / s**3
        away = s[:, None] - s + np.eye(len(s))
        pairs = (1.0 / away - np.eye(len(s)) - 1.0 / (s[:, None] - self.R**2 / s.conj())) / (2j * np.pi)
        w = (self.of_motion(s, xi) + self.of_total(s) + pairs @ gamma) / slope - gamma / (4j * np.pi) * bend / slope**2
        return np.conj(w) * np.exp(1j * pose[0])

    def impulse(self, z: Complex[np.ndarray, " n"], gamma: np.ndarray, pose: np.ndarray, xi: np.ndarray) -> complex:
        """The linear impulse of the fluid in space."""
        u, R2 = 1.0 / self.mapped(seen(z, pose)), self.R**2
        at_rest = -self.density * np.sum(gamma * ((self.c - R2) * u.imag - 1j * (self.c + R2) * u.real))
        moving = complex(*(self.added @ xi)[1:])
        areas = -1j * self.density * np.sum(gamma * (z - complex(*pose[1:])))
        return (moving + at_rest) * np.exp(1j * pose[0]) + areas


def seen(z: Any, pose: np.ndarray) -> Any:
    """Places in space in the frame of the body."""
    return (z - complex(*pose[1:])) * np.exp(-1j * pose[0])


def placed(flow: SheddingFlow, z: np.ndarray, pose: np.ndarray, xi: np.ndarray, dt: float) -> complex:
    """Where the next vortex begins, if those at z were shed before."""
    turn = np.exp(1j * pose[0])
    tip = turn * flow.edge + complex(*pose[1:])
    if len(z) and flow.c == flow.R**2:
        return tip + LATER * (z[-1] - tip)
    return tip - FIRST * dt * turn * (complex(*xi[1:]) + 1j * xi[0] * flow.edge)


def moved(pose: np.ndarray, xi: np.ndarray, dt: float) -> np.ndarray:
    """The pose after a step with this velocity."""
    half = 0.5 * xi[0] * dt
    shift = dt * np.sinc(half / np.pi) * complex(*xi[1:]) * np.exp(1j * (pose[0] + half))
    return pose + np.array([xi[0] * dt, shift.real, shift.imag])
