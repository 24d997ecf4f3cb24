"""What is kept of a block of runs: all that was saved, or statistics of it."""

import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from naiad.ensembles.block import Block
from naiad.ensembles.cases import Cases
from naiad.ensembles.ensemble import Ensemble
from naiad.ensembles.job import Job
from naiad.ensembles.reductions import Each, Joining, Part, Reduction
from naiad.ensembles.table import Arrays, crossings, series, table
from naiad.errors import InputError

if TYPE_CHECKING:
    import xarray as xr

Reduce = Mapping[str, Reduction | Each]
"""Statistics by name."""
Parts = dict[str, Part]
"""What is known of some runs for each of the statistics."""


class Kept(NamedTuple):
    """The arrays of a block, its crossings, and its parts of statistics."""

    arrays: Arrays
    met: Arrays
    parts: Parts


def check_reduced(job: Job, reduce: Reduce, cases: Cases | None) -> None:
    """Raise an `InputError` unless statistics have names of their own, and the runs of a job what they need."""
    others = {"run", "time", *(() if cases is None else cases.columns), *(d for e in reduce.values() for d in e.dims)}
    for name in reduce:
        if name in others or not re.fullmatch(r"\w[\w.-]*", name):
            raise InputError(
                f"simulate_many: a statistic is named {name!r}; expected letters, digits, '_', '-' and '.', and none "
                f"of {', '.join(sorted(others))}."
            )
    if not job.schedule.uniform and any("time" in each.along for each in reduce.values()):
        raise InputError(
            "simulate_many: runs with times of their own have no statistics at each time; give times=True."
        )


def kept(job: Job, block: Block, first: int, reduce: Reduce | None) -> Kept:
    """What is kept of the runs of a block, whose first has this number."""
    arrays, met = table(job, block), crossings(job, block, first)
    if reduce is None:
        return Kept(arrays, met, {})
    runs = Ensemble(job, arrays, {})
    parts = {name: each.part_of(runs) for name, each in reduce.items()}
    return Kept({name: row for name, row in arrays.items() if name not in series(arrays)}, met, parts)


def labelled(reduce: Reduce, blocks: Iterable[Parts], ensemble: Ensemble) -> "xr.Dataset":
    """Statistics of blocks, which come in their order, as labelled arrays."""
    import xarray as xr

    trees = {name: Joining(each.joined) for name, each in reduce.items()}
    for parts in blocks:
        for name, part in parts.items():
            trees[name].add(part)
    variables: dict[str, Any] = {}
    coordinates: dict[str, Any] = {"run": np.arange(len(ensemble))}
    coordinates |= {} if ensemble.cases is None else ensemble.cases.coordinates()
    for name, each in reduce.items():
        values = each.result(trees[name].whole())
        ahead = each.along
        own = tuple(each.dims) if len(reduce) == 1 else tuple(f"{dim}_of_{name}" for dim in each.dims)
        between = tuple(f"{name}_{k}" for k in range(values.ndim - len(ahead) - len(own)))
        variables[name] = ((*ahead, *between, *own), values)
        coordinates |= dict(zip(own, each.dims.values(), strict=True))
        if "time" in ahead:
            coordinates["time"] = ("time", ensemble.times("time"), ensemble.time_attributes)
    return xr.Dataset(variables, coordinates)
