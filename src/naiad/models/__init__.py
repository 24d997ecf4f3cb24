"""Concrete systems; each runs with every method that fits it."""

from naiad.models.buoyant_vehicle import BuoyantVehicle
from naiad.models.connected_bodies import ConnectedBodies
from naiad.models.drag import Drag
from naiad.models.forces import (
    AbstractForce,
    Motion,
    checked_forces,
    force_on_pose,
    force_on_product,
    relative_velocity,
)
from naiad.models.inertia import body_inertia, friction_matrix, inertia_matrix
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
from naiad.models.signals import AbstractSignal, signal
from naiad.models.sliding_disk import SlidingDisk
from naiad.models.spherical_pendulum import SphericalPendulum
from naiad.models.string import (
    AbstractField,
    AbstractLaw,
    AbstractLoad,
    Bending,
    GravityGradient,
    HangingBody,
    Hooke,
    Inextensible,
    LineDrag,
    MooneyRivlin,
    Reel,
    Rubber,
    StringPendulum,
    StringPoint,
    TensionOnly,
)
from naiad.models.submerged_body import SubmergedBody
from naiad.models.thrusters import Thrusters
from naiad.models.weight import Weight

__all__ = [
    "AbstractField",
    "AbstractForce",
    "AbstractJointTorque",
    "AbstractLaw",
    "AbstractLoad",
    "AbstractPairPotential",
    "AbstractSignal",
    "AlignedLennardJones",
    "Bending",
    "Body",
    "BuoyantVehicle",
    "ConnectedBodies",
    "Dipoles",
    "Drag",
    "Gravity",
    "GravityGradient",
    "HangingBody",
    "Hooke",
    "Inextensible",
    "InteractingBodies",
    "IsothermalRigidBody",
    "KirchhoffBody",
    "LennardJones",
    "LineDrag",
    "MooneyRivlin",
    "Motion",
    "OblateSatellite",
    "PointMasses",
    "Reel",
    "RigidBody",
    "RotorSpacecraft",
    "Rubber",
    "SlidingDisk",
    "SphericalPendulum",
    "StringPendulum",
    "StringPoint",
    "SubmergedBody",
    "TensionOnly",
    "Thrusters",
    "TravellingWave",
    "Weight",
    "body_inertia",
    "checked_forces",
    "force_on_pose",
    "force_on_product",
    "friction_matrix",
    "inertia_matrix",
    "relative_velocity",
    "signal",
]
