"""The studies: the experiments of the papers and ours, by name.

A study is registered with one line in `STUDIES`. Its module is imported only when it is run or shown; the summary for a
list is read from the source, so that listing never imports JAX.
"""

import ast
import importlib
import importlib.util
from typing import TYPE_CHECKING

from naiad.errors import InputError
from naiad.studies.matches import did_you_mean

if TYPE_CHECKING:
    from naiad.studies.study import Study

STUDIES: dict[str, str] = {
    "added-inertia": "naiad.studies.flow.added_inertia:AddedInertia",
    "argon-cluster": "naiad.studies.atoms.argon_cluster:ArgonCluster",
    "buoyant-vehicle": "naiad.studies.vehicles.buoyant_vehicle:BuoyantVehicle",
    "connected-bodies": "naiad.studies.trees.connected_bodies:ConnectedBodies",
    "crane": "naiad.studies.strings.crane:Crane",
    "curvature": "naiad.studies.fish.curvature:Curvature",
    "eel": "naiad.studies.trees.eel:Eel",
    "falling-plate": "naiad.studies.vehicles.falling_plate:FallingPlate",
    "fish-school": "naiad.studies.fish.fish_school:FishSchool",
    "fish-vortices": "naiad.studies.fish.fish_vortices:FishVortices",
    "gait-energy": "naiad.studies.fish.gait_energy:GaitEnergy",
    "gait-optimiser": "naiad.studies.fish.gait_optimiser:GaitOptimiser",
    "heavy-top": "naiad.studies.bodies.heavy_top:HeavyTopStudy",
    "identify-vehicle": "naiad.studies.control.identify_vehicle:IdentifyVehicle",
    "interacting-bodies": "naiad.studies.bodies.interacting_bodies:InteractingBodies",
    "isothermal-rigid-body": "naiad.studies.heat.isothermal_rigid_body:IsothermalRigidBody",
    "light-body": "naiad.studies.vehicles.light_body:LightBody",
    "lumped-string": "naiad.studies.strings.lumped_string:LumpedString",
    "mesh-vehicle": "naiad.studies.vehicles.mesh_vehicle:MeshVehicle",
    "mpc-docking": "naiad.studies.control.mpc_docking:MpcDocking",
    "near-wall": "naiad.studies.vehicles.near_wall:NearWall",
    "oblate-earth": "naiad.studies.planets.oblate_earth:OblateEarth",
    "outer-solar-system": "naiad.studies.planets.outer_solar_system:OuterSolarSystem",
    "passing-spheres": "naiad.studies.vehicles.passing_spheres:PassingSpheres",
    "poincare-section": "naiad.studies.vehicles.poincare_section:PoincareSection",
    "reorientation": "naiad.studies.control.reorientation:Reorientation",
    "rigid-body": "naiad.studies.bodies.rigid_body:RigidBody",
    "rotor-spacecraft": "naiad.studies.bodies.rotor_spacecraft:RotorSpacecraft",
    "sliding-disk": "naiad.studies.heat.sliding_disk:SlidingDisk",
    "smooth-fish": "naiad.studies.fish.smooth_fish:SmoothFish",
    "spatial-fish": "naiad.studies.fish.spatial_fish:SpatialFish",
    "spherical-pendulum": "naiad.studies.bodies.spherical_pendulum:SphericalPendulum",
    "streamlines": "naiad.studies.flow.streamlines:Streamlines",
    "string-pendulum": "naiad.studies.strings.string_pendulum:StringPendulum",
    "swimmer-dynamics": "naiad.studies.fish.swimmer_dynamics:SwimmerDynamics",
    "swimming-robot": "naiad.studies.trees.swimming_robot:SwimmingRobot",
    "swing-up": "naiad.studies.control.swing_up:SwingUp",
    "tethered-satellite": "naiad.studies.strings.tethered_satellite:TetheredSatellite",
    "three-link-fish": "naiad.studies.fish.three_link_fish:ThreeLinkFish",
    "underwater-vehicle": "naiad.studies.vehicles.underwater_vehicle:UnderwaterVehicle",
    "variable-steps": "naiad.studies.planets.variable_steps:VariableSteps",
    "vehicle-docking": "naiad.studies.control.vehicle_docking:VehicleDocking",
    "vortex-body": "naiad.studies.flow.vortex_body:VortexBody",
    "work-precision": "naiad.studies.vehicles.work_precision:WorkPrecision",
}
"""Name -> "module:Class"."""

LIVE = (
    "buoyant-vehicle",
    "connected-bodies",
    "eel",
    "falling-plate",
    "heavy-top",
    "mesh-vehicle",
    "mpc-docking",
    "outer-solar-system",
    "poincare-section",
    "reorientation",
    "rigid-body",
    "rotor-spacecraft",
    "spherical-pendulum",
    "string-pendulum",
    "swimming-robot",
    "swing-up",
    "three-link-fish",
    "underwater-vehicle",
    "vehicle-docking",
    "vortex-body",
)
"""The studies that have a live page: those with a method `live`."""


def find(name: str) -> "type[Study]":
    """The class of a study."""
    module, _, attribute = _target(name).partition(":")
    return getattr(importlib.import_module(module), attribute)


def summary(name: str) -> str:
    """The first line of a study's docstring, without importing its module."""
    module, _, attribute = _target(name).partition(":")
    spec = importlib.util.find_spec(module)
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError(f"no module {module} for the study {name}")
    with open(spec.origin, encoding="utf-8") as file:
        tree = ast.parse(file.read())
    (node,) = (node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == attribute)
    return (ast.get_docstring(node) or "").partition("\n")[0]


def _target(name: str) -> str:
    if name not in STUDIES:
        raise InputError(f"there is no study {name}; {did_you_mean(name, STUDIES)}`naiad list` lists them")
    return STUDIES[name]
