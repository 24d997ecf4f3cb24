"""The adjoint of a method: the inverse of its step by -h."""

from typing import Any

import jax.numpy as jnp

from naiad.errors import InputError
from naiad.integrators.gate import check_method
from naiad.integrators.method import AbstractOneStepMethod, StepInfo, velocity_floor
from naiad.integrators.rules import AdjointRule
from naiad.integrators.variational import Variational
from naiad.mechanics import LagrangianSystem, Scalar, State
from naiad.numerics import Newton


class Adjoint(AbstractOneStepMethod):
    """Phi*_h = (Phi_{-h})^-1, of the same order.

    A variational method has the adjoint discrete Lagrangian, and its own solver; any other one-step method is inverted
    by Newton's method on T*G, in the coordinates (eta, mu) of (g exp(eta), mu).
    """

    method: AbstractOneStepMethod
    newton: Newton = Newton()

    @property
    def honours(self) -> frozenset[str]:
        """What the method does, without noise."""
        return self.method.honours - {"noise"}

    def check(self, system: LagrangianSystem) -> None:
        check_method(self.method, system)
        if isinstance(self.method, Variational) and self.newton != Newton():
            raise InputError(
                f"Adjoint was given newton={self.newton!r}, but the adjoint of Variational uses the solver of that; "
                f"write Adjoint(Variational(newton={self.newton!r}))."
            )

    def order(self, system: LagrangianSystem) -> int:
        return self.method.order(system)

    @property
    def symplectic(self) -> bool:
        """As the method is."""
        return self.method.symplectic

    def symmetric(self, system: LagrangianSystem) -> bool:
        return self.method.symmetric(system)

    def settled(self, system: LagrangianSystem, carry: Any, node: Any) -> Any:
        return self.method.settled(system, carry, node)

    def memory(self, system: LagrangianSystem, state: State, t: Scalar) -> Any:
        return self.method.memory(system, state, t)

    def advance(self, system, state, memory, t, h, inputs):
        if isinstance(self.method, Variational):
            return self._reflected(self.method, system).advance(system, state, memory, t, h, inputs)
        return self._inverted(system, state, memory, t, h, inputs)

    def _reflected(self, method: Variational, system: LagrangianSystem) -> Variational:
        return method.replaced(rule=AdjointRule(method.discrete(system)))

    def _inverted(
        self, system: LagrangianSystem, state: State, memory: Any, t: Scalar, h: Scalar, inputs: Any
    ) -> tuple[State, Any, StepInfo]:
        group, n = system.group, system.group.dim

        def end(unknowns):
            return State(group.compose(state.g, group.exp(unknowns[:n])), unknowns[n:])

        def returned(unknowns):
            back, _, info = self.method.advance(system, end(unknowns), memory, t + h, -h, inputs)
            turn = group.log(group.compose(group.inverse(state.g), back.g))
            return jnp.concatenate([turn, back.mu - state.mu]), info

        guess, _, _ = self.method.advance(system, state, memory, t, h, inputs)
        eta = group.log(group.compose(group.inverse(state.g), guess.g))
        slow = velocity_floor(system.group, state.g, h)
        impulse = system.legendre(state.g, jnp.full(n, slow), t) - system.legendre(state.g, jnp.zeros(n), t)
        floor = jnp.maximum(slow * jnp.abs(h), jnp.max(jnp.abs(impulse)))
        root = self.newton.root(lambda x: returned(x)[0], jnp.concatenate([eta, guess.mu]), floor=floor)
        miss, info = returned(root.x)
        solved = root.converged & info.converged
        return end(root.x), memory, StepInfo.solved(root.iterations, jnp.max(jnp.abs(miss)), solved)
