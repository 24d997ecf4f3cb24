"""Integrals over time from values at some of the nodes."""

import numpy as np


def integral_over_time(time: np.ndarray, values: np.ndarray, at: np.ndarray) -> np.ndarray:
    """The integral from the first of `time` to each of `at`, by the cubic spline through the values: of fourth order in
    their distance. Not a number from where a value is none."""
    from scipy.interpolate import CubicSpline

    bad = np.flatnonzero(~np.isfinite(values))
    count = bad[0] if len(bad) else len(values)
    result = np.full(len(at), np.nan)
    if count < 2:
        result[at <= time[0]] = 0.0
        return result
    known = at <= time[count - 1]
    result[known] = CubicSpline(time[:count], values[:count]).antiderivative()(at[known])
    return result


def quadrature_error(time: np.ndarray, values: np.ndarray) -> float:
    """About how far `integral_over_time` is off: a fifteenth of what the values at every other time would change."""
    if len(time) < 5 or not np.isfinite(values).all():
        return 0.0
    half = time[::2]
    both = (integral_over_time(time[::step], values[::step], half) for step in (1, 2))
    return float(np.max(np.abs(np.subtract(*both)))) / 15.0
