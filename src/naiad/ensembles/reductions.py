"""Statistics of an ensemble whose runs are not kept: what a block of runs gives is joined with what others gave.

Runs are joined four by four and then two by two, in a tree that depends on their numbers alone: the results are the
same, bit for bit, whoever computed them, and in blocks of whatever power of two.
"""

import abc
import functools
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from naiad.errors import InputError
from naiad.numerics.arguments import checked
from naiad.numerics.checks import floats

Part = dict[str, np.ndarray]
"""What is known of some runs."""

LEAF = 4  # runs that are added one by one; a block has this number of them times a power of two
MANTISSA_BITS = 9  # that tell values of one power of two apart, in `Quantiles`
_FAR = np.errstate(over="ignore", invalid="ignore")  # runs that go to infinity have statistics that do
_SHIFT = 52 - MANTISSA_BITS
_ALL = np.int64(2**63 - 1)


class Reduction(abc.ABC):
    """A statistic over the runs at every saved time, or with `times` over all runs and times together.

    `of` is what it is taken of: the name of a saved component, of an output, "energy", "xi", "mu" or "momentum"; or a
    function f(state, t), or f(system, state, t). What a run that has ended does not have is left out.
    """

    @checked
    def __init__(self, of: str | Callable[..., Any], *, times: bool = False):
        self.of, self.times = of, times

    def part_of(self, runs: Any) -> Part:
        """What is known of the runs of an ensemble."""
        return self.part(runs.series(self.of))

    def part(self, values: np.ndarray) -> Part:
        """What is known of runs with these values along run and time."""
        values = self._laid_out(values)
        return self._part(values.reshape(*values.shape[:2], -1)) | {"shape": np.array(values.shape[1:])}

    def _laid_out(self, values: np.ndarray) -> np.ndarray:
        """With the times behind the runs, if the statistic is over both."""
        return values.reshape(-1, 1, *values.shape[2:]) if self.times else values

    def result(self, part: Part) -> np.ndarray:
        """The statistic, along time (unless over all times), what `of` has beside it, and what the statistic has."""
        found = self._result(part)
        shape = tuple(part["shape"].tolist())
        return found.reshape((*shape[self.times :], *found.shape[2:]))

    @property
    def along(self) -> tuple[str, ...]:
        """The first dimension of the result."""
        return () if self.times else ("time",)

    @abc.abstractmethod
    def _part(self, values: np.ndarray) -> Part:
        """Of values along run, time, and number."""

    @abc.abstractmethod
    def joined(self, part: Part, more: Part) -> Part:
        """What is known of the runs of both."""

    @abc.abstractmethod
    def _result(self, part: Part) -> np.ndarray:
        """Along time, number, and what the statistic has."""

    @property
    def dims(self) -> dict[str, np.ndarray]:
        """The dimensions that the statistic has, with their coordinates."""
        return {}


class Mean(Reduction):
    """The mean."""

    def _laid_out(self, values: np.ndarray) -> np.ndarray:
        return values  # times are joined at the end, so that all runs are joined in the same tree

    @_FAR
    def _part(self, values: np.ndarray) -> Part:
        """Of the values of four runs, added one by one; then of more and more."""
        missing = np.full((-len(values) % LEAF, *values.shape[1:]), np.nan)
        fours = np.concatenate([values, missing]).reshape(-1, LEAF, *values.shape[1:])
        known = np.isfinite(fours)
        count = known.sum(axis=1)
        mean = _added(np.where(known, fours, 0.0)) / np.maximum(count, 1)
        squares = _added(np.where(known, fours - mean[:, None], 0.0) ** 2)
        return self._joined_rows({"count": count, "mean": mean, "squares": squares})

    def _joined_rows(self, rows: Part) -> Part:
        """What is known of all rows, joined two by two."""
        while len(rows["count"]) > 1:
            if len(rows["count"]) % 2:
                rows = {name: np.concatenate([x, np.zeros_like(x[:1])]) for name, x in rows.items()}
            rows = self.joined(*({name: x[first::2] for name, x in rows.items()} for first in (0, 1)))
        return {name: x[0] for name, x in rows.items()}

    @_FAR
    def joined(self, part: Part, more: Part) -> Part:
        """By the formulas of Chan, Golub and LeVeque [chan1983]; nothing joins as if it were not there."""
        count, some = part["count"] + more["count"], more["count"] > 0
        share = more["count"] / np.maximum(count, 1)
        apart = np.where(some, more["mean"] - part["mean"], 0.0)
        mean = np.where(some, part["mean"] + apart * share, part["mean"])
        squares = part["squares"] + more["squares"] + apart * (apart * (part["count"] * share))
        return part | {"count": count, "mean": mean, "squares": squares}

    def _result(self, part: Part) -> np.ndarray:
        if self.times:
            rows = self._joined_rows({name: part[name] for name in ("count", "mean", "squares")})
            part = {name: x[None] for name, x in rows.items()}
        return self._figure(part)

    def _figure(self, part: Part) -> np.ndarray:
        return np.where(part["count"] > 0, part["mean"], np.nan)


class Variance(Mean):
    """The variance, over the number of values less one."""

    def _figure(self, part: Part) -> np.ndarray:
        enough = part["count"] > 1
        return np.where(enough, part["squares"] / np.maximum(part["count"] - 1, 1), np.nan)


class Histogram(Reduction):
    """How many values lie between the edges: in [e_0, e_1), ..., [e_n-1, e_n], along `bin`."""

    @checked
    def __init__(self, of: str | Callable[..., Any], edges: ArrayLike, *, times: bool = False):
        super().__init__(of, times=times)
        self.edges = np.asarray(edges, float)
        if self.edges.ndim != 1 or len(self.edges) < 2 or not np.all(np.diff(self.edges) > 0):
            raise InputError(f"Histogram: edges = {edges!r:.60}; expected at least two numbers, each above the last.")

    def _part(self, values: np.ndarray) -> Part:
        bins = len(self.edges) - 1
        bin_ = np.searchsorted(self.edges, values, side="right") - 1
        bin_[values == self.edges[-1]] = bins - 1
        inside = np.isfinite(values) & (bin_ >= 0) & (bin_ < bins)
        places = np.broadcast_to(np.arange(values[0].size).reshape(values.shape[1:]), values.shape)
        flat = np.bincount(places[inside] * bins + bin_[inside], minlength=values[0].size * bins)
        return {"counts": flat.reshape(*values.shape[1:], bins)}

    def joined(self, part: Part, more: Part) -> Part:
        """The sums of both."""
        return part | {"counts": part["counts"] + more["counts"]}

    def _result(self, part: Part) -> np.ndarray:
        return part["counts"]

    @property
    def dims(self) -> dict[str, np.ndarray]:
        """The middles of the bins."""
        return {"bin": 0.5 * (self.edges[1:] + self.edges[:-1])}


class Quantiles(Reduction):
    """The values below which shares `q` of the runs lie, along `quantile`, to a relative error below 0.1 %.

    Values are counted in bins whose edges are the numbers with 9 bits behind the leading one, so that the memory does
    not grow with the number of runs, and the result does not depend on their order.
    """

    @checked
    def __init__(self, of: str | Callable[..., Any], q: float | Sequence[float] | np.ndarray, *, times: bool = False):
        super().__init__(of, times=times)
        self.q = np.atleast_1d(floats("Quantiles: q", q))
        if not self.q.size or not np.all((self.q >= 0.0) & (self.q <= 1.0)):
            raise InputError(f"Quantiles: q = {q!r:.60}; expected shares from 0 to 1.")

    def _part(self, values: np.ndarray) -> Part:
        known = np.isfinite(values)
        places = np.broadcast_to(np.arange(values[0].size).reshape(values.shape[1:]), values.shape)
        pairs, counts = np.unique(np.stack([places[known], _bins(values[known])]), axis=1, return_counts=True)
        return {"places": pairs[0], "bins": pairs[1], "counts": counts}

    def joined(self, part: Part, more: Part) -> Part:
        """The counts of both."""
        pairs = np.stack([np.concatenate([part[name], more[name]]) for name in ("places", "bins")])
        found, which = np.unique(pairs, axis=1, return_inverse=True)
        counts = np.zeros(found.shape[1], int)
        np.add.at(counts, which.ravel(), np.concatenate([part["counts"], more["counts"]]))
        return part | {"places": found[0], "bins": found[1], "counts": counts}

    def _result(self, part: Part) -> np.ndarray:
        times, *others = part["shape"].tolist()
        numbers = int(np.prod(others, dtype=int))
        found = np.full((times * numbers, len(self.q)), np.nan)
        for place, (first, last) in enumerate(
            zip(
                *(np.searchsorted(part["places"], np.arange(len(found)), side) for side in ("left", "right")),
                strict=True,
            )
        ):
            reached = np.cumsum(part["counts"][first:last])
            if len(reached):
                rank = np.maximum(np.ceil(self.q * reached[-1]), 1)
                found[place] = _middles(part["bins"][first:last])[np.searchsorted(reached, rank)]
        return found.reshape(times, numbers, len(self.q))

    @property
    def dims(self) -> dict[str, np.ndarray]:
        """The shares."""
        return {"quantile": self.q}


class Each:
    """A number, or an array, of every run: function(times, states), pure JAX, of all its saved nodes, which are NaN
    behind its end; along `run`."""

    along = ("run",)
    dims: Mapping[str, np.ndarray] = MappingProxyType({})

    @checked
    def __init__(self, function: Callable[..., Any]):
        self.of = function

    def part_of(self, runs: Any) -> Part:
        """What the function gives for the runs of an ensemble."""
        return {"values": runs.for_each(self.of)}

    def joined(self, part: Part, more: Part) -> Part:
        """One behind the other."""
        return {"values": np.concatenate([part["values"], more["values"]])}

    def result(self, part: Part) -> np.ndarray:
        """What the function gave."""
        return part["values"]


class Joining:
    """Parts of blocks that come in their order, joined two by two as soon as two of a size are there."""

    def __init__(self, joined: Callable[[Part, Part], Part]):
        self._joined = joined
        self._waiting: list[tuple[int, Part]] = []  # from the largest to the smallest: the blocks in each, and what

    def add(self, part: Part) -> None:
        """One more block."""
        blocks = 1
        while self._waiting and self._waiting[-1][0] == blocks:
            part, blocks = self._joined(self._waiting.pop()[1], part), 2 * blocks
        self._waiting.append((blocks, part))

    def whole(self) -> Part:
        """All of them, the smaller ones first."""
        parts = [part for _, part in self._waiting]
        return functools.reduce(lambda later, earlier: self._joined(earlier, later), reversed(parts))


def _added(rows: np.ndarray) -> np.ndarray:
    """The sum along the second axis, in the order of the numbers, which NumPy's own does not promise."""
    return functools.reduce(np.add, (rows[:, k] for k in range(rows.shape[1])))


def _bins(values: np.ndarray) -> np.ndarray:
    """The bin of each value, in the order of the values."""
    bits = np.ascontiguousarray(values, float).view(np.int64)
    return (bits ^ ((bits >> 63) & _ALL)) >> _SHIFT


def _middles(bins: np.ndarray) -> np.ndarray:
    bits = (bins << _SHIFT) + (np.int64(1) << (_SHIFT - 1))
    return (bits ^ ((bits >> 63) & _ALL)).view(float)
