"""Concrete systems; each runs with every method that fits it."""

from naiad.models.inertia import inertia_matrix
from naiad.models.kirchhoff import KirchhoffBody
from naiad.models.rigid_body import RigidBody

__all__ = ["KirchhoffBody", "RigidBody", "inertia_matrix"]
