"""Fewer points, the same picture."""

import numpy as np

LIMIT = 20_000


def thin(time: np.ndarray, values: np.ndarray, limit: int = LIMIT) -> tuple[np.ndarray, np.ndarray]:
    """A line of at most about `limit` points that looks the same: the least and greatest value of every bucket stay.

    Longer lines take long to draw and overflow the renderer; every m-th point instead would lose the extremes.
    """
    count = len(time)
    if count <= limit:
        return time, values
    size = -(-2 * count // limit)
    whole = count // size * size
    buckets = values[:whole].reshape(-1, size)
    starts = np.arange(0, whole, size)
    low = np.where(np.isnan(buckets), np.inf, buckets).argmin(1) + starts
    high = np.where(np.isnan(buckets), -np.inf, buckets).argmax(1) + starts
    keep = np.unique(np.concatenate([[0], low, high, np.arange(whole, count), [count - 1]]))
    return time[keep], values[keep]


def evenly(count: int, limit: int) -> np.ndarray:
    """At most `limit` of the indices 0 .. count - 1, evenly spaced, with the first and the last."""
    return np.unique(np.linspace(0, count - 1, min(count, limit)).round().astype(int))
