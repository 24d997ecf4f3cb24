"""TLN: the trapezoidal Lie-Newmark method."""

import jax.numpy as jnp

from naiad.integrators.free_motion import (
    check_free_motion,
    left_half,
    left_half_root,
    momentum,
    through_the_node,
)
from naiad.integrators.method import AbstractOneStepMethod, StepInfo
from naiad.mechanics import EulerPoincareSystem, LagrangianSystem, Scalar, State
from naiad.mechanics.features import OF_A_FREE_MOTION
from naiad.numerics import History, Newton, extrapolate, history, remember, static
from naiad.retractions import AbstractRetraction, Cayley


class TrapezoidalLieNewmark(AbstractOneStepMethod):
    """The trapezoidal rule for the momentum,

        mu_{k+1} - (h/2) ad*_{xi_{k+1}} mu_{k+1} = mu_k + (h/2) ad*_{xi_k} mu_k,    mu_k = ell'(xi_k),

    and g_{k+1/2} = g_{k-1/2} cay(h xi_k) [bourabee2007, eqs. (5.5.1)-(5.5.3), (6.3.1), (6.3.2)]. As printed, the
    attitude carries the index of the node, where it is of first order; read as that half a step before, g_k = g_{k-1/2}
    cay(h xi_k)^(1/2), it is of second.

    m_k = mu_k - (h/2) ad*_{xi_k} mu_k moves by the midpoint rule, and what `MidpointLieNewmark` keeps is kept at m_k
    and g_{k-1/2}. Not symplectic.
    """

    retraction: AbstractRetraction = Cayley()
    newton: Newton = Newton()
    renormalise: bool = static(default=True)

    honours = OF_A_FREE_MOTION
    symplectic = False

    def check(self, system: LagrangianSystem) -> None:
        check_free_motion(self, system)
        self.retraction.check(system.group)

    def order(self, system: LagrangianSystem) -> int:
        return 2

    def symmetric(self, system: LagrangianSystem) -> bool:
        return True

    def memory(self, system: LagrangianSystem, state: State, t: Scalar) -> History:
        """The velocities at the last few nodes."""
        return history(system.velocity(state.g, state.mu, t))

    def advance(self, system: EulerPoincareSystem, state, memory, t, h, inputs):
        group = system.group
        before = system.velocity(state.g, state.mu, t)
        pushed = state.mu + 0.5 * h * group.ad_dual(before, state.mu)
        root = left_half_root(self.newton, system, pushed, extrapolate(memory), h)
        xi = root.x
        mu = pushed + 0.5 * h * group.ad_dual(xi, momentum(system, xi))
        g = through_the_node(group, self.retraction, state.g, h * before, h * xi)
        residual = jnp.max(jnp.abs(left_half(system, xi, h) - pushed))
        return State(g, mu), remember(memory, xi), StepInfo.solved(root.iterations, residual, root.converged)
