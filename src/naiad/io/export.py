"""Tables and files for other programs: pandas, CSV, netCDF."""

import itertools
import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from naiad.errors import InputError
from naiad.files import whole_file
from naiad.numerics.arguments import checked

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

OTHERS = {
    ".csv": "run.to_csv", ".nc": "run.to_netcdf", ".html": "run.animate", ".png": "run.plot().savefig",
    ".pdf": "run.plot().savefig", ".svg": "run.plot().savefig",
}  # fmt: skip
FOREIGN = (".txt", ".h5", ".hdf5", ".mat", ".json", ".npy", ".npz", ".pkl", ".parquet", ".xlsx", ".gif", ".mp4")


@checked
def check_directory(path: str | os.PathLike[str]) -> None:
    """Refuse a name that promises another kind of file than a Zarr directory."""
    ending = Path(path).suffix.lower()
    if ending in OTHERS or ending in FOREIGN:
        other = f", or write that with {OTHERS[ending]}" if ending in OTHERS else ""
        raise InputError(f"{path}: a run is saved as a Zarr directory, not as {ending}; name it *.zarr{other}.")


@checked
def to_dataframe(dataset: "xr.Dataset") -> "pd.DataFrame":
    """The numbers along `time`, a row for each time: columns are named by the variable and its coordinates."""
    import pandas as pd

    columns: dict[str, np.ndarray] = {}
    for name, variable in dataset.data_vars.items():
        if "time" not in variable.dims:
            continue
        rows = variable.transpose("time", ...)
        along = [_marks(dataset, dim) for dim in rows.dims[1:]]
        flat = rows.to_numpy().reshape(len(rows), -1)
        for column, marks in zip(flat.T, itertools.product(*along), strict=True):
            columns["_".join([str(name), *marks])] = column
    return pd.DataFrame(columns, index=pd.Index(dataset["time"].to_numpy(), name="time"))


def _marks(dataset: "xr.Dataset", dim: Any) -> list[str]:
    return [str(mark) for mark in (dataset[dim].to_numpy() if dim in dataset.coords else range(dataset.sizes[dim]))]


@checked
def write_csv(dataset: "xr.Dataset", path: str | os.PathLike[str], *, overwrite: bool = False) -> None:
    """The table of `to_dataframe` as text, with all digits."""
    _check_free(Path(path), overwrite=overwrite)
    table = to_dataframe(dataset)
    with whole_file(Path(path)) as file:
        table.to_csv(file)


@checked
def write_netcdf(dataset: "xr.Dataset", path: str | os.PathLike[str], *, overwrite: bool = False) -> None:
    """The dataset as netCDF 3; attributes that are no numbers or texts become JSON."""
    _check_free(Path(path), overwrite=overwrite)
    plain = dataset.assign_attrs({name: _attribute(value) for name, value in dataset.attrs.items()})
    with whole_file(Path(path)) as file:
        plain.to_netcdf(file, engine="scipy")


def _attribute(value: Any) -> Any:
    return value if isinstance(value, str | int | float) and not isinstance(value, bool) else json.dumps(value)


def _check_free(path: Path, *, overwrite: bool) -> None:
    if path.is_file() and not overwrite:
        raise InputError(f"{path} exists; choose another name, or pass overwrite=True to replace it")
