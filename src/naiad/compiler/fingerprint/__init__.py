"""A digest of what things compute, known before they are traced: the key of the cache of compiled code.

A wrong hit would be a wrong result, so whatever cannot be followed to its end is refused, never guessed.

Code of the standard library and of installed distributions is identified by name and version. The user's own code is
followed: bytecode, constants, defaults, closures, and every global that it names. Code of naiad is identified by the
syntax trees of its modules: those that hold what the things name, and all that these import.
What cannot be seen here, and is the caller's to add or to avoid: settings of JAX, packages changed while they run, and
functions that are not pure.
"""

import hashlib
from typing import Any

from naiad.compiler.fingerprint import modules, origins
from naiad.compiler.fingerprint.origins import Unfingerprintable, is_reachable
from naiad.compiler.fingerprint.sights import Sight, is_unchanged
from naiad.compiler.fingerprint.walk import Walk

__all__ = ["Unfingerprintable", "Unknown", "Version", "fingerprint", "is_reachable", "own_code"]

_FORMAT = "naiad fingerprint 2"


def fingerprint(*things: Any) -> str:
    """A SHA-256 digest, the same in every process, that changes whenever what the things compute changes.

    Arrays count by their values wherever they are: what a traced function reads is a constant of its code. Of an array
    that is an argument, give a `jax.ShapeDtypeStruct`.
    """
    walk = Walk()
    return _with_naiad(_walked(walk, things), walk.names)


def own_code(*things: Any) -> str:
    """The same, of what is the user's own in them: installed packages and naiad count by their names, so that it
    outlives new versions of these, but not of Python."""
    return _walked(Walk(own_only=True), things)


class Version:
    """Which version of what things compute is in force, within a process.

    It is computed again only when something that it read has changed (a global that a function names, a cell, a method
    of a class, an array). Naiad's own files, which do not change within a process, count in `fingerprint` alone.
    """

    def __init__(self, *things: Any):
        self._things = things
        self._current: str | Unknown = Unknown()
        self._names: set[str] = set()
        self._sights: list[Sight] | None = None

    def fingerprint(self) -> str:
        """Return the fingerprint of what is in force, the same in every process."""
        current = self.current()
        if isinstance(current, Unknown):
            raise Unfingerprintable("what is computed is not known before it runs")
        return _with_naiad(current, self._names)

    def current(self) -> "str | Unknown":
        """A digest; of things that have none, a new object whenever what could be read of them has changed."""
        if self._sights is None or not is_unchanged(self._sights):
            walk = Walk()
            try:
                self._current = _walked(walk, self._things)
            except Unfingerprintable:
                self._current = Unknown()
            self._sights, self._names = walk.sights, walk.names
        return self._current


class Unknown:
    """The version of things that have no fingerprint."""


def _with_naiad(digest: str, names: set[str]) -> str:
    """The digest of a walk, with that of naiad's modules behind the names that it met."""
    return hashlib.sha256(f"{digest} {modules.digest_of(frozenset(names)) if names else ''}".encode()).hexdigest()


def _walked(walk: Walk, things: tuple[Any, ...]) -> str:
    walk.write("format", _FORMAT, *(() if walk.own_only else (origins.PYTHON, origins.environment())))
    try:
        for i, thing in enumerate(things):
            walk.visit(thing, f"argument {i}")
    except RecursionError as error:
        raise Unfingerprintable("too deeply nested to be fingerprinted; use fewer levels") from error
    except Exception as error:  # attributes of a user's objects may be code, and that may fail in any way
        raise Unfingerprintable(f"{walk.where()} cannot be fingerprinted: {type(error).__name__}: {error}") from error
    return walk.digest().hex()
