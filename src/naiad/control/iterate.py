"""An iterate of the interior-point method, and the numbers of its problem."""

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import numpy as np

from naiad.compiler.tables import Fields, Place
from naiad.control.ending import End
from naiad.control.interval import Interval
from naiad.mechanics import State

OF_STEPS = ("K", "U", "sigma", "lam", "gamma", "rho", "slack", "low", "high")


class Numbers(NamedTuple):
    """What may differ between problems of the same form: h (or the part of a free duration that a step is), the goal,
    the bounds of controls and constants, and the time of the first node."""

    step: Any
    goal: Any
    lower: Any
    upper: Any
    least: Any
    most: Any
    begin: Any = 0.0

    @property
    def bounded(self) -> bool:
        """Whether there are any bounds."""
        return bool(np.isfinite(np.concatenate([self.lower, self.upper, self.least, self.most])).any())


class Iterate(NamedTuple):
    """Rows are nodes or steps. Unknowns: g, m at the nodes, the constants theta, K and U of the steps. Multipliers:
    sigma, lam, gamma of the equations of a step; rho of the inequalities with their slacks; `low`, `high` of the bounds
    of the controls, `least`, `most` of those of the constants; nu of the conditions at the end."""

    g: Any
    m: Any
    theta: Any
    K: Any
    U: Any
    sigma: Any
    lam: Any
    gamma: Any
    rho: Any
    slack: Any
    low: Any
    high: Any
    least: Any
    most: Any
    nu: Any

    @property
    def steps(self) -> int:
        """The number of steps."""
        return self.K.shape[0]

    def intervals(self, numbers: Numbers) -> Interval:
        """The steps."""
        N = self.steps

        def same(each: Any) -> np.ndarray:
            return np.repeat(np.asarray(each, float)[None], N, axis=0)

        return Interval(
            begin=same(numbers.begin),
            k=np.arange(N, dtype=float),
            step=same(numbers.step),
            g=jax.tree.map(lambda a: a[:-1], self.g),
            m=self.m[:-1],
            g_next=jax.tree.map(lambda a: a[1:], self.g),
            m_next=self.m[1:],
            theta=same(self.theta),
            **{name: getattr(self, name) for name in OF_STEPS},
            lower=same(numbers.lower),
            upper=same(numbers.upper),
        )

    def end(self, numbers: Numbers, start: bool) -> End:
        """The last node, and the first one if that is wanted."""
        first, last = (jax.tree.map(lambda a, k=k: np.asarray(a[k]), State(self.g, self.m)) for k in (0, -1))
        fixed = (np.asarray(numbers.begin, float), np.asarray(float(self.steps)), np.asarray(numbers.step, float))
        own = (last.g, last.mu, self.theta, self.nu, self.least, self.most)
        return End(*fixed, numbers.goal, numbers.least, numbers.most, *own, first if start else ())


class Rows:
    """Iterates as rows of tables: a matrix of their steps, and a vector of their ends."""

    def __init__(self, steps: Fields, end: Fields):
        self._steps, self._end, parts = steps, end, steps.parts
        self._nodes, self._next = (slice(parts[g].start, parts[m].stop) for g, m in (("g", "m"), ("g_next", "m_next")))
        self._last = slice(end.parts["g"].start, end.parts["m"].stop)
        tree: Any = steps.tree.unflatten(steps.places)
        (self._g, self._tree), self._m = jax.tree.flatten(tree.g, is_leaf=lambda x: isinstance(x, Place)), tree.m
        self._shapes = {name: (parts[name], getattr(tree, name).row[1:]) for name in OF_STEPS}

    def of(self, at: Iterate, numbers: Numbers) -> tuple[np.ndarray, np.ndarray]:
        """Those of an iterate."""
        N, parts, ends = at.steps, self._steps.parts, self._end.parts
        rows, end = np.empty((N, self._steps.size)), np.empty(self._end.size)
        nodes = np.concatenate([leaf.reshape(N + 1, -1) for leaf in (*jax.tree.leaves(at.g), at.m)], axis=1)
        rows[:, self._nodes], rows[:, self._next] = nodes[:-1], nodes[1:]
        rows[:, parts["k"].start], end[ends["k"]] = np.arange(N), N
        for name, each in (("begin", numbers.begin), ("step", numbers.step), ("theta", at.theta)):
            rows[:, parts[name]] = end[ends[name]] = each
        rows[:, parts["lower"]], rows[:, parts["upper"]] = numbers.lower, numbers.upper
        for name, (place, _) in self._shapes.items():
            rows[:, place] = getattr(at, name).reshape(N, -1)
        end[self._last] = nodes[-1]
        end[ends["goal"]] = np.concatenate([np.ravel(leaf) for leaf in jax.tree.leaves(numbers.goal)])
        end[ends["lower"]], end[ends["upper"]] = numbers.least, numbers.most
        end[ends["nu"]], end[ends["least"]], end[ends["most"]] = at.nu, at.least, at.most
        if ends["start"].stop > ends["start"].start:
            end[ends["start"]] = nodes[0]
        return rows, end

    def iterate(self, rows: np.ndarray, end: np.ndarray) -> Iterate:
        """The iterate of a matrix and a vector, which is made of them."""
        nodes, first, ends = (
            np.concatenate([rows[:, self._nodes], rows[-1:, self._next]]),
            self._nodes.start,
            self._end.parts,
        )

        def of_nodes(place: Place) -> np.ndarray:
            own = nodes[:, place.elements.start - first : place.elements.stop - first]
            return own.reshape(len(nodes), *place.row[1:])

        steps = {name: rows[:, place].reshape(len(rows), *shape) for name, (place, shape) in self._shapes.items()}
        others = {name: end[ends[name]] for name in ("theta", "least", "most", "nu")}
        return Iterate(g=self._tree.unflatten(map(of_nodes, self._g)), m=of_nodes(self._m), **steps, **others)


class Packed:
    """An iterate as rows of tables, which is taken apart when somebody asks for it."""

    def __init__(self, rows: Rows, steps: np.ndarray, end: np.ndarray, outside: Callable[[Iterate], Iterate] | None):
        self._rows, self._steps, self._end, self._outside = rows, steps, end, outside

    @functools.cached_property
    def iterate(self) -> Iterate:
        """The iterate."""
        found = self._rows.iterate(self._steps, self._end)
        return found if self._outside is None else self._outside(found)

    def __getstate__(self) -> Any:
        """Without the form of tables, which belongs to a process."""
        return {"iterate": self.iterate}


def chosen(tree: Any, rows: Any) -> Any:
    """These rows of every array."""
    return jax.tree.map(lambda a: a[rows], tree)


def stacked(trees: list[Any]) -> Any:
    """Trees of arrays of the same form as rows."""
    return jax.tree.map(lambda *parts: np.stack([np.asarray(part, float) for part in parts]), *trees)
