"""SW-perp: the energy- and momentum-preserving method of Simo and Wong."""

import jax
import jax.numpy as jnp

from naiad.integrators.coadjoint import Prediction, energy_after
from naiad.integrators.energy_level import AbstractLevelMethod, Line
from naiad.integrators.free_motion import check_free_motion
from naiad.mechanics import EulerPoincareSystem, LagrangianSystem, State


class SimoWongPerp(AbstractLevelMethod):
    """The step of `SimoWong` with its vector moved across the energy level: Theta = Theta~ + lambda H_Theta(Theta~) and
    H(Theta) = H_0, where H(Theta) is the energy of Ad*_{exp(Theta)} mu_k [bourabee2007, sections 5.6 and 6.5],
    [simo1991].

    One scalar equation a step. Keeps the momentum in space, the Casimirs and the energy; neither symmetric nor
    symplectic.
    """

    failure = "No vector near SimoWongPerp's prediction keeps the energy; take a smaller dt (h |xi| well below 1)."

    def check(self, system: LagrangianSystem) -> None:
        check_free_motion(self, system)

    def order(self, system: LagrangianSystem) -> int:
        return 2

    def line(self, system: EulerPoincareSystem, state: State, predicted: Prediction) -> Line:
        slope = jax.grad(lambda Theta: energy_after(system, state, Theta))(predicted.Theta)
        steepness = slope @ slope
        direction = predicted.bend / jnp.where(steepness == 0.0, 1.0, steepness) * slope
        return lambda s: predicted.Theta + (s - 1.0) * direction
