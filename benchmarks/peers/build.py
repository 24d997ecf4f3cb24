"""Compiles a peer in C with the system's compiler."""

import ctypes
import shutil
import subprocess
import tempfile
from pathlib import Path

FOLDER = Path(__file__).parent
FLAGS = ("-O3", "-march=native", "-shared", "-fPIC")


def compiler() -> str | None:
    """The system's C compiler, if it has one."""
    return shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")


def build(source: str, **definitions: int | float | str) -> ctypes.CDLL:
    """The shared library of a file in this folder, with macros defined; it is made in a temporary folder."""
    command = compiler()
    if command is None:
        raise FileNotFoundError("no C compiler: install one to compare with C")
    macros = [f"-D{name}={value}" for name, value in definitions.items()]
    with tempfile.TemporaryDirectory() as folder:
        library = Path(folder) / "peer.so"
        subprocess.run([command, *FLAGS, *macros, str(FOLDER / source), "-o", str(library)], check=True)
        return ctypes.CDLL(str(library))
