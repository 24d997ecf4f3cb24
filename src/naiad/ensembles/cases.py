"""Labelled sets of parameters: a grid of given values, or a sample of what is only known by a distribution."""

import inspect
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Literal, TypeVar, get_args

import numpy as np
from numpy.typing import ArrayLike

from naiad.errors import InputError
from naiad.numerics.arguments import checked
from naiad.numerics.checks import generator

T = TypeVar("T")
Scheme = Literal["latin", "sobol", "random"]
"""How `sample` spreads its rows: see there."""


class Cases(Sequence[dict[str, Any]]):
    """A set of parameters, a column for each and a row for each run; `axes` are the values along each side of a grid.

    `cases[k]` is row k by name, `cases["mass"]` a column, and `cases.build(make)` what make(**row) gives for each.
    """

    @checked
    def __init__(self, columns: Mapping[str, Any], *, axes: Mapping[str, Any] | None = None):
        self.columns = {name: _column(name, values) for name, values in columns.items()}
        self.axes = None if axes is None else {name: _column(name, values) for name, values in axes.items()}
        lengths = {name: len(values) for name, values in self.columns.items()}
        if not lengths:
            raise InputError("Cases: no parameter was given; give at least one column, as in grid(mass=[1.0, 2.0]).")
        if len(set(lengths.values())) > 1:
            raise InputError(f"Cases: the columns have {lengths} rows; give one number of rows for all.")

    def __len__(self) -> int:
        return len(next(iter(self.columns.values())))

    def __getitem__(self, which: Any) -> Any:
        if isinstance(which, str):
            if which not in self.columns:
                raise InputError(f"there is no parameter {which!r}; there are {', '.join(self.columns)}.")
            return self.columns[which]
        if isinstance(which, slice):
            return Cases({name: values[which] for name, values in self.columns.items()})
        if not -len(self) <= which < len(self):
            raise IndexError(f"row {which} of {len(self)}")
        return {name: values[which].item() for name, values in self.columns.items()}

    def __iter__(self) -> Iterator[dict[str, Any]]:
        rows = zip(*(values.tolist() for values in self.columns.values()), strict=True)
        return (dict(zip(self.columns, row, strict=True)) for row in rows)

    def __repr__(self) -> str:
        return f"Cases({len(self)} rows of {', '.join(self.columns)})"

    @checked
    def build(self, make: Callable[..., T]) -> list[T]:
        """make(**row) for every row: the systems or the states of an ensemble. What a function does not name, it is not
        given."""
        known = inspect.signature(make).parameters.values()
        everything = any(each.kind is each.VAR_KEYWORD for each in known)
        wanted = [name for name in self.columns if everything or any(name == each.name for each in known)]
        return [make(**{name: row[name] for name in wanted}) for row in self]

    @checked
    def unstack(self, labelled: Any) -> Any:
        """A labelled array or dataset with the sides of the grid as dimensions instead of `run`."""
        if self.axes is None:
            raise InputError("Cases.unstack: these rows are no grid; grid(...) makes one.")
        if "run" not in labelled.dims or labelled.sizes["run"] != len(self):
            raise InputError(
                f"Cases.unstack: expected a dimension `run` of {len(self)}; it has {dict(labelled.sizes)}."
            )
        import pandas as pd
        import xarray as xr

        index = pd.MultiIndex.from_product(list(self.axes.values()), names=list(self.axes))
        bare = labelled.drop_vars([name for name in ("run", *self.axes) if name in labelled.coords])
        return bare.assign_coords(xr.Coordinates.from_pandas_multiindex(index, "run")).unstack("run")

    def coordinates(self) -> "dict[str, tuple[str, np.ndarray]]":
        """The columns as coordinates along `run`."""
        return {name: ("run", values) for name, values in self.columns.items()}


@checked
def grid(**axes: ArrayLike | Sequence[str]) -> Cases:
    """Every combination of the given values, the last parameter changing fastest: grid(mass=[1.0, 2.0], tilt=tilts)."""
    known = {name: _column(name, values) for name, values in axes.items()}
    if not known:
        raise InputError("grid: no parameter was given; give values by name, as in grid(mass=[1.0, 2.0]).")
    mesh = np.meshgrid(*(np.arange(len(values)) for values in known.values()), indexing="ij")
    columns = {name: values[index.ravel()] for (name, values), index in zip(known.items(), mesh, strict=True)}
    return Cases(columns, axes=known)


@checked
def sample(count: int, *, seed: int = 0, scheme: Scheme = "latin", **priors: Any) -> Cases:
    """`count` rows drawn from the priors of parameters, each (low, high) or a distribution of `scipy.stats`:
    sample(500, mass=(0.9, 1.1), tilt=scipy.stats.norm(0.0, 0.02)).

    "latin" (a Latin hypercube [mckay1979]) has every parameter in each of `count` slices of equal probability once;
    "sobol" fills the whole space evenly, best with a power of 2; "random" draws independent rows.
    """
    if count < 1:
        raise InputError(f"sample: count = {count}; expected at least 1.")
    if scheme not in get_args(Scheme):
        raise InputError(f"sample: scheme = {scheme!r}; expected one of {', '.join(get_args(Scheme))}.")
    if not priors:
        raise InputError("sample: no parameter was given; give priors by name, as in sample(100, mass=(0.9, 1.1)).")
    rng = generator(seed)
    size = (count, len(priors))
    if scheme == "latin":
        slices = np.stack([rng.permutation(count) for _ in priors], axis=1)
        unit = (slices + rng.random(size)) / count
    elif scheme == "sobol":
        unit = _sobol(size, rng)
    else:
        unit = rng.random(size)
    return Cases({name: _quantiles(name, prior, unit[:, k]) for k, (name, prior) in enumerate(priors.items())})


def _sobol(size: tuple[int, int], rng: np.random.Generator) -> np.ndarray:
    from scipy.stats import qmc

    count, dim = size
    word = "rng" if "rng" in inspect.signature(qmc.Sobol).parameters else "seed"  # as SciPy calls it since 1.15
    options: dict[str, Any] = {word: rng}
    points = qmc.Sobol(dim, scramble=True, **options).random_base2(math.ceil(math.log2(count)))
    return points[:count]


def _quantiles(name: str, prior: Any, unit: np.ndarray) -> np.ndarray:
    if callable(getattr(prior, "ppf", None)):
        values = np.asarray(prior.ppf(unit), float)
    else:
        try:
            low, high = (float(each) for each in prior)
        except (TypeError, ValueError):
            raise InputError(
                f"sample: {name} = {prior!r:.60}; expected (low, high), or a distribution of scipy.stats."
            ) from None
        if not low < high:
            raise InputError(f"sample: {name} = ({low:g}, {high:g}); expected low < high.")
        values = low + (high - low) * unit
    if values.shape != unit.shape or not np.all(np.isfinite(values)):
        raise InputError(f"sample: the distribution of {name} gives values that are no finite numbers.")
    return values


def _column(name: str, values: Any) -> np.ndarray:
    try:
        column = np.asarray(values)
    except ValueError:  # rows of different lengths
        column = np.zeros((0, 0))
    if column.ndim != 1 or not column.size or column.dtype.kind not in "biufU":
        raise InputError(f"{name} = {values!r:.60}; expected a list of numbers or of words, at least one.")
    if column.dtype.kind == "f" and not np.all(np.isfinite(column)):
        raise InputError(f"{name} holds NaN or infinite values; give finite numbers.")
    return column
