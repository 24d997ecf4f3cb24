"""Outlines that cross themselves or each other."""

import numpy as np
from jaxtyping import Bool, Complex

from naiad.hydro.curve import AbstractCurve

FINE = 720


def crosses_itself(curve: AbstractCurve) -> bool:
    """Whether a fine polygon on the curve does."""
    z = curve.sample(FINE).z
    crossing = _crossings(z, z)
    near = (np.arange(FINE)[:, None] - np.arange(FINE) + 1) % FINE < 3  # a side and its neighbours share points
    return bool(np.any(crossing & ~near))


def overlap(one: Complex[np.ndarray, " n"], other: Complex[np.ndarray, " m"]) -> bool:
    """Whether two polygons cross or touch, or one holds the other."""
    held = winds_around(one, other[:1])[0] or winds_around(other, one[:1])[0]
    touch = np.min(np.abs(one[:, None] - other)) < 1e-9 * np.max(np.abs(one - one[0]))
    return bool(held or touch or np.any(_crossings(one, other)))


def winds_around(polygon: Complex[np.ndarray, " n"], points: Complex[np.ndarray, " m"]) -> Bool[np.ndarray, " m"]:
    """Whether a polygon goes around points."""
    points = points[:, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        turned = np.angle((np.roll(polygon, -1) - points) / (polygon - points))
    return np.abs(np.sum(turned, axis=1)) > np.pi


def _crossings(one: Complex[np.ndarray, " n"], other: Complex[np.ndarray, " m"]) -> np.ndarray:
    """Whether side j of one and side k of the other cross: each has the other's ends on both of its sides."""
    p, q = one[:, None], np.roll(one, -1)[:, None]
    r, s = other[None, :], np.roll(other, -1)[None, :]
    apart = (_side(p, q, r) * _side(p, q, s) > 0.0) | (_side(r, s, p) * _side(r, s, q) > 0.0)
    for part in (np.real, np.imag):  # sides on one line
        low, high = np.minimum(part(p), part(q)), np.maximum(part(p), part(q))
        apart |= (np.maximum(part(r), part(s)) < low) | (np.minimum(part(r), part(s)) > high)
    return ~apart


def _side(start: np.ndarray, end: np.ndarray, point: np.ndarray) -> np.ndarray:
    return np.imag(np.conj(end - start) * (point - start))
