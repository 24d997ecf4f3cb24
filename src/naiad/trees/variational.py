"""The variational integrator of a tree of rigid bodies, in O(N)."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from naiad.errors import InputError
from naiad.integrators.method import AbstractOneStepMethod, StepInfo
from naiad.integrators.rules import AbstractRule, Trapezoid
from naiad.mechanics import LagrangianSystem, Scalar, State, left_gradient
from naiad.mechanics.features import OF_A_STEP
from naiad.numerics import Newton, static
from naiad.trees.motion import motion
from naiad.trees.rules import body_rule
from naiad.trees.solve import REFRESH, Guess, Kept, Problem, joined, solve, split, step_velocity
from naiad.trees.sweeps import Bodies, Sweeps
from naiad.trees.system import TreeSystem
from naiad.trees.tree import Tree


class Memory(NamedTuple):
    """C/h of the last four steps, newest first, of one body after the other, and dx/h of the root; kappa of the solver
    and how many steps ago it was measured."""

    spins: Float[Array, " 12N"]
    shifts: Float[Array, "4 3"]
    kappa: Float[Array, ""]
    age: Int[Array, ""]


class TreeVariational(AbstractOneStepMethod):
    """The variational integrator of a `TreeSystem`, in O(N) for N bodies.

    The discrete Lagrangian is L_d = (1/h) sum_i (1/2 u_i . S*_i u_i + tr((I - F_i) J_di)) - h (V_k + V_{k+1})/2 with
    the displacement u_i of a centre, the turn F_i = cay(C_i) of a body and J_d = tr(J)/2 I - J; a coupling adds
    (2/h) C_i . D*_i u_i. `rule` says where the
    mass matrix in space, S*, is taken: `Left()`, at the start (first order), `Trapezoid()`, the mean of both ends, or
    `Midpoint()`, at half the turn (both of second order and symmetric). With `correction` the turn of a body about its
    own joint is taken as a whole, J - hat(a) M hat(a) less 1/2 da . S* da; with `Left()` that is [lee2009, eq. (30)].

    The equations are solved by Newton's method in sweeps over the tree (see `sweeps`). A force adds half of h F at
    each end, at the velocity of the step, as `Variational` does. `renormalise` removes the round-off by which the
    attitudes leave the group. A step that cannot be solved leaves the state where it is, and says so.
    """

    rule: AbstractRule = Trapezoid()
    correction: bool = static(default=False)
    newton: Newton = Newton()
    renormalise: bool = static(default=True)

    honours = OF_A_STEP - {"discrete_lagrangian", "override"}

    def __post_init__(self):
        body_rule("TreeVariational", self.rule, correction=self.correction)

    def check(self, system: LagrangianSystem) -> None:
        self.newton.check_exact()
        if not isinstance(system, TreeSystem):
            raise InputError(
                f"TreeVariational needs a TreeSystem; {type(system).__name__} was given. Use Variational for it."
            )

    def order(self, system: LagrangianSystem) -> int:
        return self.rule.order(system)

    def symmetric(self, system: LagrangianSystem) -> bool:
        return self.rule.symmetric(system)

    def settled(self, system: LagrangianSystem, carry: Any, node: Any) -> Any:
        """As it is: its steps themselves put the attitudes back."""
        return carry

    def memory(self, system: TreeSystem, state: State, t: Scalar) -> Memory:
        """Constant rates, those of the node."""
        xi = motion(system.tree, state.g, state.mu).xi
        Omega, shift = split(system.tree, xi)
        spins = jnp.tile(0.5 * jnp.einsum("nij,nj->ni", state.g.R, Omega), (1, 4))
        return Memory(spins.reshape(-1), jnp.tile(shift, (4, 1)), jnp.ones(()), jnp.full((), REFRESH))

    def advance(self, system: TreeSystem, state, memory, t, h, inputs):
        tree, g = system.tree, state.g
        Pi, p = split(tree, state.mu + 0.5 * h * _slope(system, g, t))
        sweeps = Sweeps(tree, body_rule("TreeVariational", self.rule, correction=self.correction), h)
        bodies = Bodies(g.R, Pi, memory.spins.reshape(-1, 12), tree.J, tree.M, tree.D, tree.own, tree.other, tree.axis)
        problem = Problem(sweeps, bodies, p, system, g, t)
        root = solve(self.newton, problem, Guess(memory.shifts, memory.kappa, memory.age))
        work, dx = root.x
        kept: Kept = root.memory
        spins, p = problem.kicks(work, dx)
        landed = sweeps.land(work, spins, renormalise=self.renormalise)
        moved = g._replace(R=landed.R) if tree.pinned else g._replace(R=landed.R, x=g.x + dx)
        mu = joined(tree, landed.Pi, p) + 0.5 * h * _slope(system, moved, t + h)
        if system.total_force is not None:
            xi = step_velocity(tree, g.R, landed.rates, dx / h)
            mu = mu + 0.5 * h * system.total_force(moved, xi, t + h)
        if not tree.balls:
            mu = _along_joints(tree, moved, mu)
        info = StepInfo(root.iterations, kept.residual, root.converged, landed.correction)
        shifts = jnp.concatenate([(dx / h)[None], memory.shifts[:3]])
        end = jax.tree.map(lambda new, old: jnp.where(root.converged, new, old), State(moved, mu), state)
        return end, Memory(_remember(memory.spins, landed.rates), shifts, kept.kappa, kept.age), info


def _slope(system: TreeSystem, g: Any, t: Scalar) -> Any:
    """- T*L_g dV/dg."""
    return 0.0 if system.potential is None else -left_gradient(system.group, lambda x: system.potential(x, t), g)


def _remember(spins: Float[Array, " 12N"], rates: Float[Array, "N 3"]) -> Float[Array, " 12N"]:
    """The rates of the last four steps, after one more."""

    def body(spins, each):
        start, rate = each
        kept = jax.lax.dynamic_slice(spins, (start,), (9,), allow_negative_indices=False)
        new = jnp.concatenate([rate, kept])
        return jax.lax.dynamic_update_slice(spins, new, (start,), allow_negative_indices=False), None

    return jax.lax.scan(body, spins, (12 * jnp.arange(len(rates)), rates))[0]


def _along_joints(tree: Tree, g: Any, mu: Float[Array, " n"]) -> Float[Array, " n"]:
    """The momentum with what hinges and welds pass on, so that the velocity is one that they allow."""
    passed = motion(tree, g, mu).passed
    parents = jnp.asarray(tree.parents[1:], int)
    moments = passed.at[parents].add(-passed[1:])
    Pi, p = split(tree, mu)
    return joined(tree, Pi + jnp.einsum("nji,nj->ni", g.R, moments), p)
