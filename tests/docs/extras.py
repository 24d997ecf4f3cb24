"""What an extra of pyproject.toml installs.

`python -m tests.docs.extras EXTRA PROGRAM ARGUMENT ...` runs a program as if only naiad with that extra were installed.
"""

import functools
import importlib.machinery
import runpy
import sys
import tomllib
from importlib import metadata
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]


@functools.cache
def installed(extra):
    """Return the packages that naiad with an extra requires, and those that these require in turn."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    todo = [(each, "") for each in (*project["dependencies"], *project["optional-dependencies"][extra])]
    found = {}
    while todo:
        written, option = todo.pop()
        requirement = Requirement(written)
        if requirement.marker and not requirement.marker.evaluate({"extra": option}):
            continue
        name = canonicalize_name(requirement.name)
        for each in {"", *requirement.extras} - found.setdefault(name, set()):
            found[name].add(each)
            todo += [(line, each) for line in requirements(name)]
    return set(found)


def requirements(name):
    """What a package requires; nothing is known of one that is not here."""
    try:
        return metadata.requires(name) or ()
    except metadata.PackageNotFoundError:
        return ()


@functools.cache
def missing(extra):
    """Return the modules that are installed here, and that naiad with an extra does not install."""
    there = {"naiad", *installed(extra)}
    packages = metadata.packages_distributions().items()
    return {module for module, names in packages if there.isdisjoint(map(canonicalize_name, names))}


class Hidden(importlib.machinery.PathFinder):
    """Finds modules on the path, except the hidden ones."""

    names: set[str]

    @classmethod
    def find_spec(cls, fullname, path=None, target=None):
        hidden = path is None and fullname in cls.names
        return None if hidden else super().find_spec(fullname, path, target)


if __name__ == "__main__":
    Hidden.names = missing(sys.argv[1])
    sys.meta_path = [Hidden if each is importlib.machinery.PathFinder else each for each in sys.meta_path]
    sys.argv = sys.argv[2:]
    runpy.run_path(sys.argv[0], run_name="__main__")
