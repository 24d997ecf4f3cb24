"""The flow around moving bodies of the plane, anywhere in the fluid."""

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np
from jaxtyping import Float

from naiad.errors import InputError
from naiad.hydro.boundary import Boundary, Field
from naiad.numerics import check_double


@dataclasses.dataclass(frozen=True, eq=False)
class PlanarFlow:
    """Potential, velocity and stream function of a flow at rest at infinity, where both functions are zero.

    Points are arrays whose last axis is (x, y); inside a body values are NaN. With `boundary="nystrom"` they are as
    accurate at a body as far from it.
    """

    boundaries: tuple[Boundary, ...]
    poses: Float[np.ndarray, "n 3"]
    fields: tuple[Field, ...]

    def potential(self, points: Any) -> np.ndarray:
        """phi, the velocity being its gradient."""
        return np.real(self._sum(points, lambda field, z, turn: field.complex_potential(z)))

    def stream_function(self, points: Any) -> np.ndarray:
        """psi, constant along streamlines: u = d psi/dy, v = -d psi/dx."""
        return np.imag(self._sum(points, lambda field, z, turn: field.complex_potential(z)))

    def velocity(self, points: Any) -> np.ndarray:
        """(u, v) in space."""
        found = self._sum(points, lambda field, z, turn: field.complex_velocity(z) * turn.conjugate())
        return np.stack([np.real(found), -np.imag(found)], axis=-1)

    def _sum(self, points: Any, of: Callable[[Field, np.ndarray, complex], np.ndarray]) -> np.ndarray:
        check_double("points", points)
        array = np.asarray(points, dtype=float)
        if array.shape[-1:] != (2,):
            raise InputError(f"points of shape {array.shape}; expected (x, y) along the last axis.")
        z = (array[..., 0] + 1j * array[..., 1]).ravel()
        total = np.zeros(len(z), dtype=complex)
        fluid = np.isfinite(z)
        for boundary, pose in zip(self.boundaries, self.poses, strict=True):
            fluid[fluid] = ~boundary.holds(_seen(z[fluid], pose))
        for field, pose in zip(self.fields, self.poses, strict=True):
            total[fluid] += of(field, _seen(z[fluid], pose), complex(np.exp(1j * pose[0])))
        total[~fluid] = complex(np.nan, np.nan)
        return total.reshape(array.shape[:-1])


def _seen(z: np.ndarray, pose: np.ndarray) -> np.ndarray:
    return (z - complex(*pose[1:])) * np.exp(-1j * pose[0])
