"""Fewer points, the same picture."""

import numpy as np
from numpy.typing import ArrayLike

LIMIT = 4000
"""Points of a line over time: two for each column of pixels in a panel of 6 inches at 300 dots an inch, and some."""


def thin(time: ArrayLike, values: ArrayLike, limit: int = LIMIT) -> tuple[np.ndarray, np.ndarray]:
    """A line of at most about `limit` points that looks the same: the least and greatest value of every bucket stay.

    A bucket is no wider than a column of pixels. Longer lines take long to draw and overflow the renderer; every m-th
    point instead would lose the extremes. Not-a-numbers stay gaps where a bucket has nothing else.
    """
    time, values = np.asarray(time), np.asarray(values)
    count = len(time)
    if count <= limit:
        return time, values
    size = -(-2 * count // limit)
    whole = count // size * size
    buckets = values[:whole].reshape(-1, size)
    starts = np.arange(0, whole, size)
    if np.isnan(buckets).any():
        low, high = (np.where(np.isnan(buckets), empty, buckets) for empty in (np.inf, -np.inf))
    else:
        low = high = buckets
    extremes = np.concatenate([low.argmin(1) + starts, high.argmax(1) + starts])
    keep = np.unique(np.concatenate([[0], extremes, np.arange(whole, count), [count - 1]]))
    return time[keep], values[keep]


def evenly(count: int, limit: int) -> np.ndarray:
    """At most `limit` of the indices 0 .. count - 1, evenly spaced, with the first and the last."""
    return np.unique(np.linspace(0, count - 1, min(count, limit)).round().astype(int))
