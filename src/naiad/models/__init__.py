"""Concrete systems; each runs with every method that fits it."""

from naiad.models.connected_bodies import ConnectedBodies
from naiad.models.inertia import friction_matrix, inertia_matrix
from naiad.models.interacting_bodies import InteractingBodies
from naiad.models.isothermal_rigid_body import IsothermalRigidBody
from naiad.models.joint_torques import AbstractJointTorque, TravellingWave
from naiad.models.kirchhoff import KirchhoffBody
from naiad.models.oblate_earth import OblateSatellite
from naiad.models.pair_potentials import (
    AbstractPairPotential,
    AlignedLennardJones,
    Body,
    Dipoles,
    Gravity,
    LennardJones,
)
from naiad.models.point_masses import PointMasses
from naiad.models.rigid_body import RigidBody
from naiad.models.rotor_spacecraft import RotorSpacecraft
from naiad.models.sliding_disk import SlidingDisk
from naiad.models.spherical_pendulum import SphericalPendulum
from naiad.models.weight import Weight

__all__ = [
    "AbstractJointTorque",
    "AbstractPairPotential",
    "AlignedLennardJones",
    "Body",
    "ConnectedBodies",
    "Dipoles",
    "Gravity",
    "InteractingBodies",
    "IsothermalRigidBody",
    "KirchhoffBody",
    "LennardJones",
    "OblateSatellite",
    "PointMasses",
    "RigidBody",
    "RotorSpacecraft",
    "SlidingDisk",
    "SphericalPendulum",
    "TravellingWave",
    "Weight",
    "friction_matrix",
    "inertia_matrix",
]
