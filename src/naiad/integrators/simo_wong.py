"""SW: the explicit momentum-preserving method of Simo and Wong."""

from naiad.integrators.coadjoint import coadjoint_step, predict
from naiad.integrators.free_motion import check_free_motion
from naiad.integrators.method import AbstractOneStepMethod, StepInfo
from naiad.mechanics import EulerPoincareSystem, LagrangianSystem, Scalar, State
from naiad.mechanics.features import OF_A_FREE_MOTION
from naiad.numerics import static


class SimoWong(AbstractOneStepMethod):
    """mu_{k+1} = Ad*_{exp(Theta)} mu_k and g_{k+1} = g_k exp(Theta), Theta = h xi_k + (h^2/2) xi'_k [bourabee2007,
    sections 5.6 and 6.5], [simo1991].

    Explicit; keeps the momentum in space and the Casimirs, but not the energy, which grows. On se(3)* the vector is
    that of the text of section 6.5; the entry of table 6.2 belongs to another map.
    """

    renormalise: bool = static(default=True)

    honours = OF_A_FREE_MOTION
    symplectic = False

    def check(self, system: LagrangianSystem) -> None:
        check_free_motion(self, system)

    def order(self, system: LagrangianSystem) -> int:
        return 2

    def symmetric(self, system: LagrangianSystem) -> bool:
        return False

    def memory(self, system: LagrangianSystem, state: State, t: Scalar) -> tuple[()]:
        return ()

    def advance(self, system: EulerPoincareSystem, state, memory, t, h, inputs):
        Theta = predict(system, state, h).Theta
        return coadjoint_step(system, state, Theta, h), (), StepInfo.explicit()
