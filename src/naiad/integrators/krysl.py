"""KR: Krysl's energy- and momentum-preserving method."""

from naiad.errors import InputError
from naiad.groups import SO2, AbstractGroup, Power, Product, Rn
from naiad.integrators.coadjoint import Prediction
from naiad.integrators.energy_level import AbstractLevelMethod, Line
from naiad.integrators.free_motion import check_free_motion
from naiad.mechanics import LagrangianSystem, Scalar, State


class Krysl(AbstractLevelMethod):
    """The step of `SimoWong` with its vector stretched: Theta = lambda Theta~ and H(Theta) = H_0, where H(Theta) is the
    energy of Ad*_{exp(Theta)} mu_k [bourabee2007, eq. (5.6.1)], [krysl2004].

    With b = (h^2/2) <mu', xi'> the energy changes by b lambda (lambda - 1) + O(h^3): beside the trivial root 0 there is
    one at lambda = 1 + O(h), and a step of that length is of **first** order. At a large step, or where mu' is small,
    there may be none (on so(3)* the change is periodic in lambda, but its next root may be far from 1): then the step
    fails.
    """

    failure = (
        "Krysl's equation for the length of the step has no root near 1: no multiple of the predicted vector keeps the "
        "energy. Take a smaller dt, or SimoWongPerp."
    )

    def check(self, system: LagrangianSystem) -> None:
        check_free_motion(self, system)
        if _commutative(system.group):
            raise InputError(
                f"Krysl was given {system.group!r}, which is commutative: the momentum is constant, and a step of any "
                "length keeps the energy. Use SimoWong, whose step is exact there."
            )

    def order(self, system: LagrangianSystem) -> int:
        return 1

    def line(self, system: LagrangianSystem, state: State, predicted: Prediction, h: Scalar) -> Line:
        return Line(lambda s: s * predicted.Theta, predicted.bend)


def _commutative(group: AbstractGroup) -> bool:
    if isinstance(group, Product):
        return all(map(_commutative, group.factors))
    return isinstance(group.base if isinstance(group, Power) else group, Rn | SO2)
