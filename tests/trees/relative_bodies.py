"""The same bodies in relative attitudes: the second route by which connected bodies are checked."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import naiad as nd
from naiad.groups import AbstractGroup
from naiad.models import ConnectedBodies
from naiad.numerics import static
from naiad.trees import TreeRule


class RelativeBodies(nd.LagrangianSystem):
    """A tree in the coordinates (R0, x, Q_1, ...): Q_i in SO(3) for a ball joint, an angle about the axis for a hinge.

    Q_i is the attitude of body i in its parent's frame. There are no constraints; Lagrangian, discrete Lagrangian and
    forces are those of the absolute attitudes, composed with the map to them.
    """

    bodies: ConnectedBodies
    rule: TreeRule
    group: AbstractGroup = static()

    def __init__(self, bodies: ConnectedBodies, rule: TreeRule):
        kinds = {"ball": nd.SO3(), "hinge": nd.SO2()}
        joints = {f"Q{i}": kinds[kind] for i, kind in enumerate(bodies.tree.joints) if i}
        root: dict[str, Any] = {"R0": nd.SO3()} if bodies.tree.pinned else {"R0": nd.SO3(), "x": nd.Rn(3)}
        self.bodies, self.rule, self.group = bodies, rule, nd.Product(**root, **joints)

    @property
    def discrete_order(self):
        return self.rule.order(self.bodies)

    @property
    def discrete_symmetric(self):
        return self.rule.symmetric(self.bodies)

    def absolute(self, g):
        """The configuration in absolute attitudes."""
        tree = self.bodies.tree
        R = [g.R0]
        for i, parent in enumerate(tree.parents[1:], 1):
            Q = getattr(g, f"Q{i}")
            if tree.joints[i] == "hinge":
                Q = jnp.asarray(tree.rest[i]) @ nd.SO3().exp(Q * jnp.asarray(tree.axis[i]))
            R.append(R[parent] @ Q)
        rest = () if tree.pinned else (g.x,)
        return tree.group.element((jnp.stack(R), *rest))

    def absolute_velocity(self, g, xi):
        """The velocity of the absolute attitudes, by differentiation along the motion."""
        moving = self.group.tangent(g, xi)
        whole, rate = jax.jvp(self.absolute, (g,), (moving,))
        turns = jax.vmap(lambda R, S: nd.SO3().vee(R.T @ S))(whole.R, rate.R).reshape(-1)
        return whole, turns if self.bodies.tree.pinned else jnp.concatenate([turns, rate.x])

    def lagrangian(self, g, xi, t):
        return self.bodies.lagrangian(*self.absolute_velocity(g, xi), t)

    def discrete_lagrangian(self, g, xi, t, h, tau):
        start = self.absolute(g)
        end = self.absolute(self.group.compose(g, tau.tau(self.group, h * xi)))
        whole = self.bodies.tree.group
        step = tau.inverse(whole, whole.compose(whole.inverse(start), end))
        return self.rule.action(self.bodies, tau, start, step / h, t, h)

    @property
    def force(self):
        return None if self.bodies.force is None else self._force

    def _force(self, g, xi, t):
        whole, velocity = self.absolute_velocity(g, xi)
        acting = self.bodies.force(whole, velocity, t)
        return jax.vjp(lambda eta: self.absolute_velocity(g, eta)[1], xi)[1](acting)[0]

    def from_absolute(self, state: nd.State) -> nd.State:
        """The state with the same configuration and velocity."""
        tree = self.bodies.tree
        R = np.asarray(state.g.R)
        velocity = np.asarray(self.bodies.velocity(state.g, state.mu, 0.0))
        Omega = velocity[: 3 * tree.count].reshape(-1, 3)
        parts, rates = [R[0]], [Omega[0]]
        if not tree.pinned:
            parts, rates = [*parts, state.g.x], [*rates, velocity[-3:]]
        for i, parent in enumerate(tree.parents[1:], 1):
            Q = R[parent].T @ R[i]
            rate = Omega[i] - Q.T @ Omega[parent]
            if tree.joints[i] == "hinge":
                axis = np.asarray(tree.axis[i])
                turn = np.asarray(nd.double(nd.SO3().log)(np.asarray(tree.rest[i]).T @ Q))
                parts, rates = [*parts, turn @ axis], [*rates, [rate @ axis]]
            else:
                parts, rates = [*parts, Q], [*rates, rate]
        return self.state(g=tuple(parts), xi=np.concatenate(rates))
