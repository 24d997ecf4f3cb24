"""Ellipsoids and meshes as shaded surfaces in a figure, in a colour that stays readable on the side away from the
light."""

from typing import TYPE_CHECKING

import numpy as np

from naiad.viz.vertical import Vertical

if TYPE_CHECKING:
    from mpl_toolkits.mplot3d import Axes3D

AROUND, ALONG = 37, 19
LIGHT = np.array([0.3, -0.5, 0.81])
DARKEST = 0.72


def draw_ellipsoid(
    ax: "Axes3D",
    R: np.ndarray,
    centre: np.ndarray,
    axes: np.ndarray,
    colour: str,
    *,
    upright: Vertical,
    strength: float = 1.0,
) -> None:
    """An ellipsoid with attitude R and semi-axes `axes`, lit from above and from where it is seen (see `set_stage`)."""
    points, normals = surface(R, centre, axes)
    colours = _lit(np.moveaxis(normals, 0, -1), colour, upright)
    options = {"linewidth": 0, "antialiased": False, "rstride": 1, "cstride": 1, "alpha": strength}
    ax.plot_surface(*points, facecolors=colours, shade=False, **options)


def draw_mesh(ax: "Axes3D", corners: np.ndarray, colour: str, *, upright: Vertical, strength: float = 1.0) -> None:
    """Triangles with corners [triangle, corner, 3] in space, lit in the same way."""
    from mpl_toolkits.mplot3d.art3d import Poly3DCollection

    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    length = np.linalg.norm(normals, axis=1, keepdims=True)
    colours = _lit(normals / np.where(length > 0, length, 1.0), colour, upright)
    triangles = [np.asarray(each) for each in corners]
    ax.add_collection3d(Poly3DCollection(triangles, facecolors=colours, edgecolors=colours, lw=0.3, alpha=strength))


def _lit(normals: np.ndarray, colour: str, upright: Vertical) -> np.ndarray:
    """The colours of faces with these normals, along the last axis."""
    from matplotlib.colors import to_rgb

    side = -1.0 if upright.downwards else 1.0
    toward = LIGHT * [1.0, side, 1.0] @ upright.upright
    lit = np.clip(normals @ toward, 0.0, 1.0)
    shade = DARKEST + (1.0 - DARKEST) * lit
    white = 0.35 * lit[..., None] ** 3
    return (1.0 - white) * shade[..., None] * np.array(to_rgb(colour)) + white


def surface(R: np.ndarray, centre: np.ndarray, axes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The points of an ellipsoid on a grid, and the normals there, each as three arrays."""
    u, v = np.meshgrid(np.linspace(0, 2 * np.pi, AROUND), np.linspace(0, np.pi, ALONG))
    ball = np.stack([np.cos(u) * np.sin(v), np.sin(u) * np.sin(v), np.cos(v)])
    normals = np.einsum("ij,j,jkl->ikl", R, 1.0 / axes, ball)
    points = np.einsum("ij,j,jkl->ikl", R, axes, ball) + centre[:, None, None]
    return points, normals / np.linalg.norm(normals, axis=0)
