"""The closed curve that a gait is in the space of shapes: how far it goes, and how often around."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int

from naiad.locomotion.cycle import shapes_with_slopes
from naiad.locomotion.gait import AbstractGait

SWEEP = 0.02
"""The least rate of going round, as a part of that of the first harmonic."""


class Loop(NamedTuple):
    """A gait at equal steps of its period, with derivatives by its numbers along the last axis."""

    times: Float[np.ndarray, " s"]
    theta: Float[np.ndarray, "s m"]
    rates: Float[np.ndarray, "s m"]
    theta_slopes: Float[np.ndarray, "s m p"]
    rates_slopes: Float[np.ndarray, "s m p"]
    period: float


class Bounded(NamedTuple):
    """Numbers that are not to be negative, and their derivatives by those of the gait."""

    values: Float[np.ndarray, " c"]
    slopes: Float[np.ndarray, "c p"]


class Peaks(NamedTuple):
    """Times near which some angles, by their numbers, have a local extreme."""

    times: Float[np.ndarray, " e"]
    angles: Int[np.ndarray, " e"]


def loop(gait: AbstractGait, count: int) -> Loop:
    """The gait at `count` times."""
    period = float(gait.period)
    times = period / count * np.arange(count)
    shape, slopes = shapes_with_slopes(gait, times)
    return Loop(times, shape.theta, shape.rates, slopes.theta, slopes.rates, period)


def within(ring: Loop, bound: Float[np.ndarray, " m"]) -> Bounded:
    """bound - theta and bound + theta, relative to the bound."""
    theta, slopes = ring.theta / bound, ring.theta_slopes / bound[:, None]
    values = np.concatenate([1.0 - theta.ravel(), 1.0 + theta.ravel()])
    flat = slopes.reshape(-1, slopes.shape[2])
    return Bounded(values, np.concatenate([-flat, flat]))


def once_around(ring: Loop, size: float) -> Bounded:
    """The loop goes round in the sense of its first harmonic, C cos + S sin, and never back.

    With u = r . C and v = r . S, r = theta - mean, the rate of going round is u v' - v u'. For the first harmonic alone
    it is omega (|C|^2 |S|^2 - (C . S)^2) at all times; the loop keeps to at least `SWEEP` of that. `size` is the size
    of an angle.
    """
    omega, count = 2.0 * np.pi / ring.period, len(ring.times)
    waves = 2.0 / count * np.stack([np.cos(omega * ring.times), np.sin(omega * ring.times)])
    (C, S), (dC, dS) = waves @ ring.theta, np.tensordot(waves, ring.theta_slopes, 1)
    r, dr = (each - np.mean(each, axis=0) for each in (ring.theta, ring.theta_slopes))

    def along(x, dx, y, dy):
        return x @ y, np.tensordot(dx, y, (1, 0)) + x @ dy

    (u, du), (v, dv) = along(r, dr, C, dC), along(r, dr, S, dS)
    (u_t, du_t), (v_t, dv_t) = (along(ring.rates, ring.rates_slopes, *each) for each in ((C, dC), (S, dS)))
    k = C @ C * (S @ S) - (C @ S) ** 2
    dk = 2.0 * (C @ dC * (S @ S) + C @ C * (S @ dS) - C @ S * (C @ dS + S @ dC))
    slopes = du * v_t[:, None] + u[:, None] * dv_t - dv * u_t[:, None] - v[:, None] * du_t
    unit = omega * size**4
    return Bounded((u * v_t - v * u_t) / unit - SWEEP * k / size**4, slopes / unit - SWEEP * dk / size**4)


def winding(ring: Loop) -> float:
    """How often the loop goes round its mean, seen in the plane of its first harmonic, in the sense of that."""
    angle = 2.0 * np.pi / ring.period * ring.times
    r = ring.theta - np.mean(ring.theta, axis=0)
    u, v = r @ (np.cos(angle) @ r), r @ (np.sin(angle) @ r)
    phase = np.unwrap(np.append(np.arctan2(v, u), np.arctan2(v[0], u[0])))
    return float((phase[-1] - phase[0]) / (2.0 * np.pi))


def peaks(ring: Loop) -> Peaks:
    """The extremes of all angles that are not small beside the largest."""
    step, times, angles = ring.period / len(ring.times), [], []
    for a, (angle, rate) in enumerate(zip(ring.theta.T, ring.rates.T, strict=True)):
        after = np.roll(rate, -1)
        here = np.flatnonzero((rate * after <= 0.0) & (rate != after) & (np.abs(angle) > 0.5 * np.max(np.abs(angle))))
        times.append(ring.times[here] + rate[here] / (rate[here] - after[here]) * step)
        angles.append(np.full(len(here), a))
    return Peaks(np.concatenate(times), np.concatenate(angles))


def joined(one: Peaks, other: Peaks, apart: float) -> Peaks:
    """Those of one, and those of the other that are not already there."""
    new = [
        not np.any((one.angles == angle) & (np.abs(one.times - time) < apart))
        for time, angle in zip(*other, strict=True)
    ]
    return Peaks(np.append(one.times, other.times[new]), np.append(one.angles, other.angles[new]))


def followed(gait: AbstractGait, near: Peaks, bound: Float[np.ndarray, " m"], reach: float) -> Bounded:
    """bound - |theta| at the extremes themselves, relative to the bound: each is sought by Newton's method within
    `reach` of the time given. Where theta' = 0 a shift of the time changes nothing, so that its derivative is that of
    theta at a fixed time."""
    times, rows = near.times, np.arange(len(near.times))
    for _ in range(3):
        shape, _ = shapes_with_slopes(gait, times)
        bend = shape.accelerations[rows, near.angles]
        change = -shape.rates[rows, near.angles] / np.where(bend == 0.0, np.inf, bend)
        times = near.times + np.clip(times + change - near.times, -reach, reach)
    shape, slopes = shapes_with_slopes(gait, times)
    theta, size = shape.theta[rows, near.angles], bound[near.angles]
    return Bounded(1.0 - np.abs(theta) / size, -(np.sign(theta) / size)[:, None] * slopes.theta[rows, near.angles])
