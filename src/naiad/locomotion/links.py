"""Links joined to a tree: where they lie and how they move, seen from the base."""

from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from naiad.errors import InputError
from naiad.groups import SO3, AbstractGroup, Power, Product, Rn
from naiad.groups.se3 import Pose
from naiad.numerics import Module, hat, static

KINDS = ("hinge", "ball", "weld")


class Links(Module):
    """A tree of links in the plane (`frame` SE(2)) or in space (SE(3)); the one whose parent is -1 is the base.

    Link i lies in the frame of its parent at rest_i exp(theta S_i), S_i its hinge's screw in its own frame; `rest` are
    poses stacked along the first axis. There is an angle for each hinge, in the order of the links. `kinds` names the
    joint of each link (the base's is not used), all hinges if empty: a weld keeps rest_i; a ball joint, in space, turns
    the link by Q about `points`_i of its frame, to rest_i (Q, p_i - Q p_i).
    """

    rest: Any
    screws: Float[Array | np.ndarray, "n d"]
    frame: AbstractGroup
    parents: tuple[int, ...] = static()
    kinds: tuple[str, ...] = static(default=())
    points: Float[Array | np.ndarray, "n 3"] | None = None

    @property
    def count(self) -> int:
        """The number of links."""
        return len(self.parents)

    @property
    def base(self) -> int:
        """The number of the base."""
        return self.parents.index(-1)

    @property
    def hinged(self) -> tuple[int, ...]:
        """The links that have an angle."""
        return self._of_kind("hinge")

    @property
    def balls(self) -> tuple[int, ...]:
        """The links on ball joints."""
        return self._of_kind("ball")

    @property
    def shape(self) -> AbstractGroup:
        """The group of shapes: R^m of the angles; with ball joints the product of `angles`, where there are any, and of
        `turns`, an SO(3) for each ball."""
        if not self.balls:
            return Rn(len(self.hinged))
        angles: dict[str, AbstractGroup] = {"angles": Rn(len(self.hinged))} if self.hinged else {}
        return Product(**angles, turns=Power(SO3(), len(self.balls)))

    def poses(self, theta: Any) -> list[Any]:
        """The poses of the links in the frame of the base."""
        steps, poses = self._steps(theta), {self.base: self.frame.identity()}
        for i in order(self.parents)[1:]:
            poses[i] = self.frame.compose(poses[self.parents[i]], steps[i])
        return [poses[i] for i in range(self.count)]

    def jacobian(self, theta: Any) -> Float[Array, "n d d+m"]:
        """B with xi_i = B_i (xi, theta'): the velocities of the links, each in its own frame, from that of the base in
        its own and the rates of the shape: xi_i = Ad_{x_i^-1} xi_p + S_i theta_i' [kanso2005, eq. (7.2)]. The rate of a
        ball joint is the angular velocity relative to the parent, in the frame of the link: Q^T Q'."""
        d, m, steps, moves = self.frame.dim, self.shape.dim, self._steps(theta), self._moves()
        rows = {self.base: jnp.eye(d, d + m)}
        for i in order(self.parents)[1:]:
            inverse = self.frame.inverse(steps[i])
            carried = jax.vmap(lambda column, x=inverse: self.frame.Ad(x, column), 1, 1)(rows[self.parents[i]])
            rows[i] = carried + moves[i] if i in moves else carried
        return jnp.stack([rows[i] for i in range(self.count)])

    def _steps(self, theta: Any) -> dict[int, Any]:
        """The pose of each link in the frame of its parent."""
        steps = {i: jax.tree.map(lambda leaf, i=i: jnp.asarray(leaf)[i], self.rest) for i in range(self.count)}
        angles = theta.angles if self.balls and self.hinged else theta
        for k, i in enumerate(self.hinged):
            steps[i] = self.frame.compose(steps[i], self.frame.exp(angles[k] * jnp.asarray(self.screws)[i]))
        for k, i in enumerate(self.balls):
            turn, point = theta.turns[k], jnp.asarray(self.points)[i]
            steps[i] = self.frame.compose(steps[i], Pose(turn, point - turn @ point))
        return steps

    def _moves(self) -> dict[int, Float[Array, "d d+m"]]:
        """The velocity of each link relative to its parent, as columns for (xi, theta')."""
        d, hinges, m = self.frame.dim, len(self.hinged), self.shape.dim
        moves = {}
        for k, i in enumerate(self.hinged):
            moves[i] = jnp.outer(jnp.asarray(self.screws)[i], np.eye(d + m)[d + k])
        for k, i in enumerate(self.balls):
            turning = jnp.concatenate([jnp.eye(3), hat(jnp.asarray(self.points)[i])])
            moves[i] = turning @ np.eye(3, d + m, d + hinges + 3 * k)
        return moves

    def _of_kind(self, kind: str) -> tuple[int, ...]:
        kinds = self.kinds or ("hinge",) * self.count
        return tuple(i for i in range(self.count) if i != self.base and kinds[i] == kind)


def order(parents: Sequence[int]) -> list[int]:
    """The links from the base outwards, or an `InputError` if they are no tree."""
    numbers = list(parents)
    known, left = [i for i, parent in enumerate(numbers) if parent == -1], set(range(len(numbers)))
    if len(known) != 1:
        raise InputError(
            f"parents = {numbers}; expected -1 for one link, the base, and the parent's number for others."
        )
    left -= set(known)
    while left:
        found = sorted(i for i in left if numbers[i] in known)
        if not found:
            raise InputError(f"parents = {numbers}: links {sorted(left)} do not hang on the base; expected a tree.")
        known, left = known + found, left - set(found)
    return known
