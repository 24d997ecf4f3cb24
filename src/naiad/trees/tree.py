"""Rigid bodies joined to a tree: who hangs on whom, by which joint, and with which inertia."""

from collections.abc import Sequence
from typing import Any, Literal

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from naiad.errors import InputError
from naiad.groups import SO3, AbstractGroup, Power, Product, Rn
from naiad.numerics import Module, static
from naiad.numerics.checks import is_known
from naiad.trees.balance import balanced
from naiad.trees.checks import attitudes, couplings, full_inertias, inertias, joint_kinds, parent_numbers, unit_rows
from naiad.trees.checks import vectors as points


class Tree(Module):
    """N rigid bodies, body 0 the root; body i > 0 is joined to its parent, whose number is smaller.

    - `parents`: the number of each body's parent, -1 for the root.
    - `J`, `M`: inertias about the centres and mass matrices in the body frames (added mass included): a row of three
      numbers (a diagonal) or a matrix for each body, or one for all, as in [(a, b, c)]. `M` may also be a mass for all
      bodies or N masses.
    - `D`: couplings Omega . D V of turn and motion, symmetric 3 x 3 matrices, none if not given (see `of_inertias`).
    - `own`: where the joint of a body to its parent lies in its own frame; `other`: the same point in the parent's.
    - `joints`: "ball", "hinge" or "weld", one for all or one for each body; `root`: "free", or "pinned" by a ball joint
      or on a "hinge" at `own[0]` in the root's frame to `other[0]` in space. For a free root both are zero.
    - `axis`: the axis of a hinge, in the body's own frame; `rest`: the attitude of a body in its parent's frame, which
      a weld keeps and from which a hinge turns about its axis (the identity if not given).

    A configuration is g = (R, x): R[i] takes the frame of body i to space, x is the centre of body 0; a pinned tree has
    no x. The velocity is (Omega_i in the body frames, x'), the momentum its dual. Hinges and welds are constraints on
    the attitudes: `constraint`.
    """

    J: Float[Array | np.ndarray, "N 3 3"]
    M: Float[Array | np.ndarray, "N 3 3"]
    D: Float[Array | np.ndarray, "N 3 3"] | None
    own: Float[Array | np.ndarray, "N 3"]
    other: Float[Array | np.ndarray, "N 3"]
    axis: Float[Array | np.ndarray, "N 3"]
    rest: Float[Array | np.ndarray, "N 3 3"]
    at: Float[Array | np.ndarray, "N 3"]
    parents: tuple[int, ...] = static()
    joints: tuple[str, ...] = static()

    def __init__(
        self,
        parents: Sequence[int],
        J: Any,
        M: Any,
        *,
        own: Any,
        other: Any,
        D: Any = None,
        joints: str | Sequence[str] = "ball",
        root: Literal["free", "pinned", "hinge"] = "free",
        axis: Any = None,
        rest: Any = None,
    ):
        self.parents = parent_numbers(parents)
        count = len(self.parents)
        self.joints = joint_kinds(joints, root, count)
        self.J, self.M = inertias("J", J, count), inertias("M", M, count)
        self.D = couplings(self.J, self.M, D, count)
        self.own, self.other = points("own", own, count), points("other", other, count)
        ends = (self.own[0], self.other[0])
        if root == "free" and any(is_known(end) and np.any(end) for end in ends):
            raise InputError(
                f"own[0] = {self.own[0]} and other[0] = {self.other[0]}: a free root has no joint; expected zeros (or "
                "root='pinned' or 'hinge')."
            )
        hinges = [i for i, kind in enumerate(self.joints) if kind == "hinge"]
        self.axis = unit_rows("axis", axis, count, hinges)
        self.rest = attitudes("rest", rest, count)
        self.at = np.zeros((count, 3))

    @classmethod
    def of_inertias(cls, parents: Sequence[int], K: Any, *, own: Any, other: Any, **about: Any) -> "Tree":
        """The tree of bodies with full inertias K, 6 x 6, angular first, each about the origin of a frame of its body
        that may lie anywhere; `own` and `other` are in these frames, the rest is that of a `Tree`.

        Its centres are the points about which the couplings are symmetric, for a dry body the centre of mass: the
        origins are moved there, and `at` is where they lie in the frames given. So no step depends on the frames.
        """
        numbers = parent_numbers(parents)
        count = len(numbers)
        J, M, D, at = balanced(full_inertias("K", K, count))
        joined = np.arange(count)[:, None] > 0  # a free root has no joint, a pinned one hangs on a point of space
        own = points("own", own, count) - (joined | (about.get("root", "free") != "free")) * at
        other = points("other", other, count) - joined * at[np.maximum(numbers, 0)]
        return cls(parents, J, M, D=D, own=own, other=other, **about).replaced(at=at)

    @property
    def count(self) -> int:
        """The number of bodies."""
        return len(self.parents)

    @property
    def pinned(self) -> bool:
        """Whether the root hangs on a point of space."""
        return self.joints[0] != "free"

    @property
    def balls(self) -> bool:
        """Whether every joint is a ball joint."""
        return self.joints[0] != "hinge" and all(kind == "ball" for kind in self.joints[1:])

    @property
    def chain(self) -> bool:
        """Whether every body hangs on the one before."""
        return all(parent == i - 1 for i, parent in enumerate(self.parents))

    @property
    def group(self) -> AbstractGroup:
        """SO(3)^N x R^3, or SO(3)^N if pinned."""
        attitudes = Power(SO3(), self.count)
        return Product(R=attitudes) if self.pinned else Product(R=attitudes, x=Rn(3))

    def freed(self) -> "Tree":
        """The same with ball joints only."""
        root = "pinned" if self.pinned else "free"
        return self if self.balls else self.replaced(joints=(root, *["ball"] * (self.count - 1)))

    def of_kind(self, kind: str) -> np.ndarray:
        """The numbers of the bodies whose joint is of a kind."""
        return np.array([i for i, each in enumerate(self.joints) if each == kind], int)

    def centres(self, g: Any) -> Float[Array, "N 3"]:
        """The centres of the bodies in space: c_i = c_p + R_p other_i - R_i own_i."""
        own, other = _turned(g.R, self.own), self._turned_by_parent(g.R, self.other)
        start = jnp.asarray(self.other[0]) - own[0] if self.pinned else g.x
        return self._summed(start, other - own)

    def origins(self, g: Any) -> Float[Array, "N 3"]:
        """Where the origins of the frames given to `of_inertias` are in space; else the centres."""
        return self.centres(g) - _turned(g.R, self.at)

    def velocities(self, g: Any, xi: Float[Array, " n"]) -> Float[Array, "N 3"]:
        """The velocities of the centres, in space."""
        Omega = jnp.reshape(xi[: 3 * self.count], (self.count, 3))
        own = _turned(g.R, jnp.cross(Omega, self.own))
        above = Omega[np.maximum(self.parents, 0)]
        other = self._turned_by_parent(g.R, jnp.cross(above, self.other))
        start = -own[0] if self.pinned else xi[3 * self.count :]
        return self._summed(start, other - own)

    def kinetic_energy(self, g: Any, xi: Float[Array, " n"]) -> Float[Array, ""]:
        """sum_i (V_i . M_i V_i + Omega_i . J_i Omega_i) / 2 + Omega_i . D_i V_i, V_i the velocity of the centre in the
        body frame: O(N)."""
        Omega = jnp.reshape(xi[: 3 * self.count], (self.count, 3))
        V = jnp.einsum("nji,nj->ni", jnp.asarray(g.R), self.velocities(g, xi))
        forms = jnp.einsum("ni,nij,nj->n", V, self.M, V) + jnp.einsum("ni,nij,nj->n", Omega, self.J, Omega)
        if self.D is not None:
            forms = forms + 2.0 * jnp.einsum("ni,nij,nj->n", Omega, self.D, V)
        return 0.5 * jnp.sum(forms)

    def linear_momentum(self, g: Any, mu: Float[Array, " n"]) -> Float[Array, "3"]:
        """The total momentum in space, zero for a pinned tree, which has none of its own."""
        return jnp.zeros(3) if self.pinned else mu[3 * self.count :]

    def angular_momentum(self, g: Any, mu: Float[Array, " n"]) -> Float[Array, "3"]:
        """The total angular momentum about the origin, or about the pin: sum_i R_i Pi_i + x x p."""
        spins = jnp.sum(_turned(g.R, jnp.reshape(mu[: 3 * self.count], (self.count, 3))), axis=0)
        return spins if self.pinned else spins + jnp.cross(g.x, mu[3 * self.count :])

    def constraint(self, g: Any) -> Float[Array, " m"]:
        """What hinges (two numbers each) and welds (three each) hold at zero.

        With Q = rest^T R_p^T R_i a hinge keeps its axis n: the components of Q n along two directions across n are
        zero; a weld keeps Q = I: its skew part is zero.
        """
        hinges, welds = self.of_kind("hinge"), self.of_kind("weld")
        above = jnp.asarray(g.R)[np.maximum(self.parents, 0)].at[0].set(jnp.eye(3))
        turned = jnp.einsum("nji,nkj,nkl->nil", self.rest, above, g.R)
        axes = jnp.asarray(self.axis)[hinges]
        tilts = jnp.einsum("nki,nij,nj->nk", _across(axes), turned[hinges], axes)
        skew = turned[welds] - jnp.swapaxes(turned[welds], 1, 2)
        slips = 0.5 * jnp.stack([skew[:, 2, 1], skew[:, 0, 2], skew[:, 1, 0]], axis=1)
        return jnp.concatenate([tilts.reshape(-1), slips.reshape(-1)])

    def _turned_by_parent(self, R: Any, rows: Any) -> Float[Array, "N 3"]:
        above = jnp.asarray(R)[np.maximum(self.parents, 0)]
        return _turned(above, rows)

    def _summed(self, start: Float[Array, "3"], steps: Float[Array, "N 3"]) -> Float[Array, "N 3"]:
        """s_0 = start, s_i = s_p + steps_i, down the tree; its transpose sums up the tree, in O(N) as well."""
        steps = steps.at[0].set(start)
        if self.chain:
            return jnp.cumsum(steps, axis=0)
        parents, above = jnp.asarray(self.parents), np.maximum(self.parents, 0)
        below_root = jnp.arange(self.count)[:, None] > 0

        def differences(rows):
            return rows - jnp.where(below_root, rows[above], 0.0)

        def down(_, rows):
            return jax.lax.fori_loop(1, self.count, lambda i, rows: rows.at[i].add(rows[parents[i]]), rows)

        def up(_, rows):
            def body(k, rows):
                i = self.count - 1 - k
                return rows.at[parents[i]].add(rows[i])

            return jax.lax.fori_loop(0, self.count - 1, body, rows)

        return jax.lax.custom_linear_solve(differences, steps, down, up)


def _turned(R: Any, rows: Any) -> Float[Array, "N 3"]:
    return jnp.einsum("nij,nj->ni", jnp.asarray(R), rows)


def _across(axes: Float[Array, "n 3"]) -> Float[Array, "n 2 3"]:
    """Two unit vectors across each axis, as rows: those of the reflection that takes the axis to -+e_3."""
    x, y, z = axes.T
    side = jnp.where(z < 0.0, -1.0, 1.0)
    share = -1.0 / (side + z)
    first = jnp.stack([1.0 + side * x**2 * share, side * x * y * share, -side * x], axis=1)
    second = jnp.stack([x * y * share, side + y**2 * share, -y], axis=1)
    return jnp.stack([first, second], axis=1)
