"""A plate or an ellipse that moves freely and sheds vortices from its trailing edge.

The impulse of body, fluid and wake is what forces have given. So the velocity of the body is known from where all are,
and so is the jump that it makes when a vortex is shed: that and the vortex's strength follow from the impulse, which
stays, and Kutta's condition, four linear equations. Energy is not kept: each vortex takes some of it.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Complex, Float

from naiad.errors import InputError, RunError
from naiad.hydro.elliptic_cylinder import EllipticCylinder
from naiad.hydro.shedding_flow import SheddingFlow, moved, placed, seen
from naiad.numerics.arguments import checked_throughout
from naiad.numerics.checks import floats, number, positive, semidefinite_inertia, vector

NONE = np.zeros(0, complex)


class FreeWake(NamedTuple):
    """A free body and what it shed: times, poses (beta, x, y), velocities xi = (Omega, v_x, v_y) in the body after each
    shedding, the impulse (angular about the origin of space, linear) of body, fluid and wake; strengths and places of
    all vortices in the end, the given ones first."""

    t: Float[np.ndarray, " k"]
    poses: Float[np.ndarray, "k 3"]
    xi: Float[np.ndarray, "k 3"]
    impulse: Float[np.ndarray, "k 3"]
    gamma: Float[np.ndarray, " n"]
    places: Float[np.ndarray, "n 2"]


@checked_throughout
def shed_freely(
    body: EllipticCylinder,
    dry: Any,
    *,
    xi: Any = (0.0, 0.0, 0.0),
    t1: float,
    dt: float,
    density: float = 1.0,
    pose: Any = (0.0, 0.0, 0.0),
    gamma: Any = (),
    at: Any = None,
    circulation: float = 0.0,
    force: Callable[[float], Any] | None = None,
) -> FreeWake:
    """The motion of a body with the inertia `dry` (I, m, m, or a 3 x 3 matrix), which begins with the velocity xi in
    its frame, and of the vortices that leave its edge at -e_1 at each time, by Kutta's condition (see `shed_wake`).

    `gamma` and `at` (rows (x, y) in space) are vortices that are there at first, `circulation` is that around the body
    then. `force(t)` is (torque about its origin, force_x, force_y) on it, in space. Impulse of body, fluid and wake
    changes by that of the force alone, also when a vortex is shed. Steps are Heun's, of second order between sheddings.
    """
    steps = round(positive("t1", t1) / positive("dt", dt))
    if steps < 1:
        raise InputError(f"t1 = {t1!r} is less than a step of dt = {dt!r}.")
    strengths, z = _given(gamma, at)
    total = number("circulation", circulation) + float(np.sum(strengths))
    flow = SheddingFlow.of(body, positive("density", density), total)
    free = _Free(flow, semidefinite_inertia("dry", dry, 3) + flow.added)
    if np.linalg.eigvalsh(free.M)[0] <= 0.0:
        raise InputError("dry: the body has motions without inertia; expected one for each, dry or added.")
    here, first = vector("pose", pose), len(z)
    if first and np.min(np.abs(flow.mapped(seen(z, here)))) <= flow.R * (1.0 + 1e-9):
        raise InputError("at: a vortex lies in or on the body; move it out.")
    push = _push(force)
    whole = free.impulse(vector("xi", xi), z, strengths, here)
    poses, velocities, impulses = [here], [], []
    for k in range(steps + 1):
        t = k * dt
        z, strengths, now = free.shed(whole, z, strengths, here, dt, first)
        free.check_outside(z, here, t)
        velocities.append(now)
        impulses.append(free.impulse(now, z, strengths, here))
        if k == steps:
            break
        rate, given = flow.rates(z, strengths, here, now), push(t, here)
        there, moving = moved(here, now, dt), z + dt * rate
        then = free.velocity(whole + dt * given, moving, strengths, there)
        after, later = flow.rates(moving, strengths, there, then), push(t + dt, there)
        here, z = moved(here, 0.5 * (now + then), dt), z + 0.5 * dt * (rate + after)
        whole = whole + 0.5 * dt * (given + later)
        poses.append(here)
    places = np.stack([np.real(z), np.imag(z)], axis=1)
    times = dt * np.arange(steps + 1)
    return FreeWake(times, np.array(poses), np.array(velocities), np.array(impulses), strengths, places)


class _Free(NamedTuple):
    """Impulses (angular about the origin of space, linear) and velocities of a body with the inertia M."""

    flow: SheddingFlow
    M: Float[np.ndarray, "3 3"]

    def impulse(self, xi: np.ndarray, z: Complex[np.ndarray, " n"], gamma: np.ndarray, pose: np.ndarray) -> np.ndarray:
        """That of body, fluid and vortices."""
        return _in_space(self.M @ xi, pose) + self.at_rest(z, gamma, pose)

    def velocity(self, whole: np.ndarray, z: np.ndarray, gamma: np.ndarray, pose: np.ndarray) -> np.ndarray:
        """xi of the body where the impulse is known."""
        return np.linalg.solve(self.M, _in_body(whole - self.at_rest(z, gamma, pose), pose))

    def at_rest(self, z: Complex[np.ndarray, " n"], gamma: np.ndarray, pose: np.ndarray) -> np.ndarray:
        """The impulse while the body is at rest: - rho sum Gamma_k psi(X_k) - rho Gamma_b psi_b, psi the stream
        functions of the unit motions, and rho Gamma (-|z|^2 / 2, y, -x) of all vortices and of the circulation."""
        flow, bound = self.flow, self.flow.total - np.sum(gamma)
        u, R2, c = 1.0 / flow.mapped(seen(z, pose)), flow.R**2, flow.c
        psi = np.array([-c * R2 * (u * u).real, (c - R2) * u.imag, -(c + R2) * u.real]) @ gamma
        psi[0] += 0.5 * bound * (R2 + c * c / R2)
        every, strength = np.append(z, complex(*pose[1:])), np.append(gamma, bound)
        areas = np.array([-0.5 * np.abs(every) ** 2, np.imag(every), -np.real(every)]) @ strength
        return flow.density * (areas - _in_space(psi, pose))

    def check_outside(self, z: Complex[np.ndarray, " n"], pose: np.ndarray, t: float) -> None:
        """Or raise a `RunError`."""
        if len(z) and not np.min(np.abs(self.flow.mapped(seen(z, pose)))) > self.flow.R * (1.0 - 1e-9):
            raise RunError(
                f"At t = {t:g} s a vortex came into the body; take a smaller dt, or end before. (The edge at -e_1 "
                "sheds: it should go behind.)"
            )

    def shed(
        self, whole: np.ndarray, z: np.ndarray, gamma: np.ndarray, pose: np.ndarray, dt: float, first: int
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """With one more vortex, the impulse as before: all vortices, and the velocity of the body. A body that has not
        moved yet sheds nothing."""
        flow, xi = self.flow, self.velocity(whole, z, gamma, pose)
        new = np.array([placed(flow, z[first:], pose, xi, dt)])
        if len(z) == first and not np.any(xi):
            return z, gamma, xi
        pushed = self.at_rest(new, np.ones(1), pose) - self.at_rest(NONE, np.zeros(0), pose)
        jump = -np.linalg.solve(self.M, _in_body(pushed, pose))  # of xi for a unit vortex
        still = flow.slip(NONE, np.zeros(0), np.zeros(3))
        unit = flow.slip_of_vortex(seen(new, pose)[0]) + flow.slip(NONE, np.zeros(0), jump) - still
        strength = -flow.slip(seen(z, pose), gamma, xi) / unit
        return np.append(z, new), np.append(gamma, strength), xi + strength * jump


def _in_space(mu: np.ndarray, pose: np.ndarray) -> np.ndarray:
    """A momentum (angular, linear) of the body frame about the origin of space."""
    p = complex(*mu[1:]) * np.exp(1j * pose[0])
    return np.array([mu[0] + pose[1] * p.imag - pose[2] * p.real, p.real, p.imag])


def _in_body(whole: np.ndarray, pose: np.ndarray) -> np.ndarray:
    p = complex(*whole[1:]) * np.exp(-1j * pose[0])
    return np.array([whole[0] - pose[1] * whole[2] + pose[2] * whole[1], p.real, p.imag])


def _push(force: Callable[[float], Any] | None) -> Callable[[float, np.ndarray], np.ndarray]:
    """The rate of the impulse."""

    def push(t: float, pose: np.ndarray) -> np.ndarray:
        if force is None:
            return np.zeros(3)
        torque, fx, fy = vector("force(t)", force(t))
        return np.array([torque + pose[1] * fy - pose[2] * fx, fx, fy])

    return push


def _given(gamma: Any, at: Any) -> tuple[np.ndarray, np.ndarray]:
    strengths = np.atleast_1d(floats("gamma", gamma)).astype(float).ravel()
    places = np.zeros((0, 2)) if at is None else np.asarray(floats("at", at), float)
    if places.size != 2 * strengths.size or not np.all(np.isfinite(places)):
        raise InputError(f"at has shape {places.shape}; expected a place (x, y) for each of {strengths.size} vortices.")
    x, y = places.reshape(-1, 2).T
    return strengths, x + 1j * y
