"""Swimming: what a body in a fluid does when it changes its shape."""

from naiad.locomotion.area_rule import AreaRule, area_rule
from naiad.locomotion.ascent import Climb
from naiad.locomotion.connection import CurvatureMap, connection, curvature, curvature_map, locked_inertia
from naiad.locomotion.gait import FORWARD, TURNING, AbstractGait, FourierGait, GivenGait, ShapeMotion
from naiad.locomotion.holonomy import NetMotion, net_motion, net_motion_with_gradient, net_motions
from naiad.locomotion.inertia_table import InertiaTable
from naiad.locomotion.links import Links
from naiad.locomotion.objectives import OBJECTIVES, Score, score
from naiad.locomotion.optimiser import OptimalGait, optimise_gait
from naiad.locomotion.planar import planar_swimmer, three_link_fish
from naiad.locomotion.reconstruction import Reconstruction, reconstruct
from naiad.locomotion.spline import SplineGait
from naiad.locomotion.swimmer import Inertias, Swimmer
from naiad.locomotion.table import tabulated

__all__ = [
    "FORWARD",
    "OBJECTIVES",
    "TURNING",
    "AbstractGait",
    "AreaRule",
    "Climb",
    "CurvatureMap",
    "FourierGait",
    "GivenGait",
    "InertiaTable",
    "Inertias",
    "Links",
    "NetMotion",
    "OptimalGait",
    "Reconstruction",
    "Score",
    "ShapeMotion",
    "SplineGait",
    "Swimmer",
    "area_rule",
    "connection",
    "curvature",
    "curvature_map",
    "locked_inertia",
    "net_motion",
    "net_motion_with_gradient",
    "net_motions",
    "optimise_gait",
    "planar_swimmer",
    "reconstruct",
    "score",
    "tabulated",
    "three_link_fish",
]
