"""The discrete Lagrangian of a tree of bodies as a whole, for the general integrator."""

from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from naiad.integrators.rules import AbstractRule, Left, Midpoint, Trapezoid, slopes_by_autodiff
from naiad.mechanics import Scalar
from naiad.numerics import hat, static
from naiad.retractions import AbstractRetraction
from naiad.trees.rules import body_rule
from naiad.trees.system import TreeSystem
from naiad.trees.tree import Tree


class TreeRule(AbstractRule):
    """L_d of a `TreeSystem`, velocities replaced by differences of the ambient matrices: `Variational(Cayley(),
    TreeRule(rule, correction))` takes the same step as `TreeVariational(rule, correction)`, by a general solver.
    """

    rule: AbstractRule = Trapezoid()
    correction: bool = static(default=False)
    by_action = True

    def __post_init__(self):
        body_rule("TreeRule", self.rule, correction=self.correction)

    def order(self, system):
        return self.rule.order(system)

    def symmetric(self, system):
        return self.rule.symmetric(system)

    def action(self, system: TreeSystem, tau, g, xi, t, h):
        """The kinetic part, less h (V(g_k) + V(g_{k+1})) / 2."""
        kinetic = self._kinetic(system.tree, g, xi, h, tau)
        if system.potential is None:
            return kinetic
        end = jax.tree.map(jnp.add, g, _change(g, tau.increment(system.group, h * xi)))
        return kinetic - 0.5 * h * (system.potential(g, t) + system.potential(end, t + h))

    def slopes(self, system, tau, g, xi, t, h):
        return slopes_by_autodiff(self, system, tau, g, xi, t, h)

    def work(self, system, tau, g, xi, t, h):
        return Trapezoid().work(system, tau, g, xi, t, h)

    def _kinetic(
        self, tree: Tree, g: Any, xi: Float[Array, " n"], h: Scalar, tau: AbstractRetraction
    ) -> Float[Array, ""]:
        """(1/h) sum_i (u_i . S_i u_i / 2 + tr((I - F_i) Jd_i) + h Omega_i . D_i R_i^T u_i), with u_i the displacements
        of the centres, F = tau(h xi), S = R M R^T and R where the rule takes them and Jd = tr(J)/2 I - J.

        With the correction the square of the part of u_i that is the turn da_i of the body's own arm a_i, da_i . S_i
        da_i / 2, goes into J_i - hat(a_i) M_i hat(a_i) instead [lee2009, eq. (30)]. Differences are formed from the
        increment F - I, without cancellation.
        """
        group = tree.group
        change = _change(g, tau.increment(group, h * xi))
        turn = tau.increment(group, h * xi).R
        places: Any = None
        if isinstance(self.rule, Midpoint):
            half = tau.increment(group, tau.half(group, h * xi))
            places = (g.R + g.R @ half.R,)
        return self.moving(tree, g, change, turn, h * xi, h, places)

    def moving(
        self, tree: Tree, g: Any, change: Any, turn: Any, chord: Any, h: Scalar, places: Any = None
    ) -> Float[Array, ""]:
        """The kinetic part for a change of g in the ambient space, with F - I in `turn` and h xi in `chord`, which
        couplings need; the midpoint rule has `places` of its own."""
        _, u = jax.jvp(tree.centres, (g,), (change,))  # the centres are affine in g
        if places is None:
            places = (g.R,) if isinstance(self.rule, Left) else (g.R, g.R + change.R)
        moving, J = sum(_form(tree, R, u) for R in places), tree.J
        if self.correction:
            arms = jnp.einsum("nij,nj->ni", change.R, tree.own)
            moving = moving - sum(_form(tree, R, arms) for R in places)
            skew = jax.vmap(hat)(jnp.asarray(tree.own))
            J = J - skew @ tree.M @ skew
        if tree.D is not None:
            spins = jnp.reshape(chord[: 3 * tree.count], (tree.count, 3))
            moving = moving + sum(jnp.einsum("ni,nij,nkj,nk->", spins, tree.D, R, u) for R in places)
        return (moving / len(places) + _turning(turn, J)) / h


def _change(g: Any, increment: Any) -> Any:
    """g (e + increment) - g in the ambient space."""
    return g._replace(R=g.R @ increment.R, **({"x": increment.x} if "x" in g._fields else {}))


def _form(tree: Tree, R: Float[Array, "N 3 3"], u: Float[Array, "N 3"]) -> Float[Array, ""]:
    """sum_i u_i . R_i M_i R_i^T u_i / 2."""
    V = jnp.einsum("nji,nj->ni", R, u)
    return 0.5 * jnp.einsum("ni,nij,nj->", V, tree.M, V)


def _turning(increment: Float[Array, "N 3 3"], J: Any) -> Float[Array, ""]:
    """sum_i tr((I - F_i) Jd_i), from F - I."""
    half = 0.5 * jnp.trace(J, axis1=1, axis2=2)[:, None, None] * jnp.eye(3) - J
    return -jnp.sum(increment * jnp.swapaxes(half, 1, 2))
