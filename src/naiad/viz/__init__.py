"""Figures and moving pictures of trajectories; matplotlib is loaded only when a figure is made."""

from naiad.viz.animation import animate
from naiad.viz.averages import averages
from naiad.viz.cards import card
from naiad.viz.distribution import Distribution, distributions
from naiad.viz.ellipsoids import ellipsoid_snapshots
from naiad.viz.gaits import climbs, curvature_maps, gait_paths
from naiad.viz.overview import plot
from naiad.viz.pieces import convergence, errors_over_time, section_scatter, sphere_curve
from naiad.viz.planar import boundary_convergence, inertia_picture, planar_paths, streamlines
from naiad.viz.spread import plot_ensemble
from naiad.viz.style import PALETTE, house, new_figure

__all__ = [
    "PALETTE",
    "Distribution",
    "animate",
    "averages",
    "boundary_convergence",
    "card",
    "climbs",
    "convergence",
    "curvature_maps",
    "distributions",
    "ellipsoid_snapshots",
    "errors_over_time",
    "gait_paths",
    "house",
    "inertia_picture",
    "new_figure",
    "planar_paths",
    "plot",
    "plot_ensemble",
    "section_scatter",
    "sphere_curve",
    "streamlines",
]
