"""Which points lie inside a smooth curve."""

import numpy as np
from jaxtyping import Bool, Complex

from naiad.hydro.curve import CurvePoints

NEAR = 1.5
"""In steps between nodes: beyond, the trapezoidal rule counts turns about a point to better than 1e-3."""


def inside(outline: CurvePoints, z: Complex[np.ndarray, " m"]) -> Bool[np.ndarray, " m"]:
    """Whether points lie inside; a point on the curve (to 1e-13 of the size) does not."""
    n = len(outline.z)
    found = np.empty(len(z), dtype=bool)
    step = max(1, (1 << 19) // n)
    for first in range(0, len(z), step):
        here = z[first : first + step]
        apart = outline.z - here[:, None]
        distance = np.abs(apart)
        nearest = np.argmin(distance, axis=1)
        turns = np.sum((outline.dz / np.where(apart == 0.0, 1.0, apart)).imag, axis=1) / n
        near = distance[np.arange(len(here)), nearest] < NEAR * np.abs(outline.dz[nearest]) * 2.0 * np.pi / n
        within = turns > 0.5
        within[near] = _height(outline, here[near], nearest[near]) < -1e-13 * np.max(np.abs(outline.z - outline.z[0]))
        found[first : first + step] = within
    return found


def point_inside(outline: CurvePoints) -> complex:
    """The mean of the nodes if it lies inside, else of the inner nodes of a grid the farthest from the curve."""
    middle = np.mean(outline.z)
    if inside(outline, np.array([middle]))[0]:
        return complex(middle)
    x, y = (np.linspace(part.min(), part.max(), 42)[1:-1] for part in (np.real(outline.z), np.imag(outline.z)))
    grid = (x[:, None] + 1j * y).ravel()
    distance = np.min(np.abs(grid[:, None] - outline.z), axis=1)
    return complex(grid[np.argmax(np.where(inside(outline, grid), distance, -1.0))])


def _height(outline: CurvePoints, z: np.ndarray, nearest: np.ndarray) -> np.ndarray:
    """The distance from the curve along its normal, negative inside: the foot by Newton from the nearest node."""
    n = len(outline.z)
    m = np.fft.fftfreq(n, 1.0 / n)
    series = np.stack([np.fft.fft(values) / n for values in outline], axis=1)
    t = 2.0 * np.pi * nearest / n
    for _ in range(8):
        foot, dz, ddz = (np.exp(1j * np.outer(t, m)) @ series).T
        slope = (dz.conj() * (foot - z)).real
        bend = np.abs(dz) ** 2 + (ddz.conj() * (foot - z)).real
        t = t - slope / np.maximum(bend, 0.2 * np.abs(dz) ** 2)
    foot, dz, _ = (np.exp(1j * np.outer(t, m)) @ series).T
    return ((-1j * dz).conj() * (z - foot)).real / np.abs(dz)
