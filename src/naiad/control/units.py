"""The units in which a problem is solved: its numbers are of the size of one there, whatever those of its user."""

import functools
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from naiad.compiler import execute
from naiad.groups import AbstractGroup
from naiad.mechanics import State
from naiad.numerics.checks import namespace

SMALLEST, LARGEST = 1e-2, 1e3  # sizes between these are as good as one
ROUND_OFF = 32.0 * np.finfo(float).eps  # what rounding leaves of a place, relative to its coordinates


class ProblemUnits(NamedTuple):
    """The units of a problem; those of multipliers follow.

    `place` and `momentum` are those of the increments of configurations and of momenta, `control` those of controls:
    one number a component. `cost` is that of the cost, `path` and `ending` those of the user's inequalities and
    conditions of the end. `share` is the part of the cost that moving a component takes, `part` that of a control: in
    a problem with parts of very different sizes, the conditions of the end and the bounds of controls are weighed by
    them.

    Tables have numbers in these units, iterates outside of tables do not.
    """

    place: Any = 1.0
    momentum: Any = 1.0
    control: Any = 1.0
    cost: Any = 1.0
    path: Any = 1.0
    ending: Any = 1.0
    share: Any = 1.0
    part: Any = 1.0

    @classmethod
    def ones(cls, n: int, controls: int, paths: int, endings: int) -> "ProblemUnits":
        """Those of the user, for so many components, controls, inequalities and conditions."""
        one = np.ones
        return cls(one(n), one(n), one(controls), 1.0, one(paths), one(endings), one(n), one(controls))

    @property
    def plain(self) -> bool:
        """Whether all are one."""
        return all(np.all(each == 1.0) for each in self)

    def conditions(self, reaching: bool) -> Any:
        """Those of the conditions of the end, of which the goal's come first, if there is one."""
        return np.concatenate([self.place, self.momentum, self.ending]) if reaching else self.ending

    def shares(self, reaching: bool, count: int) -> Any:
        """Those of the conditions of the end, so many: of the user's, all of the cost."""
        goals = [self.share, self.share] if reaching else []
        ones = jnp.ones(count - sum(map(len, goals)))
        return namespace(self.share).concatenate([*goals, ones])

    def state(self, state: State) -> State:
        """A state in these units."""
        return State(state.g, state.mu / self.momentum)

    def numbers(self, numbers: Any) -> Any:
        """The numbers of a problem in these units."""
        bounds = numbers.lower / self.control, numbers.upper / self.control
        return numbers._replace(goal=self.state(numbers.goal), lower=bounds[0], upper=bounds[1])

    def into(self, at: Any, reaching: bool) -> Any:
        """An iterate in these units."""
        return self._times(at, reaching, lambda a, b: a / b)

    def out(self, at: Any, reaching: bool) -> Any:
        """An iterate in these units as it is outside."""
        return self._times(at, reaching, lambda a, b: a * b)

    def _times(self, at: Any, reaching: bool, scaled: Any) -> Any:
        cost, inner = self.cost, at.K.shape[1]
        K = np.stack([*[self.place] * (inner - 1), self.momentum]) if inner > 1 else self.place  # of steps with stages
        path = np.tile(self.path, at.rho.shape[1] // max(1, len(self.path)))
        sizes = {"m": self.momentum, "K": K, "U": self.control, "rho": cost / path, "slack": path}
        sizes |= {"sigma": cost / self.momentum, "lam": cost / self.place, "gamma": cost / self.momentum}
        bound = cost * self.part / self.control
        sizes |= {"low": bound, "high": bound, "least": cost, "most": cost, "nu": cost / self.conditions(reaching)}
        return at._replace(**{name: scaled(getattr(at, name), size) for name, size in sizes.items()})

    def coarse(self) -> "ProblemUnits":
        """The same where parts with a short way move as the others do, by no more than one."""
        place = np.maximum(self.place, min(1.0, np.max(self.place)))
        return self._replace(place=place, share=np.ones_like(self.share), part=np.ones_like(self.part))

    def between(self, coarse: "ProblemUnits", group: AbstractGroup, g: Any) -> "ProblemUnits":
        """Coarse ones for a motion through places g, in rows: no coarser than it leads far."""
        place = np.maximum(self.place, np.minimum(coarse.place, fitting(moved(group, g))))
        return coarse._replace(place=place)


def fitting(sizes: Any) -> Any:
    """Units for numbers of these sizes: one, where that is as good."""
    sizes = np.asarray(sizes, float)
    return np.where((sizes > SMALLEST) & (sizes < LARGEST), 1.0, _powers(sizes))


def is_ordinary(sizes: Any, least: float = SMALLEST) -> bool:
    """Whether one is as good a unit as any for numbers of these sizes; there is none for zero."""
    sizes = np.abs(sizes)
    return bool(np.all((sizes == 0.0) | ((sizes > least) & (sizes < LARGEST))))


def places(group: AbstractGroup, ways: np.ndarray, ends: Any, tolerance: float) -> np.ndarray:
    """The units of places for a motion over these ways, between ends in rows: as large as the way of each part of the
    group, but no finer than what rounding leaves, and no more than a radian for what turns. A part without a way of its
    own is taken along: by as much as the others at most, and no more than one."""
    ways = np.where(turning(group), np.minimum(ways, 1.0), ways)
    ways, least = by_parts(group, ways), ROUND_OFF / tolerance * reach(group, ends)
    moving = ways > tolerance * least
    if not moving.any():
        return np.ones_like(ways)
    return fitting(np.maximum(np.where(moving, ways, min(1.0, np.max(ways))), np.minimum(least, 1.0)))


def by_parts(group: AbstractGroup, sizes: np.ndarray) -> np.ndarray:
    """The largest of the sizes in each part of the group: turning, moving, and each factor."""
    found = np.zeros(group.dim)
    for row in (row for rows in parts(group) for row in rows):
        found[row] = np.max(sizes[row])
    return found


@functools.cache
def parts(group: AbstractGroup) -> list[np.ndarray]:
    """The components of each part, in the order of the leaves of an element, with a row for each copy."""
    found = (np.asarray(part, int) for part in group.split(jnp.arange(group.dim)))
    return [part.reshape(-1, part.shape[-1]) if part.ndim else part.reshape(1, 1) for part in found]


@functools.cache
def turning(group: AbstractGroup) -> np.ndarray:
    """Of each component, whether it turns something."""
    return execute(_spins, group, parameters=(0,)) > 0.0


def _spins(group: AbstractGroup) -> Any:
    return jax.lax.map(group.spin, jnp.eye(group.dim))


def moved(group: AbstractGroup, g: Any) -> np.ndarray:
    """How far a motion through places in rows leads from the first, for each component."""
    return reach(group, jax.tree.map(lambda leaf: leaf - leaf[:1], g))


def reach(group: AbstractGroup, g: Any) -> np.ndarray:
    """The largest coordinates of places in rows, for each component."""
    leaves, found = jax.tree.leaves(g), np.zeros(group.dim)
    if len(leaves) != len(parts(group)):
        return np.full(group.dim, max(np.max(np.abs(leaf)) for leaf in leaves))
    for rows, leaf in zip(parts(group), leaves, strict=True):
        sizes = np.abs(leaf).reshape(len(leaf), len(rows), -1).max(axis=(0, 2))
        for row, size in zip(rows, sizes, strict=True):
            found[row] = size
    return found


def _powers(sizes: Any) -> Any:
    """The nearest powers of two, one where a size says nothing."""
    sound = np.isfinite(sizes) & (sizes > 0.0)
    return np.where(sound, 2.0 ** np.round(np.log2(np.where(sound, sizes, 1.0))), 1.0)
