"""An iterate of the interior-point method, and the numbers of its problem."""

from typing import Any, NamedTuple

import jax
import numpy as np

from naiad.compiler.tables import Fields
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

    @classmethod
    def of(cls, each: Interval, end: End) -> "Iterate":
        """From the steps and the end."""
        g, m = jax.tree.map(lambda a, b: np.concatenate([a, b[-1:]]), (each.g, each.m), (each.g_next, each.m_next))
        own = {name: getattr(each, name) for name in OF_STEPS}
        return cls(g=g, m=m, theta=end.theta, **own, least=end.least, most=end.most, nu=end.nu)

    def end(self, numbers: Numbers, start: bool) -> End:
        """The last node, and the first one if that is wanted."""
        first, last = (jax.tree.map(lambda a, k=k: np.asarray(a[k]), State(self.g, self.m)) for k in (0, -1))
        fixed = (np.asarray(numbers.begin, float), np.asarray(float(self.steps)), np.asarray(numbers.step, float))
        own = (last.g, last.mu, self.theta, self.nu, self.least, self.most)
        return End(*fixed, numbers.goal, numbers.least, numbers.most, *own, first if start else ())


def table_rows(at: Iterate, numbers: Numbers, form: Fields) -> np.ndarray:
    """The steps as rows of a table of `Interval`."""
    N, parts = at.steps, form.parts
    rows = np.empty((N, form.size))
    nodes = np.concatenate([leaf.reshape(N + 1, -1) for leaf in (*jax.tree.leaves(at.g), at.m)], axis=1)
    rows[:, parts["g"].start : parts["m"].stop] = nodes[:-1]
    rows[:, parts["g_next"].start : parts["m_next"].stop] = nodes[1:]
    rows[:, parts["k"].start] = np.arange(N)
    for name, each in (("begin", numbers.begin), ("step", numbers.step), ("theta", at.theta)):
        rows[:, parts[name]] = each
    for name in ("lower", "upper"):
        rows[:, parts[name]] = getattr(numbers, name)
    for name in OF_STEPS:
        rows[:, parts[name]] = getattr(at, name).reshape(N, -1)
    return rows


def chosen(tree: Any, rows: Any) -> Any:
    """These rows of every array."""
    return jax.tree.map(lambda a: a[rows], tree)


def stacked(trees: list[Any]) -> Any:
    """Trees of arrays of the same form as rows."""
    return jax.tree.map(lambda *parts: np.stack([np.asarray(part, float) for part in parts]), *trees)
