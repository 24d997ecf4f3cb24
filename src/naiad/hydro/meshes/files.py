"""Meshes in files."""

import os
from pathlib import Path
from typing import Any

import numpy as np

from naiad.errors import InputError

UNITS = {"m": 1.0, "cm": 1e-2, "mm": 1e-3, "in": 0.0254, "ft": 0.3048}

KINDS = (".stl", ".obj", ".ply", ".glb")


def read(path: str | os.PathLike[str], unit: str) -> tuple[np.ndarray, np.ndarray]:
    """Vertices in metres and triangles; a scene's parts together, each where it is placed."""
    if unit not in UNITS:
        raise InputError(f"unit = {unit!r}; expected what the numbers of the file are in: {', '.join(UNITS)}.")
    file = Path(path)
    if file.suffix.lower() not in KINDS:
        raise InputError(f"{file}: a file of kind {file.suffix or 'none'!r}; expected {', '.join(KINDS)}.")
    if not file.is_file():
        raise InputError(f"{file}: there is no such file.")
    try:
        import trimesh
    except ImportError as error:
        raise InputError(f"{file}: trimesh, which reads it, is not installed; pip install 'naiad[cad]'.") from error
    try:
        # vertices are joined later, by distances relative to the size of the body
        found: Any = trimesh.load(file, force="mesh", process=False)
        vertices, triangles = np.asarray(found.vertices, dtype=float), np.asarray(found.faces, dtype=int)
    except Exception as error:  # whatever a reader of damaged files meets
        raise InputError(f"{file}: no mesh can be read from it ({str(error) or type(error).__name__}).") from error
    if not len(triangles):
        raise InputError(f"{file}: no triangle can be read from it; expected a whole file with a closed surface.")
    return UNITS[unit] * vertices, triangles
