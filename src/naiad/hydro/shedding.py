"""A plate or an ellipse that moves as it is told and sheds vortices from its trailing edge: Kutta's condition.

This is no Hamiltonian system: every step adds a vortex, and energy goes with it. The impulse of body and wake gives the
force: what the fluid gains the body loses.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Complex, Float

from naiad.errors import InputError
from naiad.hydro.elliptic_cylinder import EllipticCylinder
from naiad.numerics.arguments import checked_throughout
from naiad.numerics.checks import positive, vector

FIRST, LATER = 0.5, 1.0 / 3.0
"""Where a vortex begins: so much of a step behind the edge, and later so much of the way to the one before."""


class Wake(NamedTuple):
    """What was shed: times, poses (beta, x, y) of the body, forces on it in space between the times, and strengths and
    places of the vortices in the end, the oldest first."""

    t: Float[np.ndarray, " k"]
    poses: Float[np.ndarray, "k 3"]
    forces: Float[np.ndarray, "k-1 2"]
    gamma: Float[np.ndarray, " n"]
    places: Float[np.ndarray, "n 2"]


@checked_throughout
def shed_wake(
    body: EllipticCylinder,
    velocity: Callable[[float], Any],
    *,
    t1: float,
    dt: float,
    density: float = 1.0,
    pose: Any = (0.0, 0.0, 0.0),
) -> Wake:
    """The wake of a body that has the velocity (Omega, v_x, v_y) = `velocity(t)` in its frame and starts from rest.

    At each time a vortex leaves the edge at -e_1, as strong as it takes for the fluid to leave there smoothly: without
    a velocity relative to the body at the edge of an ellipse, with a finite one at that of a plate (b = 0). The
    circulation around the body is what the wake lacks, and all vortices go with the flow, by Heun's method.
    """
    steps = round(positive("t1", t1) / positive("dt", dt))
    if steps < 1:
        raise InputError(f"t1 = {t1!r} is less than a step of dt = {dt!r}.")
    flow = _Flow.of(body, positive("density", density))
    here, z, gamma = vector("pose", pose), np.zeros(0, complex), np.zeros(0)
    poses, impulses = [here], []
    for k in range(steps + 1):
        xi = vector("velocity(t)", velocity(k * dt))
        z = np.append(z, _placed(flow.edge, z, here, xi, dt))
        gamma = np.append(gamma, flow.shed(_seen(z, here), gamma, xi))
        impulses.append(flow.impulse(z, gamma, here, xi))
        if k == steps:
            break
        rate = flow.rates(z, gamma, here, xi)
        next_pose = _moved(here, 0.5 * (xi + vector("velocity(t)", velocity((k + 1) * dt))), dt)
        after = flow.rates(z + dt * rate, gamma, next_pose, vector("velocity(t)", velocity((k + 1) * dt)))
        z, here = z + 0.5 * dt * (rate + after), next_pose
        poses.append(here)
    gained = np.array([[each.real, each.imag] for each in impulses])
    places = np.stack([np.real(z), np.imag(z)], axis=1)
    return Wake(dt * np.arange(steps + 1), np.array(poses), -np.diff(gained, axis=0) / dt, gamma, places)


class _Flow(NamedTuple):
    """z = s + c/s outside |s| = R; velocities are u - i v, of a body whose wake and circulation have no total."""

    R: float
    c: float
    added: Float[np.ndarray, "3 3"]
    density: float

    @classmethod
    def of(cls, body: EllipticCylinder, density: float) -> "_Flow":
        a, b = float(body.a), float(body.b)
        return cls(0.5 * (a + b), 0.25 * (a * a - b * b), body.added_inertia(density), density)

    @property
    def edge(self) -> float:
        """Where the vortices leave, in the frame of the body."""
        return -self.R - self.c / self.R

    def mapped(self, z: Complex[np.ndarray, " n"]) -> Complex[np.ndarray, " n"]:
        root = np.sqrt(z * z - 4.0 * self.c + 0j)
        return 0.5 * (z + np.where(np.real(root * np.conj(z)) < 0.0, -root, root))

    def of_motion(self, s: Any, xi: np.ndarray) -> Any:
        """dw/ds of the body's motion."""
        V, c, R2 = complex(*xi[1:]), self.c, self.R**2
        return (V * R2 - V.conjugate() * c) / s**2 + 2j * xi[0] * c * R2 / s**3

    def of_vortex(self, s: Any, other: Any) -> Any:
        """dw/ds of a unit vortex and its image, which leaves the opposite circulation around the body."""
        return (1.0 / (s - other) - 1.0 / (s - self.R**2 / np.conj(other))) / (2j * np.pi)

    def shed(self, X: Complex[np.ndarray, " n"], gamma: np.ndarray, xi: np.ndarray) -> float:
        """The strength of the last vortex with which the relative velocity along the body has no part at the edge."""
        s, others = complex(-self.R), self.mapped(X)
        rigid = complex(*xi[1:]) + 1j * xi[0] * self.edge
        known = self.of_motion(s, xi) - (1.0 - self.c / s**2) * rigid.conjugate()
        known = known + np.sum(gamma * self.of_vortex(s, others[:-1]))
        return float(-(1j * s * known).real / (1j * s * self.of_vortex(s, others[-1])).real)

    def rates(self, z: Complex[np.ndarray, " n"], gamma: np.ndarray, pose: np.ndarray, xi: np.ndarray) -> np.ndarray:
        """The velocities of the vortices in space, with Routh's term."""
        s = self.mapped(_seen(z, pose))
        slope, bend = 1.0 - self.c / s**2, 2.0 * self.c / s**3
        away = s[:, None] - s + np.eye(len(s))
        pairs = (1.0 / away - np.eye(len(s)) - 1.0 / (s[:, None] - self.R**2 / s.conj())) / (2j * np.pi)
        w = (self.of_motion(s, xi) + pairs @ gamma) / slope - gamma / (4j * np.pi) * bend / slope**2
        return np.conj(w) * np.exp(1j * pose[0])

    def impulse(self, z: Complex[np.ndarray, " n"], gamma: np.ndarray, pose: np.ndarray, xi: np.ndarray) -> complex:
        """The linear impulse of the fluid in space."""
        u, R2 = 1.0 / self.mapped(_seen(z, pose)), self.R**2
        at_rest = -self.density * np.sum(gamma * ((self.c - R2) * u.imag - 1j * (self.c + R2) * u.real))
        moving = complex(*(self.added @ xi)[1:])
        areas = -1j * self.density * np.sum(gamma * (z - complex(*pose[1:])))
        return (moving + at_rest) * np.exp(1j * pose[0]) + areas


def _seen(z: Any, pose: np.ndarray) -> Any:
    return (z - complex(*pose[1:])) * np.exp(-1j * pose[0])


def _placed(edge: float, z: np.ndarray, pose: np.ndarray, xi: np.ndarray, dt: float) -> complex:
    turn = np.exp(1j * pose[0])
    tip = turn * edge + complex(*pose[1:])
    if len(z):
        return tip + LATER * (z[-1] - tip)
    return tip - FIRST * dt * turn * (complex(*xi[1:]) + 1j * xi[0] * edge)


def _moved(pose: np.ndarray, xi: np.ndarray, dt: float) -> np.ndarray:
    """The pose after a step with this velocity."""
    half = 0.5 * xi[0] * dt
    shift = dt * np.sinc(half / np.pi) * complex(*xi[1:]) * np.exp(1j * (pose[0] + half))
    return pose + np.array([xi[0] * dt, shift.real, shift.imag])
