"""Swimming: what a body in a fluid does when it changes its shape."""

from naiad.locomotion.abstract_swimmer import AbstractSwimmer, Inertias
from naiad.locomotion.area_rule import AreaRule, area_rule
from naiad.locomotion.ascent import Climb
from naiad.locomotion.bend import Bend
from naiad.locomotion.bending import BendingSwimmer, bending_swimmer
from naiad.locomotion.cheapest import COSTS, CheapestGait, SmallGait, cheapest_gait, small_gait
from naiad.locomotion.connection import CurvatureMap, connection, curvature, curvature_map, locked_inertia
from naiad.locomotion.driven import DrivenSwimmer
from naiad.locomotion.gait import (
    FORWARD,
    TURNING,
    AbstractGait,
    ExponentialGait,
    FourierGait,
    GivenGait,
    ShapeMotion,
)
from naiad.locomotion.hinge_torque import AbstractHingeTorque, GivenHingeTorque, HarmonicTorque, TimedTorque
from naiad.locomotion.holonomy import NetMotion, net_motion, net_motion_with_gradient, net_motions
from naiad.locomotion.inertia_table import InertiaTable
from naiad.locomotion.links import Links
from naiad.locomotion.modes import cloth_joints, curvature_wave
from naiad.locomotion.objectives import OBJECTIVES, Score, score
from naiad.locomotion.optimiser import OptimalGait, optimise_gait
from naiad.locomotion.placement import placed_links
from naiad.locomotion.planar import link_poses, link_velocities, planar_swimmer, three_link_fish
from naiad.locomotion.reconstruction import Reconstruction, reconstruct
from naiad.locomotion.school import School
from naiad.locomotion.spatial import spatial_swimmer, swimmer_of
from naiad.locomotion.spline import SplineGait
from naiad.locomotion.swimmer import Swimmer
from naiad.locomotion.table import tabulated
from naiad.locomotion.torques import GaitTorques, gait_torques
from naiad.locomotion.vortex_swimmer import SwimmerAmongVortices

__all__ = [
    "COSTS",
    "FORWARD",
    "OBJECTIVES",
    "TURNING",
    "AbstractGait",
    "AbstractHingeTorque",
    "AbstractSwimmer",
    "AreaRule",
    "Bend",
    "BendingSwimmer",
    "CheapestGait",
    "Climb",
    "CurvatureMap",
    "DrivenSwimmer",
    "ExponentialGait",
    "FourierGait",
    "GaitTorques",
    "GivenGait",
    "GivenHingeTorque",
    "HarmonicTorque",
    "InertiaTable",
    "Inertias",
    "Links",
    "NetMotion",
    "OptimalGait",
    "Reconstruction",
    "School",
    "Score",
    "ShapeMotion",
    "SmallGait",
    "SplineGait",
    "Swimmer",
    "SwimmerAmongVortices",
    "TimedTorque",
    "area_rule",
    "bending_swimmer",
    "cheapest_gait",
    "cloth_joints",
    "connection",
    "curvature",
    "curvature_map",
    "curvature_wave",
    "gait_torques",
    "link_poses",
    "link_velocities",
    "locked_inertia",
    "net_motion",
    "net_motion_with_gradient",
    "net_motions",
    "optimise_gait",
    "placed_links",
    "planar_swimmer",
    "reconstruct",
    "score",
    "small_gait",
    "spatial_swimmer",
    "swimmer_of",
    "tabulated",
    "three_link_fish",
]
