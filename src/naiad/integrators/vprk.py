"""Variational partitioned Runge-Kutta methods, on vector spaces and on Lie groups."""

from typing import Any, NamedTuple, TypeGuard

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from naiad.errors import InputError
from naiad.groups import SO2, AbstractGroup, Power, Product, Rn
from naiad.integrators.method import AbstractOneStepMethod, StepInfo, refuse_truncated, velocity_floor
from naiad.mechanics import EulerPoincareSystem, LagrangianSystem, Scalar, State, is_euler_poincare, left_gradient
from naiad.mechanics.features import OF_A_STEP
from naiad.numerics import History, Newton, extrapolate, history, remember, static
from naiad.numerics.jacobian import by_matrix
from naiad.numerics.tableaux import PARTITIONED, PartitionedTableau, partitioned_tableau
from naiad.retractions import AbstractRetraction, Cayley, Exponential

Covector = Float[Array, " n"]
Slopes = Float[Array, "s n"]


class StageBalance(NamedTuple):
    """The derivatives of the action of a step: `stages` in the slopes, divided by h b_i, `node` in g."""

    stages: Slopes
    node: Covector


class VPRK(AbstractOneStepMethod):
    """The variational partitioned Runge-Kutta method of a tableau a, b, c with nonzero weights.

    In the chart Theta -> g_k tau(Theta) the velocity is xi = dtau_{-Theta} Theta', and the action of a step is

        S = h sum_i b_i ell(g_k tau(Theta_i), Xi_i, t_k + c_i h),
        Theta_i = h sum_j a_ij K_j,   Xi_i = dtau_{-Theta_i} K_i,

    made stationary over the slopes K_i = Theta'_i with x = h sum_i b_i K_i held:

        d S / d K_i / (h b_i) = (dtau_x)* (mu_k + T*L_g D_g S),
        g_{k+1} = g_k tau(x),   mu_{k+1} = Ad*_{tau(x)} (mu_k + T*L_g D_g S).

    On R^n these are [bourabee2007, eq. (2.5.1)]; on a group, for ell(xi), [bourabee2007, eq. (7.1.2)] with the signs
    mended: minus its D, at -Theta. In the chart it is the method for R^n, and so has its order. Forces enter by
    their virtual work at the stages. The form of mu_{k+1} makes momenta exact whatever the solver's residual.

    `tableau` is a name of `numerics.PARTITIONED` or coefficients (a, b) or (a, b, c).
    """

    tableau: PartitionedTableau = static()
    retraction: AbstractRetraction
    newton: Newton
    renormalise: bool = static()

    honours = OF_A_STEP - {"constraint"}

    def __init__(
        self,
        tableau: Any = "gauss2",
        retraction: AbstractRetraction | None = None,
        *,
        newton: Newton | None = None,
        renormalise: bool = True,
    ):
        self.tableau = _coefficients(tableau)
        self.retraction = Cayley() if retraction is None else retraction
        self.newton = Newton() if newton is None else newton
        self.renormalise = renormalise

    def check(self, system: LagrangianSystem) -> None:
        self.retraction.check(system.group)
        refuse_truncated(self, self.retraction)

    def order(self, system: LagrangianSystem) -> int:
        return 2 if self._even(system) else self.tableau.order

    def symmetric(self, system: LagrangianSystem) -> bool:
        """Where the charts at both nodes give the same stages; elsewhere the one at g_k makes the method one-sided."""
        by_exp = isinstance(self.retraction, Exponential)
        same = flat(system.group, by_exp=by_exp) or (by_exp and len(self.tableau.b) == 1)
        return self._even(system) or (self.tableau.symmetric and same)

    def _even(self, system: LagrangianSystem) -> bool:
        """Whether L_d(x) is h ell of an odd function of x: one stage, no g."""
        return len(self.tableau.b) == 1 and reduced(system)

    def balance(self, system: LagrangianSystem, g: Any, K: Slopes, t: Scalar, h: Scalar) -> StageBalance:
        """The derivatives of the action, and with them the virtual work of the forces."""
        group, tau = system.group, self.retraction
        a, b, c = map(jnp.asarray, self.tableau)

        def stage(Theta_K, time):
            Theta, K = jnp.split(Theta_K, 2)
            Xi, pull = jax.vjp(lambda x, y: tau.dtau(group, -x, y), Theta, K)
            if reduced(system):
                by_Theta, by_K = pull(jax.grad(system.reduced_lagrangian)(Xi))
                return jnp.concatenate([by_Theta, by_K, jnp.zeros_like(K)])
            point = group.compose(g, tau.tau(group, Theta))
            by_Theta, by_K = pull(system.legendre(point, Xi, time))
            push = left_gradient(group, lambda p: system.lagrangian(p, Xi, time), point)
            if system.total_force is not None:
                push = push + system.total_force(point, Xi, time)
            at_node = group.Ad_dual(tau.tau(group, -Theta), push)
            return jnp.concatenate([by_Theta + tau.dtau_dual(group, -Theta, push), by_K, at_node])

        Theta_K, times = jnp.concatenate([h * (a @ K), K], axis=1), t + c * h
        by_Theta, by_K, at_node = jnp.split(jax.vmap(by_matrix(stage, Theta_K[0], times[0]))(Theta_K, times), 3, axis=1)
        return StageBalance(by_K + h * ((a * b[:, None] / b).T @ by_Theta), h * (b @ at_node))

    def memory(self, system: LagrangianSystem, state: State, t: Scalar) -> History:
        """The slopes of the last few steps; to begin with, the velocity at the node."""
        return history(jnp.tile(system.velocity(state.g, state.mu, t), len(self.tableau.b)))

    def advance(self, system, state, memory, t, h, inputs):
        group, tau = system.group, self.retraction

        def evaluated(unknowns):
            """The vector of the step, the momentum that leaves the left node, and the mismatch at the stages."""
            K = unknowns.reshape(-1, group.dim)
            balance = self.balance(system, state.g, K, t, h)
            x, leaving = h * (jnp.asarray(self.tableau.b) @ K), state.mu + balance.node
            return x, leaving, (balance.stages - tau.dtau_dual(group, x, leaving)).reshape(-1)

        floor = 0.0 if reduced(system) else velocity_floor(system.group, state.g, h)
        root = self.newton.root(lambda unknowns: evaluated(unknowns)[2], extrapolate(memory), floor=floor)
        x, leaving, mismatch = evaluated(root.x)
        increment = tau.increment(group, x)
        info = StepInfo.solved(root.iterations, jnp.max(jnp.abs(mismatch)), root.converged)
        end = State(group.advance(state.g, increment), group.Ad_dual_advance(increment, leaving))
        return end, remember(memory, root.x), info


def _coefficients(tableau: Any) -> PartitionedTableau:
    if isinstance(tableau, str):
        if tableau not in PARTITIONED:
            known = ", ".join(PARTITIONED)
            raise InputError(f"VPRK: the tableau {tableau!r} is not known; expected one of {known}, or (a, b).")
        return PARTITIONED[tableau]
    if not isinstance(tableau, tuple | list) or len(tableau) not in (2, 3):
        raise InputError(f"VPRK: the tableau {tableau!r} is neither a name nor (a, b) or (a, b, c); give one of these.")
    return partitioned_tableau(*tableau)


def reduced(system: LagrangianSystem) -> TypeGuard[EulerPoincareSystem]:
    """Whether neither the Lagrangian nor a force depends on g."""
    return is_euler_poincare(system) and system.total_force is None and system.constraint is None


def flat(group: AbstractGroup, *, by_exp: bool) -> bool:
    """Whether the charts are translates of each other: on R^n, and on circles by the exponential."""
    if isinstance(group, Product):
        return all(flat(factor, by_exp=by_exp) for factor in group.factors)
    if isinstance(group, Power):
        return flat(group.base, by_exp=by_exp)
    return isinstance(group, Rn) or (by_exp and isinstance(group, SO2))
