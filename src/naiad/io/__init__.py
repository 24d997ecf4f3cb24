"""Trajectories on disk: labelled arrays as Zarr directories, written whole or piece by piece; tables for others."""

from naiad.io.export import check_directory, to_dataframe, write_csv, write_netcdf
from naiad.io.store import open_lazily, read, write
from naiad.io.writer import Writer

__all__ = ["Writer", "check_directory", "open_lazily", "read", "to_dataframe", "write", "write_csv", "write_netcdf"]
