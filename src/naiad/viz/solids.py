"""Ellipsoids as shaded surfaces in a figure, in a colour that stays readable on the side away from the light."""

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
    from matplotlib.colors import to_rgb

    points, normals = surface(R, centre, axes)
    side = -1.0 if upright.downwards else 1.0
    toward = LIGHT * [1.0, side, 1.0] @ upright.upright
    lit = np.clip(np.einsum("i,ikl->kl", toward, normals), 0.0, 1.0)
    shade = DARKEST + (1.0 - DARKEST) * lit
    white = 0.35 * lit[..., None] ** 3
    colours = (1.0 - white) * shade[..., None] * np.array(to_rgb(colour)) + white
    options = {"linewidth": 0, "antialiased": False, "rstride": 1, "cstride": 1, "alpha": strength}
    ax.plot_surface(*points, facecolors=colours, shade=False, **options)  # pyright: ignore


def surface(R: np.ndarray, centre: np.ndarray, axes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The points of an ellipsoid on a grid, and the normals there, each as three arrays."""
    u, v = np.meshgrid(np.linspace(0, 2 * np.pi, AROUND), np.linspace(0, np.pi, ALONG))
    ball = np.stack([np.cos(u) * np.sin(v), np.sin(u) * np.sin(v), np.cos(v)])
    normals = np.einsum("ij,j,jkl->ikl", R, 1.0 / axes, ball)
    points = np.einsum("ij,j,jkl->ikl", R, axes, ball) + centre[:, None, None]
    return points, normals / np.linalg.norm(normals, axis=0)
