"""Meshes in files."""

import os
from pathlib import Path
from typing import Any

import numpy as np

from naiad.errors import InputError

UNITS = {"m": 1.0, "cm": 1e-2, "mm": 1e-3, "in": 0.0254, "ft": 0.3048}

KINDS = (".stl", ".obj", ".ply", ".glb")
LOOKED_AT = 4096  # bytes of a file's beginning and of its end
WIDE = (b"\xff\xfe", b"\xfe\xff")  # how texts in UTF-16 and UTF-32 begin


def read(path: str | os.PathLike[str], unit: str) -> tuple[np.ndarray, np.ndarray]:
    """Vertices in metres and triangles; a scene's parts together, each where it is placed."""
    if unit not in UNITS:
        raise InputError(f"unit = {unit!r}; expected what the numbers of the file are in: {', '.join(UNITS)}.")
    file = Path(path)
    if file.suffix.lower() not in KINDS:
        raise InputError(f"{file}: a file of kind {file.suffix or 'none'!r}; expected {', '.join(KINDS)}.")
    if not file.is_file():
        raise InputError(f"{file}: there is no such file.")
    _check_form(file)
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


def _check_form(file: Path) -> None:
    """Refuse what a reader would misunderstand: files that are cut off, and texts that are not in UTF-8."""
    with file.open("rb") as opened:
        head, size = opened.read(LOOKED_AT), file.stat().st_size
        opened.seek(max(0, size - LOOKED_AT))
        tail = opened.read()
    kind = file.suffix.lower()
    if not head.strip():
        raise InputError(f"{file}: the file is empty; expected a mesh.")
    if head.startswith(WIDE) or (kind == ".obj" and b"\0" in head):
        raise InputError(f"{file}: a text in UTF-16, or none; expected UTF-8. Save it in that encoding.")
    if kind == ".obj":
        _check_text(file)
    elif kind == ".stl" and head.lstrip().lower().startswith(b"solid") and b"facet" in head.lower():
        if b"endsolid" not in tail.lower():
            raise InputError(f"{file}: a text STL without `endsolid` at its end. The file is cut off.")
    elif kind == ".stl":
        count = int.from_bytes(head[80:84], "little")
        if size < 84 or size != 84 + 50 * count:
            whole = f"{84 + 50 * count} bytes for its {count} triangles" if size >= 84 else "84 bytes or more"
            raise InputError(f"{file}: {size} bytes; a binary STL has {whole}. The file is cut off or damaged.")


def _check_text(file: Path) -> None:
    try:
        text = file.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        found = f"byte {error.start} is {error.object[error.start]:#04x}"
        raise InputError(f"{file}: no text in UTF-8 ({found}). Save it in that encoding.") from None
    if text.startswith("\ufeff"):
        raise InputError(f"{file}: the text begins with a byte order mark. Save it in UTF-8 without one.")
