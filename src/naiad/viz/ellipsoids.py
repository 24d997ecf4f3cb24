"""Ellipsoids in space, at a few times."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from naiad.numerics.arguments import checked_throughout
from naiad.viz.space import dress_space
from naiad.viz.style import colours, house, new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

AROUND, ALONG = 37, 19


@checked_throughout
def ellipsoid_snapshots(R: ArrayLike, centres: ArrayLike, axes: ArrayLike, titles: Sequence[str]) -> "Figure":
    """A picture for each time of ellipsoids with attitudes R[time, body, 3, 3], centres[time, body, 3] and semi-axes
    axes[body, 3], all to one scale, each about the middle of its bodies."""
    from mpl_toolkits.mplot3d import Axes3D  # noqa: F401 - the projection

    attitudes, places, sizes = (np.asarray(values, float) for values in (R, centres, axes))
    reach = max(float(np.ptp(place, axis=0).max()) / 2 for place in places) + 0.6 * float(sizes.max())
    columns = min(len(titles), 2)
    rows = -(-len(titles) // columns)
    with house():
        figure = new_figure(4.6 * columns, 4.2 * rows)
        for k, title in enumerate(titles):
            ax = figure.add_subplot(rows, columns, k + 1, projection="3d")
            for turn, place, size, colour in zip(attitudes[k], places[k], sizes, colours(len(sizes)), strict=True):
                ax.plot_surface(*_surface(turn, place, size), color=colour, linewidth=0, antialiased=True)  # pyright: ignore
            middle = (places[k].min(0) + places[k].max(0)) / 2
            for set_limits, centre in zip((ax.set_xlim, ax.set_ylim, ax.set_zlim), middle, strict=True):  # pyright: ignore
                set_limits(centre - reach, centre + reach)
            ax.set_box_aspect((1, 1, 1), zoom=1.15)  # pyright: ignore
            dress_space(ax, ("x [m]", "y [m]", "z [m]"))  # pyright: ignore[reportArgumentType]
            ax.set_title(title)
        return figure


def _surface(R: np.ndarray, centre: np.ndarray, axes: np.ndarray) -> np.ndarray:
    """The points of an ellipsoid on a grid, as three arrays."""
    u, v = np.meshgrid(np.linspace(0, 2 * np.pi, AROUND), np.linspace(0, np.pi, ALONG))
    ball = np.stack([np.cos(u) * np.sin(v), np.sin(u) * np.sin(v), np.cos(v)])
    return np.einsum("ij,j,jkl->ikl", R, axes, ball) + centre[:, None, None]
