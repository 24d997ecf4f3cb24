"""Methods: from a system to a pure step."""

from naiad.integrators.adjoint import Adjoint
from naiad.integrators.collocation import Collocation
from naiad.integrators.composition import Composition, Symmetrised
from naiad.integrators.default import default_method
from naiad.integrators.energy_steps import EnergySteps
from naiad.integrators.fast_lie_verlet import FastLieVerlet
from naiad.integrators.gate import check_method
from naiad.integrators.implicit_euler import ImplicitEuler
from naiad.integrators.krysl import Krysl
from naiad.integrators.method import AbstractMethod, AbstractOneStepMethod, OneStepCarry, StepInfo
from naiad.integrators.midpoint_lie_newmark import MidpointLieNewmark
from naiad.integrators.moser_veselov import MoserVeselov
from naiad.integrators.nystrom import Nystrom
from naiad.integrators.projected import Projected
from naiad.integrators.reduced import Reduced
from naiad.integrators.reversible_steps import ReversibleSteps
from naiad.integrators.rules import (
    AbstractRule,
    AdjointRule,
    Implicit,
    Left,
    Midpoint,
    Own,
    Right,
    Slopes,
    Trapezoid,
    slopes_by_autodiff,
)
from naiad.integrators.runge_kutta import RK4, RKMK
from naiad.integrators.simo_wong import SimoWong
from naiad.integrators.simo_wong_perp import SimoWongPerp
from naiad.integrators.splitting import Splitting
from naiad.integrators.stochastic import StochasticVariational
from naiad.integrators.trapezoidal_lie_newmark import TrapezoidalLieNewmark
from naiad.integrators.variational import Legs, Variational
from naiad.integrators.vprk import VPRK, StageBalance
from naiad.integrators.wisdom_holman import WisdomHolman

__all__ = [
    "RK4",
    "RKMK",
    "VPRK",
    "AbstractMethod",
    "AbstractOneStepMethod",
    "AbstractRule",
    "Adjoint",
    "AdjointRule",
    "Collocation",
    "Composition",
    "EnergySteps",
    "FastLieVerlet",
    "Implicit",
    "ImplicitEuler",
    "Krysl",
    "Left",
    "Legs",
    "Midpoint",
    "MidpointLieNewmark",
    "MoserVeselov",
    "Nystrom",
    "OneStepCarry",
    "Own",
    "Projected",
    "Reduced",
    "ReversibleSteps",
    "Right",
    "SimoWong",
    "SimoWongPerp",
    "Slopes",
    "Splitting",
    "StageBalance",
    "StepInfo",
    "StochasticVariational",
    "Symmetrised",
    "Trapezoid",
    "TrapezoidalLieNewmark",
    "Variational",
    "WisdomHolman",
    "check_method",
    "default_method",
    "slopes_by_autodiff",
]
