"""FLV: fast Lie-Verlet, a two-step method without an iteration."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from naiad.integrators.free_motion import cayley_coadjoint, check_free_motion, pull, through_the_node
from naiad.integrators.method import AbstractMethod, AbstractOneStepMethod, StepInfo
from naiad.integrators.midpoint_lie_newmark import MidpointLieNewmark
from naiad.integrators.rules import Midpoint
from naiad.integrators.variational import Variational
from naiad.mechanics import LagrangianSystem, Scalar, State, is_euler_poincare
from naiad.mechanics.features import OF_A_FREE_MOTION
from naiad.numerics import Newton, static
from naiad.retractions import AbstractRetraction, Cayley


class VerletCarry(NamedTuple):
    """The state and the velocity at the node, the mean of the last two momenta, and the step that lies between them (0
    before the first)."""

    state: State
    xi: Float[Array, " n"]
    mean: Float[Array, " n"]
    h: Float[Array, ""]
    info: StepInfo


class FastLieVerlet(AbstractMethod):
    """mu_{k+1} = mu_{k-1} + h ad*_{xi_k} (mu_{k+1/2} + mu_{k-1/2}), mu_{k+1/2} = (mu_k + mu_{k+1})/2, and g_{k+1/2} =
    g_{k-1/2} cay(h xi_k) [bourabee2007, tables 5.1 and 6.1].

    A step is one linear solve, (1 - h ad*_{xi_k}/2) mu_{k+1/2} = (1 + h ad*_{xi_k}/2) mu_{k-1/2}: it keeps quadratic
    Casimirs of mu_{k+1/2}, and on SO(3) the momentum in space g_{k+1/2} mu_{k+1/2}. The state at the node is (g_{k-1/2}
    cay(h xi_k)^(1/2), mu_k). The first step, and any whose size differs from that of the step before, is one of
    `MidpointLieNewmark`; for its sake a run and its reverse differ, though the two-step recursion is symmetric. Not
    symplectic.

    A shape space beside the group, a vector space with a potential V whose motion the inertia couples to that of the
    group, is taken along [bourabee2007, section 7.4]: 2 h (-dV) at the node is added to mu_{k+1} - mu_{k-1}. The first
    step is then one of `Variational` at the midpoint.
    """

    retraction: AbstractRetraction = Cayley()
    newton: Newton = Newton()
    renormalise: bool = static(default=True)

    honours = OF_A_FREE_MOTION
    symplectic = False

    def check(self, system: LagrangianSystem) -> None:
        check_free_motion(self, system, with_shape=True)
        self.retraction.check(system.group)

    def order(self, system: LagrangianSystem) -> int:
        return 2

    def symmetric(self, system: LagrangianSystem) -> bool:
        return False

    def init(self, system: LagrangianSystem, state: State, t: Scalar, h: Scalar) -> VerletCarry:
        state = jax.tree.map(lambda leaf: jnp.asarray(leaf, float), state)
        xi = system.velocity(state.g, state.mu, t)
        return VerletCarry(state, xi, state.mu, jnp.zeros(()), StepInfo.explicit())

    def step(
        self, system: LagrangianSystem, carry: VerletCarry, t: Scalar, h: Scalar, inputs: Any = None
    ) -> VerletCarry:
        size = jnp.asarray(h, float)
        return jax.lax.cond(carry.h == size, self._verlet, self._start, system, carry, t, size)

    def _starter(self, system: LagrangianSystem) -> AbstractOneStepMethod:
        if is_euler_poincare(system):
            return MidpointLieNewmark(self.retraction, self.newton)
        return Variational(self.retraction, Midpoint(), self.newton)

    def _start(self, system: LagrangianSystem, carry: VerletCarry, t: Scalar, h: Float[Array, ""]) -> VerletCarry:
        starter = self._starter(system)
        state, _, info = starter.advance(system, carry.state, starter.memory(system, carry.state, t), t, h, None)
        xi = system.velocity(state.g, state.mu, t)
        return VerletCarry(state, xi, 0.5 * (carry.state.mu + state.mu), h, info)

    def _verlet(self, system: LagrangianSystem, carry: VerletCarry, t: Scalar, h: Float[Array, ""]) -> VerletCarry:
        group, last = system.group, carry.state
        mean = cayley_coadjoint(group, h * carry.xi, carry.mean) + h * pull(system, last.g, t)
        mu = 2.0 * mean - last.mu
        xi = system.velocity(last.g, mu, t)
        g = through_the_node(group, self.retraction, last.g, h * carry.xi, h * xi)
        return VerletCarry(State(g, mu), xi, mean, h, StepInfo.explicit())
