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
    """About how far `integral_over_time` is off: the change d that every other time left out makes, over r - 1, where r
    is how much larger the next such change is: 16 where the times are close enough for the fourth order, and 2 where
    something happens between two of them."""
    if len(time) < 5 or not np.isfinite(values).all():
        return 0.0
    whole, half, quarter = (integral_over_time(time[::step], values[::step], time[::4]) for step in (1, 2, 4))
    change, larger = (float(np.max(np.abs(each))) for each in (whole - half, half - quarter))
    return change / (np.clip(larger / change, 2.0, 16.0) - 1.0) if change else 0.0
