"""Inertia of bodies in an ideal fluid, from their shape: plain matrices, angular first."""

from naiad.hydro.curve import AbstractCurve, ClosedCurve, CurvePoints, Ellipse, SplineCurve
from naiad.hydro.ellipsoid import Ellipsoid, Sphere, Spheroid
from naiad.hydro.elliptic_cylinder import EllipticCylinder
from naiad.hydro.facets import Facets
from naiad.hydro.frames import angular_first, linear_first, moved
from naiad.hydro.free_shedding import FreeWake, shed_freely
from naiad.hydro.meshes.mesh import Mesh
from naiad.hydro.planar_bodies import InertiaDerivative, PlanarBodies
from naiad.hydro.planar_flow import PlanarFlow
from naiad.hydro.rigid import MassProperties, mass_properties, rigid_inertia
from naiad.hydro.rotation import rotation_matrix
from naiad.hydro.shape import AbstractShape, Assembly, Placed
from naiad.hydro.shedding import Wake, shed_wake
from naiad.hydro.spatial.bodies import SpatialBodies, SpatialDerivative
from naiad.hydro.spatial.flow import SpatialFlow
from naiad.hydro.spatial.plane import Plane
from naiad.hydro.vortices import AtRest, VortexFlow, Vortices
from naiad.hydro.vortices_among import AmongVortices
from naiad.numerics.checks import check_moments

__all__ = [
    "AbstractCurve",
    "AbstractShape",
    "AmongVortices",
    "Assembly",
    "AtRest",
    "ClosedCurve",
    "CurvePoints",
    "Ellipse",
    "Ellipsoid",
    "EllipticCylinder",
    "Facets",
    "FreeWake",
    "InertiaDerivative",
    "MassProperties",
    "Mesh",
    "Placed",
    "PlanarBodies",
    "PlanarFlow",
    "Plane",
    "SpatialBodies",
    "SpatialDerivative",
    "SpatialFlow",
    "Sphere",
    "Spheroid",
    "SplineCurve",
    "VortexFlow",
    "Vortices",
    "Wake",
    "angular_first",
    "check_moments",
    "linear_first",
    "mass_properties",
    "moved",
    "rigid_inertia",
    "rotation_matrix",
    "shed_freely",
    "shed_wake",
]
