"""The method that fits a system, where the user names none."""

from naiad.integrators.method import AbstractMethod
from naiad.integrators.stochastic import StochasticVariational
from naiad.integrators.variational import Variational
from naiad.mechanics import LagrangianSystem, has_bath
from naiad.numerics.arguments import checked

_IN_A_BATH, _ELSE = StochasticVariational(), Variational()


@checked
def default_method(system: LagrangianSystem) -> AbstractMethod:
    """The system's own `default_method` if it names one, as trees and strings name their steps of O(N); else
    `StochasticVariational` for one in a heat bath, and `Variational` for all others."""
    if system.default_method is not None:
        return system.default_method
    return _IN_A_BATH if has_bath(system) else _ELSE
