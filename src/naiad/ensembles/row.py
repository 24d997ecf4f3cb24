"""One run of an ensemble, as a `Trajectory` takes it."""

import functools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from naiad.ensembles.table import ending
from naiad.simulation.record import Columns, standing_attributes

if TYPE_CHECKING:
    from naiad.ensembles.ensemble import Ensemble


class Row(Columns):
    """The arrays of run k, cut to what it has, and where it stands."""

    def __init__(self, ensemble: "Ensemble", k: int):
        self._ensemble, self._k = ensemble, k

    @functools.cached_property
    def arrays(self) -> dict[str, tuple[tuple[str, ...], np.ndarray]]:
        """Dimensions and values, by name."""
        known, k = self._ensemble.arrays, self._k
        lengths = {"time": int(known["saved"][1][k])}
        if "outputs_saved" in known:
            lengths["output_time"] = int(known["outputs_saved"][1][k])
        found = {}
        for dim, length in lengths.items():
            found[dim] = (dim,), self._ensemble.times(dim, k)[:length]
            found |= {
                name: (dims[1:], np.asarray(values[k, :length]))
                for name, (dims, values) in known.items()
                if dims[:2] == ("run", dim) and name not in ("t", "output_t")
            }
        return found | self._crossings()

    @functools.cached_property
    def attrs(self) -> dict[str, Any]:
        """Where the run stands."""
        return standing_attributes(self._ensemble.job.plan(self._k), ending(self._ensemble.arrays, self._k))

    @functools.cached_property
    def about(self) -> dict[str, dict[str, str]]:
        """Words and units, by name."""
        return self._ensemble.about

    @functools.cached_property
    def bodies(self) -> Sequence[str] | None:
        """The names of the bodies."""
        return self._ensemble.bodies

    def _crossings(self) -> dict[str, Any]:
        met = self._ensemble.met
        if not met:
            return {}
        own = slice(*np.searchsorted(met["crossing_run"][1], [self._k, self._k + 1]))
        return {name: (dims, np.asarray(x[own])) for name, (dims, x) in met.items() if name != "crossing_run"}
