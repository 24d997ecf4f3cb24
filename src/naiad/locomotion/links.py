"""Links joined by hinges to a tree: where they lie and how they move, seen from the base."""

from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from naiad.errors import InputError
from naiad.groups import AbstractGroup
from naiad.numerics import Module, static


class Links(Module):
    """A tree of links in the plane (`frame` SE(2)) or in space (SE(3)); the one whose parent is -1 is the base.

    Link i lies in the frame of its parent at rest_i exp(theta S_i), S_i its hinge's screw in its own frame; `rest` are
    poses stacked along the first axis. There is an angle for each link but the base, in the order of the links.
    """

    rest: Any
    screws: Float[Array | np.ndarray, "n d"]
    frame: AbstractGroup
    parents: tuple[int, ...] = static()

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
        """The links that have an angle: all but the base."""
        return tuple(i for i in range(self.count) if i != self.base)

    def poses(self, theta: Float[Array, " m"]) -> list[Any]:
        """The poses of the links in the frame of the base."""
        steps, poses = self._steps(theta), {self.base: self.frame.identity()}
        for i in order(self.parents)[1:]:
            poses[i] = self.frame.compose(poses[self.parents[i]], steps[i])
        return [poses[i] for i in range(self.count)]

    def jacobian(self, theta: Float[Array, " m"]) -> Float[Array, "n d d+m"]:
        """B with xi_i = B_i (xi, theta'): the velocities of the links, each in its own frame, from that of the base in
        its own and the rates of the angles: xi_i = Ad_{x_i^-1} xi_p + S_i theta_i' [kanso2005, eq. (7.2)]."""
        d, m, steps = self.frame.dim, self.count - 1, self._steps(theta)
        rows = {self.base: jnp.eye(d, d + m)}
        for i in order(self.parents)[1:]:
            inverse = self.frame.inverse(steps[i])
            carried = jax.vmap(lambda column, x=inverse: self.frame.Ad(x, column), 1, 1)(rows[self.parents[i]])
            rows[i] = carried.at[:, d + self.hinged.index(i)].add(jnp.asarray(self.screws)[i])
        return jnp.stack([rows[i] for i in range(self.count)])

    def _steps(self, theta: Float[Array, " m"]) -> dict[int, Any]:
        """The pose of each link in the frame of its parent."""
        rest = [jax.tree.map(lambda leaf, i=i: jnp.asarray(leaf)[i], self.rest) for i in range(self.count)]
        turns = {i: self.frame.exp(theta[k] * jnp.asarray(self.screws)[i]) for k, i in enumerate(self.hinged)}
        return {i: self.frame.compose(rest[i], turn) for i, turn in turns.items()}


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
