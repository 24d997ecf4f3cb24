"""Trees of rigid bodies: what a tree is, its system, its step of O(N), and bodies connected in a fluid."""

from naiad.trees.connected_bodies import ConnectedBodies
from naiad.trees.joint_space import JointSpace
from naiad.trees.joint_torques import AbstractJointTorque, TravellingWave
from naiad.trees.motion import Motion, motion
from naiad.trees.robots.mjcf import read_mjcf
from naiad.trees.robots.robot import Geometry, Inertial, Joint, Link, Robot
from naiad.trees.robots.sdf import read_sdf
from naiad.trees.robots.urdf import read_urdf
from naiad.trees.robots.writing import write_urdf
from naiad.trees.system import TreeSystem
from naiad.trees.tree import Tree
from naiad.trees.tree_rule import TreeRule
from naiad.trees.variational import TreeVariational

__all__ = [
    "AbstractJointTorque",
    "ConnectedBodies",
    "Geometry",
    "Inertial",
    "Joint",
    "JointSpace",
    "Link",
    "Motion",
    "Robot",
    "TravellingWave",
    "Tree",
    "TreeRule",
    "TreeSystem",
    "TreeVariational",
    "motion",
    "read_mjcf",
    "read_sdf",
    "read_urdf",
    "write_urdf",
]

TreeSystem.default_method = TreeVariational()  # here, since the step knows the system and not the other way round
