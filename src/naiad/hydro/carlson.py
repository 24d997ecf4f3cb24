"""Carlson's symmetric elliptic integral R_D, and its divided difference, without cancellation."""

import math


def rd(x: float, y: float, z: float) -> float:
    """R_D(x, y, z) = (3/2) int_0^inf dt / ((t + z) sqrt((t + x) (t + y) (t + z))) [carlson1995]."""
    from scipy.special import elliprd  # takes a while to load, and few need it

    return float(elliprd(x, y, z))


def rd_difference(x: float, y: float, z: float) -> float:
    """(R_D(x, y, z) - R_D(x, z, y)) / (y - z) = (3/2) int_0^inf dt / ((t + y) (t + z) sqrt((t + x) (t + y) (t + z))).

    Both R_D are the same sum over Carlson's duplication x -> (x + lambda) / 4, lambda = sqrt(xy) + sqrt(yz) + sqrt(zx)
    [carlson1995, eq. (2.10)]; their terms are subtracted and divided in closed form, where y = z is nothing special.
    What is left is the value of equal arguments, A^(-5/2) 3/5.
    """
    total, weight = 0.0, 1.0
    while max(x, y, z) - min(x, y, z) > 1e-8 * min(x, y, z):
        p, q, r = math.sqrt(x), math.sqrt(y), math.sqrt(z)
        shift = p * q + q * r + r * p
        total += weight * 3.0 * (y + q * r + z + shift) / ((q + r) * q * r * (y + shift) * (z + shift))
        weight /= 16.0
        x, y, z = 0.25 * (x + shift), 0.25 * (y + shift), 0.25 * (z + shift)
    return total + weight * 0.6 * ((x + 3.0 * y + 3.0 * z) / 7.0) ** -2.5
