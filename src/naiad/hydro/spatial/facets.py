"""The sheet of a mesh: functions linear in triangles, three points in each."""

import numpy as np

from naiad.errors import InputError
from naiad.hydro.frames import congruence, velocity_there
from naiad.hydro.meshes import galerkin, refinement, triangle
from naiad.hydro.meshes.mesh import Mesh
from naiad.hydro.meshes.surface import Surface
from naiad.hydro.spatial.sheet import FacetSheet

LARGEST = 6000
"""Triangles of a body that is coupled to others."""


def facet_sheet(mesh: Mesh, x: np.ndarray, R: np.ndarray) -> FacetSheet:
    """The sheet of a mesh, its frame at x in that of the body, turned by R. Large triangles are cut, as for the body
    alone; they are not graded towards its edges, since the others hardly feel them."""
    surface = coupled_surface(mesh)
    W = galerkin.definite(galerkin.assemble(surface).W, surface.pieces)
    inverse = np.linalg.inv(W)
    inverse = 0.5 * (inverse + inverse.T)
    there = velocity_there(x, R)
    H = surface.normal_velocities @ there
    opposite = np.roll(surface.corners, -2, axis=1) - np.roll(surface.corners, -1, axis=1)
    points, weights = triangle.rule(3)
    return FacetSheet.unchecked(
        points=np.einsum("kc,tci->tki", points, surface.corners) @ R.T + x,
        W=W,
        inverse=inverse,
        H=H,
        added=congruence(mesh.added_inertia(1.0), there),
        alone=congruence(inverse, H),
        areas=(surface.normals * (weights[0] * surface.areas)[:, None]) @ R.T,
        triangles=surface.triangles.astype(np.int64),
        corners=surface.corners @ R.T + x,
        curls=(opposite * (0.5 * weights[0])) @ R.T,
    )


def coupled_surface(mesh: Mesh) -> Surface:
    """The triangles that others see."""
    surface = refinement.cut(mesh.surface)
    if len(surface.triangles) > LARGEST:
        raise InputError(
            f"A mesh of {len(surface.triangles)} triangles; bodies are coupled with up to {LARGEST} each. Simplify "
            f"it (`simplified({LARGEST // 2})`)."
        )
    return surface
