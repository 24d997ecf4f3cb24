"""Swimming: what a body in a fluid does when it changes its shape."""

from naiad.locomotion.connection import connection, curvature, locked_inertia
from naiad.locomotion.gait import FORWARD, TURNING, AbstractGait, FourierGait, GivenGait, ShapeMotion
from naiad.locomotion.links import Links
from naiad.locomotion.planar import link_poses, link_velocities, planar_swimmer, three_link_fish
from naiad.locomotion.reconstruction import Reconstruction, net_motion, reconstruct
from naiad.locomotion.swimmer import Inertias, Swimmer
from naiad.locomotion.torques import GaitTorques, gait_torques

__all__ = [
    "FORWARD",
    "TURNING",
    "AbstractGait",
    "FourierGait",
    "GaitTorques",
    "GivenGait",
    "Inertias",
    "Links",
    "Reconstruction",
    "ShapeMotion",
    "Swimmer",
    "connection",
    "curvature",
    "gait_torques",
    "link_poses",
    "link_velocities",
    "locked_inertia",
    "net_motion",
    "planar_swimmer",
    "reconstruct",
    "three_link_fish",
]
