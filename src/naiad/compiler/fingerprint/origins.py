"""Whose code it is: that of an installed distribution, of Python, of naiad, or the user's own."""

import functools
import hashlib
import importlib.metadata
import operator
import os
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

PYTHON = f"{sys.implementation.cache_tag} {sys.version}"
NAIAD = __name__.partition(".")[0]
_SITES = ("site-packages", "dist-packages")


class Unfingerprintable(TypeError):  # noqa: N818
    """Something whose effect on a computation cannot be told before it is traced; nothing is cached then."""


def owner_of(module: Any) -> str | None:
    """The package that a module belongs to; None if it is the user's own."""
    if isinstance(module, str) and module.partition(".")[0] == NAIAD:
        return NAIAD
    return None if origin_of(module) is None else module.partition(".")[0]


def origin_of(module: Any) -> str | None:
    """The package and version that a module's name stands for; None if it is the user's own."""
    if not isinstance(module, str) or module == "__main__":
        return None
    top = module.partition(".")[0]
    if top == NAIAD:
        return NAIAD  # by name: `Walk.names` has what a digest of its files needs
    home = sys.modules.get(module) or sys.modules.get(top)
    if home is None:
        return None
    return package_of(top, getattr(home, "__file__", None) or getattr(sys.modules.get(top), "__file__", None))


@functools.lru_cache(maxsize=4096)
def package_of(top: str, file: str | None) -> str | None:
    """The package and version of a module with this file; None if it is the user's own."""
    if file is None:
        return PYTHON if top in sys.builtin_module_names else None
    for folder in Path(file).parents:
        if folder.name in _SITES:
            return _distribution(top, folder)
    return PYTHON if file.startswith(os.path.dirname(os.__file__) + os.sep) else None


@functools.cache
def _distributions() -> Mapping[str, list[str]]:
    return importlib.metadata.packages_distributions()


@functools.cache
def _distribution(top: str, folder: Path) -> str | None:
    """Name, version and the recorded hashes of the files: a version may be installed anew with other contents."""
    infos = [name for name in os.listdir(folder) if name.startswith(f"{top}-") and name.endswith(".dist-info")]
    if len(infos) != 1:  # the slow way: another name than the module's
        names = _distributions().get(top)
        found = importlib.metadata.distribution(names[0]) if names else None
        title, record = (f"{found.name}-{found.version}", found.read_text("RECORD")) if found else ("", None)
    else:
        title, file = infos[0], folder / infos[0] / "RECORD"
        record = file.read_text("utf-8") if file.is_file() else None
    if not record:
        return None
    rows = (row for row in record.splitlines() if ",sha256=" in row and ".dist-info/" not in row)
    hashes = "\n".join(sorted(row for row in rows if not row.startswith("..")))
    return f"{title} {hashlib.sha256(hashes.encode()).hexdigest()}"


@functools.cache
def environment() -> str:
    """Every distribution that is installed, with its version: what a package calls in others is not followed."""
    folders = [path for path in sys.path if os.path.basename(path) in _SITES and os.path.isdir(path)]
    names = {name for folder in folders for name in os.listdir(folder)}
    return " ".join(sorted(name for name in names if name.endswith((".dist-info", ".egg-info"))))


def started() -> float:
    """When this process started, in seconds of the epoch and a little late, for the system counts in ticks; infinite
    where it does not say.
    """
    try:
        fields = Path("/proc/self/stat").read_text().rpartition(")")[2].split()
        since_boot = int(fields[19]) / os.sysconf("SC_CLK_TCK")
        return time.time() - time.clock_gettime(time.CLOCK_BOOTTIME) + since_boot + 0.05
    except (OSError, AttributeError, ValueError, IndexError):
        return float("inf")


def is_reachable(thing: Any, module: Any, name: Any) -> bool:
    """Whether `thing` is what its module has under its name, so that the name identifies it."""
    home = sys.modules.get(module) if isinstance(module, str) else None
    if home is None or not isinstance(name, str):
        return False
    try:
        return operator.attrgetter(name)(home) is thing
    except AttributeError:
        return False
