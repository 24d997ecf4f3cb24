"""Lie groups: elements, the algebra as R^n, and the maps between them."""

from naiad.groups.group import AbstractGroup, Names
from naiad.groups.power import Power
from naiad.groups.product import Product
from naiad.groups.rn import Rn
from naiad.groups.s3 import S3
from naiad.groups.se2 import SE2, PlanarPose
from naiad.groups.se3 import SE3, Pose
from naiad.groups.so2 import SO2
from naiad.groups.so3 import SO3
from naiad.groups.son import SOn

__all__ = [
    "S3",
    "SE2",
    "SE3",
    "SO2",
    "SO3",
    "AbstractGroup",
    "Names",
    "PlanarPose",
    "Pose",
    "Power",
    "Product",
    "Rn",
    "SOn",
]
