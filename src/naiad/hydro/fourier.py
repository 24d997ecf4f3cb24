"""Periodic functions by their values at equal steps of a parameter of period 2 pi."""

import numpy as np


def wavenumbers(points: int) -> np.ndarray:
    """The m of exp(i m t), in the order of the FFT; the highest one of an even number of points counts as zero."""
    m = np.fft.fftfreq(points, 1.0 / points)
    m[m == -points / 2] = 0.0
    return m


def derivative(values: np.ndarray, order: int = 1) -> np.ndarray:
    """d^order/dt^order of the trigonometric polynomial through complex values (along the first axis)."""
    factor = (1j * wavenumbers(len(values))) ** order
    return np.fft.ifft(np.fft.fft(values, axis=0) * _column(factor, values), axis=0)


def antiderivative(values: np.ndarray) -> np.ndarray:
    """The periodic integral of real values without their mean, itself of mean zero."""
    m = wavenumbers(len(values))
    factor = np.where(m == 0.0, 0.0, 1.0 / (1j * np.where(m == 0.0, 1.0, m)))
    return np.fft.ifft(np.fft.fft(values, axis=0) * _column(factor, values), axis=0).real


def interpolation(points: int, coarse: int) -> np.ndarray:
    """The matrix from values at `coarse` equal steps to those of their trigonometric polynomial at `points`."""
    t = 2.0 * np.pi * np.arange(points) / points
    m = np.arange(1, (coarse + 1) // 2)
    row = 1.0 + 2.0 * np.sum(np.cos(np.outer(t, m)), axis=1)
    if coarse % 2 == 0:
        row += np.cos(0.5 * coarse * t)
    return row[(np.arange(points)[:, None] - np.arange(0, points, points // coarse)) % points] / coarse


def refined(values: np.ndarray, points: int) -> np.ndarray:
    """Complex values of the same trigonometric polynomial at more points."""
    n = len(values)
    coefficients = np.fft.fft(values) / n
    wide = np.zeros(points, dtype=complex)
    wide[: (n + 1) // 2], wide[-(n // 2) :] = coefficients[: (n + 1) // 2], coefficients[-(n // 2) :]
    if n % 2 == 0:  # the highest mode is half of each sign
        wide[n // 2] = wide[-n // 2] = 0.5 * coefficients[n // 2]
    return np.fft.ifft(wide) * points


def tail(values: np.ndarray, coarse: int) -> float:
    """The largest coefficient that `coarse` steps do not hold, relative to the largest of all."""
    coefficients = np.abs(np.fft.fft(values, axis=0))
    beyond = np.abs(np.fft.fftfreq(len(values), 1.0 / len(values))) >= coarse / 2
    return float(np.max(coefficients[beyond], initial=0.0) / np.max(coefficients))


def _column(factor: np.ndarray, values: np.ndarray) -> np.ndarray:
    return factor.reshape(-1, *[1] * (values.ndim - 1))
