"""The method that fits a system, where the user names none."""

from naiad.integrators.method import AbstractMethod
from naiad.integrators.rules import Midpoint
from naiad.integrators.stochastic import StochasticVariational
from naiad.integrators.variational import Variational
from naiad.mechanics import LagrangianSystem
from naiad.mechanics.heat_bath import declares_bath
from naiad.numerics import Newton
from naiad.numerics.arguments import checked

_IN_A_BATH, _ELSE = StochasticVariational(), Variational()
_NEAR = Variational(rule=Midpoint(), newton=Newton(jacobian="inertia"))


@checked
def default_method(system: LagrangianSystem) -> AbstractMethod:
    """The system's own `default_method` if it names one, as trees and strings name their steps of O(N); else
    `StochasticVariational` for one in a heat bath, `Variational` with the Lagrangian at the midpoint and a near inertia
    for one that gives such a matrix, and `Variational` for all others."""
    if system.default_method is not None:
        return system.default_method
    if declares_bath(system):
        return _IN_A_BATH
    return _ELSE if system.near_inertia is None else _NEAR
