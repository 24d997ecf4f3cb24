"""The rows of a sweep as a table: CSV for other programs, and labelled arrays over the swept parameters."""

import csv
import io
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from naiad.studies import provenance
from naiad.studies.sweeps.row import Row
from naiad.studies.sweeps.sweep import Sweep
from naiad.studies.values import plain

if TYPE_CHECKING:
    import xarray as xr

SECONDS, WARNING, ERROR = "seconds", "warning", "error"


@dataclass(frozen=True)
class Table:
    """All rows in order, and what was found by name: a list with a value for each row, None where there is none.

    A dict of results is one result for each of its keys, `name.key`; a result with the name of a swept parameter, or of
    another column, is `found_name`.
    """

    sweep: Sweep
    rows: Sequence[Row]
    results: Mapping[str, list[Any]]
    units: Mapping[str, str]

    @classmethod
    def of(cls, sweep: Sweep, rows: Sequence[Row]) -> "Table":
        """The table of these rows."""
        results: dict[str, list[Any]] = {}
        units: dict[str, str] = {}
        taken = {*sweep.swept, SECONDS, WARNING, ERROR}
        for number, row in enumerate(rows):
            for name, value, unit in _flat(row.results, row.units):
                column = f"found_{name}" if name in taken else name
                results.setdefault(column, [None] * len(rows))[number] = value
                units |= {column: unit} if unit else {}
        return cls(sweep, rows, results, units)

    @property
    def scalars(self) -> dict[str, list[Any]]:
        """The results that are one number or text in every row."""
        return {name: column for name, column in self.results.items() if not any(isinstance(v, list) for v in column)}

    @property
    def failed(self) -> int:
        """The number of rows without results."""
        return sum(bool(row.error) for row in self.rows)

    def csv(self) -> str:
        """A line for each row: the swept parameters, all scalars, the seconds that it took, warnings and error."""
        heads = [*self.sweep.swept, *self.scalars, SECONDS, WARNING, ERROR]
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(heads)
        for number, (combination, row) in enumerate(zip(self.sweep.combinations(), self.rows, strict=True)):
            found = [_cell(column[number]) for column in self.scalars.values()]
            said = [f"{row.seconds:.6g}", "; ".join(row.warnings), row.error]
            writer.writerow([*self.sweep.written(combination).values(), *found, *said])
        return text.getvalue()

    def dataset(self) -> "xr.Dataset":
        """Arrays over the swept parameters; those of vectors and matrices have dimensions of their own besides.

        Where a row failed or found nothing there is NaN, or an empty text; vectors of different lengths end in NaN.
        """
        import xarray as xr

        grid = tuple(self.sweep.swept)
        made: dict[str, Any] = {}
        for name, column in self.results.items():
            array = _array(column)
            own = tuple(f"{name}_dim_{k}" for k in range(array.ndim - 1))
            attributes = {"units": self.units[name]} if name in self.units else {}
            made[name] = ((*grid, *own), array.reshape(*self.sweep.shape, *array.shape[1:]), attributes)
        for name, column, units in (
            (SECONDS, np.array([row.seconds for row in self.rows]), {"units": "s"}),
            (WARNING, np.array(["; ".join(row.warnings) for row in self.rows]), {}),
            (ERROR, np.array([row.error for row in self.rows]), {}),
        ):
            made[name] = (grid, column.reshape(self.sweep.shape), units)
        attributes = {
            "study": self.sweep.study.name,
            "study_parameters": plain(self.sweep.fixed),
            "naiad": provenance.version(),
        }
        return xr.Dataset(made, dict(self._coordinates()), attributes)

    def _coordinates(self) -> Iterator[tuple[str, Any]]:
        """Numbers as they are; words, vectors and mixtures as the texts that the command line takes."""
        for name, values in self.sweep.swept.items():
            parameter = self.sweep.study.parameters[name]
            plainly = all(isinstance(value, int | float) and not isinstance(value, bool) for value in values)
            array = np.array(values if plainly else [parameter.write(value) for value in values])
            yield name, (name, array, {"units": parameter.options.unit} if parameter.options.unit else {})


def _flat(results: Mapping[str, Any], units: Mapping[str, str], before: str = "") -> Iterator[tuple[str, Any, str]]:
    """Every result with its name, as a store takes it, and its unit."""
    for key, value in results.items():
        name = before + (re.sub(r"[^\w.-]+", "_", str(key)).strip("_.-") or "result")
        if isinstance(value, Mapping):
            yield from _flat(value, units, f"{name}.")
        else:
            yield name, value, units.get(key, units.get(before.rstrip("."), ""))


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    return value if isinstance(value, str) else repr(value)


def _array(column: list[Any]) -> np.ndarray:
    """The values of all rows, stacked: numbers if all of them are, else texts."""
    if all(type(value) is bool for value in column) or all(
        type(value) is int and abs(value) < 2**63 for value in column
    ):
        return np.array(column)
    arrays = {number: _numbers(value) for number, value in enumerate(column) if value is not None}
    sizes = [array.shape for array in arrays.values() if array is not None]
    if len(sizes) < len(arrays) or len(set(map(len, sizes))) > 1:
        return np.array([_text(value) for value in column])
    stacked = np.full((len(column), *map(max, zip(*sizes, strict=True))), np.nan)
    for number, array in arrays.items():
        if array is not None:
            stacked[(number, *map(slice, array.shape))] = array
    return stacked


def _numbers(value: Any) -> np.ndarray | None:
    """Numbers as an array, if there is nothing else among them and their lists are of equal lengths."""
    try:
        array = np.array(value)
        return array.astype(float) if array.dtype.kind in "biufO" else None
    except (TypeError, ValueError):
        return None


def _text(value: Any) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
