"""The stochastic variational integrator: mechanical systems in contact with a heat bath."""

import functools
from typing import Any

import jax.numpy as jnp
from jaxtyping import Array, Float

from naiad.errors import InputError
from naiad.integrators.method import AbstractOneStepMethod
from naiad.integrators.rules import AbstractRule, Left
from naiad.integrators.variational import Variational
from naiad.mechanics import LagrangianSystem, Scalar, State, check_bath, has_bath, noise_matrix, noise_size
from naiad.mechanics.features import EVERY
from naiad.numerics import Newton, history, static
from naiad.retractions import AbstractRetraction, Cayley


class StochasticVariational(AbstractOneStepMethod):
    """Langevin's equations dg = g xi dt, dmu = (ad*_xi mu + T*L_g d ell/dg + F - C xi) dt + Sigma dW: the step of
    `Variational` with friction and noise as forces.

    The virtual work of a step is that of the force F - C(g) xi + Sigma(g) dW_k/h, which the `rule` shares out
    between the nodes; dW_k is normal with variance h. C and Sigma depend on g alone, so that Ito's and Stratonovich's
    equations are the same.

    - As it stands, `Left` and `lagged`, it is the stochastic variational Euler method [bourabee2007, eqs.
      (7.5.7)-(7.5.9)] on any group: the friction is that of the velocity at the node, - C xi(mu_k), known before the
      step. Its averages are off by O(h); it needs h C below twice the inertia.
    - `lagged=False` takes the velocity of the step, so that large friction does no harm. With `Trapezoid` the averages
      are then off by O(h^2); on a vector space it is the method of [gronbech2013], by which a free particle and the
      position of one on a spring have their exact laws. With `Midpoint` all of the law of a linear system is exact.

    Without friction and noise it is `Variational` with that rule.
    """

    retraction: AbstractRetraction = Cayley()
    rule: AbstractRule = Left()
    lagged: bool = static(default=True)
    newton: Newton = Newton()
    renormalise: bool = static(default=True)

    honours = EVERY

    def check(self, system: LagrangianSystem) -> None:
        check_bath(system)
        self.variational.check(system)

    @property
    def variational(self) -> Variational:
        """The method without friction and noise."""
        return Variational(self.retraction, self.rule, self.newton)

    def order(self, system: LagrangianSystem) -> int:
        return 1 if has_bath(system) else self.variational.order(system)

    def symmetric(self, system: LagrangianSystem) -> bool:
        return not has_bath(system) and self.variational.symmetric(system)

    def noise_size(self, system: LagrangianSystem) -> int:
        return noise_size(system)

    def memory(self, system: LagrangianSystem, state: State, t: Scalar) -> tuple[()]:
        """Nothing: steps of a rough path do not tell the next one."""
        return ()

    def advance(self, system, state, memory, t, h, inputs):
        velocity = system.velocity(state.g, state.mu, t)
        heated = self._heated(system, velocity, inputs)
        new, _, info = self.variational.advance(heated, state, history(velocity), t, h, None)
        return new, (), info

    def _heated(self, system: LagrangianSystem, velocity: Float[Array, " n"], rate: Any) -> LagrangianSystem:
        """The system with friction and noise among its forces; `rate` is dW/h, constant over the step."""
        if not has_bath(system):
            return system
        size = noise_size(system)
        if size and rate is None:
            raise InputError(f"{type(system).__name__} takes {size} random increments a step, and none were given.")

        def force(g, xi, t):
            total = system.friction(g, velocity if self.lagged else xi, t)
            if size:
                total = total + noise_matrix(system, g, t) @ jnp.asarray(rate)
            return total if system.force is None else total + system.force(g, xi, t)

        heated = object.__new__(_with_room_for_a_force(type(system)))
        vars(heated).update(vars(system), force=force, dissipation=None)
        return heated


@functools.cache
def _with_room_for_a_force(cls: type[LagrangianSystem]) -> type[LagrangianSystem]:
    """The class with a `force` that each instance has of its own, and no friction: properties could not be replaced."""
    own = {"force": None, "dissipation": None, "__module__": cls.__module__, "__doc__": cls.__doc__}
    return type(cls.__name__, (cls,), own)
