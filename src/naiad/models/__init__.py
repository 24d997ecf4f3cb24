"""Concrete systems; each runs with every method that fits it."""

from naiad.models.inertia import friction_matrix, inertia_matrix
from naiad.models.isothermal_rigid_body import IsothermalRigidBody
from naiad.models.kirchhoff import KirchhoffBody
from naiad.models.rigid_body import RigidBody
from naiad.models.sliding_disk import SlidingDisk

__all__ = ["IsothermalRigidBody", "KirchhoffBody", "RigidBody", "SlidingDisk", "friction_matrix", "inertia_matrix"]
