"""A tree of rigid bodies as a Lagrangian system."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from naiad.groups import SO3, AbstractGroup
from naiad.mechanics.features import overridden
from naiad.mechanics.joints import Joints
from naiad.mechanics.labels import place
from naiad.mechanics.picture import Picture, ellipsoid_of_inertia
from naiad.mechanics.state import Scalar, State
from naiad.mechanics.system import LagrangianSystem
from naiad.numerics import Module
from naiad.trees.joint_springs import relative_velocities, turns
from naiad.trees.motion import motion
from naiad.trees.tree import Tree


class TreeSystem(LagrangianSystem):
    """ell = T - V of a `Tree` of bodies, T = 1/2 sum_i (V_i . M_i V_i + Omega_i . J_i Omega_i) [lee2009, eq. (5)].

    A subclass has the field `tree`. It may have `potential(g, t)` and `force(g, xi, t)`, in O(N) for long trees:
    springs, dampers and torques at the joints, gravity and buoyancy. Without them rigid motions of space are a
    symmetry: turns about the origin (about the pin, about the axis of the root's hinge) and, for a free root, shifts.
    Hinges and welds are constraints.
    """

    needs = ("tree",)
    if TYPE_CHECKING:
        tree: Tree

    derives = ("lagrangian", "constraint")
    potential: ClassVar[Any] = None
    definite = True
    labels = place("x", "position of the root")

    @property
    def group(self) -> AbstractGroup:
        """SO(3)^N x R^3, or SO(3)^N if the root is pinned."""
        return self.tree.group

    def lagrangian(self, g: Any, xi: Float[Array, " n"], t: Scalar) -> Float[Array, ""]:
        """T - V."""
        kinetic = self.tree.kinetic_energy(g, xi)
        return kinetic if self.potential is None else kinetic - self.potential(g, t)

    def velocity(self, g: Any, mu: Float[Array, " n"], t: Scalar = 0.0) -> Float[Array, " n"]:
        """The inverse of the inertia applied to mu, in O(N)."""
        return motion(self.tree.freed(), g, mu).xi

    @property
    def picture(self) -> Picture:
        """The bodies where they are, as ellipsoids with their inertia, and the joints."""
        tree = self.tree
        masses = np.trace(np.asarray(tree.M), axis1=1, axis2=2) / 3.0
        shapes = [ellipsoid_of_inertia(J, mass) for J, mass in zip(np.asarray(tree.J), masses, strict=True)]
        links = [(parent, i, tree.other[i]) for i, parent in enumerate(tree.parents) if i or tree.pinned]
        return Picture(shapes=shapes, seen=Centres(tree), links=links)

    @property
    def joints(self) -> Joints:
        """Their kinds, and how they turn."""
        return Joints(self.tree.joints, self.tree.parents, self.tree.axis, JointMotion(self.tree))

    @property
    def constraint(self) -> Any:
        """What hinges and welds hold at zero; none for ball joints."""
        return None if self.tree.balls else lambda g, t: self.tree.constraint(g)

    @property
    def symmetry(self) -> Any:
        """Rigid motions, where nothing but the bodies' inertia acts."""
        moved_by_others = self.potential is not None or self.total_force is not None or overridden(type(self))
        return None if moved_by_others else self._moved

    @property
    def symmetry_dim(self) -> int:
        """Turns, then shifts."""
        return {"free": 6, "pinned": 3, "hinge": 1}[self.tree.joints[0]]

    def noether(
        self, state: State, action: Callable[[Float[Array, " k"], Any], Any] | None = None, *, dim: int | None = None
    ) -> Float[Array, " k"]:
        """The momentum of an action, by default of rigid motions: the total angular momentum about the origin (about
        the pin, about the root's axis), then the total linear momentum of a free tree."""
        if action is not None or self.symmetry != self._moved:
            return super().noether(state, action, dim=dim)
        g, mu = State(jax.tree.map(jnp.asarray, state.g), jnp.asarray(state.mu))
        angular = self.tree.angular_momentum(g, mu)
        if self.tree.joints[0] == "hinge":
            return (self._axis() @ angular)[None]
        return angular if self.tree.pinned else jnp.concatenate([angular, self.tree.linear_momentum(g, mu)])

    def _moved(self, s: Float[Array, " k"], g: Any) -> Any:
        turn = SO3().exp(s * self._axis() if self.tree.joints[0] == "hinge" else s[:3])
        R = jnp.einsum("ij,njk->nik", turn, g.R)
        return g._replace(R=R) if self.tree.pinned else g._replace(R=R, x=turn @ g.x + s[3:])

    def _axis(self) -> Float[Array, "3"]:
        """The axis of the root's hinge, in space."""
        return jnp.asarray(self.tree.rest[0]) @ jnp.asarray(self.tree.axis[0])


class Centres(Module):
    """The centres of the bodies of a tree, as x."""

    tree: Tree

    def __call__(self, g: Any, t: Scalar) -> dict[str, Float[Array, "N 3"]]:
        return {"x": self.tree.centres(g)}


class JointMotion(Module):
    """The turns of the joints from rest, and their rates: what `joint_state` takes."""

    tree: Tree

    def __call__(self, g: Any, xi: Float[Array, " n"]) -> tuple[Float[Array, "N 3 3"], Float[Array, "N 3"]]:
        return turns(self.tree, g), relative_velocities(self.tree, g, xi)
