"""An iterate of the interior-point method, for several problems of the same form at once, and the numbers of these."""

from typing import Any, NamedTuple

import jax
import numpy as np

from naiad.compiler.tables import Fields
from naiad.control.ending import End
from naiad.control.interval import Interval

OF_STEPS = ("K", "U", "sigma", "lam", "gamma", "rho", "slack", "low", "high")


class Numbers(NamedTuple):
    """What may differ between problems of the same form, a row for each: h (or the part of a free duration that a step
    is), the goal, the bounds of controls and constants, and the time of the first node."""

    step: Any
    goal: Any
    lower: Any
    upper: Any
    least: Any
    most: Any
    begin: Any = 0.0


class Iterate(NamedTuple):
    """Rows are problems, then nodes or steps. Unknowns: g, m at the nodes, the constants theta, K and U of the steps.
    Multipliers: sigma, lam, gamma of the equations of a step; rho of the inequalities with their slacks; `low`, `high`
    of the bounds of the controls, `least`, `most` of those of the constants; nu of the conditions at the end."""

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
    def problems(self) -> int:
        """How many problems there are."""
        return self.m.shape[0]

    @property
    def steps(self) -> int:
        """The number of steps."""
        return self.K.shape[1]

    def intervals(self, numbers: Numbers) -> Interval:
        """The steps of all problems, one after the other."""
        P, N = self.problems, self.steps
        each = Interval(
            np.broadcast_to(numbers.begin[:, None], (P, N)),
            np.broadcast_to(np.arange(N, dtype=float), (P, N)),
            np.broadcast_to(numbers.step[:, None], (P, N)),
            jax.tree.map(lambda a: a[:, :-1], self.g),
            self.m[:, :-1],
            jax.tree.map(lambda a: a[:, 1:], self.g),
            self.m[:, 1:],
            np.broadcast_to(self.theta[:, None], (P, N, self.theta.shape[1])),
            self.K,
            self.U,
            self.sigma,
            self.lam,
            self.gamma,
            self.rho,
            self.slack,
            self.low,
            self.high,
            *(np.broadcast_to(each[:, None], (P, N, each.shape[1])) for each in (numbers.lower, numbers.upper)),
        )
        return jax.tree.map(flat, each)

    @classmethod
    def of(cls, each: Interval, least: Any, most: Any, nu: Any) -> "Iterate":
        """From the steps of each problem, and what belongs to problems."""
        g, m = jax.tree.map(
            lambda a, b: np.concatenate([a, b[:, -1:]], axis=1), (each.g, each.m), (each.g_next, each.m_next)
        )
        own = {name: getattr(each, name) for name in OF_STEPS}
        return cls(g=g, m=m, theta=each.theta[:, 0], **own, least=least, most=most, nu=nu)

    def ends(self, numbers: Numbers) -> End:
        """The last nodes."""
        return End(
            numbers.begin,
            np.full(self.problems, float(self.steps)),
            numbers.step,
            jax.tree.map(lambda a: np.ascontiguousarray(a[:, -1]), self.g),
            np.ascontiguousarray(self.m[:, -1]),
            self.theta,
            self.nu,
            numbers.goal,
        )


def table_rows(at: Iterate, numbers: Numbers, form: Fields) -> np.ndarray:
    """The steps of all problems as rows of a table of `Interval`."""
    P, N = at.problems, at.steps
    rows = np.empty((P, N, form.size))
    parts = form.parts
    nodes = np.concatenate([leaf.reshape(P, N + 1, -1) for leaf in (*jax.tree.leaves(at.g), at.m)], axis=2)
    rows[..., parts["g"].start : parts["m"].stop] = nodes[:, :-1]
    rows[..., parts["g_next"].start : parts["m_next"].stop] = nodes[:, 1:]
    rows[..., parts["k"]] = np.arange(N)[:, None]
    for name in ("begin", "step"):
        rows[..., parts[name]] = getattr(numbers, name)[:, None, None]
    for name, each in (("theta", at.theta), ("lower", numbers.lower), ("upper", numbers.upper)):
        rows[..., parts[name]] = each[:, None]
    for name in OF_STEPS:
        rows[..., parts[name]] = getattr(at, name).reshape(P, N, -1)
    return rows.reshape(P * N, -1)


def flat(array: np.ndarray) -> np.ndarray:
    """Problems and their steps as one axis."""
    return np.ascontiguousarray(array).reshape(array.shape[0] * array.shape[1], *array.shape[2:])


def folded(tree: Any, problems: int) -> Any:
    """The inverse of `flat`."""
    return jax.tree.map(lambda a: a.reshape(problems, a.shape[0] // problems, *a.shape[1:]), tree)


def chosen(tree: Any, rows: Any) -> Any:
    """These rows of every array."""
    return jax.tree.map(lambda a: a[rows], tree)


def stacked(trees: list[Any]) -> Any:
    """Trees of arrays of the same form as rows."""
    if len(trees) == 1:
        return jax.tree.map(lambda part: np.asarray(part, float)[None], trees[0])
    return jax.tree.map(lambda *parts: np.stack([np.asarray(part, float) for part in parts]), *trees)
