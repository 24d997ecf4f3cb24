"""The order of a partitioned Runge-Kutta pair, from its rooted trees."""

import functools
from collections.abc import Sequence

import numpy as np

Matrix = tuple[tuple[float, ...], ...]
TOLERANCE = 1e-11

Forest = tuple[int, np.ndarray]
"""The product of the densities of some trees, and the product of their weights at each stage."""


@functools.lru_cache
def partitioned_order(a: Matrix, a_hat: Matrix, b: tuple[float, ...], highest: int = 8) -> int:
    """The order of the pair (a, b), (a_hat, b) for y' = f(y, z), z' = g(y, z), up to `highest`.

    Every rooted tree whose vertices are of two colours gives the condition sum_i b_i Phi_i = 1/gamma [hairer2006,
    theorem III.2.5]. Phi is the product of A Phi' over the branches, with A = a or a_hat by the colour of the branch.
    """
    weights, matrices = np.asarray(b), (np.asarray(a), np.asarray(a_hat))
    forests: list[list[Forest]] = [[(1, np.ones(len(b)))]]  # by the number of vertices
    branches: list[list[Forest]] = [[]]
    for order in range(1, highest + 1):
        trees = [(order * density, phi) for density, phi in forests[order - 1]]
        if any(abs(density * (weights @ phi) - 1.0) > TOLERANCE * density for density, phi in trees):
            return order - 1
        branches.append(_distinct([(density, matrix @ phi) for density, phi in trees for matrix in matrices]))
        grown = [
            (density * other, phi * psi)
            for size in range(1, order + 1)
            for density, phi in branches[size]
            for other, psi in forests[order - size]
        ]
        forests.append(_distinct(grown))
    return highest


def _distinct(forests: Sequence[Forest]) -> list[Forest]:
    return list({(density, tuple(np.round(phi, 12))): (density, phi) for density, phi in forests}.values())
