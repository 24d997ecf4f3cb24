"""SW-perp: the energy- and momentum-preserving method of Simo and Wong."""

import jax
import jax.numpy as jnp

from naiad.errors import InputError
from naiad.integrators.coadjoint import Prediction, energy_after
from naiad.integrators.energy_level import AbstractLevelMethod, Line
from naiad.integrators.free_motion import check_free_motion
from naiad.mechanics import LagrangianSystem, Scalar, State, is_euler_poincare, keeps_energy


class SimoWongPerp(AbstractLevelMethod):
    """The step of `SimoWong` with its vector moved across the energy level: Theta = Theta~ + lambda H_Theta(Theta~) and
    H(Theta) = H_0, where H(Theta) is the energy of Ad*_{exp(Theta)} mu_k [bourabee2007, sections 5.6 and 6.5],
    [simo1991].

    One scalar equation a step. Keeps the momentum in space, the Casimirs and the energy; neither symmetric nor
    symplectic. A shape space beside the group, a vector space with a potential, is taken along [bourabee2007, section
    7.4]: its part of Theta is the displacement, and its momentum is pulled by half of -h dV at each end.
    """

    failure = "No vector near SimoWongPerp's prediction keeps the energy; take a smaller dt (h |xi| well below 1)."

    def check(self, system: LagrangianSystem) -> None:
        check_free_motion(self, system, with_shape=True)
        if not keeps_energy(system):
            raise InputError(
                f"SimoWongPerp keeps the energy, and {type(system).__name__} changes it with time; use Variational."
            )

    def order(self, system: LagrangianSystem) -> int:
        return 2

    def line(self, system: LagrangianSystem, state: State, predicted: Prediction, h: Scalar) -> Line:
        slope = jax.grad(lambda Theta: energy_after(system, state, Theta, h))(predicted.Theta)
        steepness = slope @ slope
        change = predicted.bend
        if not is_euler_poincare(system):  # mu' passes zero with the shape: by the length of the step
            change = jnp.sqrt(steepness * (predicted.Theta @ predicted.Theta))
        direction = change / jnp.where(steepness == 0.0, 1.0, steepness) * slope
        return Line(lambda s: predicted.Theta + (s - 1.0) * direction, change)
