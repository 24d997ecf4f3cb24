"""Implicit Euler: the control that damps what should be kept."""

import jax
import jax.numpy as jnp

from naiad.integrators.method import AbstractOneStepMethod, StepInfo, refuse_truncated, velocity_floor
from naiad.mechanics import LagrangianSystem, Scalar, State, left_gradient
from naiad.mechanics.features import OF_A_STEP
from naiad.numerics import History, Newton, extrapolate, history, remember, static
from naiad.retractions import AbstractRetraction, Cayley


class ImplicitEuler(AbstractOneStepMethod):
    """g_{k+1} = g_k tau(h xi), mu_{k+1} = mu_k + h (ad*_xi mu_{k+1} + T*L_g d ell/dg + F) with xi the velocity at
    (g_{k+1}, mu_{k+1}): first order, not symplectic, and it loses energy [hairer2006, section I.1].

    The unknown is xi: mu_{k+1} = d ell/d xi at g_k tau(h xi).
    """

    retraction: AbstractRetraction = Cayley()
    newton: Newton = Newton()
    renormalise: bool = static(default=True)

    honours = OF_A_STEP - {"constraint"}
    symplectic = False

    def check(self, system: LagrangianSystem) -> None:
        self.retraction.check(system.group)
        refuse_truncated(self, self.retraction)

    def order(self, system: LagrangianSystem) -> int:
        return 1

    def symmetric(self, system: LagrangianSystem) -> bool:
        return False

    def memory(self, system: LagrangianSystem, state: State, t: Scalar) -> History:
        """The velocities of the last few steps."""
        return history(system.velocity(state.g, state.mu, t))

    def advance(self, system, state, memory, t, h, inputs):
        group, end = system.group, t + h
        guess = extrapolate(memory)

        def balance(xi):
            g = group.compose(state.g, self.retraction.tau(group, h * xi))
            mu = system.legendre(g, xi, end)
            rate = group.ad_dual(xi, mu) + left_gradient(group, lambda x: system.lagrangian(x, xi, end), g)
            if system.total_force is not None:
                rate = rate + system.total_force(g, xi, end)
            return mu - state.mu - h * rate, mu

        def inertia(xi):
            return jax.jvp(lambda v: system.legendre(state.g, v, t), (guess,), (xi,))[1]

        root = self.newton.root(
            lambda xi: balance(xi)[0], guess, inertia=inertia, floor=velocity_floor(system.group, state.g, h)
        )
        miss, mu = balance(root.x)
        increment = self.retraction.increment(group, h * root.x)
        info = StepInfo.solved(root.iterations, jnp.max(jnp.abs(miss)), root.converged)
        return State(group.advance(state.g, increment), mu), remember(memory, root.x), info
