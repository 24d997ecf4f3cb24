"""Swimming: what a body in a fluid does when it changes its shape."""

from naiad.locomotion.connection import connection, curvature, locked_inertia
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
from naiad.locomotion.inertia_table import InertiaTable
from naiad.locomotion.links import Links
from naiad.locomotion.placement import placed_links
from naiad.locomotion.planar import link_poses, link_velocities, planar_swimmer, three_link_fish
from naiad.locomotion.reconstruction import Reconstruction, net_motion, reconstruct
from naiad.locomotion.spatial import spatial_swimmer, swimmer_of
from naiad.locomotion.swimmer import Inertias, Swimmer
from naiad.locomotion.table import tabulated
from naiad.locomotion.torques import GaitTorques, gait_torques

__all__ = [
    "FORWARD",
    "TURNING",
    "AbstractGait",
    "AbstractHingeTorque",
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
    "Reconstruction",
    "ShapeMotion",
    "Swimmer",
    "TimedTorque",
    "connection",
    "curvature",
    "gait_torques",
    "link_poses",
    "link_velocities",
    "locked_inertia",
    "net_motion",
    "placed_links",
    "planar_swimmer",
    "reconstruct",
    "spatial_swimmer",
    "swimmer_of",
    "tabulated",
    "three_link_fish",
]
