"""A body's outline as numbers for a boundary method: what does not change when bodies move, computed once."""

import dataclasses
from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
from jaxtyping import Complex, Float

from naiad.hydro.curve import AbstractCurve


class Sources(Protocol):
    """Sources of unit strength on a body, by their complex potential w(z) = (1/2 pi) int log(z - zeta).

    `z` is a column of points in the frame of the body, and values are matrices, points by sources. `xp` is NumPy, or
    JAX's NumPy where derivatives are to pass.
    """

    def potential(self, z: Any, xp: Any) -> Any:
        """Re w."""
        ...

    def normal_velocity(self, z: Any, normal: Any, xp: Any) -> Any:
        """Re (normal w'): the velocity u, v with w' = u - i v, along the normal."""
        ...

    def velocity(self, z: Any) -> Any:
        """w'."""
        ...

    def gradient(self, z: Any) -> Any:
        """w''."""
        ...


@dataclasses.dataclass(frozen=True, eq=False)
class Level:
    """A body's part in the coupled problem, at some number of nodes, in the body frame and for density 1.

    The strengths s of the sources and the flow psi of the other bodies satisfy  A s + d psi/dn = h Xi, and the momentum
    of the body (impulse, its own sign) is  K Xi - a . psi + b . d psi/dn,  where Xi = (Omega, v_x, v_y).
    """

    z: Complex[np.ndarray, " n"]
    normal: Complex[np.ndarray, " n"]
    sources: Sources
    A: Float[np.ndarray, "n n"]
    h: Float[np.ndarray, "n 3"]
    a: Float[np.ndarray, "n 3"]
    b: Float[np.ndarray, "n 3"]

    @property
    def size(self) -> int:
        return len(self.z)


class Field(Protocol):
    """The flow of one body's sources, in its frame."""

    def complex_potential(self, z: Complex[np.ndarray, " m"]) -> Complex[np.ndarray, " m"]:
        """w = phi + i psi, zero at infinity."""
        ...

    def complex_velocity(self, z: Complex[np.ndarray, " m"]) -> Complex[np.ndarray, " m"]:
        """w' = u - i v."""
        ...


@dataclasses.dataclass(frozen=True, eq=False)
class Boundary:
    """One body: its added inertia when it is alone in a fluid of density 1, its levels, the finest last, the flow of
    strengths on the finest, and which points lie inside."""

    curve: AbstractCurve
    inertia: Float[np.ndarray, "3 3"]
    levels: tuple[Level, ...]
    field: Callable[[Float[np.ndarray, " n"]], Field]
    holds: Callable[[Complex[np.ndarray, " m"]], np.ndarray]

    @property
    def finest(self) -> Level:
        return self.levels[-1]


def normal_motion(z: Complex[np.ndarray, " n"], normal: Complex[np.ndarray, " n"]) -> Float[np.ndarray, "n 3"]:
    """The normal velocity of points of a body for unit Omega, v_x and v_y: i z . n, n_x, n_y."""
    return np.stack([np.real(np.conj(1j * z) * normal), np.real(normal), np.imag(normal)], axis=1)
