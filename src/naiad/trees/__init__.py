"""Trees of rigid bodies: what a tree is, its system, its step of O(N), and bodies connected in a fluid."""

from naiad.trees.connected_bodies import ConnectedBodies
from naiad.trees.joint_torques import AbstractJointTorque, TravellingWave
from naiad.trees.motion import Motion, motion
from naiad.trees.system import TreeSystem
from naiad.trees.tree import Tree
from naiad.trees.tree_rule import TreeRule
from naiad.trees.variational import TreeVariational

__all__ = [
    "AbstractJointTorque",
    "ConnectedBodies",
    "Motion",
    "TravellingWave",
    "Tree",
    "TreeRule",
    "TreeSystem",
    "TreeVariational",
    "motion",
]
