"""Figures and moving pictures of trajectories; matplotlib is loaded only when a figure is made."""

from naiad.viz.animation import animate
from naiad.viz.overview import plot
from naiad.viz.pieces import convergence, errors_over_time, section_scatter, sphere_curve
from naiad.viz.style import PALETTE, house, new_figure

__all__ = [
    "PALETTE",
    "animate",
    "convergence",
    "errors_over_time",
    "house",
    "new_figure",
    "plot",
    "section_scatter",
    "sphere_curve",
]
