"""Concrete systems; each runs with every method that fits it.

Those of the families `strings` and `trees`, which have steps of their own, are loaded when they are first used.
"""

import importlib
from typing import TYPE_CHECKING, Any

from naiad.forces import (
    AbstractForce,
    AbstractSignal,
    Drag,
    Motion,
    Thrusters,
    Weight,
    checked_forces,
    force_on_pose,
    force_on_product,
    relative_velocity,
    signal,
)
from naiad.models.atom_cluster import AtomCluster
from naiad.models.buoyant_vehicle import BuoyantVehicle
from naiad.models.cluster_shape import ClusterShape
from naiad.models.heavy_plate import HeavyPlate
from naiad.models.interacting_bodies import InteractingBodies
from naiad.models.isothermal_rigid_body import IsothermalRigidBody
from naiad.models.kirchhoff import KirchhoffBody
from naiad.models.oblate_earth import OblateSatellite
from naiad.models.oblate_orbit import OblateOrbit
from naiad.models.pair_potentials import (
    AbstractPairPotential,
    AlignedLennardJones,
    Body,
    Dipoles,
    Gravity,
    LennardJones,
)
from naiad.models.point_masses import PointMasses
from naiad.models.point_vortices import PointVortices
from naiad.models.rigid_body import RigidBody
from naiad.models.rotor_spacecraft import RotorSpacecraft
from naiad.models.sliding_disk import SlidingDisk
from naiad.models.spherical_pendulum import SphericalPendulum
from naiad.models.submerged_bodies import SubmergedBodies
from naiad.models.submerged_body import SubmergedBody
from naiad.models.vortex_body import VortexBody
from naiad.numerics.checks import body_inertia, friction_matrix, inertia_matrix

if TYPE_CHECKING:
    from naiad.strings import (
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
    from naiad.trees import AbstractJointTorque, ConnectedBodies, TravellingWave

_FAMILIES = {
    "strings": "AbstractField AbstractLaw AbstractLoad Bending GravityGradient HangingBody Hooke Inextensible LineDrag "
    "MooneyRivlin Reel Rubber StringPendulum StringPoint TensionOnly",
    "trees": "AbstractJointTorque ConnectedBodies TravellingWave",
}
_FAMILY_OF = {name: family for family, names in _FAMILIES.items() for name in names.split()}

__all__ = [
    "AbstractField",
    "AbstractForce",
    "AbstractJointTorque",
    "AbstractLaw",
    "AbstractLoad",
    "AbstractPairPotential",
    "AbstractSignal",
    "AlignedLennardJones",
    "AtomCluster",
    "Bending",
    "Body",
    "BuoyantVehicle",
    "ClusterShape",
    "ConnectedBodies",
    "Dipoles",
    "Drag",
    "Gravity",
    "GravityGradient",
    "HangingBody",
    "HeavyPlate",
    "Hooke",
    "Inextensible",
    "InteractingBodies",
    "IsothermalRigidBody",
    "KirchhoffBody",
    "LennardJones",
    "LineDrag",
    "MooneyRivlin",
    "Motion",
    "OblateOrbit",
    "OblateSatellite",
    "PointMasses",
    "PointVortices",
    "Reel",
    "RigidBody",
    "RotorSpacecraft",
    "Rubber",
    "SlidingDisk",
    "SphericalPendulum",
    "StringPendulum",
    "StringPoint",
    "SubmergedBodies",
    "SubmergedBody",
    "TensionOnly",
    "Thrusters",
    "TravellingWave",
    "VortexBody",
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


def __getattr__(name: str) -> Any:
    if name not in _FAMILY_OF:
        raise AttributeError(f"module 'naiad.models' has no attribute {name!r}")
    value = globals()[name] = getattr(importlib.import_module(f"naiad.{_FAMILY_OF[name]}"), name)
    return value
