"""What a system is: Lagrangians on groups, their symmetry, and what follows from them by automatic differentiation."""

from naiad.mechanics.advected import AdvectedSystem, ReducedState, diamond, generator
from naiad.mechanics.calculus import left_gradient, left_jacobian, left_velocity, pull_back
from naiad.mechanics.components import identity, join_rows, row_views, split_rows
from naiad.mechanics.euler_poincare import EulerPoincareSystem, has_symmetry, is_euler_poincare
from naiad.mechanics.heat_bath import check_bath, has_bath, noise_matrix, noise_size
from naiad.mechanics.initial import fitting_state
from naiad.mechanics.joints import Joints
from naiad.mechanics.labels import Label
from naiad.mechanics.lagrange_poincare import LagrangePoincareSystem, Split
from naiad.mechanics.picture import Picture, ellipsoid_of_inertia
from naiad.mechanics.power import keeps_energy, power
from naiad.mechanics.routh import RouthSystem
from naiad.mechanics.slice import SlicedSystem
from naiad.mechanics.state import Scalar, State
from naiad.mechanics.system import LagrangianSystem, Rates, check_state
from naiad.mechanics.units import Units, units_of

__all__ = [
    "AdvectedSystem",
    "EulerPoincareSystem",
    "Joints",
    "Label",
    "LagrangePoincareSystem",
    "LagrangianSystem",
    "Picture",
    "Rates",
    "ReducedState",
    "RouthSystem",
    "Scalar",
    "SlicedSystem",
    "Split",
    "State",
    "Units",
    "check_bath",
    "check_state",
    "diamond",
    "ellipsoid_of_inertia",
    "fitting_state",
    "generator",
    "has_bath",
    "has_symmetry",
    "identity",
    "is_euler_poincare",
    "join_rows",
    "keeps_energy",
    "left_gradient",
    "left_jacobian",
    "left_velocity",
    "noise_matrix",
    "noise_size",
    "power",
    "pull_back",
    "row_views",
    "split_rows",
    "units_of",
]
