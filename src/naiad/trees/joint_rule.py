"""The discrete Lagrangian of a tree of bodies in the coordinates of its joints."""

from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from naiad.integrators.rules import AbstractRule, Midpoint, Trapezoid, slopes_by_autodiff
from naiad.mechanics import LagrangianSystem, Scalar
from naiad.retractions import AbstractRetraction, Cayley
from naiad.trees.tree_rule import TreeRule


class JointRule(AbstractRule):
    """L_d of a `TreeRule` between the attitudes of the bodies at both ends of a step of a `JointSpace`.

    Hinges and welds hold at all nodes, so its motions are those of the constrained step of the bodies: of
    `TreeVariational` with the same rule. So are its forces: at the velocity of the bodies over the step.
    """

    rule: TreeRule = TreeRule()
    by_action = True

    def order(self, system):
        return self.rule.order(system.bodies)

    def symmetric(self, system):
        return self.rule.symmetric(system.bodies)

    def action(self, system, tau, g, xi, t, h):
        bodies, tree = system.bodies, system.bodies.tree
        if tree.D is not None or isinstance(self.rule.rule, Midpoint):
            whole, velocity, _ = self._step(system, tau, g, xi, h)
            return self.rule.action(bodies, Cayley(), whole, velocity, t, h)
        first, last = (system.placed(each) for each in self._nodes(system, tau, g, xi, h))
        change = jax.tree.map(jnp.subtract, last, first)
        turn = jnp.einsum("nji,njk->nik", first.R, change.R)
        kinetic = self.rule.moving(tree, first, change, turn, None, h)
        if bodies.potential is None:
            return kinetic
        return kinetic - 0.5 * h * (bodies.potential(first, t) + bodies.potential(last, t + h))

    def slopes(self, system, tau, g, xi, t, h):
        return slopes_by_autodiff(self, system, tau, g, xi, t, h)

    def work(self, system, tau, g, xi, t, h):
        if not isinstance(system, LagrangianSystem):  # forces in the joints
            return Trapezoid().work(system, tau, g, xi, t, h)
        whole, velocity, end = self._step(system, tau, g, xi, h)
        force, last = system.bodies.force, system.placed(end)
        left, right = force(whole, velocity, t), force(last, velocity, t + h)
        return 0.5 * h * system.in_joints(g, left), 0.5 * h * system.in_joints(end, right)

    def _step(
        self, system: Any, tau: AbstractRetraction, g: Any, xi: Float[Array, " n"], h: Scalar
    ) -> tuple[Any, Float[Array, " k"], Any]:
        """The bodies at the first node, their velocity from there to the last, and the last node."""
        group: Any = system.bodies.group
        _, end = nodes = self._nodes(system, tau, g, xi, h)
        first, last = map(system.placed, nodes)
        return first, Cayley().inverse(group, group.compose(group.inverse(first), last)) / h, end

    def _nodes(
        self, system: Any, tau: AbstractRetraction, g: Any, xi: Float[Array, " n"], h: Scalar
    ) -> tuple[Any, Any]:
        return g, system.group.compose(g, tau.tau(system.group, h * xi))
