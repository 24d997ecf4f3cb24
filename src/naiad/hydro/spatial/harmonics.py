"""Real spherical harmonics: their values, turns of the sphere, and a grid on it."""

import functools
import math

import numpy as np
from jaxtyping import Float


def orders(degree: int) -> list[tuple[int, int]]:
    """(l, m) of all harmonics up to a degree but the constant, m < 0 for sines."""
    return [(l, m) for l in range(1, degree + 1) for m in range(-l, l + 1)]  # noqa: E741


def legendre(degree: int, t: Float[np.ndarray, " q"]) -> Float[np.ndarray, "l m q"]:
    """The functions of t = cos(theta) in the harmonics, all positive near t = 1; with cos or sin(m phi) as they are
    for m = 0, and times sqrt(2) otherwise, their squares have the integral 1 over the sphere."""
    s = np.sqrt(np.maximum(0.0, (1.0 - t) * (1.0 + t)))
    P = np.zeros((degree + 1, degree + 1, len(t)))
    P[0, 0] = math.sqrt(0.25 / math.pi)
    for m in range(1, degree + 1):
        P[m, m] = math.sqrt((2 * m + 1) / (2 * m)) * s * P[m - 1, m - 1]
    for m in range(degree):
        P[m + 1, m] = math.sqrt(2 * m + 3) * t * P[m, m]
        for l in range(m + 2, degree + 1):  # noqa: E741
            up = math.sqrt((4 * l * l - 1) / (l * l - m * m))
            down = math.sqrt(((l - 1) ** 2 - m * m) / (4 * (l - 1) ** 2 - 1))
            P[l, m] = up * (t * P[l - 1, m] - down * P[l - 2, m])
    return P


def harmonics(degree: int, n: Float[np.ndarray, "q 3"]) -> Float[np.ndarray, "q k"]:
    """The harmonics at points of the unit sphere, in columns."""
    P, phi = legendre(degree, n[:, 2]), np.arctan2(n[:, 1], n[:, 0])
    columns = []
    for l, m in orders(degree):  # noqa: E741
        wave = 1.0 if m == 0 else math.sqrt(2.0) * (np.cos(m * phi) if m > 0 else np.sin(-m * phi))
        columns.append(P[l, abs(m)] * wave)
    return np.stack(columns, axis=1)


@functools.cache
def turns(l: int) -> Float[np.ndarray, "3 k k"]:  # noqa: E741
    """n x grad along the three axes, as matrices on the harmonics of degree l: from the ladder of i n x grad on complex
    ones."""
    m = np.arange(-l, l + 1)
    up = np.diag(np.sqrt(l * (l + 1.0) - m[:-1] * (m[:-1] + 1.0)), -1)
    J = np.stack([0.5 * (up + up.T), -0.5j * (up - up.T), np.diag(m).astype(complex)])
    real = np.zeros((2 * l + 1, 2 * l + 1), dtype=complex)  # rows: real harmonics by complex ones
    real[l, l] = 1.0
    for k in range(1, l + 1):
        sign, root = (-1.0) ** k, math.sqrt(0.5)
        real[l + k, l + k], real[l + k, l - k] = sign * root, root
        real[l - k, l + k], real[l - k, l - k] = -1j * sign * root, 1j * root
    # (J y)_real = real (J^T) real^-1 acts on functions in rows; its transpose on coefficients
    return np.stack([np.real(1j * (real @ each.T @ real.conj().T)).T for each in J])


def sphere(count: int) -> tuple[Float[np.ndarray, "q 3"], Float[np.ndarray, " q"]]:
    """Gauss points from pole to pole, `count` of them, times twice as many around: exact to the degree 2 count - 1."""
    t, w = np.polynomial.legendre.leggauss(count)
    phi = np.pi * (np.arange(2 * count) + 0.5) / count
    s = np.sqrt((1.0 - t) * (1.0 + t))
    n = np.stack([np.outer(s, np.cos(phi)), np.outer(s, np.sin(phi)), np.outer(t, np.ones_like(phi))], axis=-1)
    return n.reshape(-1, 3), np.repeat(w * np.pi / count, 2 * count)
