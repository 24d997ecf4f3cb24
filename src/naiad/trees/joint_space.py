"""A tree of bodies in the coordinates of its joints."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from naiad.errors import InputError
from naiad.groups import SO3, AbstractGroup, Power, Product, Rn
from naiad.mechanics import LagrangianSystem, Scalar, State
from naiad.mechanics.features import EVERY, refuse_features
from naiad.mechanics.labels import place
from naiad.mechanics.picture import Picture
from naiad.numerics import Module, hat
from naiad.trees.joint_rule import JointRule
from naiad.trees.rules import RULES
from naiad.trees.system import TreeSystem
from naiad.trees.tree_rule import TreeRule


class JointSpace(LagrangianSystem):
    """A `TreeSystem` in the coordinates of its joints, where hinges and welds are no constraints: ell(g, xi, t) of the
    bodies at R_i = R_p rest_i Q_i and Omega_i = (rest_i Q_i)^T Omega_p + omega_i.

    A configuration has the parts that there are of: `R`, the attitude of a root that is free or pinned; `x`, the centre
    of a free one; `q`, the angles of the hinges, in the order of the bodies, with whole turns counted; `Q`, the turns
    Q_i of the ball joints. So velocities are rates of angles and angular velocities relative to the parent, in the
    body's frame, and forces are torques in the joints: `torques` has their directions, for `nd.control.solve`.
    A step of `Variational` is that of the bodies by `TreeVariational` (see `JointRule`), but dense, O(n^3) in the
    number of freedoms: it is for small trees, and for where no constraint may be.
    """

    bodies: TreeSystem

    derives = ("lagrangian", "force")
    definite = True
    labels = place("x", "position of the root")

    def __init__(self, bodies: TreeSystem):
        honours = EVERY - {"dissipation", "noise", "discrete_lagrangian", "override", "limit"}
        refuse_features("JointSpace", honours, bodies, "Give it to a subclass of JointSpace; friction, as a force.")
        self.bodies = bodies

    @property
    def group(self) -> AbstractGroup:
        """The product of the joints' groups."""
        tree = self.bodies.tree
        hinges, balls = len(tree.of_kind("hinge")), len(tree.of_kind("ball"))
        factors: dict[str, AbstractGroup] = {} if tree.joints[0] == "hinge" else {"R": SO3()}
        factors |= {} if tree.pinned else {"x": Rn(3)}
        factors |= {"q": Rn(hinges)} if hinges else {}
        factors |= {"Q": Power(SO3(), balls)} if balls else {}
        return Product(**factors)

    def lagrangian(self, g: Any, xi: Float[Array, " n"], t: Scalar) -> Float[Array, ""]:
        """That of the bodies."""
        return self.bodies.lagrangian(*self.spread(g, xi), t)

    @property
    def force(self) -> Any:
        """What the bodies' own force does in the joints; none if there is none."""
        return None if self.bodies.force is None else self._force

    def _force(self, g: Any, xi: Float[Array, " n"], t: Scalar) -> Float[Array, " n"]:
        return self.in_joints(g, self.bodies.force(*self.spread(g, xi), t))

    def in_joints(self, g: Any, acting: Float[Array, " k"]) -> Float[Array, " n"]:
        """What a force on the bodies is in the joints."""
        return jax.vjp(lambda xi: self.spread(g, xi)[1], jnp.zeros(self.group.dim))[1](acting)[0]

    def discretised(self, rule: Any) -> Any:
        """The discrete Lagrangian of the bodies' own step, `TreeVariational` with the same rule."""
        return JointRule(TreeRule(rule)) if type(rule) in RULES else rule

    def spread(self, g: Any, xi: Float[Array, " n"]) -> tuple[Any, Float[Array, " k"]]:
        """Configuration and velocity of the bodies."""
        tree, places = self.bodies.tree, self._places()
        whole: Any = tree.group
        R: list[Any] = []
        Omega: list[Any] = []
        for i, parent in enumerate(tree.parents):
            rate = jnp.asarray(xi)[places[i]]
            if tree.joints[i] == "hinge":
                rate = rate[0] * jnp.asarray(tree.axis[i])
            elif tree.joints[i] == "weld":
                rate = jnp.zeros(3)
            turn = self._turn(i, g)
            R.append(R[parent] @ turn if i else turn)
            Omega.append(Omega[parent] @ turn + rate if i else rate)
        spins = jnp.concatenate(Omega)
        if tree.pinned:
            return whole.element((jnp.stack(R),)), spins
        return whole.element((jnp.stack(R), g.x)), jnp.concatenate([spins, jnp.asarray(xi)[3:6]])

    def placed(self, g: Any) -> Any:
        """The configuration of the bodies."""
        return self.spread(g, jnp.zeros(self.group.dim))[0]

    @property
    def picture(self) -> Picture:
        """That of the bodies."""
        picture = self.bodies.picture
        return picture._replace(seen=BodiesSeen(self, picture.seen))

    def unreduced(self, state: State) -> State:
        """The state of the bodies, with the momentum of their velocities."""
        g, velocity = self.spread(state.g, self.velocity(state.g, state.mu))
        return State(g, self.bodies.legendre(g, velocity))

    def torques(self, *joints: int) -> np.ndarray:
        """The directions of torques in the joints of these bodies, a column each: the unit torque of the parent on the
        body about the axis of a hinge, or about the three axes of the body at a ball joint (at a pinned root)."""
        tree = self.bodies.tree
        for i in joints:
            if not (isinstance(i, int | np.integer) and 0 <= i < tree.count) or tree.joints[i] in ("free", "weld"):
                held = [k for k, kind in enumerate(tree.joints) if kind not in ("free", "weld")]
                raise InputError(f"torques: {i!r} is no body with a joint that turns; those are {held}.")
        columns = np.concatenate([np.arange(self.group.dim)[self._places()[i]] for i in joints] or [np.zeros(0, int)])
        if not len(columns) or len(set(columns.tolist())) < len(columns):
            raise InputError(f"torques{joints!r}: expected the numbers of some bodies, each once.")
        return np.eye(self.group.dim)[:, columns]

    def _turn(self, i: int, g: Any) -> Any:
        """The attitude of body i in its parent's frame."""
        tree = self.bodies.tree
        kind, rest = tree.joints[i], jnp.asarray(tree.rest[i])
        if kind == "hinge":
            angle, skew = g.q[self._number(i)], hat(jnp.asarray(tree.axis[i]))
            return rest @ (jnp.eye(3) + jnp.sin(angle) * skew + (1.0 - jnp.cos(angle)) * skew @ skew)
        if kind == "weld":
            return rest
        return rest @ g.Q[self._number(i)] if i else g.R

    def _number(self, i: int) -> int:
        """Which of the joints of its kind a body's is."""
        joints = self.bodies.tree.joints
        return joints[:i].count(joints[i])

    def _places(self) -> list[slice]:
        """Where the joints' vectors are among those of the algebra."""
        tree = self.bodies.tree
        hinges = 0 if tree.joints[0] == "hinge" else 3 if tree.pinned else 6
        balls = hinges + len(tree.of_kind("hinge"))
        found = []
        for i, kind in enumerate(tree.joints):
            size = {"hinge": 1, "weld": 0}.get(kind, 3)
            start = {"hinge": hinges + self._number(i), "ball": balls + 3 * self._number(i)}.get(kind, 0)
            found.append(slice(start, start + size))
        return found


class BodiesSeen(Module):
    """The attitudes of the bodies and what else is seen of them."""

    joints: JointSpace
    seen: Any

    def __call__(self, g: Any, t: Scalar) -> dict[str, Any]:
        placed = self.joints.placed(g)
        return {"R": placed.R} | self.seen(placed, t)
