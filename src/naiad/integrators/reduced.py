"""The reduced step of a system with advected parameters: discrete Euler-Poincare equations on g* x Q x Q* x V*."""

from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from naiad.errors import InputError
from naiad.integrators.method import AbstractOneStepMethod, StepInfo, velocity_floor
from naiad.integrators.rules import AbstractRule, Trapezoid
from naiad.mechanics import AdvectedSystem, LagrangianSystem, ReducedState, Scalar, State, diamond
from naiad.mechanics.features import OF_A_STEP
from naiad.numerics import History, Newton, extrapolate, history, remember, static
from naiad.retractions import AbstractRetraction, Cayley


class Reduced(AbstractOneStepMethod):
    """The discrete Euler-Poincare equations with advected parameters and additional dynamics [advected, eqs.
    (42)-(44)].

    With ell_d(xi, n, s, a) the reduced discrete Lagrangian, n = g_k^-1 q_k and s = g_k^-1 q_{k+1}:

        (dtau^-1_{h xi})* d_xi ell_d / h - (d_a <> a + d_n <> n + d_s <> s) = mu_k,     - d_n = p_k,
        mu_{k+1} = (dtau^-1_{-h xi})* d_xi ell_d / h,    p_{k+1} = tau* d_s,    n_{k+1} = tau^-1 s,    a_{k+1} = tau^-1
        a,

    and g_{k+1} = g_k tau(h xi) is reconstructed. Forces add -F^- to mu_k and p_k and F^+ to mu_{k+1} and p_{k+1}.
    `Variational` on the full group, with the same rule, gives the same motion; `reduced_step` needs no g at all.
    """

    retraction: AbstractRetraction = Cayley()
    rule: AbstractRule = Trapezoid()
    newton: Newton = Newton()
    renormalise: bool = static(default=True)

    honours = OF_A_STEP - {"constraint", "override"}

    def check(self, system: LagrangianSystem) -> None:
        if not isinstance(system, AdvectedSystem):
            raise InputError(f"Reduced needs an AdvectedSystem; {type(system).__name__} was given. Use Variational.")
        self.retraction.check(system.base)

    def order(self, system: LagrangianSystem) -> int:
        return self.rule.order(system)

    def symmetric(self, system: LagrangianSystem) -> bool:
        return self.rule.symmetric(system)

    def memory(self, system: AdvectedSystem, state: State, t: Scalar) -> History:
        return history(jnp.concatenate(system.reduced_velocity(system.reduce(state), t)))

    def advance(self, system: AdvectedSystem, state, memory, t, h, inputs):
        base, size = system.base, system.base.dim
        reduced = system.reduce(state)

        def ends(v):
            left, right = self._momenta(system, reduced, v[:size], v[size:], t, h)
            return (left, right) if system.total_force is None else self._forced(system, state, left, right, v, t, h)

        def residual(v):
            return _miss(ends(v)[0], reduced)

        root = self.newton.root(residual, extrapolate(memory), floor=velocity_floor(system.group, state.g, h))
        left, right = ends(root.x)
        g, _ = system.split_configuration(state.g)
        new = _reconstruct(system, base.advance(g, self.retraction.increment(base, h * root.x[:size])), right)
        info = StepInfo.solved(root.iterations, jnp.max(jnp.abs(_miss(left, reduced))), root.converged)
        return new, remember(memory, root.x), info

    def reduced_step(self, system: AdvectedSystem, reduced: ReducedState, t: Scalar, h: Scalar) -> ReducedState:
        """The state (mu, n, p, a) a step later, of a system without forces: a Poisson map on the dual of the semidirect
        product of the algebra with the space of a (and T*Q), so that its Casimirs are kept to round-off."""
        if system.total_force is not None:
            raise InputError(
                f"reduced_step: a force acts on {type(system).__name__}, which may depend on g. Simulate with Reduced."
            )
        size = system.base.dim

        def left(v: Float[Array, " n"]) -> ReducedState:
            return self._momenta(system, reduced, v[:size], v[size:], t, h)[0]

        root = self.newton.root(lambda v: _miss(left(v), reduced), jnp.concatenate(system.reduced_velocity(reduced, t)))
        return self._momenta(system, reduced, root.x[:size], root.x[size:], t, h)[1]

    def _momenta(
        self,
        system: AdvectedSystem,
        start: ReducedState,
        xi: Float[Array, " m"],
        w: Float[Array, " k"],
        t: Scalar,
        h: Scalar,
    ) -> tuple[ReducedState, ReducedState]:
        """The reduced states at both nodes, from the derivatives of the reduced discrete Lagrangian; s = n + h w."""
        base, s = system.base, start.n + h * w

        def action(xi, n, w, a):
            shifted = system.replaced(a0=a)
            configuration, velocity = _configuration(system, base.identity(), n), jnp.concatenate([xi, w])
            return self.rule.action(shifted, self.retraction, configuration, velocity, t, h)

        by_xi, by_n, by_w, by_a = jax.grad(action, argnums=(0, 1, 2, 3))(xi, start.n, w, start.a)
        by_s, by_n = by_w / h, by_n - by_w / h
        torque = (
            diamond(base, system.act_a, by_a, start.a)
            + diamond(base, system.act_q, by_n, start.n)
            + diamond(base, system.act_q, by_s, s)
        )
        left = self.retraction.dtau_inv_dual(base, h * xi, by_xi / h) - torque
        right = self.retraction.dtau_inv_dual(base, -h * xi, by_xi / h)
        step = self.retraction.tau(base, h * xi)
        back = base.inverse(step)
        n = system.act_q(back, s)
        end = ReducedState(right, n, system.pull_q(step, n, by_s), system.act_a(back, start.a))
        return start._replace(mu=left, p=-by_n), end

    def _forced(
        self,
        system: AdvectedSystem,
        state: State,
        left: ReducedState,
        right: ReducedState,
        v: Float[Array, " n"],
        t: Scalar,
        h: Scalar,
    ) -> tuple[ReducedState, ReducedState]:
        """Both ends with the virtual work of the forces, which is done at g and q in space."""
        base, size = system.base, system.base.dim
        g, q = system.split_configuration(state.g)
        moved = base.compose(g, self.retraction.tau(base, h * v[:size]))
        velocity = jnp.concatenate([v[:size], (system.act_q(moved, right.n) - q) / h])
        minus, plus = self.rule.work(system, self.retraction, state.g, velocity, t, h)
        return (
            left._replace(mu=left.mu - minus[:size], p=left.p - system.pull_q(g, left.n, minus[size:])),
            right._replace(mu=right.mu + plus[:size], p=right.p + system.pull_q(moved, right.n, plus[size:])),
        )


def _miss(found: ReducedState, wanted: ReducedState) -> Float[Array, " n"]:
    return jnp.concatenate([found.mu - wanted.mu, found.p - wanted.p])


def _configuration(system: AdvectedSystem, g: Any, q: Float[Array, " k"]) -> Any:
    return (
        jax.tree.unflatten(jax.tree.structure(system.group.identity()), [*jax.tree.leaves(g), q])
        if system.additional_dim
        else g
    )


def _reconstruct(system: AdvectedSystem, g: Any, reduced: ReducedState) -> State:
    """The full state at g."""
    q = system.act_q(g, reduced.n)
    momentum = system.pull_q(system.base.inverse(g), q, reduced.p)
    return State(_configuration(system, g, q), jnp.concatenate([reduced.mu, momentum]))
