"""New methods from old ones: compositions of steps with given fractions of h."""

from typing import Any

import jax
import jax.numpy as jnp

from naiad.errors import InputError
from naiad.integrators.adjoint import Adjoint
from naiad.integrators.gate import check_method
from naiad.integrators.method import AbstractOneStepMethod, StepInfo
from naiad.mechanics import LagrangianSystem, Scalar, State
from naiad.numerics.composition import COMPOSITIONS


class Composition(AbstractOneStepMethod):
    """A symmetric one-step method raised to order 4, 6 or 8 by steps of w_1 h, ..., w_s h with symmetric weights.

    The weights are those of Suzuki (5 stages, order 4) and of Kahan and Li (9 stages, order 6; 17 stages, order 8)
    [hairer2006, section V.3.2]; other symmetric weights may be given.
    """

    method: AbstractOneStepMethod
    target: int
    weights: tuple[float, ...]

    def __init__(self, method: AbstractOneStepMethod, order: int = 4, weights: tuple[float, ...] | None = None):
        if weights is None and order not in COMPOSITIONS:
            raise InputError(f"Composition: order {order} was asked for; expected 4, 6 or 8, or weights of your own.")
        self.method = method
        self.target = order
        self.weights = COMPOSITIONS[order] if weights is None else tuple(float(w) for w in weights)
        if abs(sum(self.weights) - 1.0) > 1e-12 or self.weights != self.weights[::-1]:
            raise InputError(f"Composition: the weights {self.weights} must sum to 1 and read the same backwards.")

    @property
    def failure(self) -> str | None:
        """What the method says."""
        return self.method.failure

    @property
    def honours(self) -> frozenset[str]:
        """What the method does, without noise."""
        return self.method.honours - {"noise"}

    def check(self, system: LagrangianSystem) -> None:
        check_method(self.method, system)
        if not self.method.symmetric(system):
            raise InputError(
                f"Composition needs a symmetric method; {type(self.method).__name__} is not symmetric for this system. "
                "Use Composition(Symmetrised(method)), or a symmetric rule (Trapezoid, Midpoint)."
            )

    def order(self, system: LagrangianSystem) -> int:
        return self.target

    @property
    def symplectic(self) -> bool:
        """As the method is."""
        return self.method.symplectic

    def symmetric(self, system: LagrangianSystem) -> bool:
        return True

    def settled(self, system: LagrangianSystem, carry: Any, node: Any) -> Any:
        return self.method.settled(system, carry, node)

    def memory(self, system: LagrangianSystem, state: State, t: Scalar) -> Any:
        """One memory a stage, stacked: a stage's solver starts from what that stage did in the steps before."""
        single = self.method.memory(system, state, t)
        return jax.tree.map(lambda leaf: jnp.tile(leaf, (len(self.weights),) + (1,) * leaf.ndim), single)

    def advance(self, system, state, memory, t, h, inputs):
        weights = jnp.asarray(self.weights)
        starts = jnp.concatenate([jnp.zeros(1), jnp.cumsum(weights)[:-1]])

        def stage(carry, each):
            state, info = carry
            weight, start, remembered = each
            state, remembered, stage_info = self.method.advance(
                system, state, remembered, t + start * h, weight * h, inputs
            )
            return (state, info.then(stage_info)), remembered

        (state, info), memory = jax.lax.scan(stage, (state, StepInfo.explicit()), (weights, starts, memory))
        return state, memory, info


class Symmetrised(AbstractOneStepMethod):
    """Half a step of a method, then half a step of its adjoint: a symmetric method of even order."""

    method: AbstractOneStepMethod

    @property
    def honours(self) -> frozenset[str]:
        """What the method does, without noise."""
        return self.method.honours - {"noise"}

    def check(self, system: LagrangianSystem) -> None:
        check_method(self.method, system)

    def order(self, system: LagrangianSystem) -> int:
        order = self.method.order(system)
        return order + order % 2

    @property
    def symplectic(self) -> bool:
        """As the method is."""
        return self.method.symplectic

    def symmetric(self, system: LagrangianSystem) -> bool:
        return True

    def settled(self, system: LagrangianSystem, carry: Any, node: Any) -> Any:
        return self.method.settled(system, carry, node)

    def memory(self, system: LagrangianSystem, state: State, t: Scalar) -> Any:
        return self.method.memory(system, state, t), Adjoint(self.method).memory(system, state, t)

    def advance(self, system, state, memory, t, h, inputs):
        first, second = memory
        state, first, info = self.method.advance(system, state, first, t, 0.5 * h, inputs)
        state, second, adjoint_info = Adjoint(self.method).advance(system, state, second, t + 0.5 * h, 0.5 * h, inputs)
        return state, (first, second), info.then(adjoint_info)
