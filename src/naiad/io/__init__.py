"""Trajectories on disk: labelled arrays as Zarr directories, written whole or piece by piece."""

from naiad.io.store import open_lazily, read, write
from naiad.io.writer import Writer

__all__ = ["Writer", "open_lazily", "read", "write"]
