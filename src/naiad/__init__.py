"""naiad: mechanical systems on Lie groups, with integrators that keep the physics."""

from importlib.metadata import PackageNotFoundError, version

from naiad import models
from naiad.errors import InputError, NaiadError, RunError
from naiad.groups import S3, SE2, SE3, SO2, SO3, Power, Product, Rn, SOn
from naiad.integrators import RK4, RKMK, Adjoint, Composition, Left, Midpoint, Reduced, Right, Symmetrised, Trapezoid, Variational
from naiad.mechanics import AdvectedSystem, EulerPoincareSystem, LagrangianSystem, State
from naiad.numerics import Chain, Dense, Newton
from naiad.retractions import Cayley, Exponential, Newmark, PerFactor, Skew
from naiad.simulation import Outcome, Section, Trajectory, load, propagate, resume, simulate

try:
    __version__ = version("naiad")
except PackageNotFoundError:
    __version__ = "0.0.0"
