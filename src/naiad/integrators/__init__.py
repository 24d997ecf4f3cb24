"""Methods: from a system to a pure step."""

from naiad.integrators.adjoint import Adjoint
from naiad.integrators.composition import Composition, Symmetrised
from naiad.integrators.implicit_euler import ImplicitEuler
from naiad.integrators.method import AbstractMethod, AbstractOneStepMethod, OneStepCarry, StepInfo
from naiad.integrators.projected import Projected
from naiad.integrators.quadrature import (
    AbstractQuadrature,
    AdjointQuadrature,
    Left,
    Midpoint,
    Own,
    Right,
    Slopes,
    Trapezoid,
    slopes_by_autodiff,
)
from naiad.integrators.reduced import Reduced
from naiad.integrators.runge_kutta import RK4, RKMK
from naiad.integrators.variational import Legs, Variational

__all__ = [
    "RK4",
    "RKMK",
    "AbstractMethod",
    "AbstractOneStepMethod",
    "AbstractQuadrature",
    "Adjoint",
    "AdjointQuadrature",
    "Composition",
    "ImplicitEuler",
    "Left",
    "Legs",
    "Midpoint",
    "OneStepCarry",
    "Own",
    "Projected",
    "Reduced",
    "Right",
    "Slopes",
    "StepInfo",
    "Symmetrised",
    "Trapezoid",
    "Variational",
    "slopes_by_autodiff",
]
