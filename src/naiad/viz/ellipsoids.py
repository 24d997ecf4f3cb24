"""Ellipsoids in space, at a few times."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from naiad.numerics.arguments import checked_throughout
from naiad.viz.solids import draw_ellipsoid
from naiad.viz.space import set_stage
from naiad.viz.style import colours, house, new_figure
from naiad.viz.vertical import Vertical

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@checked_throughout
def ellipsoid_snapshots(
    R: ArrayLike, centres: ArrayLike, axes: ArrayLike, titles: Sequence[str], *, down: ArrayLike | None = None
) -> "Figure":
    """A picture for each time of ellipsoids with attitudes R[time, body, 3, 3], centres[time, body, 3] and semi-axes
    axes[body, 3], all to one scale, each about the middle of its bodies; `down` is the direction of gravity."""
    from mpl_toolkits.mplot3d import Axes3D  # noqa: F401 - the projection

    attitudes, places, sizes = (np.asarray(values, float) for values in (R, centres, axes))
    reach = max(float(np.ptp(place, axis=0).max()) / 2 for place in places) + float(sizes.max())
    upright = Vertical.of(down)
    columns = min(len(titles), 2)
    rows = -(-len(titles) // columns)
    with house():
        figure = new_figure(4.6 * columns, 4.2 * rows)
        for k, title in enumerate(titles):
            ax = figure.add_subplot(rows, columns, k + 1, projection="3d")
            for turn, place, size, colour in zip(attitudes[k], places[k], sizes, colours(len(sizes)), strict=True):
                draw_ellipsoid(ax, turn, place, size, colour, upright=upright)
            middle = (places[k].min(0) + places[k].max(0)) / 2
            set_stage(ax, np.stack([middle - reach, middle + reach]), upright=upright, zoom=1.0)
            ax.set_title(title)
        return figure
