"""A surface of triangles in a figure."""

from typing import TYPE_CHECKING

import numpy as np

from naiad.viz.solids import DARKEST, LIGHT
from naiad.viz.space import set_stage
from naiad.viz.style import PALETTE, house, new_figure
from naiad.viz.vertical import Vertical

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from naiad.hydro import Mesh

MOST = 20_000
"""Triangles above which their edges are not drawn."""


def mesh_picture(mesh: "Mesh", title: str = "") -> "Figure":
    """The mesh from two sides, lit from above."""
    from matplotlib.colors import to_rgb
    from mpl_toolkits.mplot3d.art3d import Poly3DCollection

    surface = mesh.surface
    lit = np.clip(surface.normals @ LIGHT, 0.0, 1.0)
    colours = (DARKEST + (1.0 - DARKEST) * lit)[:, None] * np.array(to_rgb(PALETTE[0])) + 0.3 * lit[:, None] ** 3
    colours = np.clip(colours, 0.0, 1.0)
    lines = 0.2 if len(surface.triangles) < MOST else 0.0
    with house():
        figure = new_figure(9.2, 4.6)
        for number, turn in enumerate((-60.0, 30.0)):
            ax = figure.add_subplot(1, 2, number + 1, projection="3d")
            ax.add_collection3d(
                Poly3DCollection(surface.corners, facecolors=colours, edgecolors=(0, 0, 0, 0.35), linewidths=lines)
            )
            set_stage(ax, surface.vertices, upright=Vertical.of(None), zoom=1.0)
            ax.view_init(elev=25.0, azim=turn)
        if title:
            figure.suptitle(title)
        return figure
