"""Rigid bodies joined to a tree, dry or in an ideal fluid."""

from collections.abc import Callable, Sequence
from typing import Any, Literal, Self

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from naiad.compiler import execute_rows
from naiad.errors import InputError
from naiad.forces.weight import Weight
from naiad.hydro import AbstractShape
from naiad.mechanics import Picture, Scalar, State
from naiad.models.solid_shape import Solid
from naiad.numerics import check_double, static
from naiad.numerics.arguments import checked_throughout
from naiad.numerics.checks import floats, is_known, positive
from naiad.trees.ellipsoids import ellipsoid_inertias, semi_axes
from naiad.trees.joint_springs import joint_matrices, relative_velocities, spring_energy, with_reactions
from naiad.trees.joint_torques import AbstractJointTorque, as_torque
from naiad.trees.overlap import overlapping, overlapping_solids
from naiad.trees.robots.robot import Robot
from naiad.trees.rules import RULES
from naiad.trees.submerged import NO_WATER, checked_shapes, submerged, water_around
from naiad.trees.system import TreeSystem
from naiad.trees.tree import Tree
from naiad.trees.tree_rule import TreeRule


class ConnectedBodies(TreeSystem):
    """N rigid bodies in a `Tree` with ball joints, hinges and welds, in absolute attitudes [lee2009, section II].

    ell = sum_i (V_i . M_i V_i + Omega_i . J_i Omega_i) / 2 + Omega_i . D_i V_i - V(g), V_i the velocity of the centre
    of body i in its frame; the inertias of the tree include the fluid's where there is one.

    - `weight`: gravity and buoyancy;
    - `stiffness` [N m/rad] and `damping` [N m s/rad] of the joints: a number, a row of three numbers (a diagonal)
      or a matrix in the body's frame for each body, or one for all, as in [(a, b, c)]; a spring has the energy
      theta . K theta / 2 for a small turn theta from the tree's `rest` (see `spring_energy`);
    - `torque`: an `AbstractJointTorque`, or any function tau(g, xi, t) of the torques in the joints, in rows;
    - `shapes`: semi-axes [m], to draw the bodies and to refuse a start in which they overlap, unless `overlap`;
    - `solids`: the same of bodies of other shapes (see `from_shapes`); `robot`: the description that they were read
      from, if they were: its links may overlap at their joints.

    Springs, dampers and torques act between the bodies: momenta are conserved without weight and with a free root.
    """

    tree: Tree
    weight: Weight | None
    stiffness: Float[Array | np.ndarray, "N 3 3"] | None
    damping: Float[Array | np.ndarray, "N 3 3"] | None
    torque: AbstractJointTorque | None
    shapes: Float[Array | np.ndarray, "N 3"] | None
    solids: tuple[Solid | None, ...] | None
    overlap: bool = static()
    robot: Robot | None = static()

    def __init__(
        self,
        tree: Tree,
        *,
        weight: Weight | None = None,
        stiffness: Any = None,
        damping: Any = None,
        torque: AbstractJointTorque | Callable[..., Any] | None = None,
        shapes: Any = None,
        overlap: bool = False,
    ):
        if weight is not None and not weight.fits(tree.count):
            raise InputError(
                f"weight has numbers that are not for {tree.count} bodies; give one for all or one for each."
            )
        self.tree, self.weight, self.overlap = tree, weight, overlap
        self.stiffness = joint_matrices("stiffness", stiffness, tree.count, root=tree.pinned)
        self.damping = joint_matrices("damping", damping, tree.count, root=tree.pinned)
        self.torque = as_torque(torque)
        self.shapes = None if shapes is None else semi_axes(shapes, tree.count)
        self.solids, self.robot = None, None

    @classmethod
    def from_shapes(
        cls,
        shapes: AbstractShape | Sequence[AbstractShape],
        parents: Sequence[int],
        *,
        own: Any,
        other: Any,
        fluid: float,
        dry: Any = None,
        gravity: Any = None,
        joints: str | Sequence[str] = "ball",
        root: Literal["free", "pinned", "hinge"] = "free",
        axis: Any = None,
        rest: Any = None,
        **options: Any,
    ) -> Self:
        """Bodies of any shapes, such as a `Mesh`, in a `fluid` of given density (0: none), each with the added inertia
        that it would have alone, coupling of turn and motion included; one shape for all, or one for each.

        `dry` are their own inertias, 6 x 6 about the origins of the frames of the shapes (see
        `naiad.hydro.rigid_inertia`), one for all or one for each; without them they are homogeneous, of the fluid's
        density. `own`, `other`, `axis` and `rest` are in these frames; the tree's centres lie elsewhere (see
        `Tree.of_inertias`). `gravity` [m/s^2] pulls at the masses and lifts what is displaced.
        """
        given, rho = checked_shapes(shapes, len(parents)), float(positive("fluid", fluid, zero=True))
        if dry is None and not rho:
            raise InputError("Bodies without a fluid need their own inertias; give dry=rigid_inertia(...).")
        inertias = np.stack([shape.inertia(rho) for shape in given]) if dry is None else floats("dry", dry)
        if inertias.shape not in ((6, 6), (len(given), 6, 6)):
            raise InputError(
                f"dry has shape {inertias.shape}; expected a 6 x 6 matrix for all, or one for each of {len(given)} "
                "bodies."
            )
        inertias = np.broadcast_to(inertias, (len(given), 6, 6))
        around = [water_around(shape, rho) if rho else NO_WATER for shape in given]
        about = {"own": own, "other": other, "joints": joints, "root": root, "axis": axis, "rest": rest}
        tree, weight, solids = submerged(parents, inertias, around, given, gravity=gravity, **about)
        return cls(tree, weight=weight, **options).replaced(solids=solids)

    @classmethod
    def ellipsoids(
        cls,
        axes: Any,
        parents: Sequence[int],
        *,
        own: Any,
        other: Any,
        fluid: float = 1.0,
        density: float | None = None,
        gravity: Any = None,
        joints: str | Sequence[str] = "ball",
        root: Literal["free", "pinned", "hinge"] = "free",
        axis: Any = None,
        rest: Any = None,
        **options: Any,
    ) -> Self:
        """Homogeneous ellipsoids of semi-axes `axes` [m] and a `density` [kg/m^3] (by default the fluid's) in a `fluid`
        of given density (0: none), each with the added inertia that it would have alone [lee2009, eqs. (6), (7)].

        `parents` to `rest` are those of a `Tree`; `gravity` [m/s^2] pulls at the masses and lifts what is displaced;
        `options` are those of `ConnectedBodies`.
        """
        shapes = semi_axes(axes, len(parents))
        J, M, mass, displaced = ellipsoid_inertias(shapes, fluid, fluid if density is None else density)
        tree = Tree(parents, J, M, own=own, other=other, joints=joints, root=root, axis=axis, rest=rest)
        weight = None if gravity is None else Weight(gravity, mass, displaced)
        return cls(tree, weight=weight, shapes=shapes, **options)

    @property
    def potential(self) -> Any:
        """V(g, t) of weight and springs; none if there is neither."""
        return None if self.weight is None and self.stiffness is None else self._potential

    @property
    def force(self) -> Any:
        """Torques and dampers in the joints; none if there is neither."""
        return None if self.torque is None and self.damping is None else self._force

    @property
    def symmetry(self) -> Any:
        """Rigid motions, where nothing acts from outside."""
        inside = self.potential is None and self.force is None if self.tree.pinned else self.weight is None
        return self._moved if inside else None

    def discretised(self, rule: Any) -> Any:
        """The discrete Lagrangian of `TreeVariational` with the same rule."""
        return TreeRule(rule) if type(rule) in RULES else rule

    @checked_throughout
    def state(self, g: Any = None, xi: Any = None, mu: Any = None, *, t: Scalar = 0.0, **components: Any) -> State:
        """A checked state (see `LagrangianSystem.state`), in which no two bodies overlap unless that is allowed."""
        state = super().state(g, xi, mu, t=t, **components)
        if not self.overlap and self.robot is None and all(map(is_known, jax.tree.leaves((self, state)))):
            pairs = self._overlapping(state.g)
            if pairs:
                raise InputError(
                    f"Bodies {pairs[0][0]} and {pairs[0][1]} overlap at the start ({len(pairs)} such pairs); move the "
                    "joints outwards or turn the bodies apart, or allow it with overlap=True."
                )
        return state

    def _overlapping(self, g: Any) -> list[tuple[int, int]]:
        """The pairs of bodies that do, where their shapes are known."""
        if self.shapes is None and self.solids is None:
            return []
        R, centres = np.asarray(g.R), np.asarray(self.tree.centres(g))
        if self.shapes is not None:
            return overlapping(np.asarray(self.shapes), R, centres)
        solids = self.solids or ()
        middles = [np.zeros(3) if solid is None else np.asarray(solid.centre) for solid in solids]
        return overlapping_solids(solids, R, centres + np.einsum("nij,nj->ni", R, np.stack(middles)))

    def joint_state(
        self, turns: Any = None, rates: Any = None, *, x: Any = (0.0, 0.0, 0.0), v: Any = (0.0, 0.0, 0.0)
    ) -> State:
        """The state of given joints: Q_i = rest_i exp(turns_i) is the attitude of body i in its parent's frame, rates_i
        its angular velocity relative to the parent, in its own frame; row 0 is the root's own. A hinge takes multiples
        of its axis, a weld zeros. `x`, `v` are the place and velocity of a free root.
        """
        R, Omega = absolute(self.tree, turns, rates)
        free = {} if self.tree.pinned else {"x": x, "x_v": v}
        return self.state(R=R, R_Omega=Omega, **free)

    def places(self, g: Any) -> np.ndarray:
        """The centres of the bodies in space for configurations stacked along the first axis: [time, body, 3]."""
        return execute_rows(_centres, self.tree, g, parameters=(0,))

    @property
    def picture(self) -> Picture:
        """The bodies where they are, with their shapes (ellipsoids with their inertia if not given) and joints, under
        gravity."""
        down = self.weight.gravity if self.weight is not None and np.any(self.weight.gravity) else None
        picture = super().picture._replace(down=down)
        if self.robot is not None:
            picture = picture._replace(names=self.robot.bodies)
        if self.shapes is not None:
            return picture._replace(shapes=self.shapes)
        if self.solids is None:
            return picture
        usual = list(picture.shapes)
        shapes = [own if solid is None else solid.drawn for own, solid in zip(usual, self.solids, strict=True)]
        centres = [np.zeros(3) if solid is None else solid.centre for solid in self.solids]
        return picture._replace(shapes=shapes, centres=centres)

    def _potential(self, g: Any, t: Scalar) -> Float[Array, ""]:
        springs = 0.0 if self.stiffness is None else spring_energy(self.tree, g, jnp.asarray(self.stiffness))
        weight = 0.0 if self.weight is None else self.weight.potential(jnp.asarray(g.R), self.tree.centres(g))
        return jnp.asarray(springs + weight)

    def _force(self, g: Any, xi: Float[Array, " n"], t: Scalar) -> Float[Array, " n"]:
        torques = jnp.zeros((self.tree.count, 3))
        if self.torque is not None:
            torques = torques + self.torque(g, xi, t)
        if self.damping is not None:
            torques = torques - jnp.einsum("nij,nj->ni", self.damping, relative_velocities(self.tree, g, xi))
        if not self.tree.pinned:
            torques = torques.at[0].set(0.0)
        rows = with_reactions(self.tree, g, torques).reshape(-1)
        return jnp.concatenate([rows, jnp.zeros(self.group.dim - rows.size)])


def _centres(tree: Tree, g: Any) -> Float[Array, "N 3"]:
    return tree.centres(g)


def absolute(tree: Tree, turns: Any, rates: Any) -> tuple[np.ndarray, np.ndarray]:
    """R_i = R_p Q_i and Omega_i = Q_i^T Omega_p + rates_i from the turns and the rates of the joints."""
    Q = np.array(tree.rest) if turns is None else np.asarray(tree.rest) @ _rotations(_rows(turns, tree.count))
    R, Omega = Q.copy(), np.zeros((tree.count, 3)) if rates is None else _rows(rates, tree.count).copy()
    for i, parent in enumerate(tree.parents):
        if i:
            R[i] = R[parent] @ Q[i]
            Omega[i] += Q[i].T @ Omega[parent]
    return R, Omega


def _rotations(theta: np.ndarray) -> np.ndarray:
    from scipy.spatial.transform import Rotation  # takes a while to load, and few need it

    return Rotation.from_rotvec(theta).as_matrix()


def _rows(value: Any, count: int) -> np.ndarray:
    check_double("The turns or rates", value)
    array = np.asarray(value, float)
    if array.shape != (count, 3):
        raise InputError(f"The turns or rates have shape {array.shape}; expected ({count}, 3): a row for each body.")
    return array
