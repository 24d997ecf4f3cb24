"""What SW-perp and KR share: a step along the coadjoint orbit whose vector is chosen on the energy level of the
start."""

import abc
import sys
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from naiad.integrators.coadjoint import Prediction, coadjoint_step, energy_after, predict
from naiad.integrators.method import AbstractMethod, StepInfo
from naiad.mechanics import LagrangianSystem, Scalar, State
from naiad.mechanics.features import OF_A_FREE_MOTION
from naiad.numerics import Newton, static

NEAR = 0.5  # how far from 1 the parameter of a step may lie; it is 1 + O(h)
ROUNDING = 4.0 * sys.float_info.epsilon  # of the energy, relative to it
STRAIGHT = 1e3 * sys.float_info.epsilon  # a bend below this part of the energy tells nothing


class Line(NamedTuple):
    """s -> Theta(s), and about how much the energy changes with s at s = 1."""

    at: Callable[[Float[Array, ""]], Float[Array, " n"]]
    change: Float[Array, ""]


class LevelCarry(NamedTuple):
    """The state, the energy to be kept, and how the last step went."""

    state: State
    energy: Float[Array, ""]
    info: StepInfo


class AbstractLevelMethod(AbstractMethod):
    """Theta(s) on a line through the second-order prediction Theta(1), with s such that the energy of
    Ad*_{exp(Theta(s))} mu_k is that of the start.

    An energy that differs by its own rounding counts as equal. Where mu' all but vanishes s is 1, and the energy that
    is kept is that after the step: at a relative equilibrium every s is a solution.
    """

    newton: Newton = Newton()
    renormalise: bool = static(default=True)

    honours = OF_A_FREE_MOTION
    symplectic = False

    @abc.abstractmethod
    def line(self, system: LagrangianSystem, state: State, predicted: Prediction, h: Scalar) -> Line:
        """The line on which a step is looked for; for a motion of the group alone its change is `bend`."""

    def symmetric(self, system: LagrangianSystem) -> bool:
        return False

    def init(self, system: LagrangianSystem, state: State, t: Scalar, h: Scalar) -> LevelCarry:
        state = jax.tree.map(lambda leaf: jnp.asarray(leaf, float), state)
        return LevelCarry(state, system.energy(state, t), StepInfo.explicit())

    def step(self, system: LagrangianSystem, carry: LevelCarry, t: Scalar, h: Scalar, inputs: Any = None) -> LevelCarry:
        state, energy, _ = carry
        predicted = predict(system, state, h)
        line = self.line(system, state, predicted, h)
        straight = line.change <= STRAIGHT * jnp.abs(energy)
        weight = jnp.where(straight, 0.0, 1.0)  # a number: Newton's derivative takes what it depends on as numbers

        def residual(s):
            off = energy_after(system, state, line.at(s[0]), h) - energy
            lost = jax.lax.stop_gradient(jnp.where(jnp.abs(off) <= ROUNDING * jnp.abs(energy), off, 0.0))
            return weight * (off - lost) + (1.0 - weight) * (s - 1.0)

        root = self.newton.root(residual, jnp.ones(1))
        Theta = line.at(root.x[0])
        new = coadjoint_step(system, state, Theta, h)
        reached = system.energy(new, t)
        found = root.converged & (jnp.abs(root.x[0] - 1.0) < NEAR)
        info = StepInfo.solved(root.iterations, jnp.abs(reached - energy), found)
        return LevelCarry(new, jnp.where(straight, reached, energy), info)
