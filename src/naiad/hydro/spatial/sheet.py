"""A body as the others see it: a sheet of dipoles on its surface.

The flow of bodies that move is that of dipoles along the normals, of strength psi, and the same as that of vortices
gamma = grad psi x n in the surface. With W the energy of such sheets and H the normal velocities of the six unit
motions, both against the functions that psi is made of, W psi = H xi.
"""

import abc
from typing import Any

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from naiad.numerics import Module


class AbstractSheet(Module):
    """Points on the surface, in one or more for each site, and the functions that psi is made of.

    `W` is the energy of the body alone, and `inverse` its inverse; `H` belongs to the unit motions (Omega, v) of the
    body frame, `added` is the inertia of the body alone in a fluid of unit density, and `alone` is H . inverse H.
    `areas` are vectors along the normals, for each point.
    """

    points: Float[Array | np.ndarray, "s k 3"]
    W: Float[Array | np.ndarray, "f f"]
    inverse: Float[Array | np.ndarray, "f f"]
    H: Float[Array | np.ndarray, "f 6"]
    added: Float[Array | np.ndarray, "6 6"]
    alone: Float[Array | np.ndarray, "6 6"]
    areas: Float[Array | np.ndarray, "s 3"]

    @abc.abstractmethod
    def vortices(self, psi: Any) -> Any:
        """gamma of each site with its weight, (sites, 3, columns), of the columns of psi."""

    @abc.abstractmethod
    def gathered(self, A: Any) -> Any:
        """The transpose: what a field A at the sites, (sites, 3, columns), does to the functions."""

    @abc.abstractmethod
    def curled(self, G: Any, axis: int, xp: Any) -> Any:
        """G, whose columns are sites, times the vortices of the functions along an axis: its columns are functions."""


class SmoothSheet(AbstractSheet):
    """The sheet of an ellipsoid: spherical harmonics, and one point a site. Its centre lies at `centre` in the body
    frame, its semi-axes are the rows of `axes`."""

    curls: Float[Array | np.ndarray, "3s f"]
    centre: Float[Array | np.ndarray, "3"]
    axes: Float[Array | np.ndarray, "3 3"]

    def vortices(self, psi: Any) -> Any:
        return (self.curls @ psi).reshape(-1, 3, psi.shape[1])

    def gathered(self, A: Any) -> Any:
        return self.curls.T @ A.reshape(-1, A.shape[2])

    def curled(self, G: Any, axis: int, xp: Any) -> Any:
        return G @ self.curls[axis::3]


class FacetSheet(AbstractSheet):
    """The sheet of a mesh: functions that are linear in triangles, the sites. A constant on a piece makes no flow; W
    has an energy for it, so that it has an inverse."""

    triangles: Int[Array | np.ndarray, "s 3"]
    corners: Float[Array | np.ndarray, "s 3 3"]
    curls: Float[Array | np.ndarray, "s 3 3"]

    def vortices(self, psi: Any) -> Any:
        return sum(self.curls[:, k, :, None] * psi[self.triangles[:, k]][:, None] for k in range(3))

    def gathered(self, A: Any) -> Any:
        found = jnp.zeros((self.W.shape[0], A.shape[2]))
        for k in range(3):
            found = found.at[self.triangles[:, k]].add(jnp.sum(self.curls[:, k, :, None] * A, axis=1))
        return found

    def curled(self, G: Any, axis: int, xp: Any) -> Any:
        if xp is not np:
            found = xp.zeros((G.shape[0], self.W.shape[0]))
            for k in range(3):
                found = found.at[:, self.triangles[:, k]].add(G * self.curls[:, k, axis])
            return found
        import scipy.sparse

        sites, shape = np.repeat(np.arange(len(self.triangles)), 3), (len(self.triangles), len(self.W))
        C = scipy.sparse.csr_matrix((self.curls[:, :, axis].ravel(), (sites, self.triangles.ravel())), shape)
        return np.asarray((C.T @ G.T).T)
