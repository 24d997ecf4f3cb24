"""Bodies in space at several moments of a motion, in one picture."""

from typing import TYPE_CHECKING

import numpy as np

from naiad.viz.bodies import bodies, rotations
from naiad.viz.shapes import known_solids
from naiad.viz.solids import draw_ellipsoid, draw_mesh
from naiad.viz.space import set_stage
from naiad.viz.style import PALETTE, house, new_figure
from naiad.viz.vertical import vertical

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.figure import Figure


def snapshots(dataset: "xr.Dataset", moments: int = 7, title: str = "") -> "Figure":
    """Every body whose shape, place and attitude are known, at moments that are evenly spaced in time, the last ones
    strongest, and the paths of their middles."""
    from mpl_toolkits.mplot3d import Axes3D  # noqa: F401 - the projection

    found = bodies(dataset)
    given = known_solids(dataset, len(found))
    frames = np.linspace(0, dataset.sizes["time"] - 1, moments).round().astype(int)
    upright, seen = vertical(dataset), []
    with house():
        figure = new_figure(7.2, 4.6)
        ax = figure.add_subplot(projection="3d")
        for k, (body, solid) in enumerate(zip(found, given, strict=True)):
            if solid is None or body.quaternion is None or body.position is None:
                continue
            R, colour = rotations(body.quaternion), PALETTE[k % len(PALETTE)]
            middles = body.position + R @ solid.centre
            ax.plot(*middles.T, color=colour, linewidth=0.8)
            for number, frame in enumerate(frames):
                strength = 0.25 + 0.75 * number / max(moments - 1, 1)
                look = {"upright": upright, "strength": strength}
                if solid.vertices is not None and solid.triangles is not None:
                    corners = (middles[frame] + solid.vertices @ R[frame].T)[solid.triangles]
                    draw_mesh(ax, corners, colour, **look)
                else:
                    tilt = R[frame] @ solid.tilt
                    draw_ellipsoid(ax, tilt, middles[frame], solid.axes, colour, **look)
            reach = solid.reach - np.linalg.norm(solid.centre)
            seen += [middles - reach, middles + reach]
        set_stage(ax, np.concatenate(seen), upright=upright, zoom=1.15)
        if title:
            figure.suptitle(title)
        return figure
