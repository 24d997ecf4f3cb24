"""MLN: the midpoint Lie-Newmark method."""

import jax.numpy as jnp

from naiad.integrators.free_motion import check_free_motion, left_half, left_half_root, momentum
from naiad.integrators.method import AbstractOneStepMethod, StepInfo
from naiad.mechanics import EulerPoincareSystem, LagrangianSystem, Scalar, State
from naiad.mechanics.features import OF_A_FREE_MOTION
from naiad.numerics import History, Newton, extrapolate, history, remember, static
from naiad.retractions import AbstractRetraction, Cayley


class MidpointLieNewmark(AbstractOneStepMethod):
    """The implicit midpoint rule for the momentum, mu_{k+1} = mu_k + h ad*_xi ell'(xi) with ell'(xi) = (mu_k +
    mu_{k+1})/2, and g_{k+1} = g_k cay(h xi) [bourabee2007, tables 5.1 and 6.1].

    It keeps quadratic invariants: the energy of a quadratic Lagrangian, |Pi| on so(3)*, Pi.p and |p| on se(3)*. On
    SO(3) the Cayley map turns mu as the rule does, and the momentum in space is kept as well. Not symplectic.
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
        """The midpoint velocities of the last few steps; to begin with, the velocity at the node."""
        return history(system.velocity(state.g, state.mu, t))

    def advance(self, system: EulerPoincareSystem, state, memory, t, h, inputs):
        group = system.group
        root = left_half_root(self.newton, system, state.mu, extrapolate(memory), h)
        xi = root.x
        g = group.advance(state.g, self.retraction.increment(group, h * xi))
        mu = state.mu + h * group.ad_dual(xi, momentum(system, xi))
        residual = jnp.max(jnp.abs(left_half(system, xi, h) - state.mu))
        return State(g, mu), remember(memory, xi), StepInfo.solved(root.iterations, residual, root.converged)
